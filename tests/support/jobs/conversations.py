"""The jobs of conversations, each just committed in a small site."""

from collections.abc import Awaitable, Callable

from resolvers.jobs import dispatch
from store import blocks
from store.client.database import Database
from store.conversations import entries, log, messages
from store.conversations.messages import MessageDraft
from store.records.jobs import Job
from store.refusals import accepted
from tests.support.scene import Scene


async def _talk(db: Database, s: Scene, *, size: int = 3) -> tuple[int, int]:
    """Have a conversation, which ben reads and follows live; returns it and its last message, by cat."""
    members = [s.ben, s.cat, s.ann][:size]
    began = accepted(await messages.start(db, members, MessageDraft(s.cat, "hello", members)))
    assert began.job
    await dispatch.finish(db, began.job)
    await log.newest(db, s.ben)
    (found,) = await db.ask(messages.of_members_command(members))
    await entries.mark_read(db, s.ben, int(found), began.id)
    return int(found), began.id


async def _begin(db: Database, s: Scene) -> Job | None:
    await log.newest(db, s.ben)
    sent = accepted(await messages.start(db, [s.ann, s.ben, s.cat], MessageDraft(s.ann, "hello", [s.ben, s.cat])))
    return sent.job


async def _send(db: Database, s: Scene) -> Job | None:
    talk, _ = await _talk(db, s)
    return accepted(await messages.send(db, talk, MessageDraft(s.cat, "more"))).job


async def _send_twice(db: Database, s: Scene) -> Job | None:
    # The job of the second message is done by somebody else, later or earlier.
    talk, _ = await _talk(db, s)
    sent = accepted(await messages.send(db, talk, MessageDraft(s.cat, "more")))
    accepted(await messages.send(db, talk, MessageDraft(s.ann, "and more")))
    return sent.job


async def _delete(db: Database, s: Scene) -> Job | None:
    _, message = await _talk(db, s)
    return accepted(await messages.delete(db, message))


async def _leave(db: Database, s: Scene) -> Job | None:
    talk, _ = await _talk(db, s)
    return await messages.leave(db, talk, s.ben)


async def _end(db: Database, s: Scene) -> Job | None:
    talk, _ = await _talk(db, s, size=2)
    job = await messages.leave(db, talk, s.cat)
    assert job
    await dispatch.finish(db, job)
    return await messages.leave(db, talk, s.ben)


async def _block(db: Database, s: Scene) -> Job | None:
    for size in (2, 3):
        await _talk(db, s, size=size)
    return (await blocks.block(db, s.ben, [s.cat]))[0]


async def _unblock(db: Database, s: Scene) -> Job | None:
    block = await _block(db, s)
    for job in (s.news, s.echo, block):  # else notifications depend on which job a worker takes first
        assert job
        await dispatch.finish(db, job)
    return (await blocks.unblock(db, s.ben, [s.cat]))[0]


async def _return(db: Database, s: Scene) -> Job | None:
    talk, _ = await _talk(db, s)
    job = await messages.leave(db, talk, s.ben)
    assert job
    await dispatch.finish(db, job)
    members = [s.ann, s.ben, s.cat]
    return accepted(await messages.start(db, members, MessageDraft(s.ann, "back", members))).job


CONVERSATION_KINDS: dict[str, Callable[[Database, Scene], Awaitable[Job | None]]] = {
    "first message": _begin,
    "message": _send,
    "message before another": _send_twice,
    "deletion of a message": _delete,
    "departure": _leave,
    "departure of the last one": _end,
    "return": _return,
    "block in conversations": _block,
    "unblock in conversations": _unblock,
}

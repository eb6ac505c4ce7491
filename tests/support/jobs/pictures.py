"""The jobs of pictures, each just committed in a small site."""

from collections.abc import Awaitable, Callable

from resolvers.jobs import dispatch
from store import accounts, posts
from store.client.database import Database
from store.conversations import messages
from store.conversations.messages import MessageDraft as Message
from store.conversations.records import Message as Sent
from store.moderation import reports
from store.moderation.records import ReportAction, ReportReason, Subject, write_messages
from store.moderation.reports import Decision, ReportDraft
from store.pictures import images
from store.pictures.images import WantedImage
from store.posts import PostDraft
from store.records.jobs import Job
from store.records.lists import read_pairs
from store.refusals import accepted
from tests.support.pictures import ready
from tests.support.scene import Scene

ADMIN_RANK = 2


async def _pictured(db: Database, s: Scene, count: int) -> tuple[WantedImage, ...]:
    return tuple([WantedImage(await ready(db, s.cat, "POST"), alt=f"picture {place}") for place in range(count)])


async def _delete(db: Database, s: Scene) -> Job | None:
    draft = PostDraft(s.cat, "", images=await _pictured(db, s, 2))
    _, post, job = accepted(await posts.create(db, draft))
    assert job
    await dispatch.finish(db, job)
    return await posts.delete(db, post, s.cat)


async def _replace(db: Database, s: Scene) -> Job | None:
    for _ in range(2):
        job = accepted(
            await accounts.update(db, s.cat, pictures={"avatar": WantedImage(await ready(db, s.cat, "AVATAR"))})
        )
    return job


async def _talk(db: Database, s: Scene) -> int:
    members = [s.ben, s.cat]
    began = accepted(await messages.start(db, members, Message(s.ben, "hello", members)))
    assert began.job
    await dispatch.finish(db, began.job)
    (found,) = await db.ask(messages.of_members_command(members))
    return int(found)


async def _reserve(db: Database, s: Scene, talk: int) -> images.Reservation:
    return accepted(
        await images.reserve(db, s.cat, talk, [WantedImage(await ready(db, s.cat, "MESSAGE"), alt="a wren")])
    )


async def _send(db: Database, s: Scene) -> Job | None:
    talk = await _talk(db, s)
    reservation = await _reserve(db, s, talk)
    sent = accepted(await messages.send(db, talk, Message(s.cat, "", [s.ben], reservation=reservation)))
    assert sent.job
    await dispatch.finish(db, sent.job)
    return reservation.job


async def _give_back(db: Database, s: Scene) -> Job | None:
    return (await _reserve(db, s, await _talk(db, s))).job


async def _delete_message(db: Database, s: Scene) -> Job | None:
    # Before the pictures are attached to the message.
    talk = await _talk(db, s)
    sent = accepted(await messages.send(db, talk, Message(s.cat, "", [s.ben], reservation=await _reserve(db, s, talk))))
    assert sent.job
    await dispatch.finish(db, sent.job)
    return accepted(await messages.delete(db, sent.id))


async def _reported(db: Database, s: Scene) -> tuple[int, int]:
    """Have ben report a message with a picture; returns the report and the message."""
    talk = await _talk(db, s)
    reservation = await _reserve(db, s, talk)
    sent = accepted(await messages.send(db, talk, Message(s.cat, "", [s.ben], reservation=reservation)))
    assert sent.job
    for job in (sent.job, reservation.job):
        await dispatch.finish(db, job)
    found = Sent.read(sent.id, read_pairs(await db.one(*messages.message_command(sent.id))))
    assert found
    subject, copy = Subject("message", found.id), write_messages([found])
    filed = accepted(
        await reports.file(db, ReportDraft(s.ben, subject, s.cat, ReportReason.SPAM, "", copy, (found.id,)))
    )
    return filed, found.id


async def _delete_reported(db: Database, s: Scene) -> Job | None:
    return accepted(await messages.delete(db, (await _reported(db, s))[1]))


async def _decide(db: Database, s: Scene) -> Job | None:
    report, message = await _reported(db, s)
    deletion = accepted(await messages.delete(db, message))
    for job in (deletion, s.news, s.echo):
        await dispatch.finish(db, job)
    return accepted(await reports.resolve(db, Decision(report, ReportAction.DISMISS, s.dan, ADMIN_RANK, "", "")))


async def _account(db: Database, s: Scene) -> Job | None:
    await _replace(db, s)
    await ready(db, s.cat, "POST")
    for job in (s.news, s.echo):
        await dispatch.finish(db, job)
    _, _, posted = accepted(await posts.create(db, PostDraft(s.cat, "", images=await _pictured(db, s, 1))))
    assert posted
    await dispatch.finish(db, posted)
    found = await accounts.credentials(db, s.cat)
    assert found
    return accepted(await accounts.delete(db, s.cat, found.password))


PICTURE_KINDS: dict[str, Callable[[Database, Scene], Awaitable[Job | None]]] = {
    "delete of a post with pictures": _delete,
    "new avatar in place of another": _replace,
    "pictures of a message": _send,
    "pictures that no message took": _give_back,
    "deletion of a message before its pictures are its own": _delete_message,
    "deletion of a reported message with a picture": _delete_reported,
    "decision about a deleted message with a picture": _decide,
    "account with pictures": _account,
}

"""The same text, sent to many others."""

import asyncio
import re
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.rules.text import fingerprint
from store.client.database import Database
from store.settings import Settings
from tests.support.people import Member, crowd, shrunk
from tests.support.probes.members import life
from tests.support.stored import find
from tests.support.work import work_off
from tests.support.writing import SPAM, Scene, forget

MOST = 3
AT_ONCE = 8


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return shrunk(settings, rate_limit=100_000, same_text_targets=MOST, conversations_per_hour=100)


@pytest.fixture
async def scene(anonymous: Member, alice: Member, db: Database) -> Scene:
    others = await crowd(anonymous, AT_ONCE)
    posts = [await one.post("hello") for one in others]
    await forget(db)
    return Scene(alice, posts, others, "")


async def message(scene: Scene, turn: int, text: str = SPAM) -> Any:
    return await scene.alice.do("startConversation", "conversation { id }", userIds=[scene.others[turn].id], text=text)


async def comment(scene: Scene, turn: int, text: str = SPAM) -> Any:
    return await scene.alice.do("comment", "comment { id }", postId=scene.posts[turn], text=text)


async def reply(scene: Scene, turn: int, text: str = SPAM) -> Any:
    return await scene.alice.do("post", "status { id }", inReplyToId=scene.posts[turn], text=text)


async def quote(scene: Scene, turn: int, text: str = SPAM) -> Any:
    return await scene.alice.do("repost", "repost { id }", postId=scene.posts[turn], text=text)


async def mention(scene: Scene, turn: int, text: str = SPAM) -> Any:
    return await scene.alice.do("post", "status { id }", text=f"@{scene.others[turn].login} {text}")


WRITES = {"message": message, "comment": comment, "reply": reply, "quote": quote, "mention": mention}


def refused(payload: Any) -> bool:
    """Return whether a write was refused; the refusal must name the limit, and say when it ends."""
    if not payload["userErrors"]:
        return False
    (error,) = payload["userErrors"]
    assert (error["code"], error["field"]) == ("LIMIT_REACHED", ["text"])
    assert re.search(r"the same text goes to at most 3 .* in a day: try again in [0-9,]+ s$", error["message"])
    return True


@pytest.mark.parametrize("kind", sorted(WRITES))
async def test_the_limit(scene: Scene, db: Database, kind: str) -> None:
    """The same text reaches three others, as often as its author likes, but no fourth; another text does."""
    write = WRITES[kind]
    for turn in (0, 1, 2, 0, 1, 2):
        assert not refused(await write(scene, turn))
    assert refused(await write(scene, 3))
    assert not refused(await write(scene, 3, "Something else, that nobody has heard so far"))
    assert not refused(await write(scene, 0))
    await forget(db)
    assert not refused(await write(scene, 3))


@pytest.mark.parametrize("kind", sorted(WRITES))
async def test_writes_at_once(scene: Scene, kind: str) -> None:
    """Of eight at the same moment, exactly three succeed."""
    answers = await asyncio.gather(*(WRITES[kind](scene, turn) for turn in range(AT_ONCE)))
    assert sorted(map(refused, answers)) == [False] * MOST + [True] * (AT_ONCE - MOST)


async def test_all_kinds_together(scene: Scene) -> None:
    """Messages, comments and replies with one text count together."""
    for turn, write in enumerate((message, comment, reply)):
        assert not refused(await write(scene, turn))
    for write in WRITES.values():
        assert refused(await write(scene, 5))


@pytest.mark.parametrize(
    "text",
    [
        SPAM.upper(),
        f"  {SPAM}!!! \U0001f600",
        SPAM.replace(" ", "\n"),
        SPAM.replace(" ", " - "),
        f"@bob {SPAM}",
        SPAM.translate({ord("B"): "\uff22"}),
    ],
)
async def test_variants(scene: Scene, text: str) -> None:
    """Case, spaces, punctuation, emoji, mentions and wide letters do not make another text."""
    for turn in range(MOST):
        await message(scene, turn)
    assert refused(await message(scene, MOST, text))


async def test_messages_of_one_conversation(scene: Scene) -> None:
    """A conversation counts once, whether it is written to by its members or by its id."""
    talk = (await message(scene, 0))["conversation"]["id"]
    for turn in (1, 2):
        await message(scene, turn)
    assert not refused(await scene.alice.do("sendMessage", conversationId=talk, text=SPAM))
    began = await scene.others[5].do("startConversation", "conversation { id }", userIds=[scene.alice.id], text="hi")
    assert refused(await scene.alice.do("sendMessage", conversationId=began["conversation"]["id"], text=SPAM))


@pytest.mark.parametrize("text", ["Thank you!", "Happy birthday!", "\U0001f600" * 30, "@one0 @one1 @one2 hello"])
async def test_short_texts(scene: Scene, text: str) -> None:
    """A short text goes to anybody."""
    for turn in range(MOST + 2):
        assert not refused(await message(scene, turn, text))


async def test_posts_to_nobody(scene: Scene) -> None:
    """A post that answers and names nobody may be repeated: only those who follow its author get it."""
    for _ in range(MOST + 2):
        assert not refused(await scene.alice.do("post", "status { id }", text=SPAM))


async def test_others_send_it_too(scene: Scene) -> None:
    """Each member has their own count."""
    for turn in range(MOST):
        await comment(scene, turn)
    assert not refused(await scene.others[0].do("comment", postId=scene.posts[5], text=SPAM))


async def test_a_refusal_leaves_no_trace(scene: Scene) -> None:
    """Nobody sees a refused message or comment, and no notification tells of it."""
    for turn in range(MOST):
        await comment(scene, turn)
    assert refused(await comment(scene, 4))
    assert refused(await message(scene, 4))
    seen = "{ viewer { unreadNotificationCount conversations { nodes { id } } } }"
    assert await scene.others[4].ask(seen) == {"unreadNotificationCount": 0, "conversations": {"nodes": []}}


async def test_the_texts_expire(scene: Scene, db: Database) -> None:
    """What is remembered of texts are digests, which expire within a day."""
    await message(scene, 0)
    (key,) = await find(db, "texts:*")
    assert 0 < await life(db, key) <= 86_400_000
    assert await db.one("HKEYS", key) == [fingerprint(SPAM)]


async def test_deletion_of_the_account(scene: Scene, db: Database, worker: Worker) -> None:
    """Counts and digests are deleted with the account."""
    await message(scene, 0)
    assert (await scene.alice.do("deleteAccount", password="correct horse battery"))["userErrors"] == []
    await work_off(db, worker)
    assert [*await find(db, "texts:*"), *await find(db, "writes:*")] == []

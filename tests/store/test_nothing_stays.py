"""Nothing stays: after the jobs of a deletion, no key holds a text, name, place or address of what was deleted."""

from collections.abc import Iterable

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store.client.database import Database
from store.events import log
from store.events.log import EventContent
from tests.support.moderation.acts import appoint
from tests.support.people import PASSWORD, Member, contents
from tests.support.work import work_off

PLACE = {"latitude": 12.3456789, "longitude": -98.7654321}
WORDS = ("quagga", "12.3456789", "98.7654321")  # of the post of the tests


async def post(author: Member) -> str:
    """Publish a post with a text, a hashtag and a place that nothing else has; returns its id."""
    return await author.post("A quagga at #quaggatown", location=PLACE)


async def kept(db: Database, words: Iterable[str]) -> list[str]:
    """Return the keys that hold one of some words, whatever its case, as `key: word`."""
    found = {key: f"{key} {value}".casefold() for key, value in (await contents(db)).items()}
    return [f"{key}: {word}" for key, value in found.items() for word in words if word.casefold() in value]


async def test_a_live_post_is_found(db: Database, alice: Member) -> None:
    """The words of a post are found as long as it exists, so that the other tests look where texts are."""
    await post(alice)
    assert {entry.split(":")[0] for entry in await kept(db, WORDS)} >= {"status", "hashtag", "tag-uses"}


async def test_the_event_log_only_names(db: Database, services: Services, alice: Member) -> None:
    """The event log has no text and no place of a post, even while the post exists."""
    await post(alice)
    assert [entry for entry in await kept(db, WORDS) if entry.startswith("events:")] == []
    (event,) = await log.between(db, log.START)
    assert event.content is None
    (event,) = await log.with_content(db, [event])
    assert event.content == EventContent("A quagga at #quaggatown", "12.3456789", "-98.7654321")


async def test_a_deleted_post(db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """A deleted post leaves nothing, nor do the comments on it. A post that answers it stays."""
    gone = await post(alice)
    await bob.do("comment", postId=gone, text="Is it a quagga?")
    await bob.do("like", postId=gone)
    await bob.post("What was it?", inReplyToId=gone)
    await alice.do("deletePost", postId=gone)
    await work_off(db, worker)
    assert await kept(db, WORDS) == []


async def test_a_post_that_was_hidden(db: Database, worker: Worker, alice: Member) -> None:
    """A post that was hidden and shown again, and is then deleted, leaves nothing."""
    gone = await post(alice)
    for step in ("hidePost", "unhidePost", "hidePost", "deletePost"):
        await alice.do(step, postId=gone)
    await work_off(db, worker)
    assert await kept(db, WORDS) == []


async def test_a_tag_that_others_use(db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """A hashtag of a deleted post is still counted among those of the hour while another post of the hour has it."""
    gone, theirs = await post(alice), await bob.post("also in #quaggatown")
    await alice.do("deletePost", postId=gone)
    await work_off(db, worker)
    assert "tag-uses" in {entry.split(":")[0] for entry in await kept(db, ["quaggatown"])}
    await bob.do("deletePost", postId=theirs)
    await work_off(db, worker)
    assert await kept(db, ["quaggatown"]) == []


async def test_a_deleted_comment(db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """A deleted comment leaves nothing."""
    made = await bob.do("comment", "comment { id }", postId=await alice.post("a post"), text="a quagga")
    await bob.do("deleteComment", commentId=made["comment"]["id"])
    await work_off(db, worker)
    assert await kept(db, WORDS) == []


async def test_deleted_by_a_moderator(db: Database, worker: Worker, anonymous: Member, alice: Member) -> None:
    """A post that a moderator deletes leaves its text only in the log of moderators' acts."""
    gone = await post(alice)
    moderator = await appoint(db, anonymous, "mia")
    await moderator.do("deletePost", postId=gone)
    await work_off(db, worker)
    assert {entry.split(":")[0] for entry in await kept(db, WORDS)} == {"removed-text"}


async def test_a_deleted_account(db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """A deleted account leaves no text, name, place or address."""
    await alice.do("updateProfile", name="Quagga Hunter", bio="I hunt the quagga")
    await post(alice)
    theirs = await bob.post("something else")
    await alice.do("comment", postId=theirs, text="no quagga here")
    await alice.do("deleteAccount", "deletedUserId", password=PASSWORD)
    await work_off(db, worker)
    assert await kept(db, [*WORDS, "alice"]) == []

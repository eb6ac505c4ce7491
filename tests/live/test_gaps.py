"""Every subscription to the event log reports a gap where events were lost, and only there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.events import log as events
from store.events.reader import Log, Subscriber
from store.settings import Settings
from tests.support.people import Member, make_private, shrunk
from tests.support.transport.live import HOME, PATIENCE, Stream, followers, now, subscribed, until
from tests.support.transport.site_live import SAMPLE, STREAM, next_event
from tests.support.work import number, photograph, put_back

SUBSCRIPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "stream": (STREAM, {}),
    "sample": (SAMPLE, {"percent": 100}),
    "homeTimeline": (HOME, {}),
}
of_each = pytest.mark.parametrize("name", SUBSCRIPTIONS)
QUEUE = 5
COPIES = " ".join(f"c{i}: text" for i in range(25))
LONG = "x" * 20_000  # so long that no socket takes many texts of 25 copies at a time


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings, reduced as the test's parameter says."""
    return shrunk(settings, **getattr(request, "param", {}))


@pytest.fixture(autouse=True)
async def following(alice: Member, bob: Member) -> None:
    """Bob, who subscribes, follows Alice, who posts."""
    await bob.follow(alice)


def listening_to(name: str, member: Member, after: str | None) -> Any:
    """Subscribe to one of the subscriptions."""
    query, asked = SUBSCRIPTIONS[name]
    return subscribed(member, query, after=after, **asked)


def places(services: Services, alice: Member) -> set[Subscriber]:
    """Return all subscribers of the live log."""
    return followers(services, alice) | set(services.listeners._wanted)  # noqa: SLF001  nobody else needs to know


@asynccontextmanager
async def live(name: str, services: Services, alice: Member, bob: Member) -> AsyncIterator[Stream]:
    """Subscribe, and wait until the server delivers every event from now on."""
    async with listening_to(name, bob, await now(services.db)) as stream:
        await until(lambda: places(services, alice))
        yield stream


async def came(stream: Stream, count: int = 1) -> list[str]:
    """Return the next events, each as the post that was added, or `gap`."""
    return [_post(await stream.next()) for _ in range(count)]


def _post(event: dict[str, Any]) -> str:
    match event["__typename"]:
        case "PostCreated":
            return str(event["post"]["id"])
        case "TimelineEntryPut":
            return str(event["edge"]["node"]["id"])
        case "StreamGap":
            return "gap"
        case other:
            raise AssertionError(other)


# ------------------------------------------------------------ gaps


@of_each
async def test_a_cursor_older_than_the_log(db: Database, alice: Member, bob: Member, name: str) -> None:
    """A cursor whose events are gone gives a gap first, then later events; the gap's cursor gives no other gap."""
    before = await now(db)
    for i in range(3):
        await alice.post(f"{i}")
    await db.one("XTRIM", keys.events(), "MAXLEN", 2)
    async with listening_to(name, bob, before) as stream:
        assert await came(stream) == ["gap"]
        gap = stream.cursor
        post = await alice.post("live")
        assert await came(stream) == [post]
    async with listening_to(name, bob, gap) as stream:
        assert await came(stream) == [post]


@of_each
async def test_a_cursor_that_the_log_lost(db: Database, alice: Member, bob: Member, name: str) -> None:
    """A cursor issued before the store lost its last moments gives a gap, even if the log has grown since."""
    await alice.post("past")
    milliseconds, count = events.position((await now(db)).removeprefix("event."))
    lost = f"event.{milliseconds}-{count + 1}"
    async with listening_to(name, bob, lost) as stream:
        assert await came(stream) == ["gap"]
        post = await alice.post("live")
        assert await came(stream) == [post]
    async with listening_to(name, bob, lost) as stream:
        assert await came(stream) == ["gap"]


@of_each
@pytest.mark.parametrize("settings", [{"subscriber_queue": QUEUE, "max_text": 20_000}], indirect=True)
async def test_a_reader_too_slow(services: Services, alice: Member, bob: Member, name: str) -> None:
    """A slow reader gets a gap in place of the events that its queue dropped, and the subscription stays open."""
    query, asked = SUBSCRIPTIONS[name]
    query = query.replace("post { id }", "post { id text }").replace("id text", f"id text {COPIES}")
    posts: list[str] = []
    async with subscribed(bob, query, after=await now(services.db), **asked) as stream:
        await until(lambda: places(services, alice))
        while not _is_behind(services, alice):
            assert len(posts) < 100
            posts.append(await alice.post(LONG))
            await caught_up(services)
        found, gap = await came(stream), ""
        while found[-1] != "gap" or _is_behind(services, alice):
            found += await came(stream)
        last = await alice.post("again")
        while found[-1] != last:
            gap = stream.cursor if found[-1] == "gap" else gap
            found += await came(stream)
    assert_gaps(found, [*posts, last])
    rest = found[len(found) - found[::-1].index("gap") :]
    async with listening_to(name, bob, gap) as stream:
        assert await came(stream, len(rest)) == rest


def _is_behind(services: Services, alice: Member) -> bool:
    """Return whether a subscriber has lost events, and its client has not been told yet."""
    return any(place._lost for place in places(services, alice))  # noqa: SLF001  nobody else needs to know


def assert_gaps(found: list[str], posts: list[str]) -> None:
    """Assert that posts came in order, with a gap where more are missing than the queue holds, and nowhere else."""
    due, is_after_gap = 0, False
    for event in found:
        if event == "gap":
            is_after_gap = True
            continue
        place = posts.index(event)
        assert place > due + QUEUE if is_after_gap else place == due
        due, is_after_gap = place + 1, False
    assert "gap" in found


@of_each
async def test_the_log_trimmed_unread(services: Services, db: Database, alice: Member, bob: Member, name: str) -> None:
    """If the log is trimmed before the process has read it, all get a gap, then later events."""
    async with live(name, services, alice, bob) as stream:
        await lose_an_event(db)
        assert await came(stream) == ["gap"]
        post = await alice.post("delivered")
        assert await came(stream) == [post]


async def test_the_log_trimmed_at_the_start(services: Services, db: Database, alice: Member) -> None:
    """A process that has read only the newest cursor also notices that events after it were lost."""
    log = Log(db, services.pubsub)
    await log.start()
    follower = log.follow([number(alice.id)])
    await lose_an_event(db)
    async with asyncio.timeout(PATIENCE):
        assert await follower.take() == await events.newest(db)
    await log.close()


async def lose_an_event(db: Database) -> None:
    """Trim an event from the log before anybody can read it."""
    log = keys.events()
    added = ("XADD", log, "MAXLEN", 0, "*", "kind", "follow", "actor", 1, "member", 2)
    await db.ask(added, ("SPUBLISH", db.channel(events.CHANNEL), ""))


@of_each
async def test_a_store_put_back(services: Services, db: Database, alice: Member, bob: Member, name: str) -> None:
    """If the log is restored from a backup, all get a gap that can be resumed from, then later events."""
    async with live(name, services, alice, bob) as stream:
        photo = await photograph(db)
        lost = await alice.post("lost")
        assert await came(stream) == [lost]
        await put_back(db, photo)
        await alice.post("lost in the gap")
        assert await came(stream) == ["gap"]
        gap = stream.cursor
        post = await alice.post("live")
        assert await came(stream) == [post]
    async with listening_to(name, bob, gap) as stream:
        assert await came(stream) == [post]


# ------------------------------------------------------------ no gaps


@pytest.mark.parametrize("settings", [{"subscriber_queue": QUEUE, "max_text": 20_000}], indirect=True)
@of_each
async def test_much_happens_during_the_replay(
    services: Services, db: Database, alice: Member, bob: Member, name: str
) -> None:
    """More events than the queue holds give no gap while the subscriber still replays, because the log has them."""
    query, asked = SUBSCRIPTIONS[name]
    query = query.replace("post { id }", "post { id text }").replace("id text", f"id text {COPIES}")
    before = await now(db)
    posts = [await alice.post(LONG) for _ in range(40)]
    async with subscribed(bob, query, after=before, **asked) as stream:
        await until(lambda: places(services, alice))
        posts += [await alice.post(f"{i}") for i in range(3 * QUEUE)]
        await until(lambda: _is_behind(services, alice))
        assert await came(stream, len(posts)) == posts
        live = await alice.post("live")
        assert await came(stream) == [live]


@of_each
async def test_what_is_gone_is_passed_over(db: Database, alice: Member, bob: Member, name: str) -> None:
    """Deleted posts are not announced as created; later posts are, with a cursor beyond the deleted ones."""
    before = await now(db)
    first, *gone, last = [await alice.post(f"{i}") for i in range(4)]
    for post in gone:
        await alice.do("deletePost", postId=post)
    async with listening_to(name, bob, before) as stream:
        assert await came(stream, 2) == [first, last]
        cursor = stream.cursor
        removed = [await stream.next() for _ in gone]
        assert {event["__typename"] for event in removed} <= {"PostDeleted", "TimelineEntryRemoved"}
        end = stream.cursor
    async with listening_to(name, bob, cursor) as stream:
        assert [await stream.next() for _ in gone] == removed
    async with listening_to(name, bob, end) as stream:
        post = await alice.post("next")
        assert await came(stream) == [post]


async def test_what_others_were_told(services: Services, db: Database, alice: Member, bob: Member) -> None:
    """A resuming subscriber gets the present state: no deleted and no private posts, even if others got them live."""
    before = await now(db)
    async with live("stream", services, alice, bob) as stream:
        gone, secret = await alice.post("gone"), await alice.post("for all, as yet")
        assert await came(stream, 2) == [gone, secret]
        await alice.do("deletePost", postId=gone)
        assert await next_event(stream) == ("deleted", gone, alice.id)
        await make_private(alice)
    async with listening_to("stream", bob, before) as stream:
        assert [await next_event(stream) for _ in range(2)] == [("deleted", one, alice.id) for one in (gone, secret)]
        post = await bob.post("the end")
        assert await next_event(stream) == ("created", post)


@pytest.mark.parametrize("settings", [{"home_size": 10, "home_slack": 1}], indirect=True)
async def test_a_home_left_for_long(db: Database, alice: Member, bob: Member) -> None:
    """A subscriber who resumes after more posts than a home holds gets each of them, even below the home's floor."""
    before = await now(db)
    posts = [await alice.post(f"{i}") for i in range(15)]
    assert await bob.home() == posts[::-1]
    async with listening_to("homeTimeline", bob, before) as stream:
        assert await came(stream, len(posts)) == posts


# ------------------------------------------------------------ refusals


@of_each
@pytest.mark.parametrize(
    "cursor", ["", "garbage", "event.", "event.1-x", "home.00000000000001", "event.9999999999999-0"]
)
async def test_what_cannot_be_a_cursor(alice: Member, name: str, cursor: str) -> None:
    """A malformed cursor, one of another kind and one from the future are refused, naming the argument."""
    async with listening_to(name, alice, cursor) as stream:
        message = await stream.receive()
    (error,) = message["payload"]
    assert (message["type"], error["extensions"]["code"]) == ("error", "BAD_USER_INPUT")
    assert error["message"].startswith("after: ")


# ------------------------------------------------------------ the log itself


async def caught_up(services: Services) -> None:
    """Wait until the process has read the whole log."""
    newest = await events.newest(services.db)
    await until(lambda: services.log.cursor == newest)


async def test_a_log_trimmed_during_a_replay(db: Database, alice: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay overtaken by trimming sends one gap, and no events from beyond the hole."""
    monkeypatch.setattr(events, "READ_COUNT", 2)
    before = (await now(db)).removeprefix("event.")
    for i in range(6):
        await alice.post(f"{i}")
    replay = events.replay(db, before, await events.newest(db))
    first = await anext(replay)
    assert first
    await db.one("XTRIM", keys.events(), "MAXLEN", 2)
    assert [event async for event in replay] == [None]

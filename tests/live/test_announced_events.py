"""A process hands out each event once and in order, whether an announcement carries it or the log has to be read."""

import json
from typing import Any

import pytest

from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.events import log as events
from store.events.log import Event, EventContent
from store.events.reader import Subscriber
from tests.support.transport.live import until

ACTOR = 7
CONTENT = EventContent('"quotes" \\ 中文\n', "48.2", "16.4")
UNANNOUNCED = ("XADD", keys.events(), "*", "kind", "follow", "actor", ACTOR, "member")


@pytest.fixture
async def subscriber(db: Database, services: Services) -> Subscriber:
    """A subscriber to the events of the actor. The process has read the log, and the next event follows on that."""
    log, heard = services.log, list[str]()
    services.pubsub.listen(events.CHANNEL, heard.append)
    await happen(db, 0)
    await until(lambda: any(heard))
    services.pubsub.ignore(events.CHANNEL, heard.append)
    await until(lambda: log.cursor != events.START and not log._is_reading and not log._woken.is_set())  # noqa: SLF001
    return log.follow([ACTOR])


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cursors from which the log is read."""
    made, between = list[str](), events.between

    async def noted(db: Database, after: str, *others: Any, **options: Any) -> list[Event]:
        made.append(after)
        return await between(db, after, *others, **options)

    monkeypatch.setattr(events, "between", noted)
    return made


async def happen(db: Database, number: int) -> None:
    """Append an event that names a member of some number, and announce it."""
    await events.append(db, f"follow:{number}", "follow", ACTOR, member=number)


async def members(subscriber: Subscriber, count: int) -> list[int]:
    """Return the members that the next events name."""
    taken = [await subscriber.take() for _ in range(count)]
    return [event.member for event in taken if isinstance(event, Event)]


async def announcement(db: Database) -> str:
    """Return the announcement of the newest event."""
    (cursor, pairs), (before, _) = await db.one("XREVRANGE", keys.events(), "+", "-", "COUNT", 2)
    return json.dumps([before, cursor, pairs])


async def test_an_announced_event(db: Database, subscriber: Subscriber, readings: list[str]) -> None:
    """An announced event is handed out without reading the log, whatever its text is."""
    await events.append(db, "post:1", "post", ACTOR, CONTENT, post=1)
    await happen(db, 2)
    taken = await subscriber.take()
    assert isinstance(taken, Event)
    assert (taken.kind, taken.post, taken.content) == ("post", 1, CONTENT)
    assert await members(subscriber, 1) == [2]
    assert not readings


async def test_a_lost_announcement(db: Database, subscriber: Subscriber, readings: list[str]) -> None:
    """After an event that was not announced, both it and the next are read from the log, in order."""
    await db.one(*UNANNOUNCED, 1)
    await happen(db, 2)
    assert await members(subscriber, 2) == [1, 2]
    assert len(readings) == 1
    await happen(db, 3)
    assert await members(subscriber, 1) == [3]
    assert len(readings) == 1


async def test_announcements_while_the_log_is_read(db: Database, subscriber: Subscriber) -> None:
    """Events that are announced while the log is read are handed out once, in order."""
    for number in range(1, 200, 2):
        await db.ask((*UNANNOUNCED, number), ("SPUBLISH", db.channel(events.CHANNEL), ""))
        await happen(db, number + 1)
    assert await members(subscriber, 200) == list(range(1, 201))


async def test_a_repeated_announcement(db: Database, subscriber: Subscriber) -> None:
    """An announcement that arrives again, or late, is not handed out again."""
    await happen(db, 1)
    late = await announcement(db)
    for text in (late, late):
        await db.one("SPUBLISH", db.channel(events.CHANNEL), text)
    await happen(db, 2)
    await db.one("SPUBLISH", db.channel(events.CHANNEL), late)
    await happen(db, 3)
    assert await members(subscriber, 3) == [1, 2, 3]


async def test_an_older_version_of_perch(db: Database, subscriber: Subscriber) -> None:
    """A process of an older version only says that there is an event. It is read from the log."""
    await db.ask((*UNANNOUNCED, 1), ("SPUBLISH", db.channel(events.CHANNEL), ""))
    assert await members(subscriber, 1) == [1]
    await happen(db, 2)
    assert await members(subscriber, 1) == [2]

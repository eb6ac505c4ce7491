"""Layout 4: texts and places of posts leave the event log. Clients that resume from before are told of a gap."""

from functools import partial

import pytest

from resolvers.process.services import Services
from resolvers.upkeep import migrate
from resolvers.upkeep.progress import bar
from store import keys
from store.client.database import Database
from store.events import log as events
from store.layout import event_contents
from store.settings import Settings
from tests.support.people import PASSWORD, Member, shrunk
from tests.support.transport.site_live import STREAM, listening, next_event
from tests.upgrades import stores
from tests.upgrades.acts import SETTINGS, entered

WITH_TEXTS = "2026-11-24-2b4c0fc"  # the last version that logged texts
ENTRY = ("XADD", keys.events(), "*", "kind", "post", "actor", 1, "post", 2, "is_public", 1)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return shrunk(settings, **SETTINGS)


async def test_texts_leave(db: Database) -> None:
    """The log ends with the newest event that has a text or a place. What is logged after it is kept."""
    await db.ask((*ENTRY, "text", "tea"), (*ENTRY, "latitude", "48.2"), ENTRY, ENTRY)
    log = await db.one("XRANGE", keys.events(), "-", "+")
    assert await event_contents.trim(db) == 2
    assert await db.one("XRANGE", keys.events(), "-", "+") == log[2:]
    assert await event_contents.trim(db) == 0


async def test_former_kind(db: Database) -> None:
    """Events of a kind that has another name now leave the log as well."""
    await db.ask(ENTRY, ("XADD", keys.events(), "*", "kind", "bond", "actor", 1, "member", 2), ENTRY)
    assert await event_contents.trim(db) == 2


async def test_many_events(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of more events than are read at a time is read to its end."""
    monkeypatch.setattr(event_contents, "READ_COUNT", 2)
    await db.ask(*([ENTRY] * 4), (*ENTRY, "text", "tea"), ENTRY)
    assert await event_contents.trim(db) == 5


async def test_resuming_after_the_migration(db: Database, services: Services, anonymous: Member) -> None:
    """A client that resumes from an event that the migration has removed is told of a gap, and misses nothing later."""
    await stores.restore(db, stores.load(WITH_TEXTS))
    alice = await entered(anonymous, identifier="alice", password=PASSWORD)
    cursor = f"event.{(await events.between(db, events.START))[0].cursor}"
    assert (await migrate.run(db, partial(bar, hidden=True))).status == 0
    async with listening(services, alice, STREAM, after=cursor) as stream:
        assert await next_event(stream) == ("StreamGap",)
        post = await alice.post("after all that")
        assert await next_event(stream) == ("created", post)

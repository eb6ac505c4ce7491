"""The log lines of a store that refuses commands."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from store.client import database, outages
from store.client.database import CommandRefused, Database
from store.client.nodes import one
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.servers.outages import outage
from tests.support.servers.processes import Redis, own_store, process, until
from tests.support.transport.small import logged
from tests.support.work import number

POST = 'mutation { post(input: {text: "x"}) { status { id } } }'


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Redis]:
    """A store of the test's own, which it can put into any state."""
    async with own_store(tmp_path) as server:
        yield server


@pytest.fixture
def settings(settings: Settings, store: Redis) -> Settings:
    """The settings, with that store; requests are counted."""
    return shrunk(settings, redis_url=store.settings["redis_url"], rate_limit=60)


async def test_one_line_for_each_outage(settings: Settings, alice: Member, bob: Member) -> None:
    """For any number of errors, the log has one line of each state, one when the store is back, and no traceback."""
    with logged() as lines:
        for state in ("OOM", "BUSY"):
            async with outage(state, settings.redis_url):
                await asyncio.gather(*(alice.send(POST) for _ in range(20)))
        await until(lambda: _holds({state for line in lines for state in line.get("states", ())} == {"OOM", "BUSY"}))
    begun = [(line["state"], line["errors"], line["server"]) for line in lines if line["event"] == "store_outage"]
    assert begun == [("OOM", 1, settings.redis_url), ("BUSY", 1, settings.redis_url)]
    back = [line for line in lines if line["event"] == "store_back"]
    assert sum(line["errors"] for line in back) >= 40
    assert not [line for line in lines if "exc_info" in line]


async def test_a_store_that_hangs(
    settings: Settings, store: Redis, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hang is logged as SILENT, as readiness and the runbook call it, and its end is logged once."""
    for module in (database, one):
        monkeypatch.setattr(module, "REPLY_SECONDS", 0.2)
    with logged() as lines:
        async with process(settings) as ask:
            with store.frozen():
                for _ in range(3):
                    await ask(alice, POST)
            await until(lambda: _holds(any("SILENT" in line.get("states", ()) for line in lines)))
    outages = [(line["state"], line["errors"]) for line in lines if line["event"] == "store_outage"]
    assert [state for state, _ in outages if state != "PUBSUB_LOST"] == ["SILENT"]
    assert sum("SILENT" in line.get("states", ()) for line in lines) == 1


class Looking:
    """Says what the looks at the store's state find."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(outages, "LOG_SECONDS", 0.001)
        monkeypatch.setattr(outages, "WATCH_SECONDS", 0)
        self.is_back = False
        self.looks = 0

    async def look(self) -> bool:
        """Return whether the store is back."""
        self.looks += 1
        return self.is_back

    async def again(self) -> None:
        """Wait until another look has been answered."""
        looks = self.looks
        await until(lambda: _holds(self.looks > looks + 1))


async def test_a_line_each_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """While errors go on a line a minute counts them. The outage goes on without errors until the store is back."""
    looking, refusal = Looking(monkeypatch), CommandRefused("OOM command not allowed", "OOM")
    with logged() as lines:
        noted = outages.OutageLog(looking.look)
        for _ in range(5):
            noted.note(refusal, "INCR")
        await until(lambda: _holds(len(lines) == 2))
        await looking.again()
        looking.is_back = True
        await until(lambda: _holds(not noted.is_counting))
        noted.note(refusal, "INCR")
        await noted.close()
    assert [(line["event"], line["errors"]) for line in lines] == [
        ("store_outage", 1),
        ("store_outage", 4),
        ("store_back", 5),
        ("store_outage", 1),
    ]


async def test_what_comes_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An outage that begins and ends within seconds again and again has one line of each kind a minute."""
    looking, refusal = Looking(monkeypatch), CommandRefused("OOM command not allowed", "OOM")
    monkeypatch.setattr(outages, "LOG_SECONDS", 3600)
    looking.is_back = True
    with logged() as lines:
        noted = outages.OutageLog(looking.look)
        for _ in range(5):
            noted.note(refusal)
            await until(lambda: _holds("store_back" in [line["event"] for line in lines]))
        await noted.close()
    assert [line["event"] for line in lines] == ["store_outage", "store_back"]


async def test_a_permission_that_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lacking permission is over after a minute without an error: looks at the store's state do not show it."""
    looking, refusal = Looking(monkeypatch), CommandRefused("NOPERM", "NOPERM")
    looking.is_back = True
    with logged() as lines:
        noted = outages.OutageLog(looking.look)
        noted.note(refusal, "INCR")
        await until(lambda: _holds(not noted.is_counting))
        await noted.close()
    assert [(line["event"], line.get("command")) for line in lines] == [("store_outage", "INCR")]
    assert not looking.looks


async def test_what_the_log_says_of_permissions(settings: Settings, db: Database, alice: Member) -> None:
    """The log names the command or script that the user may not run. It has no key and no argument."""
    async with outage("NOPERM", settings.redis_url):
        with logged() as lines:
            await alice.send('mutation { post(input: {text: "a secret text"}) { status { id } } }')
    commands = {line["command"] for line in lines if line["event"] == "store_outage"}
    assert commands == {"INCR", "EXPIRE", "create_post"}
    assert "secret text" not in str(lines)
    assert str(number(alice.id)) not in str(lines)


async def _holds(fact: bool) -> bool:
    return fact

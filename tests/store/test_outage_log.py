"""The log lines of a store that refuses commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from store.client import outages
from store.client.database import CommandRefused, Database
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.servers.outages import outage
from tests.support.servers.processes import Redis, own_store, until
from tests.support.transport.small import logged
from tests.support.work import number


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
    """For any number of errors, the log has one line of each state, and no traceback."""
    with logged() as lines:
        for state in ("OOM", "BUSY"):
            async with outage(state, settings.redis_url):
                await asyncio.gather(
                    *(alice.send('mutation { post(input: {text: "x"}) { status { id } } }') for _ in range(20))
                )
    warnings = [line for line in lines if line["log_level"] in {"warning", "error"}]
    assert [(line["event"], line["state"], line["errors"]) for line in warnings] == [
        ("store_outage", "OOM", 1),
        ("store_outage", "BUSY", 1),
    ]
    assert not [line for line in lines if "exc_info" in line]


async def test_a_line_each_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """While errors go on a line a minute counts them; one minute without an error ends the outage."""
    monkeypatch.setattr(outages, "LOG_SECONDS", 0.001)
    with logged() as lines:
        outage_log = outages.OutageLog()
        for _ in range(5):
            outage_log.note(CommandRefused("OOM command not allowed", "OOM"), "INCR")
        await until(lambda: _holds(len(lines) == 2 and not outage_log.is_counting))
        outage_log.note(CommandRefused("OOM command not allowed", "OOM"), "INCR")
        outage_log.close()
    assert [line["errors"] for line in lines] == [1, 4, 1]


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

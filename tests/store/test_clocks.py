"""Clocks that differ, and ids that a wrong clock has made, are noticed and logged once."""

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from store import keys
from store.client import clocks
from store.client.clocks import NEWEST_ID, ClockLog
from store.client.database import Database
from store.ids import EPOCH, PARTITIONS
from tests.support.people import Member
from tests.support.servers.processes import connected, own_store, perch
from tests.support.transport.small import logged

DAY = timedelta(days=1).total_seconds()
A_MINUTE = 60.0  # s that a busy machine may take between two looks at its clock


async def set_ahead(db: Database, seconds: float) -> None:
    """Leave every partition as a clock that was ahead has left it: its newest id was made in time to come."""
    tick = int((time.time() + seconds - EPOCH.timestamp()) * 1000) << 4
    await db.ask(*(("SET", keys.minted(partition), tick) for partition in range(PARTITIONS)))


async def test_clocks_that_agree(db: Database, alice: Member) -> None:
    """On a site whose clocks agree, nothing differs, however many ids were made at once."""
    for i in range(20):
        await alice.post(f"post {i}")
    assert await clocks.differences(db) == {}


async def test_ids_of_a_day_to_come(db: Database, alice: Member) -> None:
    """The newest id is found ahead, also after the clock was put right and members have posted."""
    assert await clocks.newest_id_ahead(db) == 0
    await set_ahead(db, DAY)
    await alice.post("made after the clock was put right")
    found = await clocks.differences(db)
    assert set(found) == {NEWEST_ID}
    assert DAY - A_MINUTE < found[NEWEST_ID] < DAY + A_MINUTE


@pytest.mark.parametrize("ahead", [DAY, -DAY])
async def test_a_clock_of_another_day(db: Database, monkeypatch: pytest.MonkeyPatch, ahead: float) -> None:
    """The clock of each server is compared with that of this machine, in both directions."""
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - ahead)
    found = await clocks.differences(db)
    servers: dict[str, Any] = {name: seconds for name, seconds in found.items() if name != NEWEST_ID}
    assert set(servers) == {node.name for node in db.nodes}
    assert all(abs(seconds - ahead) < A_MINUTE for seconds in servers.values())


async def test_serving_processes_compare(tmp_path: Path) -> None:
    """A process that serves logs at its start what differs."""
    async with own_store(tmp_path) as store, connected(store.settings["redis_url"]) as db:
        await set_ahead(db, DAY)
        async with perch(tmp_path, "serve", **store.settings) as running:
            assert NEWEST_ID in await running.err.line("clock_differs")
            await running.stop()


def test_each_difference_is_logged_once() -> None:
    """The log has one line when a clock begins to differ, and one when it agrees again."""
    noted = ClockLog()
    with logged() as lines:
        for found in ({}, {"a": 90.04}, {"a": 91.0, NEWEST_ID: 3600.0}, {NEWEST_ID: 3599.0}, {}):
            noted.note(found)
    assert [(line["event"], line["of"], line.get("ahead_seconds")) for line in lines] == [
        ("clock_differs", "a", 90.0),
        ("clock_differs", NEWEST_ID, 3600.0),
        ("clock_agrees", "a", None),
        ("clock_agrees", NEWEST_ID, None),
    ]

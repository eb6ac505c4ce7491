"""A start that takes long: systemd is told what it waits for, and goes on waiting."""

import asyncio
import contextlib
import random
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from serving import running
from store.embedded import launch, opening
from store.settings import Settings
from tests.support.people import SECRET
from tests.support.servers.processes import redis, until
from tests.support.slow import slow

pytestmark = slow

KEYS = 30


class Notified:
    """The socket on which systemd is told states."""

    def __init__(self, held: socket.socket) -> None:
        self._held = held

    def states(self) -> list[dict[str, str]]:
        """Return all states told so far, each as its assignments."""
        found: list[dict[str, str]] = []
        while True:
            try:
                text = self._held.recv(1_000).decode()
            except BlockingIOError:
                return found
            found.append(dict(line.split("=", 1) for line in text.splitlines()))


@pytest.fixture
def notified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notified]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as held:
        held.bind(str(tmp_path / "notify"))
        held.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield Notified(held)


async def test_a_large_embedded_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notified: Notified) -> None:
    """While the embedded store loads its data, the time is extended, with a percentage that only rises."""
    settings = Settings(data_dir=tmp_path / "data", secret_key=SECRET)
    async with opening.database(settings) as db:
        await db.ask(*(("SET", f"filler:{{{i}}}", random.randbytes(4096)) for i in range(KEYS)))  # noqa: S311  only large
        await db.one("BGREWRITEAOF")  # as a snapshot, whose loading can be delayed

        async def is_rewritten() -> bool:
            return "aof_last_rewrite_time_sec:-1" not in await db.one("INFO", "persistence")

        await until(is_rewritten)
    assert notified.states() == []
    command = launch._server_command  # noqa: SLF001  a delay is no option of Perch

    def slow(*given: Any) -> list[str]:
        return [*command(*given), "--key-load-delay", "100000", "--loading-process-events-interval-bytes", "1024"]  # µs

    monkeypatch.setattr(launch, "_server_command", slow)
    async with running.database(settings) as db:
        assert await db.one("EXISTS", "filler:{0}")
    *told, last = notified.states()
    assert last == {"STATUS": ""}
    assert told
    percents: list[int] = []
    for state in told:
        assert state.keys() == {"EXTEND_TIMEOUT_USEC", "STATUS"}
        assert int(state["EXTEND_TIMEOUT_USEC"]) > 10_000_000
        if state["STATUS"] == "The store in data prepares its data":
            continue  # before it says how much there is
        found = re.fullmatch(r"The store in data loads its data: (\d+) %", state["STATUS"])
        assert found, state
        percents.append(int(found[1]))
    assert percents == sorted(percents)
    assert percents[-1] > 0


async def test_a_redis_that_is_away(tmp_path: Path, notified: Notified) -> None:
    """While the server of REDIS_URL cannot be reached, the time is extended, with the reason; then nothing is said."""
    async with redis(tmp_path / "redis") as away, contextlib.AsyncExitStack() as stack:
        settings = Settings(redis_url=away.settings["redis_url"], secret_key=SECRET)
        opening_it = asyncio.create_task(stack.enter_async_context(running.database(settings)))
        told: list[dict[str, str]] = []

        async def is_told() -> bool:
            told.extend(notified.states())
            return bool(told)

        await until(is_told)
        assert told[0]["STATUS"].startswith("Redis cannot be reached: ")
        assert int(told[0]["EXTEND_TIMEOUT_USEC"]) > 10_000_000
        await away.start()
        await opening_it
        assert notified.states()[-1] == {"STATUS": ""}

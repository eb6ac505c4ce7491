"""Required settings of Redis: Perch names the settings that differ when it starts."""

from pathlib import Path
from typing import Any

import pytest

from store.client.requirements import REQUIRED
from tests.support.servers import lines
from tests.support.servers.processes import Perch, connected, perch, redis, until

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"
OTHER = {
    "appendonly": "no",
    "maxmemory-policy": "allkeys-lru",
    "list-max-listpack-size": "-2",
    "zset-max-listpack-entries": "128",
    "zset-max-listpack-value": "32",
    "hash-max-listpack-entries": "512",
    "hash-max-listpack-value": "128",
}


async def _warnings(running: Perch) -> list[dict[str, Any]]:
    """Return a process's warnings, once it serves or works and is stopped."""
    await running.out.line("Perch ")
    await running.stop()
    return [record for record in lines.read(await running.err.all()) if record["event"].startswith("redis_setting")]


@pytest.mark.parametrize("command", [["serve"], ["serve", "--processes", "2"], ["worker"]])
async def test_wrong_settings(tmp_path: Path, command: list[str]) -> None:
    """Perch warns once of each setting that differs, for any number of processes."""
    async with redis(tmp_path / "redis") as server, connected(server.settings["redis_url"]) as db:
        await server.start()
        await until(db.ready)
        await db.one("CONFIG", "SET", *(word for pair in OTHER.items() for word in pair))
        async with perch(tmp_path / "data", *command, **server.settings) as running:
            said = await _warnings(running)
        assert {record["level"] for record in said} == {"warning"}
        assert [(record["setting"], record["value"], record["should_be"]) for record in said] == [
            (name, value, REQUIRED[name]) for name, value in OTHER.items()
        ]


async def test_right_settings(tmp_path: Path) -> None:
    """A server with the documented settings causes no warning."""
    async with redis(tmp_path / "redis") as server, connected(server.settings["redis_url"]) as db:
        await server.start()
        await until(db.ready)
        await db.one("CONFIG", "SET", *(word for pair in REQUIRED.items() for word in pair))
        async with perch(tmp_path / "data", "serve", **server.settings) as running:
            assert await _warnings(running) == []


async def test_settings_that_cannot_be_read(tmp_path: Path) -> None:
    """If Perch may not read the settings, one warning says so and names them."""
    async with redis(tmp_path / "redis") as server:
        await server.start()
        async with connected(server.settings["redis_url"]) as db:
            await until(db.ready)
            await db.one("ACL", "SETUSER", "default", "-config")
        async with perch(tmp_path / "data", "serve", **server.settings) as running:
            (said,) = await _warnings(running)
        assert (said["event"], said["settings"]) == ("redis_settings_unchecked", REQUIRED)
        assert "NOPERM" in said["error"] or "permissions" in said["error"]


async def test_embedded_store(tmp_path: Path) -> None:
    """The embedded store has the required settings and causes no warning."""
    async with perch(tmp_path, "serve") as running:
        assert await _warnings(running) == []


def test_documentation() -> None:
    """The page on operations names every setting, with its value."""
    text = " ".join(OPERATIONS.read_text(encoding="utf-8").split())
    assert [name for name, value in REQUIRED.items() if f"`{name} {value}`" not in text] == []

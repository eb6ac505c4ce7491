"""A Redis of one's own that is away, at the start or under load."""

import asyncio
import random
import re
from functools import partial
from pathlib import Path

import pytest

import server
from store.client.database import Unavailable
from store.embedded import opening
from store.settings import Settings
from tests.support.people import SECRET, Member, sign_up
from tests.support.servers.load import Load, friends
from tests.support.servers.processes import perch, redis, run, until, visiting
from tests.support.slow import slow

VIEWER = "{ viewer { user { login postCount } } }"


async def test_redis_away_at_start(tmp_path: Path) -> None:
    """It reports that Redis is away, tries again, and serves once Redis is there."""
    async with redis(tmp_path / "redis") as away, perch(tmp_path / "data", "serve", **away.settings) as running:
        line = await running.err.line("next try in")
        assert re.fullmatch(r"perch: Redis cannot be reached \(.+\); next try in 0.5 s", line)
        await away.start()
        async with visiting(await running.url()) as anonymous:
            assert (await sign_up(anonymous, "alice")).token
        assert running.out.lines[1] == f"  data  {away.settings['redis_url']}"
        assert not (tmp_path / "data").exists()


async def test_redis_loads_its_data_at_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A start waits for a server that still loads its data, though that server already says what it is."""
    async with redis(tmp_path / "redis") as loading:
        settings = Settings(redis_url=loading.settings["redis_url"], secret_key=SECRET)
        await loading.start()
        async with opening.database(settings) as db:
            await db.ask(*(("SET", f"filler:{{{i}}}", random.randbytes(4096)) for i in range(20)))  # noqa: S311  only large
            await db.one("BGREWRITEAOF")

            async def is_rewritten() -> bool:
                return "aof_last_rewrite_time_sec:-1" not in await db.one("INFO", "persistence")

            await until(is_rewritten)
        await loading.stop()
        await loading.start(key_load_delay="100000", loading_process_events_interval_bytes="1024")  # µs for each key
        async with opening.database(settings) as db:
            assert await db.one("EXISTS", "filler:{0}")
        assert "LOADING" in capsys.readouterr().err


@slow
async def test_redis_away_under_load(tmp_path: Path) -> None:
    """While Redis is away every answer is 503 SERVICE_UNAVAILABLE; afterwards all goes on, without a restart."""
    async with redis(tmp_path / "redis") as away, perch(tmp_path, "serve", **away.settings) as running:
        await away.start()
        async with visiting(await running.url()) as anonymous:
            members = await friends(anonymous, 4)
            load = Load(members, 80)
            posting = asyncio.create_task(load.post(len(members)))
            await until(lambda: _holds(len(load.answered) > 10))
            await away.kill()
            load.add(20)  # on a busy machine, the others may all have been answered before the kill
            late = asyncio.create_task(load.post(len(members)))
            await until(lambda: _holds(sum(load.refused.values()) > len(members)))
            assert await _status(anonymous, "/readyz") == 503
            assert await _status(anonymous, "/healthz") == 200
            assert await members[0].fail(VIEWER) == "SERVICE_UNAVAILABLE"
            await away.start()
            await asyncio.gather(posting, late)
            assert await _status(anonymous, "/readyz") == 200
            for member in members:
                await until(partial(_has_home, member, load.newest_first()))
        assert await running.stop() == 0


async def _holds(fact: bool) -> bool:
    return fact


async def _has_home(member: Member, wanted: list[str]) -> bool:
    return await member.home() == wanted


async def _status(anonymous: Member, path: str) -> int:
    async with anonymous.client.get(path) as response:
        return response.status


COMMANDS = ("verify", "repair", "migrate", "trim", "recount", "jobs")


@pytest.mark.parametrize("command", COMMANDS)
async def test_commands_end_without_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """A command whose store cannot be reached ends with one line and status 1, and so does one of a broken cluster."""
    monkeypatch.setattr(opening, "COMMAND_PATIENCE", 0.0)
    for added in (None, {"cluster_enabled": "yes"}):  # nothing runs there, and a node that owns no slots
        async with redis(tmp_path / f"redis{added is None}") as away:
            if added:
                await away.start(**added)
            with pytest.raises(Unavailable, match="the store cannot be reached"):
                await _run(command, redis_url=away.settings["redis_url"], secret_key=SECRET)


async def test_a_silent_command(tmp_path: Path) -> None:
    """On the command line, it says that the store cannot be reached, and nothing else."""
    async with redis(tmp_path / "redis") as away:
        status, out, err = await run(tmp_path / "data", "verify", log_level="ERROR", **away.settings)
    assert (status, out) == (1, "")
    assert re.fullmatch(r"perch: the store cannot be reached: .+", err)


async def _run(command: str, **settings: str) -> int:
    asked = server._parser().parse_args([command])  # noqa: SLF001  what the command line does
    status: int = await asked.run(Settings(**settings), asked)  # type: ignore[arg-type]
    return status

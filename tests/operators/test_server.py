"""The command line: its output, files and refusals, and how it starts and ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import stat
import sys
import tomllib
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectionError

import server
from serving.tables import tables
from store import keys
from store.keys.fields import CommentField
from tests.support.people import Member, sign_up
from tests.support.servers.load import Load, friends
from tests.support.servers.processes import SERVER, Perch, is_writing, opened, perch, redis, run, until, visiting
from tests.support.transport.feeds import following
from tests.support.transport.live import HOME, subscribed
from tests.support.work import number

COMMANDS = (
    *("serve", "worker", "import", "verify", "repair", "rebuild-home", "trim", "recount", "jobs", "set-role"),
    *("print-schema", "print-tables"),
)
VIEWER = "{ viewer { user { login postCount } } }"


@contextlib.asynccontextmanager
async def serving(data_dir: Path, **settings: Any) -> AsyncIterator[tuple[Perch, Member]]:
    """A serving process, and a client."""
    async with perch(data_dir, "serve", **settings) as running, visiting(await running.url()) as anonymous:
        yield running, anonymous


# ---------------------------------------------------------------- start, stop, start again


async def test_starts(tmp_path: Path) -> None:
    """It prints its address and data directory; secret, members and posts survive any end of it."""
    async with serving(tmp_path / "data") as (running, anonymous):
        assert running.out.lines == [
            f"Perch is running: server and worker, process {running.process.pid}",
            f"  data  {tmp_path / 'data'} (embedded)",
            f"  open  {await running.url()}/graphql",
        ]
        alice = await sign_up(anonymous, "alice")
        first = await alice.post("before the clean stop")
        kept = tmp_path / "data/secret.key"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        secret = kept.read_text()
        assert len(secret) >= 32
        assert await running.stop() == 0
    async with serving(tmp_path / "data", run_worker="false") as (running, anonymous):
        assert running.out.lines[0] == f"Perch is running: server, process {running.process.pid}"
        alice.client = anonymous.client
        assert await alice.home() == [first]
        second = await alice.post("before kill -9")
        running.process.kill()
        assert await running.ended() == -9
    async with serving(tmp_path / "data") as (_, anonymous):
        alice.client = anonymous.client
        assert await alice.home() == [second, first]
        assert (await alice.ask(VIEWER))["user"] == {"login": "alice", "postCount": 2}
        assert kept.read_text() == secret


async def test_demo(tmp_path: Path) -> None:
    """The login printed by --demo opens a home."""
    async with perch(tmp_path, "serve", "--demo") as running, visiting(await running.url()) as anonymous:
        words = re.search(r"log in as (\w+) with the password '(.+)'", "\n".join(running.out.lines))
        assert words
        query = "mutation($input: LogInInput!) { logIn(input: $input) { accessToken } }"
        payload = await anonymous.ask(query, input={"identifier": words[1], "password": words[2]})
        assert await Member(anonymous.client, payload["accessToken"]).home()


async def test_stops_gently(tmp_path: Path) -> None:
    """SIGTERM lets a running request finish, ends sockets and streams, and takes no more requests."""
    async with opened(tmp_path) as db, serving(tmp_path, run_worker="false") as (running, anonymous):
        alice = await sign_up(anonymous, "alice")
        await alice.home()  # today's read is recorded already, so that the post is the only write
        async with subscribed(alice, HOME) as stream, following(alice, HOME) as feed:
            await db.one("CLIENT", "PAUSE", 60_000, "WRITE")
            posting = asyncio.create_task(alice.post("until the end"))
            await until(lambda: is_writing(db))
            running.process.terminate()
            assert await stream.closed() == 1001
            await feed.completed()
            assert not posting.done()
            await db.one("CLIENT", "UNPAUSE")
            post = await posting
            assert await running.ended() == 0
        with pytest.raises(ClientConnectionError):
            await alice.home()
        assert await db.one("EXISTS", keys.status(number(post)))


# ---------------------------------------------------------------- what it refuses

WRONG = {
    "PORT": ("eighty", "PORT must be a whole number, not 'eighty'"),
    "REDIS_CONNECTIONS": ("0", "REDIS_CONNECTIONS must be at least 1, not 0"),
    "MAX_PAGE": ("1001", "MAX_PAGE must be at most 1000, not 1001"),
    "FANOUT_INLINE": ("-1", "FANOUT_INLINE must be at least 0, not -1"),
    "RUN_WORKER": ("perhaps", "RUN_WORKER must be true or false, not 'perhaps'"),
    "LOG_LEVEL": ("LOUD", "LOG_LEVEL must be one of DEBUG, INFO, WARNING, ERROR, not 'LOUD'"),
    "APPENDFSYNC": ("no", "APPENDFSYNC must be one of everysec, always, not 'no'"),
    "SECRET_KEY": ("short", "SECRET_KEY must have at least 32 characters"),
    "REDIS_URL": ("http://example.org", "REDIS_URL must begin with one of redis://, rediss://, unix://"),
    "TRUSTED_PROXIES": ("10.0.0.0/8, home", "TRUSTED_PROXIES: 'home' does not appear to be an IPv4 or IPv6 network"),
    "CORS_ORIGINS": ("example.org", "CORS_ORIGINS: 'example.org' is no origin such as https://example.org"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_settings(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An invalid value of a setting ends in one line that names the variable, and in status 2."""
    value, message = WRONG[name]
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.setenv(name, value)
    assert server.main(["serve"]) == 2
    assert capsys.readouterr() == ("", f"perch: {message}\n")


async def test_redis_without_a_secret(tmp_path: Path) -> None:
    """When several processes may share a Redis, none generates a secret of its own."""
    status, out, err = await run(tmp_path / "data", "serve", redis_url="redis://localhost")
    assert (status, out) == (2, "")
    assert err == "perch: SECRET_KEY must be set when REDIS_URL is, the same for every process"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["import"],
        ["verify", "--homes", "0"],
        ["serve", "--port", "1"],
        ["jobs", "--retry", "some"],
        ["jobs", "--retry", "1", "--discard", "1"],
    ],
)
def test_wrong_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An invalid command line ends with the usage and status 2."""
    with pytest.raises(SystemExit) as ended:
        server.main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: server.py")


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command explains itself and its options."""
    with pytest.raises(SystemExit) as ended:
        server.main([command, "--help"])
    assert ended.value.code == 0
    assert f"usage: server.py {command}" in capsys.readouterr().out


def test_installed_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`perch` is the command line, and calls itself so in its help."""
    project = tomllib.loads((Path(server.__file__).parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {server.INSTALLED: f"{server.__name__}:{server.main.__name__}"}
    monkeypatch.setattr(sys, "argv", ["/usr/local/bin/perch"])
    with pytest.raises(SystemExit):
        server.main(["serve", "--help"])
    assert "usage: perch serve" in capsys.readouterr().out


async def test_installed_command_starts_several_processes(tmp_path: Path) -> None:
    """A script of another folder that calls `main`, as an installer writes it, serves with two processes."""
    script = tmp_path / "perch"
    script.write_text(f"import sys; sys.path.insert(0, {str(SERVER.parent)!r})\nimport server; sys.exit(server.main())")
    replaced = ("/bin/sh", "-c", f'python="$1"; shift 2; exec "$python" {script} "$@"', "sh")
    async with perch(tmp_path / "data", "serve", within=replaced, processes=2) as running:
        async with visiting(await running.url()) as anonymous:
            alice = await sign_up(anonymous, "alice")
            assert (await alice.ask(VIEWER))["user"]["login"] == "alice"
        assert await running.stop() == 0


async def test_nothing_to_start_on(tmp_path: Path) -> None:
    """An unusable port or data directory, or a broken secret, is one clear line and status 1."""
    (tmp_path / "file").touch()
    (tmp_path / "data").mkdir()
    (tmp_path / "data/secret.key").write_text("too short")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        in_use, no_folder, no_secret = await asyncio.gather(
            run(tmp_path, "serve", port=port, log_level="ERROR"),
            run(tmp_path / "file", "serve", log_level="ERROR"),
            run(tmp_path / "data", "serve", log_level="ERROR"),
        )
    assert in_use[:2] == (1, "")
    assert re.fullmatch(rf"perch: cannot listen on 127\.0\.0\.1:{port}: .*address already in use", in_use[2])
    assert no_folder == (1, "", f"perch: {tmp_path / 'file'}: the data directory is a file")
    assert no_secret[:2] == (1, "")
    assert no_secret[2].startswith(f"perch: {tmp_path / 'data/secret.key'} holds no secret")


# ---------------------------------------------------------------- other commands


async def test_printing(tmp_path: Path) -> None:
    """The schema and the documentation's tables are printed without a store."""
    printed = await asyncio.gather(run(tmp_path / "data", "print-schema"), run(tmp_path / "data", "print-tables"))
    (status, schema, err), printed_tables = printed
    assert (status, err) == (0, "")
    assert "homeTimeline(" in schema
    assert printed_tables == (0, "\n\n".join(tables().values()), "")
    assert not (tmp_path / "data").exists()


async def test_commands_beside_a_server(tmp_path: Path) -> None:
    """`verify` finds the jobs of a server without a worker, `worker` does them, and then nothing is found."""
    async with serving(tmp_path, run_worker="false", fanout_inline=1) as (running, anonymous):
        alice, bob, carol = [await sign_up(anonymous, name) for name in ("alice", "bob", "carol")]
        for follower in (bob, carol):
            await follower.follow(alice)
        post = await alice.post("for everybody")
        status, out, _ = await run(tmp_path, "verify", "--all-homes")
        assert status == 1
        assert f"{keys.home(number(carol.id))}: misses 1 (such as {number(post)})" in out
        assert "1 findings" in out
        assert "1 jobs are unfinished" in out
        async with perch(tmp_path, "worker") as worker:
            assert await worker.out.line("Perch works")
            await until(carol.home)
            assert await worker.stop() == 0
        assert await running.stop() == 0
    status, out, _ = await run(tmp_path, "verify", "--all-homes")
    assert status == 0
    assert re.search(r"^[\d,]+ keys and 3 homes checked: 0 findings$", out)


async def test_answers_for_people_and_for_programs(tmp_path: Path) -> None:
    """A command prints its answer and no line of the log; with --json the answer is one JSON document."""
    async with opened(tmp_path) as db:
        await db.one("SET", keys.login("nobody"), 4242)
        status, out, err = await run(tmp_path, "jobs")
        assert (status, out) == (0, "0 jobs are unfinished, 0 have failed too often and are set aside")
        assert "{" not in err
        expected: dict[str, tuple[int, dict[str, Any]]] = {
            "jobs": (0, {"unfinished": [], "dead": []}),
            "recount": (0, {"members": 0, "posts": 0, "wrong": 0}),
            "verify": (1, {"keys": 1, "homes": 0, "unfinishedJobs": 0, "deadJobs": 0}),
            "repair": (0, {"mended": 1, "keys": 0, "homes": 0, "findings": [], "unfinishedJobs": 0, "deadJobs": 0}),
        }
        for command, (ends, data) in expected.items():
            status, out, err = await run(tmp_path, command, "--json")
            assert (status, err) == (ends, "")
            answer = json.loads(out)
            if command == "verify":
                (finding,) = answer.pop("findings")
                assert finding["key"] == keys.login("nobody")
            assert answer == data


async def test_members_changed_by_commands(tmp_path: Path) -> None:
    """What a command does to one member is answered as JSON when that is asked for."""
    async with serving(tmp_path) as (_, anonymous):
        await sign_up(anonymous, "alice")
        for arguments, data in (
            (("set-role", "alice", "ADMIN"), {"login": "alice", "role": "ADMIN"}),
            (("suspend", "alice"), {"login": "alice", "suspended": True}),
            (("suspend", "alice", "--end"), {"login": "alice", "suspended": False}),
            (("rebuild-home", "alice"), {"login": "alice", "entries": 0}),
        ):
            status, out, err = await run(tmp_path, *arguments, "--json")
            assert (status, json.loads(out), err) == (0, data, "")


async def test_repair(tmp_path: Path) -> None:
    """`repair` without a server repairs the findings of `verify`, and says so."""
    async with opened(tmp_path) as db:
        await db.one("SET", keys.login("nobody"), 4242)
        await db.one("ZADD", keys.comments(4096), 1, 4242)
        await db.one(
            "HSET", keys.comment(4242), CommentField.AUTHOR, 1, CommentField.POST, 4096, CommentField.TEXT, "lost"
        )
        status, out, _ = await run(tmp_path, "repair")
        assert status == 0
        assert f"{keys.login('nobody')}: belongs to 4242, who does not exist" in out
        assert out.endswith("0 keys and 0 homes checked: 0 findings")
        assert not await db.one("DBSIZE")


# ---------------------------------------------------------------- a Redis of one's own that goes away


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
            await until(lambda: _holds(sum(load.refused.values()) > len(members)))
            assert await _status(anonymous, "/readyz") == 503
            assert await _status(anonymous, "/healthz") == 200
            assert await members[0].fail(VIEWER) == "SERVICE_UNAVAILABLE"
            await away.start()
            await posting
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

"""Serving: its output, files and refusals, and how it starts and ends."""

import asyncio
import re
import socket
import stat
import sys
import tomllib
from pathlib import Path

import pytest
from aiohttp import ClientConnectionError

import server
from serving.arguments import INSTALLED
from store import keys
from tests.support.people import Member, sign_up
from tests.support.servers.forking import SERVER
from tests.support.servers.processes import is_writing, opened, perch, run, serving, until, visiting
from tests.support.transport.feeds import following
from tests.support.transport.live import HOME, subscribed
from tests.support.work import number

COMMANDS = (
    *("serve", "worker", "import", "verify", "repair", "rebuild-home", "trim", "recount", "jobs", "set-role"),
    *("print-schema", "print-tables"),
)
VIEWER = "{ viewer { user { login postCount } } }"


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
    "STORE_NODES": ("2", "STORE_NODES must be 1, 3, 4, 5 or an even number up to 32, not 2"),
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


async def test_wrong_trusted_documents(tmp_path: Path) -> None:
    """A manifest of trusted documents that cannot be read stops the server before it makes a store."""
    missing = tmp_path / "missing.json"
    status, out, err = await run(tmp_path / "data", "serve", trusted_documents=str(missing))
    assert (status, out, err) == (1, "", f"perch: TRUSTED_DOCUMENTS={missing}: no such file or directory")
    assert not (tmp_path / "data").exists()


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
    assert project["scripts"] == {INSTALLED: f"{server.__name__}:{server.main.__name__}"}
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


async def test_a_log_that_cannot_be_written(tmp_path: Path) -> None:
    """Requests are answered while the disk that takes the log is full."""
    full = ("/bin/sh", "-c", 'exec "$@" 2>/dev/full', "sh")
    async with perch(tmp_path, "serve", within=full, log_level="INFO") as running:
        async with visiting(await running.url()) as anonymous:
            assert await anonymous.ask("{ __typename }") == "Query"
        assert await running.stop() == 0

"""The command `move`: everything arrives, whatever changes meanwhile; and the server that is left loses nothing."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from resolvers.upkeep import move
from resolvers.upkeep.commands import CommandAnswer, UpkeepRefused
from resolvers.upkeep.progress import bar
from store import jobs, keys
from store.client.database import CommandRefused, Database
from store.layout import versions
from store.upkeep import comparing
from store.upkeep.copying import moving
from store.upkeep.copying.moving import Value
from tests.support.servers.cluster import cluster
from tests.support.servers.load import Load, friends, moved
from tests.support.servers.moves import CHANGES, equal, failing, fill
from tests.support.servers.processes import connected, own_store, run, serving, until
from tests.support.slow import slow
from tests.support.work import number

FRIENDS, CLIENTS = 4, 4
ENOUGH = 20  # posts before the move, and after it
MOST = 20_000  # posts: more than are made until the move ends
PAGE = 300
LIMITS: dict[str, Any] = {"max_page": PAGE, "fanout_inline": 2}
OLDER = shutil.which("redis-server") or ""  # Debian 12 has 7.0
NONE = {"resume": False, "one_server": True, "skip_verify": False, "all_homes": True, "abandon": False}

Run = Callable[..., Coroutine[Any, Any, CommandAnswer]]


@pytest.fixture
async def sides(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[tuple[str, str]]:
    """The URLs of a server and of a target, which is one, too, or a cluster. Both are empty."""
    (tmp_path / "source").mkdir()
    (tmp_path / "target").mkdir()
    async with own_store(tmp_path / "source") as source:
        url = source.settings["redis_url"]
        if getattr(request, "param", "server") == "server":
            async with own_store(tmp_path / "target") as target:
                yield url, target.settings["redis_url"]
        else:
            async with cluster(tmp_path / "target") as nodes:
                yield url, nodes.url


BOTH = pytest.mark.parametrize("sides", ["server", "cluster"], indirect=True)


@pytest.fixture
async def source(sides: tuple[str, str]) -> AsyncIterator[Database]:
    async with connected(sides[0]) as db:
        await versions.check(db)  # labels the empty store, as Perch does
        yield db


@pytest.fixture
async def target(sides: tuple[str, str]) -> AsyncIterator[Database]:
    async with connected(sides[1]) as db:
        yield db


@pytest.fixture
def moving_on(sides: tuple[str, str], source: Database) -> Run:
    """Moves from one side to the other, with some options."""
    return lambda **options: move.run(source, partial(bar, hidden=True), **{"target": sides[1], **NONE, **options})


@BOTH
async def test_every_type(source: Database, target: Database, moving_on: Run) -> None:
    """Values of every type arrive with their expiry, and streams with groups and entries not acknowledged."""
    await fill(source)
    answer = await moving_on()
    assert (answer.status, answer.data["moved"]) == (0, True)
    assert await equal(source, target)
    assert await target.one("PEXPIRETIME", "text:7") == await source.one("PEXPIRETIME", "text:7")
    assert await target.one("XPENDING", "stream", "workers") == await source.one("XPENDING", "stream", "workers")


@pytest.mark.parametrize("share", [0, 0.5, 1])
@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
async def test_changes_meanwhile(
    source: Database,
    target: Database,
    moving_on: Run,
    monkeypatch: pytest.MonkeyPatch,
    changes: Sequence[tuple[Any, ...]],
    share: float,
) -> None:
    """Every change arrives, whether the copy has just begun, is half done or has ended."""
    await fill(source)
    due, copied, store = share * await source.one("DBSIZE"), set[str](), moving.restore
    left = [changes]

    async def restore(db: Database, values: Sequence[Value], gone: Sequence[str]) -> None:
        await store(db, values, gone)
        copied.update(value.key for value in values)
        if len(copied) >= due and left:
            await source.ask(*left.pop())

    monkeypatch.setattr(moving, "restore", restore)
    monkeypatch.setattr(moving, "SCANNED", 50)
    assert (await moving_on()).status == 0
    assert not left
    assert await equal(source, target)


@slow
@BOTH
async def test_under_load(tmp_path: Path, sides: tuple[str, str]) -> None:
    """Members post during the move: what was answered is there after the switch, and what was refused can be repeated.

    Their sessions go on.
    """
    old, new = ({"redis_url": url, "secret_key": "the same secret at both sides, long enough"} for url in sides)
    async with contextlib.AsyncExitStack() as stack:
        _, anonymous = await stack.enter_async_context(serving(tmp_path, **old, **LIMITS))
        members = await friends(anonymous, FRIENDS)
        load = Load(members, MOST)
        posting = asyncio.create_task(load.post(CLIENTS))
        await until(lambda: _answered(load, ENOUGH))
        status, out, err = await run(tmp_path, "move", sides[1], "--one-server", "--all-homes", **old)
        assert status == 0, out + err
        assert f"and {FRIENDS} homes checked: 0 findings" in out
        before = len(load.answered)
        _, anonymous = await stack.enter_async_context(serving(tmp_path, **new, **LIMITS))
        moved(members, anonymous)
        await until(lambda: _answered(load, before + ENOUGH))
        load.left.clear()
        await posting
        async with connected(sides[1]) as db:
            await until(lambda: _is_finished(db))
            assert await moving.missing(db, [keys.status(number(post)) for post in load.answered]) == []
        for member in members:
            assert await member.home(f"first: {PAGE}") == load.newest_first()[:PAGE]
        assert (await run(tmp_path, "verify", "--all-homes", **new))[0] == 0


async def _is_finished(db: Database) -> bool:
    return await jobs.backlog(db) == (0, 0)


async def _answered(load: Load, count: int) -> bool:
    return len(load.answered) >= count


async def test_writes_are_refused(source: Database, moving_on: Run) -> None:
    """After the move, the server refuses writes and answers reads, until the move is abandoned."""
    await source.one("CONFIG", "SET", "min-replicas-to-write", 0)
    await fill(source)
    await moving_on()
    with pytest.raises(CommandRefused, match="NOREPLICAS"):
        await source.one("SET", "late", "1")
    assert await source.one("GET", "lasting:1") == "1"
    for said in ("the server accepts writes again", "the server has accepted writes already"):
        assert (await moving_on(target=None, abandon=True)).lines == [said]
        await source.one("SET", "late", "1")


async def test_an_operators_own_replicas(source: Database, moving_on: Run) -> None:
    """The setting that refuses writes is afterwards what it was, also when the move was killed and run again."""
    await source.one("CONFIG", "SET", "min-replicas-to-write", 2)
    await moving.refuse_writes(source)
    await moving.refuse_writes(source)
    await moving_on(target=None, abandon=True)
    assert await source.one("CONFIG", "GET", "min-replicas-to-write") == ["min-replicas-to-write", "2"]


@BOTH
async def test_an_interrupted_move(
    source: Database, target: Database, moving_on: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move that fails at any step leaves a server that accepts writes, and goes on with `--resume`.

    A key that was deleted in between is deleted from the target.
    """
    await fill(source)
    resume = False
    for module, step, before in ((moving, "restore", 1), (moving, "restore", 6), (comparing, "differing", 0)):
        with monkeypatch.context() as patch:
            patch.setattr(module, step, failing(getattr(module, step), before))
            patch.setattr(moving, "SCANNED", 50)
            with pytest.raises(UpkeepRefused, match=r"the network.* again with --resume"):
                await moving_on(resume=resume)
        await source.one("DEL", f"lasting:{before}", f"text:{before}")
        resume = True
    with pytest.raises(UpkeepRefused, match="is not empty"):
        await moving_on()
    assert (await moving_on(resume=True)).status == 0
    assert await equal(source, target)


async def test_a_cancelled_move(source: Database, moving_on: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A move that is interrupted while the server refuses writes lets it accept them again."""
    await fill(source)
    reached = asyncio.Event()

    async def wait(*_: Any) -> list[str]:
        reached.set()
        await asyncio.get_running_loop().create_future()
        return []

    monkeypatch.setattr(comparing, "differing", wait)
    task = asyncio.create_task(moving_on())
    await reached.wait()
    with pytest.raises(CommandRefused):
        await source.one("SET", "late", "1")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await source.one("SET", "late", "1")


async def test_damage_is_found(source: Database, target: Database, moving_on: Run) -> None:
    """Where `verify` finds something on the target, the server that is left goes on."""
    await source.one("SADD", "following:{1}:16", 5)
    await source.one("DEL", "following:{1}:16")
    await source.one("ZADD", "followers:{1}:16", 5, 32)
    answer = await moving_on()
    assert (answer.status, answer.data["moved"]) == (1, False)
    await source.one("SET", "late", "1")


async def test_lost_changes(source: Database, moving_on: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes that nobody announced end the move, and so does a server that is emptied."""
    await fill(source)
    restore = moving.restore
    for command, why in ((("CLIENT", "KILL", "TYPE", "normal"), "was lost|can no longer"), (("FLUSHDB",), "emptied")):

        async def interrupt(db: Database, *values: Any) -> None:
            await restore(db, *values)
            await source.run([command])  # noqa: B023  run at once

        monkeypatch.setattr(moving, "restore", interrupt)
        with pytest.raises(UpkeepRefused, match=why):
            await moving_on(resume=True)


@pytest.mark.skipif(not OLDER, reason="redis-server is not installed")
async def test_an_older_target(tmp_path: Path, source: Database, moving_on: Run) -> None:
    """A target that cannot read the values of a newer server is named as older."""
    await fill(source)
    command = [OLDER, "--port", "0", "--unixsocket", str(tmp_path / "older.sock"), "--save", ""]
    server = await asyncio.create_subprocess_exec(*command, cwd=tmp_path, stdout=asyncio.subprocess.DEVNULL)
    try:
        async with connected(f"unix://{tmp_path}/older.sock") as db:
            await until(db.ready)
        with pytest.raises(UpkeepRefused, match="the target: it is older, and cannot read the values"):
            await moving_on(target=f"unix://{tmp_path}/older.sock")
    finally:
        server.kill()
        await server.wait()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "TARGET_URL is needed, unless with --abandon"),
        (["http://example.org"], "TARGET_URL must begin with one of redis://, rediss://, unix://"),
        (["redis://127.0.0.1:1"], "127.0.0.1:1"),
        (["TARGET"], "is no cluster; --one-server moves to a single server"),
        (["SOURCE", "--one-server"], "is the server that is to be moved"),
    ],
)
async def test_refused(tmp_path: Path, sides: tuple[str, str], arguments: list[str], said: str) -> None:
    """A target that cannot be used is one clear line and status 1; the server goes on."""
    urls = {"SOURCE": sides[0], "TARGET": sides[1]}
    settings = {"redis_url": sides[0], "secret_key": "long enough to be a secret of tests", "log_level": "ERROR"}
    status, out, err = await run(tmp_path, "move", *(urls.get(word, word) for word in arguments), **settings)
    assert (status, out, err) == (1, "", ANY)
    assert said in err.splitlines()[-1]
    async with connected(sides[0]) as db:
        await db.one("SET", "late", "1")

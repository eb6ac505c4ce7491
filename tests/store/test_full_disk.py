"""A disk that is full or read-only: a store with data serves them, and a failed start says why in one line."""

import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from store.client.database import Database
from store.embedded.attach import attach
from store.embedded.launch import StartOptions
from store.embedded.supervisor import DISK_IS_LOW
from store.settings import Settings
from store.upkeep.copying import moving
from tests.support.people import Member, sign_up
from tests.support.servers.disks import MIB, CannotMount, Disk, small_disk
from tests.support.servers.holders import REPOSITORY
from tests.support.servers.processes import until, visiting
from tests.support.slow import slow

pytestmark = slow

DISK_MIB, LARGE_MIB = 1, 24
LEAST_MIB = 4  # MIN_FREE_DISK on the larger disk
POST = 'mutation { post(input: {text: "no room"}) { status { id } } }'
UPLOAD = 'mutation { createUpload(input: {purpose: POST, contentType: "image/png", size: 1}) { upload { id } } }'
LARGE = pytest.mark.parametrize("disk", [LARGE_MIB], indirect=True)
VIEWER = "{ viewer { user { login } } }"

# Reads the secret with no room for a byte in any file. Python ignores the signal that comes with the error.
SECRET_WITHOUT_ROOM = """
import resource, sys
from pathlib import Path
from store.embedded.launch import EmbeddedStoreError
from store.embedded.opening import secret
from store.settings import Settings

resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    print(secret(Settings(data_dir=Path(sys.argv[1]))))
except EmbeddedStoreError as error:
    print(error)
"""


@pytest.fixture
async def disk(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Disk]:
    """A disk of its own, where one may be mounted."""
    try:
        async with small_disk(tmp_path / "disk", getattr(request, "param", DISK_MIB)) as made:
            yield made
    except CannotMount as error:
        pytest.skip(str(error))


async def _can_post(member: Member) -> bool:
    with contextlib.suppress(AssertionError, KeyError, TypeError):
        return bool(await member.post("there is room again"))
    return False


@pytest.mark.parametrize("left", [0, 30, 100, 2_000])
@pytest.mark.parametrize("appendfsync", ["everysec", "always"])
async def test_full_disk(disk: Disk, appendfsync: str, left: int) -> None:
    """A server restarts on a full disk and serves its data; once there is room, writes work again.

    `left` is how many bytes fit into the last block of the store's log. The store itself writes when a key expires.
    """
    async with disk.serving(appendfsync=appendfsync) as running, visiting(await running.url()) as anonymous:
        alice = await sign_up(anonymous, "alice")
        post = await alice.post("before")
        assert await alice.home() == [post]
        assert await running.stop() == 0
    secret = disk.path("data/secret.key").read_text()
    disk.pad_log(left)
    disk.fill()
    async with disk.serving(appendfsync=appendfsync) as running, visiting(await running.url()) as anonymous:
        alice.client = anonymous.client
        assert (await alice.ask(VIEWER))["user"] == {"login": "alice"}
        assert await alice.home() == [post]
        assert disk.appendfsync() == "everysec"
        disk.free()
        await until(partial(_can_post, alice))
        assert disk.appendfsync() == appendfsync
        assert post in await alice.home()
        assert await running.stop() == 0
    assert disk.path("data/secret.key").read_text() == secret
    assert not list(disk.path("data").glob("secret.key.*"))


async def _is_refused(member: Member) -> bool:
    errors = (await member.send(POST)).get("errors", [])
    return [error["extensions"]["code"] for error in errors] == ["SERVICE_UNAVAILABLE"]


async def _reads(member: Member, post: str) -> bool:
    with contextlib.suppress(AssertionError, KeyError, TypeError):
        return post in await member.home()
    return False


@LARGE
async def test_low_disk(disk: Disk) -> None:
    """Below MIN_FREE_DISK, writes are refused and reads go on, also after the store was killed; then all goes on.

    Uploads are refused before, below twice as much.
    """
    async with disk.serving(min_free_disk=LEAST_MIB) as running, visiting(await running.url()) as anonymous:
        alice = await sign_up(anonymous, "alice")
        post = await alice.post("before")
        disk.fill(leave=MIB * (2 * LEAST_MIB - 1))
        assert await alice.fail(UPLOAD) == "SERVICE_UNAVAILABLE"
        assert await alice.post("words take little room")
        disk.fill(leave=MIB * (LEAST_MIB - 1))
        await until(partial(_is_refused, alice))
        assert post in await alice.home()
        disk.kill_store()
        await until(partial(_reads, alice, post))
        assert await _is_refused(alice)
        disk.free()
        await until(partial(_can_post, alice))
        assert await running.stop() == 0


async def test_full_disk_at_first_start(disk: Disk) -> None:
    """Without room for the first files, the server ends with one line that says so, and with status 1."""
    disk.fill()
    async with disk.serving() as running:
        assert await running.ended() == 1
        lines = (await running.err.all()).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"perch: {disk.folder}/data")
    assert "No space left on device" in lines[0] or "the disk is full" in lines[0]


@pytest.mark.parametrize("has_data", [False, True])
async def test_read_only_disk(disk: Disk, has_data: bool) -> None:
    """A read-only disk is refused in one line, with status 1."""
    if has_data:
        async with disk.serving() as running:
            assert await running.url()
            assert await running.stop() == 0
    disk.make_read_only()
    async with disk.serving() as running:
        assert await running.ended() == 1
        (line,) = (await running.err.all()).splitlines()
    assert line.startswith(f"perch: {disk.folder}/data")
    assert "Read-only file system" in line


async def test_a_move_on_a_low_disk(tmp_path: Path) -> None:
    """A store without disk space goes on to refuse writes when a move has begun and ended to refuse them."""
    held = await attach(tmp_path, StartOptions(least_free_bytes=1 << 60))
    db = Database(held.url, Settings())
    await until(partial(_says_replicas, db, DISK_IS_LOW))
    await moving.refuse_writes(db)
    assert await _says_replicas(db, DISK_IS_LOW + moving.REFUSING)
    assert await moving.accept_writes(db)
    assert not await moving.accept_writes(db)
    assert await _says_replicas(db, DISK_IS_LOW)
    await db.close()
    await held.close()


async def _says_replicas(db: Database, wanted: int) -> bool:
    return bool((await db.one("CONFIG", "GET", "min-replicas-to-write"))[1] == str(wanted))


@pytest.mark.parametrize("is_kept", [True, False])
def test_secret_without_room(tmp_path: Path, is_kept: bool) -> None:
    """A stored secret needs no room; one that cannot be written is refused in one line, and leaves nothing."""
    path = tmp_path / "secret.key"
    if is_kept:
        path.write_text("s" * 43)
    done = subprocess.run(  # noqa: S603  own script
        [sys.executable, "-c", SECRET_WITHOUT_ROOM, tmp_path],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    refusal = f"{path}: cannot keep the secret key here: File too large"
    assert (done.stdout, done.stderr) == (f"{'s' * 43 if is_kept else refusal}\n", "")
    assert [file.name for file in tmp_path.iterdir()] == (["secret.key"] if is_kept else [])

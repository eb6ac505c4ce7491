"""A disk that is full or read-only: a store with data serves them, and a failed start says why in one line."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.people import Member, sign_up
from tests.support.servers.holders import REPOSITORY
from tests.support.servers.processes import Perch, perch, until, visiting

MOUNT = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
DISK_KIB = 1024
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


class Disk:
    """A small disk that only processes started within its namespace can see."""

    def __init__(self, keeper: int, folder: Path) -> None:
        self.folder = folder
        self.within = ("nsenter", f"--target={keeper}", "--user", "--mount", "--preserve-credentials")
        self._seen = Path(f"/proc/{keeper}/root{folder}")

    def path(self, name: str) -> Path:
        """Return the path of a file of the disk as this process sees it."""
        return self._seen / name

    def fill(self) -> None:
        """Leave no room for a byte."""
        with self.path("filling").open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))

    def free(self) -> None:
        """Make room again."""
        self.path("filling").unlink()

    def make_read_only(self) -> None:
        """Mount it again, read-only."""
        subprocess.run([*self.within, "mount", "-o", "remount,ro", self.folder], check=True)  # noqa: S603  own command

    def serving(self, **settings: Any) -> contextlib.AbstractAsyncContextManager[Perch]:
        """Run a server whose data are on the disk."""
        return perch(self.folder / "data", "serve", within=self.within, log_level="ERROR", **settings)


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncIterator[Disk]:
    """A disk of its own, where an ordinary user may mount one in a namespace."""
    folder = tmp_path / "disk"
    folder.mkdir()
    script = f'mount -t tmpfs -o size={DISK_KIB}k tmpfs "$0" && echo mounted && exec cat'
    try:
        keeper = await asyncio.create_subprocess_exec(*MOUNT, script, folder, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    except FileNotFoundError:
        pytest.skip("there are no mount namespaces here")
    try:
        assert keeper.stdout
        if not await keeper.stdout.readline():
            pytest.skip("nothing may be mounted here")
        yield Disk(keeper.pid, folder)
    finally:
        with contextlib.suppress(ProcessLookupError):
            keeper.kill()
        await keeper.communicate()


async def _can_post(member: Member) -> bool:
    with contextlib.suppress(AssertionError, KeyError, TypeError):
        return bool(await member.post("there is room again"))
    return False


@pytest.mark.parametrize("appendfsync", ["everysec", "always"])
async def test_full_disk(disk: Disk, appendfsync: str) -> None:
    """A server restarts on a full disk and serves its data; once there is room, writes work again."""
    async with disk.serving(appendfsync=appendfsync) as running, visiting(await running.url()) as anonymous:
        alice = await sign_up(anonymous, "alice")
        post = await alice.post("before")
        assert await alice.home() == [post]
        assert await running.stop() == 0
    secret = disk.path("data/secret.key").read_text()
    disk.fill()
    async with disk.serving(appendfsync=appendfsync) as running, visiting(await running.url()) as anonymous:
        alice.client = anonymous.client
        assert (await alice.ask(VIEWER))["user"] == {"login": "alice"}
        assert await alice.home() == [post]
        disk.free()
        await until(partial(_can_post, alice))
        assert post in await alice.home()
        assert await running.stop() == 0
    assert disk.path("data/secret.key").read_text() == secret
    assert not list(disk.path("data").glob("secret.key.*"))


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

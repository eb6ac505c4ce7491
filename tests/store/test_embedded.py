"""The embedded store: one server per data directory, alive exactly while a process holds it, losing nothing."""

import asyncio
import fcntl
import os
import signal
import sys
from pathlib import Path

import pytest
from redis.asyncio import Redis

from store.client.requirements import REQUIRED
from store.embedded.attach import attach
from store.embedded.launch import EmbeddedStoreError, StartOptions
from store.settings import Settings
from tests.support.servers.holders import (
    LOCKS,
    attached,
    greeting,
    holder,
    is_locked,
    lock,
    run_after,
    server_info,
    supervisor_of,
    until,
    until_free,
)


async def test_stop_and_start(tmp_path: Path) -> None:
    """Data survive the clean stop at the last hold's end, and are there after the next start."""
    for expected in (1, 2, 3):
        async with attached(tmp_path / "data") as (attachment, client):
            assert attachment.started
            assert await client.incr("starts") == expected
        for name in LOCKS:
            assert not is_locked(tmp_path / "data" / name, fcntl.LOCK_EX)
        assert not attachment.socket.exists()
    assert "ready to exit" in (tmp_path / "data/store.log").read_text()


async def test_configuration(tmp_path: Path) -> None:
    """The server listens on no TCP port and has the settings that the store needs."""
    async with attached(tmp_path, StartOptions("always")) as (_, client):
        settings = await client.config_get("*")
    expected = {"port": "0", "save": "", "appendonly": "yes", "appendfsync": "always", "dir": str(tmp_path)}
    expected |= {**REQUIRED, "aof-use-rdb-preamble": "yes"}
    assert {name: settings[name] for name in expected} == expected


async def test_long_posts(tmp_path: Path) -> None:
    """The longest post is stored in one piece of memory, without a table that would take as much again."""
    text = "\N{TEACUP WITHOUT HANDLE}" * Settings().max_text
    async with attached(tmp_path) as (_, client):
        await client.hset("post", mapping={"author": "374508000000000", "text": text, "likes": "1"})
        assert await client.object("ENCODING", "post") == "listpack"


async def test_private(tmp_path: Path) -> None:
    """The directory, the socket and every file the store makes are open to their owner alone."""
    async with attached(tmp_path / "data") as (attachment, client):
        await client.set("secret", "word")
        made = [tmp_path / "data", *(tmp_path / "data").rglob("*")]
        assert attachment.socket in made
        assert {path: path.stat().st_mode & 0o077 for path in made} == dict.fromkeys(made, 0)


async def test_killed_holder(tmp_path: Path) -> None:
    """Writes just before kill -9 of their process are kept, and its server stops by itself."""
    async with holder(tmp_path, "last words") as process:
        assert (await greeting(process))[0]
        process.kill()
        await until_free(tmp_path, *LOCKS)
    async with attached(tmp_path) as (attachment, client):
        assert attachment.started
        assert await client.get("last words") == "kept"


async def test_shared(tmp_path: Path) -> None:
    """Processes that start simultaneously share one server, which lives until the last of them ends."""
    async with holder(tmp_path, "a") as first, holder(tmp_path, "b") as second:
        greetings = [await greeting(first), await greeting(second)]
        assert sorted(started for started, _ in greetings) == [False, True]
        async with attached(tmp_path) as (attachment, client):
            assert not attachment.started
            server, run = await server_info(client)
            assert {run} == {its_run for _, its_run in greetings}
            assert os.getsid(server) != os.getsid(0)
            for process in (first, second):
                process.kill()
                await process.wait()
            assert await client.mget("a", "b") == ["kept", "kept"]
            assert (await server_info(client))[1] == run
    await until_free(tmp_path, *LOCKS)


async def test_attached_twice(tmp_path: Path) -> None:
    """Two attachments of one process count as two, even simultaneous ones."""
    one, two = await asyncio.gather(attach(tmp_path), attach(tmp_path))
    assert {one.started, two.started} == {True, False}
    await one.close()
    one.release()
    async with Redis.from_url(two.url) as client:
        assert await client.ping()
    await two.close()
    assert not is_locked(tmp_path / "store.lock", fcntl.LOCK_EX)


async def test_killed_server(tmp_path: Path) -> None:
    """A killed server is restarted and has everything it had answered."""
    async with attached(tmp_path, StartOptions("always")) as (attachment, client):
        for number in range(100):
            await client.rpush("numbers", number)
        server, run = await server_info(client)
        reader, writer = await asyncio.open_unix_connection(attachment.socket)
        writer.write(b"PING\r\n")
        assert await reader.readline() == b"+PONG\r\n"  # accepted, so it ends instead of being reset
        os.kill(server, signal.SIGKILL)
        assert await reader.read() == b""
        writer.close()
        async with attached(tmp_path) as (again, other_client):
            assert not again.started
            assert (await server_info(other_client))[1] != run
            assert await other_client.lrange("numbers", 0, -1) == [str(number) for number in range(100)]


async def test_killed_supervisor(tmp_path: Path) -> None:
    """A server whose supervisor was killed is replaced at once by a supervised one, with the same data."""
    async with attached(tmp_path) as (attachment, client):
        await client.set("key", "value")
        _, run = await server_info(client)
        killed = supervisor_of(tmp_path)
        os.kill(killed, signal.SIGKILL)
        assert await run_after(attachment, run)
        assert await client.get("key") == "value"
        assert supervisor_of(tmp_path) != killed
        assert is_locked(tmp_path / "store.lock", fcntl.LOCK_EX)
    await until_free(tmp_path, *LOCKS)


async def test_killed_together(tmp_path: Path) -> None:
    """When supervisor and server are killed at once, one of the processes that hold the store restarts both."""
    async with holder(tmp_path, "a") as first, holder(tmp_path, "b") as second:
        greetings = [await greeting(first), await greeting(second)]
        async with attached(tmp_path) as (attachment, client):
            for _ in range(2):
                server, run = await server_info(client)
                assert run not in {old for _, old in greetings[2:]}
                os.kill(supervisor_of(tmp_path), signal.SIGKILL)
                os.kill(server, signal.SIGKILL)
                new = await run_after(attachment, run)
                greetings.append((False, run))
                assert (await server_info(client))[1] == new
                assert await client.mget("a", "b") == ["kept", "kept"]
    await until_free(tmp_path, *LOCKS)


async def test_killed_after_release(tmp_path: Path) -> None:
    """A process that has given up its hold restarts nothing."""
    async with attached(tmp_path) as (attachment, client):
        other = await attach(tmp_path)
        server, run = await server_info(client)
        attachment.release()
        os.kill(supervisor_of(tmp_path), signal.SIGKILL)
        os.kill(server, signal.SIGKILL)
        assert await run_after(other, run)
        await other.close()
    for name in LOCKS:
        assert not is_locked(tmp_path / name, fcntl.LOCK_EX)


async def test_attach_during_shutdown(tmp_path: Path) -> None:
    """A process that attaches while the server stops waits for that, and gets a new server with the same data."""
    async with attached(tmp_path) as (attachment, client):
        await client.set("key", "value")
        server, run = await server_info(client)
        os.kill(server, signal.SIGSTOP)  # the shutdown begins and cannot end
        attachment.release()
        await until(lambda: is_locked(tmp_path / "holders.lock", fcntl.LOCK_SH))
        with pytest.raises(EmbeddedStoreError, match="still shutting down"):
            await attach(tmp_path, timeout=0.1)
        newcomer = asyncio.create_task(attach(tmp_path))
        os.kill(server, signal.SIGCONT)
        async with Redis.from_url((await newcomer).url, decode_responses=True) as other_client:
            assert newcomer.result().started
            assert (await server_info(other_client))[1] != run
            assert await other_client.get("key") == "value"
        newcomer.result().release()


async def test_cancelled(tmp_path: Path) -> None:
    """An attach that is cancelled while the server starts leaves neither a hold nor a server behind."""
    task = asyncio.create_task(attach(tmp_path))
    await until((tmp_path / "supervisor.lock").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_free(tmp_path, *LOCKS)


async def test_loading(tmp_path: Path) -> None:
    """A loading server may take longer than the time-out, a silent one may not."""
    replies = 30
    supervisor_lock = lock(tmp_path / "supervisor.lock")  # as if another process had started the server

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal replies
        await reader.readline()
        writer.write(b"-LOADING Valkey is loading the dataset in memory\r\n" if replies else b"+PONG\r\n")
        replies = max(0, replies - 1)
        writer.close()

    with pytest.raises(EmbeddedStoreError, match=r"not ready after 0.1 s.*no answer"):
        await attach(tmp_path, timeout=0.1)
    async with await asyncio.start_unix_server(reply, tmp_path / "store.sock"):
        attachment = await attach(tmp_path, timeout=0.3)
    assert not attachment.started
    assert replies == 0
    attachment.release()
    os.close(supervisor_lock)


async def test_long_path(tmp_path: Path) -> None:
    """A directory too deep for a socket has it in a private temporary directory, the same for every process."""
    data_dir = tmp_path / ("d" * 120)
    async with attached(data_dir) as (attachment, client), attached(data_dir) as (again, _):
        folder = attachment.socket.parent
        assert again.socket == attachment.socket
        assert len(os.fsencode(attachment.socket)) <= 100
        assert folder.stat().st_mode & 0o777 == 0o700
        assert await client.ping()
    folder.chmod(0o755)
    with pytest.raises(EmbeddedStoreError, match="private"):
        await attach(data_dir)
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(EmbeddedStoreError, match="private"):
        await attach(data_dir)
    folder.unlink()


async def test_file_refused(tmp_path: Path) -> None:
    """A file in place of the data directory or a parent of it is refused in one line that names it."""
    file = tmp_path / "data"
    file.touch()
    for data_dir in (file, file / "below"):
        with pytest.raises(EmbeddedStoreError) as caught:
            await attach(data_dir)
        assert str(caught.value).startswith(f"{data_dir}: ")
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_unwritable_refused(tmp_path: Path) -> None:
    """A directory that is not writable is refused in one line that names it."""
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o500)
    with pytest.raises(EmbeddedStoreError, match="Permission denied"):
        await attach(data_dir)


async def test_windows_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows the error names the alternative."""
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(EmbeddedStoreError, match="REDIS_URL"):
        await attach(tmp_path)

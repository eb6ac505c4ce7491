"""Puts a server into each state in which it refuses commands, and back."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from typing import Any

import redis.asyncio as redis

from tests.support.servers.processes import until

State = Callable[[Any, Path], AsyncGenerator[None, None]]


async def oom(server: Any, _: Path) -> AsyncGenerator[None, None]:
    """The server has used up its memory."""
    await server.config_set("maxmemory", 1)
    yield
    await server.config_set("maxmemory", 0)


async def misconf(server: Any, folder: Path) -> AsyncGenerator[None, None]:
    """A snapshot could not be written, because a folder has its name."""
    (folder / "dump.rdb").mkdir()
    await server.config_set("save", "3600 1")
    await server.bgsave()
    await until(lambda: _says(server, rdb_last_bgsave_status="err"))
    yield
    (folder / "dump.rdb").rmdir()
    await server.bgsave()
    await until(lambda: _says(server, rdb_last_bgsave_status="ok"))
    await server.config_set("save", "")


async def noreplicas(server: Any, _: Path) -> AsyncGenerator[None, None]:
    """The server has fewer replicas than writes need."""
    await server.config_set("min-replicas-to-write", 1)
    yield
    await server.config_set("min-replicas-to-write", 0)


async def readonly(server: Any, _: Path) -> AsyncGenerator[None, None]:
    """The server is a replica."""
    await server.replicaof("127.0.0.1", 1)  # no server has this address
    yield
    await server.replicaof("NO", "ONE")


async def noperm(server: Any, _: Path) -> AsyncGenerator[None, None]:
    """The user may not write."""
    await server.execute_command("ACL", "SETUSER", "default", "-@write")
    yield
    await server.execute_command("ACL", "SETUSER", "default", "+@all")


async def masterdown(server: Any, _: Path) -> AsyncGenerator[None, None]:
    """The server is a replica that must not answer without its primary."""
    await server.config_set("replica-serve-stale-data", "no")
    await server.replicaof("127.0.0.1", 1)
    yield
    await server.replicaof("NO", "ONE")
    await server.config_set("replica-serve-stale-data", "yes")


async def busy(server: Any, _: Path) -> AsyncGenerator[None, None]:
    """A script takes too long."""
    await server.config_set("busy-reply-threshold", 1)
    running = asyncio.create_task(server.eval("while true do end", 0))
    await until(lambda: _is_busy(server))
    yield
    await server.script_kill()
    await asyncio.wait([running])
    running.exception()


REFUSING: dict[str, State] = {  # reads go on
    "OOM": oom,
    "MISCONF": misconf,
    "NOREPLICAS": noreplicas,
    "READONLY": readonly,
    "NOPERM": noperm,
}
SILENCED: dict[str, State] = {"BUSY": busy, "MASTERDOWN": masterdown}  # nothing goes on


@contextlib.asynccontextmanager
async def outage(state: str, url: str) -> AsyncIterator[None]:
    """Put the server on a Unix socket into a state inside the context."""
    async with redis.Redis.from_url(url, decode_responses=True) as server:
        during = {**REFUSING, **SILENCED}[state](server, Path(url.removeprefix("unix://")).parent)
        await anext(during)
        try:
            yield
        finally:
            await anext(during, None)


async def _says(server: Any, **facts: str) -> bool:
    info = await server.info()
    return all(info[name] == value for name, value in facts.items())


async def _is_busy(server: Any) -> bool:
    try:
        await server.get("key")
    except redis.ResponseError as error:
        return str(error).startswith("BUSY")
    return False

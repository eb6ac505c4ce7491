"""Perch with parts removed or answering from memory, so that their cost can be measured by difference.

    python -m benchmarks.rivals.altered NAME...

serves as `server.py serve` does, where each NAME is one of ALTERATIONS. They are applied here, from outside, so that
the product needs no switches just for benchmarks. An alteration that no longer finds its target raises an error.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import redis.asyncio as redis
import uvloop
from aiohttp import hdrs, web
from redis.asyncio.connection import AbstractConnection

import schema.execution.plans.resolving
import schema.execution.plans.selection
import serving.endpoint
import serving.http.responses
import store.client.nodes.one
from resolvers import timelines
from resolvers.operation.context import Context
from resolvers.process import cached_kinds
from schema.execution.operations import Schema
from store.client.caching.cache import Cache
from store.client.caching.values import Reading
from store.client.connection import Commands
from store.client.connections import RedisConnections

SIZE = "CONSTANT_BYTES"  # the variable that says how long an answer from memory is
CONNECTIONS = 100  # of redis-py's pool


class Pipelines:
    """Connections as redis-py has them: each batch takes one of a pool, and has it to itself until it is answered."""

    def __init__(self, make: Callable[[], AbstractConnection], *_: object) -> None:
        kwargs: dict[str, Any] = make.__self__.connection_kwargs  # type: ignore[attr-defined]  # of the pool it is of
        kind = make.__self__.connection_class  # type: ignore[attr-defined]
        pool = redis.BlockingConnectionPool(connection_class=kind, max_connections=CONNECTIONS, **kwargs)
        self._client = redis.Redis(connection_pool=pool)
        self._client.response_callbacks.clear()  # Perch reads replies raw

    async def run(self, commands: Commands) -> list[Any]:
        """Return the replies to some commands."""
        async with self._client.pipeline(transaction=False) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            replies: list[Any] = await pipeline.execute(raise_on_error=False)
        return replies

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()
        await self._client.connection_pool.disconnect()


def _swap(owner: Any, name: str, value: Any) -> None:
    if not hasattr(owner, name):
        raise SystemExit(f"altered: there is no {owner.__name__}.{name} any more")
    setattr(owner, name, value)


def _log_requests() -> None:
    os.environ["LOG_LEVEL"] = "INFO"
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _dump(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def _remember_replies() -> None:
    """Send each command to the store only once.

    Batches of commands are compared in a few places only. Comparing all would cost as much as the removed part.
    """
    replies: dict[object, list[Any]] = {}
    ask = RedisConnections.run

    async def run(self: RedisConnections, commands: Commands) -> list[Any]:
        count = len(commands)
        # Arguments beyond the key are not compared, since some contain the time.
        key = (count, *(commands[i * count // 4][:2] for i in range(4)), commands[-1][:2])
        if key not in replies:
            replies[key] = await ask(self, commands)
        return replies[key]

    begin = Cache.begin

    async def begun(self: Cache, readings: Sequence[Reading]) -> asyncio.Future[list[Any]] | None:
        if readings:
            return await begin(self, readings)
        done: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        done.set_result([])
        return done

    _swap(RedisConnections, "run", run)
    _swap(Cache, "begin", begun)


def _remember_pages() -> None:
    """Read each home only once."""
    _remember_replies()
    pages: dict[int | None, Any] = {}
    read = timelines.home

    async def home(context: Context, **asked: Any) -> Any:
        if context.viewer not in pages:
            pages[context.viewer] = await read(context, **asked)
        await context.authenticate()  # everything else that the page needs is cached, and may be used from then on
        return pages[context.viewer]

    _swap(timelines, "home", home)


def _answer_requests() -> None:
    """Answer every operation with the same bytes, without executing it."""
    body = _constant()

    async def execute(*_: object, **__: object) -> None:
        pass

    def answer(_: object, media: str) -> web.Response:
        return web.Response(body=body, content_type=media, charset="utf-8")

    _swap(Schema, "execute", execute)
    _swap(serving.http.responses, "answer", answer)


def _answer_at_once() -> None:
    """Make aiohttp answer with the same bytes, and do nothing else."""
    body = _constant()

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=body, content_type="application/json", headers={hdrs.CACHE_CONTROL: "no-store"})

    def create(*_: object) -> web.Application:
        app = web.Application()
        app.router.add_post("/graphql", answer)
        return app

    _swap(serving.endpoint, "create_app", create)
    _swap(serving.endpoint, "begin_shutdown", lambda _: None)


def _constant() -> bytes:
    return b"x" * int(os.environ[SIZE])


ALTERATIONS: dict[str, Callable[[], None]] = {
    # Switched off
    "quiet": _log_requests,
    "uvloop": lambda: _swap(uvloop, "new_event_loop", asyncio.new_event_loop),
    "collector": lambda: _swap(serving.endpoint, "spare_the_collector", lambda: None),
    "connections": lambda: _swap(store.client.nodes.one, "RedisConnections", Pipelines),
    "msgspec": lambda: _swap(serving.http.responses, "encode", _dump),
    "plans": lambda: os.environ.update(FAST_EXECUTION="false"),
    "calls": lambda: _swap(schema.execution.plans.resolving, "_is_bare", lambda _: False),
    "cache": lambda: os.environ.update(RECORDS_KEPT="0"),
    "readers": lambda: _swap(cached_kinds, "READERS_KEPT", 0),
    # Cut short
    "replies": _remember_replies,
    "pages": _remember_pages,
    "requests": _answer_requests,
    "constant": _answer_at_once,
}


def main(names: Sequence[str]) -> int:
    """Serve with some alterations."""
    import server  # after all that is altered beneath it

    for name in names:
        ALTERATIONS[name]()
    return server.main(["serve"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

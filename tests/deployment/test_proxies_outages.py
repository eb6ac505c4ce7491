"""Perch behind both proxies in each state of its store: the proxy passes on what Perch answers, and at once."""

import asyncio
import contextlib
import random
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ContentTypeError

from tests.support.people import Member, sign_up
from tests.support.servers.outages import REFUSING, outage
from tests.support.servers.processes import Redis, connected, own_store, serving, until
from tests.support.servers.proxies import PROXIES, PROXY, Certificate, before

READ = "{ homeTimeline(first: 5) { nodes { ... on Post { id } } } }"
WRITE = 'mutation { post(input: {text: "hello"}) { status { id } } }'
AWAY = "SERVICE_UNAVAILABLE"
FILLER = 4096  # bytes of a value that a server that loads needs a while for
LOADING = {"key_load_delay": "300000", "loading_process_events_interval_bytes": "1024"}  # µs for each key


@contextlib.asynccontextmanager
async def _up(_: Redis) -> AsyncIterator[None]:
    yield


@contextlib.asynccontextmanager
async def _silent(store: Redis) -> AsyncIterator[None]:
    with store.frozen():
        yield


@contextlib.asynccontextmanager
async def _down(store: Redis) -> AsyncIterator[None]:
    await store.kill()
    yield
    await store.start()


@contextlib.asynccontextmanager
async def _loading(store: Redis) -> AsyncIterator[None]:
    async with connected(store.settings["redis_url"]) as db:
        await db.ask(*(("SET", f"filler:{{{i}}}", random.randbytes(FILLER)) for i in range(200)))  # noqa: S311  only large
        await db.one("BGREWRITEAOF")
        await until(partial(_is_rewritten, db))
    await store.kill()
    await store.start(**LOADING)
    yield
    await store.kill()
    await store.start()


async def _is_rewritten(db: Any) -> bool:
    return "aof_last_rewrite_time_sec:-1" not in await db.one("INFO", "persistence")


State = Callable[[Redis], AbstractAsyncContextManager[None]]


def _refusing(name: str) -> State:
    return lambda store: outage(name, store.settings["redis_url"])


REFUSES: dict[str, State] = {name: _refusing(name) for name in REFUSING}
STOPS: dict[str, State] = {"SILENT": _silent, "UNREACHABLE": _down, "LOADING": _loading}


async def code(member: Member, query: str) -> str:
    """Return the code of Perch's answer, "" for one without errors, "proxy" for an answer that the proxy made."""
    try:
        answer = await member.send(query)
    except ContentTypeError:
        return "proxy"
    return str(answer["errors"][0]["extensions"]["code"]) if "errors" in answer else ""


@pytest.mark.parametrize("state", ["up", *REFUSES, *STOPS])
@pytest.mark.parametrize("name", PROXIES)
async def test_states_of_the_store(name: str, state: str, tmp_path: Path) -> None:
    """Reads go on while writes are refused. What Perch refuses, it refuses itself. All goes on once the store does."""
    if not shutil.which(name):
        pytest.skip("this proxy is not installed")
    settings = {"overload_delay_ms": 1_000, "store_patience_ms": 100, "trusted_proxies": f"{PROXY}/32"}
    during = {"up": _up, **REFUSES, **STOPS}[state]
    async with (
        own_store(tmp_path) as store,
        serving(tmp_path / "data", **store.settings, **settings) as (running, direct),
        before(name, tmp_path, await running.url(), Certificate.made(tmp_path)) as proxy,
        proxy.visiting() as anonymous,
    ):
        alice = await sign_up(anonymous, "alice")
        async with during(store):
            waiting = asyncio.create_task(code(alice, READ))  # with a store that hangs, it waits
            if state in STOPS:
                await until(partial(_is, code, Member(direct.client, alice.token), READ, AWAY))
                await until(partial(_has_noticed, name, tmp_path))
            expected = ("" if state not in STOPS else AWAY, "" if state == "up" else AWAY)
            for _ in range(3):
                assert (await code(alice, READ), await code(alice, WRITE)) == expected
        for query in (READ, WRITE):
            await until(partial(_is, code, Member(direct.client, alice.token), query, ""))
            assert await code(alice, query) == ""
        assert await waiting in {"", AWAY}


async def _is(asked: Callable[[Member, str], Any], member: Member, query: str, expected: str) -> bool:
    return bool(await asked(member, query) == expected)


async def _has_noticed(name: str, folder: Path) -> bool:
    """Return whether the proxy has seen that Perch is not ready. Caddy does not ask."""
    return name == "caddy" or "perch1 is DOWN" in (folder / "haproxy.log").read_text()

"""Websockets: every way in which they end."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import WSServerHandshakeError

from serving.http.app import CONNECTIONS
from tests.support.transport import clients
from tests.support.transport.clients import EVENTS, Connect, Talk, within_patience
from tests.support.transport.small import PlainServices, logged

connect = clients.connect
services = clients.services


async def test_client_closes(connect: Connect, services: PlainServices) -> None:
    """When the client closes, its subscriptions release their resources, and no fault is logged."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    async with within_patience():
        await services.started.wait()
        with logged() as lines:
            await talk.socket.close()
            await services.stopped.wait()
    assert not [line for line in lines if line["log_level"] in {"error", "warning"}]


async def test_client_vanishes(connect: Connect, services: PlainServices) -> None:
    """When the connection breaks, the same happens."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    async with within_patience():
        await services.started.wait()
        with logged() as lines:
            talk.socket.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
            await services.stopped.wait()
    assert not [line for line in lines if line["log_level"] in {"error", "warning"}]


async def test_clean_up_is_not_broken_off(connect: Connect, services: PlainServices) -> None:
    """A subscription that is ending when its client leaves releases everything in peace."""
    talk = await (await connect()).greet()
    await talk.ask(EVENTS)
    async with within_patience():
        await services.started.wait()
    services.may_stop.clear()
    await talk.say(id="1", type="complete")
    await talk.answer("{ square }")
    await talk.socket.close()
    services.may_stop.set()
    async with within_patience():
        await services.stopped.wait()


async def test_client_without_a_heartbeat(connect: Connect, services: PlainServices) -> None:
    """A client that answers no ping is disconnected."""
    talk = await (await connect(heartbeat_seconds=1, autoping=False)).greet()
    await talk.ask(EVENTS)
    async with within_patience():
        await services.stopped.wait()


async def test_client_that_does_not_read(connect: Connect, services: PlainServices) -> None:
    """A client that does not read limits what is produced; in the end it is disconnected."""
    talk = await (await connect(heartbeat_seconds=1)).greet()
    for number in range(20):
        await talk.ask("subscription { flood(size: 100000) }", id_=str(number))
    async with within_patience():
        await services.stopped.wait()
    assert 20 <= services.advanced < 1000  # 100 MB; the kernel's buffers take some tens


async def test_shutdown_closes_with_1001(connect: Connect, services: PlainServices) -> None:
    """When the process stops, open sockets are closed as going away, and their subscriptions end."""
    talks = [await (await connect()).greet() for _ in range(3)]
    await talks[0].ask(EVENTS)
    async with within_patience():
        await services.started.wait()
    codes = asyncio.gather(*(talk.close_code() for talk in talks))
    assert services.served is not None
    await services.served.shutdown()
    assert await codes == [1001, 1001, 1001]
    async with within_patience():
        await services.stopped.wait()
    assert len(services.served[CONNECTIONS]) == 0


async def test_no_task_outlives_its_socket(connect: Connect, services: PlainServices) -> None:
    """However and whenever clients leave, nothing of their sockets keeps running."""
    before = asyncio.all_tasks()
    leaving: list[Callable[[Talk], Any]] = [
        lambda talk: talk.socket.close(),
        lambda talk: talk.socket.send_str("["),
        lambda talk: talk.socket.get_extra_info("socket").shutdown(socket.SHUT_RDWR),
        lambda talk: talk.say(id="1", type="complete"),
    ]
    for leave in leaving:
        talk = await (await connect()).greet()
        await talk.ask(EVENTS, id_="0")
        await talk.ask("subscription { flood(size: 20000) }")
        await talk.receive()
        left = leave(talk)
        if left is not None:
            await left
    assert services.served is not None
    await services.served.shutdown()
    left_over = {task.get_coro().__qualname__ for task in asyncio.all_tasks() - before}  # type: ignore[union-attr]
    assert not {name for name in left_over if name.startswith(("Channel", "SocketSession"))}


async def test_socket_while_the_process_stops(connect: Connect, services: PlainServices) -> None:
    """A socket opened during the shutdown is asked to try again elsewhere."""
    await (await connect()).greet()
    assert services.served is not None
    await services.served.shutdown()
    with pytest.raises(WSServerHandshakeError) as refused:
        await connect()
    assert refused.value.status == 503

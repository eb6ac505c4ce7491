"""A process stops whatever its tasks do with the cancellation."""

import asyncio
from typing import Any

import pytest

from resolvers.mail.mailer import Mailer
from resolvers.process.services import Services
from serving import running
from store.client.tasks import stop


async def _goes_on_once(begun: asyncio.Event) -> None:
    """Take the first cancellation for something else, as redis-py may."""
    try:
        begun.set()
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        await asyncio.Event().wait()


async def test_work_stops(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deferred work ends although one of its tasks mistakes the first cancellation."""
    begun = asyncio.Event()

    async def run(_: Mailer) -> None:
        await _goes_on_once(begun)

    monkeypatch.setattr(Mailer, "run", run)
    working = asyncio.create_task(running.work(services))
    await begun.wait()
    async with asyncio.timeout(10):
        await stop(working)
    assert working.cancelled()


async def test_cancelled_while_stopping() -> None:
    """Who is cancelled while it stops tasks still stops all of them."""
    events = [asyncio.Event() for _ in range(3)]
    tasks: list[asyncio.Task[Any]] = [asyncio.create_task(_goes_on_once(event)) for event in events]
    for event in events:
        await event.wait()
    stopping = asyncio.create_task(stop(*tasks))
    await asyncio.sleep(0)
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    assert all(task.done() for task in tasks)

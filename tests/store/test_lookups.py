"""Shared data loaders of one operation: no caller waits in vain when others are cancelled or a read fails."""

import asyncio
from typing import Any

import pytest

from resolvers.loading.dataloader import DataLoader, Lookup, fetch
from resolvers.operation.context import Context
from resolvers.process.errors import ServiceUnavailable
from resolvers.process.services import Services
from store.client.database import Unavailable
from tests.support.people import Member
from tests.support.work import number

NOBODY = 4096  # An id of no entity.
PATIENCE = 5  # Seconds.


TURNS = 8  # Turns of the event loop after which a look-up is done, or waits for the store.
KINDS = ["user", "credentials"]  # Two kinds of records: the process may cache the first, and not the second.


def operation(services: Services) -> Context:
    """Return the context of an operation that has read nothing yet."""
    return Context(services, None, address="", user_agent="", request_id="")


async def _ended(*tasks: asyncio.Task[Any]) -> list[Any]:
    return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), PATIENCE)


@pytest.mark.parametrize("leaving", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
async def test_who_leaves(services: Services, alice: Member, kind: str, leaving: int) -> None:
    """Of three callers with the same key one is cancelled, at any moment: the other two get the record."""
    for turns in range(TURNS):
        loader: DataLoader[Any] = getattr(operation(services).load, kind)
        tasks = [asyncio.create_task(loader.load(number(alice.id))) for _ in range(3)]
        for _ in range(turns):
            await asyncio.sleep(0)
        tasks[leaving].cancel()
        left = await _ended(*(task for i, task in enumerate(tasks) if i != leaving))
        assert [type(one).__name__.lower() for one in left] == [kind] * 2


@pytest.mark.parametrize("kind", KINDS)
async def test_all_leave(services: Services, alice: Member, kind: str) -> None:
    """If all callers are cancelled, only they are, and a later caller gets the record."""
    for turns in range(TURNS):
        loader: DataLoader[Any] = getattr(operation(services).load, kind)
        tasks = [asyncio.create_task(loader.load(number(alice.id))) for _ in range(3)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        outcomes = [type(one).__name__.lower() for one in await _ended(*tasks)]
        assert set(outcomes) <= {"cancellederror", kind}
        assert turns > 1 or kind not in outcomes
        assert await asyncio.wait_for(loader.load(number(alice.id)), PATIENCE)


async def test_a_round_trip_that_fails(services: Services, monkeypatch: pytest.MonkeyPatch, alice: Member) -> None:
    """Callers that wait for each other's look-ups all fail when the store is away, and so does a later one."""

    async def fail(*_: object) -> None:
        await asyncio.sleep(0)
        raise Unavailable("away")

    monkeypatch.setattr(services.db, "read", fail)
    monkeypatch.setattr(services.db, "run", fail)
    one, other, context = number(alice.id), NOBODY, operation(services)
    load = context.load
    wanted: list[list[Lookup]] = [
        [(load.user, [one]), (load.credentials, [other])],
        [(load.credentials, [one, other]), (load.user, [other, one])],
        [(load.user, [other]), (load.credentials, [one])],
    ]
    outcomes = await _ended(*(asyncio.create_task(fetch(context.batcher, *some)) for some in wanted))
    outcomes += await _ended(asyncio.create_task(load.user.load(one)))
    assert [type(outcome) for outcome in outcomes] == [ServiceUnavailable] * 4

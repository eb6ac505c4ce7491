"""What is made once for all who ask for it at about the same time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Values by key, each made by the first who asks and kept while it is among the newest; a failure is not kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[K, asyncio.Task[V]] = OrderedDict()

    async def get(self, key: K, make: Callable[[], Awaitable[V]]) -> V:
        """Return the value of a key, made now or before; raises what making it raised."""
        task = self._made.get(key)
        if task is None:
            task = self._made[key] = asyncio.ensure_future(_finish(make()))
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        try:
            # Whoever leaves while it is made does not end it for the others.
            return await asyncio.shield(task)
        except Exception:
            if self._made.get(key) is task:
                del self._made[key]
            raise


async def _finish(making: Awaitable[V]) -> V:
    return await making

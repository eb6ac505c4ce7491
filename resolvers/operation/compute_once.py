"""What is made once for all who ask for it at about the same time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ComputeOnce(Generic[K, V]):
    """Values by key, each made by the first who asks and kept while it is among the newest; a failure is not kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[K, _Making[V]] = OrderedDict()

    async def get(self, key: K, make: Callable[[], Awaitable[V]]) -> V:
        """Return the value of a key, made now or before; raises what making it raised."""
        making = self._made.get(key)
        if making is None:
            making = self._made[key] = _Making(make())
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        try:
            return await making.value()
        except Exception:
            if self._made.get(key) is making:
                del self._made[key]
            raise

    async def join(self, key: K, make: Callable[[], Awaitable[V]]) -> V:
        """Return a value that is made now, for whoever asks until it is made; raises what making it raised."""
        is_first = key not in self._made
        try:
            return await self.get(key, make)
        finally:
            if is_first:
                self._made.pop(key, None)

    def clear(self) -> None:
        """Forget all values; those that are being made still reach who waits for them."""
        self._made.clear()


class _Making(Generic[V]):
    """A value being made. Whoever leaves meanwhile does not end it for the others.

    Hundreds wait for one, so they wait for an event, which wakes each of them once; to shield the task takes each of
    them three turns of the event loop.
    """

    def __init__(self, making: Awaitable[V]) -> None:
        self._is_done = asyncio.Event()
        self._task = asyncio.ensure_future(self._finish(making))

    async def value(self) -> V:
        """Return the value once it is made; raises what making it raised."""
        await self._is_done.wait()
        return self._task.result()

    async def _finish(self, making: Awaitable[V]) -> V:
        try:
            return await making
        finally:
            self._is_done.set()

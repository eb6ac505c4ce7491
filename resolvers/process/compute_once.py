"""Values that are computed once for all callers that ask at about the same time."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class ComputeOnce(Generic[K, V]):
    """Computes each key's value once, for its first caller, and keeps the newest values. Failures are not kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[K, _Making[V]] = OrderedDict()

    async def get(self, key: K, make: Callable[[], Awaitable[V]]) -> V:
        """Return the value of a key, computed now or before; raises what `make` raised."""
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
        """Return a value that is being computed, or compute it now, and then drop it; raises what `make` raised.

        Only callers that ask before the value is finished share it.
        """
        is_first = key not in self._made
        try:
            return await self.get(key, make)
        finally:
            if is_first:
                self._made.pop(key, None)

    def clear(self) -> None:
        """Drop all values. Computations under way still reach the callers that wait for them."""
        self._made.clear()


class _Making(Generic[V]):
    """A value being computed. Cancelling one caller does not cancel the computation for the others.

    Hundreds may wait for one value, so each waits for a future of its own, which wakes it once. `asyncio.shield` would
    take each of them three turns of the event loop, and an Event would take more time.
    """

    def __init__(self, making: Awaitable[V]) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: list[asyncio.Future[None]] = []
        self._task = asyncio.ensure_future(self._finish(making))

    async def value(self) -> V:
        """Return the value once it is computed; raises what computing it raised."""
        if not self._task.done():
            waits = self._loop.create_future()
            self._waiting.append(waits)
            await waits
        return self._task.result()

    async def _finish(self, making: Awaitable[V]) -> V:
        try:
            return await making
        finally:
            for waits in self._waiting:  # they wake when the task is done
                if not waits.done():  # else its caller was cancelled
                    waits.set_result(None)

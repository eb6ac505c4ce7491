"""The one Pub/Sub connection of a process. Its messages wake listeners, which then read the change from the store."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from redis.exceptions import RedisError

from store.client.database import Database, Unavailable
from store.client.tasks import stop

RECONNECT_SECONDS = (0.1, 5.0)  # first and longest pause between attempts to reconnect

Listener = Callable[[str], None]


class PubSub:
    """The process's Pub/Sub connection. It serves any number of listeners and reconnects by itself.

    Messages published while it is disconnected are lost. So each listener is called with "" as soon as its channel is
    subscribed, at first and after every reconnection. The listener then reads the present state from the store.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._changed = asyncio.Event()  # set when the wanted channels may have changed
        self._task: asyncio.Task[None] | None = None
        self.connected = asyncio.Event()

    def start(self) -> None:
        """Connect and receive messages, in a task of its own."""
        self._task = asyncio.create_task(self._receive(), name="pubsub")

    async def close(self) -> None:
        """Stop receiving and disconnect."""
        await stop(self._task)

    def listen(self, channel: str, listener: Listener) -> None:
        """Call a listener for each message on a channel, once the channel is subscribed."""
        self._listeners[self._db.channel(channel)].add(listener)
        self._changed.set()

    def ignore(self, channel: str, listener: Listener) -> None:
        """Stop calling a listener."""
        name = self._db.channel(channel)
        listeners = self._listeners.get(name, set())
        listeners.discard(listener)
        if not listeners and self._listeners.pop(name, None) is not None:
            self._changed.set()

    async def _receive(self) -> None:
        pause, longest = RECONNECT_SECONDS
        while True:
            try:
                await self._receive_once()
            except (RedisError, OSError, Unavailable) as error:
                self._db.outages.note(Unavailable(str(error), "PUBSUB_LOST"))
            was_connected = self.connected.is_set()
            self.connected.clear()
            pause = RECONNECT_SECONDS[0] if was_connected else min(pause * 2, longest)
            await asyncio.sleep(pause)

    async def _receive_once(self) -> None:
        pubsub = self._db.client.pubsub()
        subscribing: asyncio.Task[None] | None = None
        try:
            # The idle channel keeps the connection subscribed while there are no listeners.
            subscribed = set(self._listeners)
            await pubsub.subscribe(self._db.channel("idle"), *subscribed)
            self.connected.set()
            subscribing = asyncio.create_task(self._subscribe(pubsub, subscribed), name="subscribing")
            async for message in pubsub.listen():
                if message["type"] == "message":
                    self._notify(message["channel"], message["data"])
                elif message["type"] == "subscribe":
                    # Earlier messages may have been lost, so listeners must read the present state.
                    self._notify(message["channel"], "")
        finally:
            await stop(subscribing)
            with contextlib.suppress(RedisError, OSError):
                await pubsub.aclose()  # type: ignore[no-untyped-call]

    async def _subscribe(self, pubsub: Any, subscribed: set[str]) -> None:
        """Subscribe and unsubscribe as listeners change.

        It runs in a task of its own, which cancelling a listener does not cancel: redis-py may swallow a cancellation.
        """
        with contextlib.suppress(RedisError, OSError):  # reconnecting subscribes to everything anyway
            while True:
                wanted = set(self._listeners)
                if begun := wanted - subscribed:
                    await pubsub.subscribe(*begun)
                if ended := subscribed - wanted:
                    await pubsub.unsubscribe(*ended)
                subscribed = wanted
                await self._changed.wait()
                self._changed.clear()

    def _notify(self, name: str, data: str) -> None:
        for listener in list(self._listeners.get(name, ())):
            listener(data)

"""The one Pub/Sub connection of a process: it wakes those who then read what has changed."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from redis.exceptions import RedisError

from store.client.database import Database, Unavailable
from store.client.tasks import stop

RECONNECT_SECONDS = (0.1, 5.0)  # first and longest pause between attempts to hear again

Listener = Callable[[str], None]


class PubSub:
    """The process's Pub/Sub connection: any number of listeners, one connection, reconnecting by itself.

    Messages published while it is away are lost, so each listener is called with "" as soon as its channel is heard,
    at first and after every reconnection, and looks at what it follows anew.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._changed = asyncio.Event()  # what is listened to
        self._task: asyncio.Task[None] | None = None
        self.connected = asyncio.Event()

    def start(self) -> None:
        """Begin to hear, in a task of its own."""
        self._task = asyncio.create_task(self._hear(), name="hearing")

    async def close(self) -> None:
        """Stop hearing."""
        await stop(self._task)

    def listen(self, channel: str, listener: Listener) -> None:
        """Call a listener for each message on a channel, from when the channel is heard."""
        self._listeners[self._db.channel(channel)].add(listener)
        self._changed.set()

    def ignore(self, channel: str, listener: Listener) -> None:
        """Stop calling a listener."""
        name = self._db.channel(channel)
        listeners = self._listeners.get(name, set())
        listeners.discard(listener)
        if not listeners and self._listeners.pop(name, None) is not None:
            self._changed.set()

    async def _hear(self) -> None:
        pause, longest = RECONNECT_SECONDS
        while True:
            try:
                await self._hear_once()
            except (RedisError, OSError, Unavailable) as error:
                self._db.outages.note(Unavailable(str(error), "PUBSUB_LOST"))
            was_connected = self.connected.is_set()
            self.connected.clear()
            pause = RECONNECT_SECONDS[0] if was_connected else min(pause * 2, longest)
            await asyncio.sleep(pause)

    async def _hear_once(self) -> None:
        pubsub = self._db.client.pubsub()
        subscribing: asyncio.Task[None] | None = None
        try:
            # The own channel keeps the connection in use while nobody listens.
            heard = set(self._listeners)
            await pubsub.subscribe(self._db.channel("idle"), *heard)
            self.connected.set()
            subscribing = asyncio.create_task(self._subscribe(pubsub, heard), name="subscribing")
            async for message in pubsub.listen():
                if message["type"] == "message":
                    self._tell(message["channel"], message["data"])
                elif message["type"] == "subscribe":
                    # Only from here on is everything heard: what came before is to be looked up.
                    self._tell(message["channel"], "")
        finally:
            await stop(subscribing)
            with contextlib.suppress(RedisError, OSError):
                await pubsub.aclose()  # type: ignore[no-untyped-call]

    async def _subscribe(self, pubsub: Any, heard: set[str]) -> None:
        """Follow what is listened to, in a task that nobody cancels who listens: redis-py may swallow that."""
        with contextlib.suppress(RedisError, OSError):  # reconnecting subscribes to everything anyway
            while True:
                wanted = set(self._listeners)
                if begun := wanted - heard:
                    await pubsub.subscribe(*begun)
                if ended := heard - wanted:
                    await pubsub.unsubscribe(*ended)
                heard = wanted
                await self._changed.wait()
                self._changed.clear()

    def _tell(self, name: str, data: str) -> None:
        for listener in list(self._listeners.get(name, ())):
            listener(data)

"""A connection that subscribes to sharded Pub/Sub channels of one node.

The server confirms each SSUBSCRIBE and SUNSUBSCRIBE by a push, and refuses one by an error reply. So the number of
replies is unknown in advance. A PING ends each batch: its reply says that the commands before it have been handled.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import hiredis
from redis.asyncio.connection import AbstractConnection

from store.client.connection import UNFINISHED, CommandBatch, RedisConnection
from store.client.outages import CommandRefused, Unavailable


class SubscribingConnection(RedisConnection):
    """One open connection and the channels that are subscribed on it.

    `notify` is called with the channel and text of each message, and with "" when a channel is subscribed.
    `lose` is called with each channel that the server unsubscribes by itself, because its slot has moved away.
    `end` is called when the connection ends.
    """

    def __init__(
        self,
        connection: AbstractConnection,
        reply_seconds: float,
        notify: Callable[[str, str], None],
        lose: Callable[[str], None],
        end: Callable[[], None],
    ) -> None:
        super().__init__(connection, reply_seconds)
        self.subscribed: set[str] = set()
        self._notify, self._lose, self._report_end = notify, lose, end
        self._failure: Exception | None = None  # that ended the connection
        self._ending: Collection[str] = ()  # channels that the batch under way unsubscribes

    async def update(self, begun: Collection[str], ended: Collection[str]) -> Exception | None:
        """Subscribe and unsubscribe channels; returns the last error among the replies.

        One round trip. Raises the error that has ended the connection: redis-py's ConnectionError or TimeoutError, or
        Unavailable when the server cannot answer now.
        """
        if self._failure:
            raise self._failure
        self._ending = ended
        # Each command has one channel: on a cluster, the channels of one command must have one slot.
        commands = [*(("SSUBSCRIBE", name) for name in begun), *(("SUNSUBSCRIBE", name) for name in ended), ("PING",)]
        errors: list[Exception] = await self.send(commands)
        self._ending = ()
        return errors[-1] if errors else None

    def _complete(self, batch: CommandBatch) -> bool:
        """Read errors and pushes until the PING is answered."""
        while (reply := self._reader.gets()) is not UNFINISHED:
            if type(reply) is hiredis.PushNotification:
                self._take_push(reply, is_overtaking=True)
            elif not isinstance(reply, Exception):
                return True
            else:
                batch.replies.append(reply)
                if isinstance(reply, Unavailable) and not isinstance(reply, CommandRefused):
                    self._end(reply)  # the PING will be refused, too
                    break
        return False

    def _take_push(self, push: Sequence[Any], *, is_overtaking: bool) -> None:  # noqa: ARG002  it caches nothing
        kind, channel, content = push
        if kind == "smessage":
            self._notify(channel, content)
        elif kind == "ssubscribe":
            self.subscribed.add(channel)
            self._notify(channel, "")
        elif kind == "sunsubscribe":
            self.subscribed.discard(channel)
            if channel not in self._ending:
                self._lose(channel)

    def _end(self, error: Exception) -> None:
        self._failure = self._failure or error
        super()._end(error)
        self._report_end()

    async def close(self) -> None:
        """Close the connection at once, without waiting for replies."""
        self.abort()
        await super().close()

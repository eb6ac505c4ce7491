"""Sharded Pub/Sub. Its messages wake listeners, which then read the change from the store. An event comes whole.

A sharded channel lies in one slot, as a key does. Only the node that owns the slot knows its subscribers and messages.
So the cost of a message does not grow with the number of nodes. A script publishes on the node of its keys. So the name
of its channel carries their hash tag.

There is one connection to each node that has channels. A single server is one node. It confirms each SSUBSCRIBE and
SUNSUBSCRIBE by a push, and refuses one by an error reply. So the number of replies is unknown in advance. A PING ends
each batch: its reply says that the commands before it have been handled.

Messages published while a channel is not subscribed are lost. So each listener is called with "" as soon as its channel
is subscribed: at first, after every reconnection, and after its slot has moved. The listener then reads the present
state from the store.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Protocol

import hiredis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from store.client.connection import UNFINISHED, CommandBatch, RedisConnection, connect
from store.client.nodes.one import REPLY_SECONDS
from store.client.outages import CommandRefused, OutageLog, Unavailable
from store.client.tasks import stop

RECONNECT_SECONDS = (0.1, 5.0)  # first and longest pause between attempts to reconnect

_LOST = (RedisError, OSError, Unavailable)

Listener = Callable[[str], None]


class SubscribedNodes(Protocol):
    """The nodes of a database. A node's name is its address: a node that replaces another has another name."""

    def node_of(self, key: str) -> str:
        """Return the node that owns a key or channel, as far as is known. Raises nothing."""

    def make_connection(self, node: str) -> AbstractConnection:
        """Return a connection to a node, which speaks RESP3 and is not open yet."""

    async def read_topology(self) -> None:
        """Learn which node owns which slot. Raises Unavailable."""


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


class PubSub:
    """The channels of a process and the listeners to each. It reconnects by itself."""

    def __init__(self, nodes: SubscribedNodes, prefix: str, outages: OutageLog) -> None:
        self.nodes = nodes
        self._prefix = prefix
        self._outages = outages
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._placed: dict[str, NodeChannels] = {}  # by channel
        self._by_node: dict[str, NodeChannels] = {}
        self._displaced: set[str] = set()  # channels that need a node
        self._refusal: Exception | None = None  # of a displaced channel
        self._woken = asyncio.Event()  # set when a channel is displaced
        self._placing: asyncio.Task[None] | None = None
        self.connected = asyncio.Event()  # set while all nodes with channels are connected

    def start(self) -> None:
        """Connect and receive messages, in tasks."""
        self._placing = asyncio.create_task(self._place_again(), name="pubsub")
        for channel in self._listeners:
            self._place(channel)
        self.note_connected()

    async def close(self) -> None:
        """Stop receiving and disconnect."""
        placing, self._placing = self._placing, None
        await asyncio.gather(stop(placing), *(node.close() for node in self._by_node.values()))
        self._placed.clear()
        self._by_node.clear()
        self.connected.clear()

    def listen(self, channel: str, listener: Listener) -> None:
        """Call a listener for each message on a channel, once the channel is subscribed."""
        name = self._prefix + channel
        self._listeners[name].add(listener)
        if name not in self._placed and self._placing:
            self._place(name)

    def ignore(self, channel: str, listener: Listener) -> None:
        """Stop calling a listener."""
        name = self._prefix + channel
        listeners = self._listeners.get(name, set())
        listeners.discard(listener)
        if not listeners and self._listeners.pop(name, None) is not None and name in self._placed:
            self._placed.pop(name).remove(name)

    def rearrange(self) -> None:
        """Subscribe each channel at the node that owns it now. Call it when the topology has changed."""
        for channel in list(self._placed):
            if self._placed[channel].name != self.nodes.node_of(channel):
                self._place(channel)

    def displace(self, channels: Iterable[str], refusal: Exception | None = None) -> None:
        """Read the topology again, then subscribe these channels at the nodes that own them."""
        self._displaced.update(channels)
        self._refusal = refusal or self._refusal
        self._woken.set()

    def notify(self, channel: str, text: str) -> None:
        """Call the listeners to a channel."""
        for listener in list(self._listeners.get(channel, ())):
            listener(text)

    def note_outage(self, error: BaseException) -> None:
        """Count an error in the log of outages."""
        self._outages.note(Unavailable(str(error), "PUBSUB_LOST"))

    def note_connected(self) -> None:
        """Set or clear `connected`, after the state of a node has changed."""
        if self._placing and all(node.is_subscribed for node in self._by_node.values()):
            self.connected.set()
        else:
            self.connected.clear()

    def forget(self, node: "NodeChannels") -> None:
        """Forget a node that has neither channels nor a connection."""
        del self._by_node[node.name]
        self.note_connected()

    def _place(self, channel: str) -> None:
        name = self.nodes.node_of(channel)
        before = self._placed.get(channel)
        if before and before.name != name:
            before.remove(channel)
        node = self._by_node.get(name)
        if node is None:
            node = self._by_node[name] = NodeChannels(name, self)
            self.note_connected()
        self._placed[channel] = node
        node.add(channel)

    async def _place_again(self) -> None:
        """Place displaced channels at once, and those that are refused again after a growing pause."""
        pause, longest = RECONNECT_SECONDS
        while True:
            latest: set[str] = set()
            await self._woken.wait()
            self._woken.clear()
            while self._displaced:
                try:
                    await self.nodes.read_topology()
                except _LOST as error:
                    self.note_outage(error)
                displaced, self._displaced = self._displaced, set()
                is_repeated = bool(latest) and displaced >= latest
                if is_repeated and self._refusal:  # a first refusal only says that the slot has moved
                    self.note_outage(self._refusal)
                self._refusal, latest = None, displaced
                for channel in displaced & self._listeners.keys():
                    self._place(channel)
                pause = min(pause * 2, longest) if is_repeated else RECONNECT_SECONDS[0]
                await asyncio.sleep(pause)


class NodeChannels:
    """The channels of one node, and the connection that subscribes to them. The task reconnects."""

    def __init__(self, name: str, pubsub: PubSub) -> None:
        self.name = name
        self._pubsub = pubsub
        self._channels: set[str] = set()
        self._changed: set[str] = set()  # channels that may have to be subscribed or unsubscribed
        self._woken = asyncio.Event()  # set when a channel has changed, or the connection has ended
        self.is_subscribed = False
        self._task = asyncio.create_task(self._run(), name="pubsub node")

    def add(self, channel: str) -> None:
        """Subscribe to a channel."""
        self._channels.add(channel)
        self._changed.add(channel)
        self._woken.set()

    def remove(self, channel: str) -> None:
        """Unsubscribe from a channel."""
        self._channels.discard(channel)
        self._changed.add(channel)
        self._woken.set()

    async def close(self) -> None:
        """Disconnect."""
        await stop(self._task)

    async def _run(self) -> None:
        pause, longest = RECONNECT_SECONDS
        while True:
            try:
                await self._run_once()
            except _LOST as error:
                if not self._channels:
                    break
                self._pubsub.note_outage(error)
            pause = RECONNECT_SECONDS[0] if self.is_subscribed else min(pause * 2, longest)
            self._set_subscribed(False)
            await asyncio.sleep(pause)
            self._pubsub.displace(self._channels)  # another node may own them by now
        self._pubsub.forget(self)

    async def _run_once(self) -> None:
        """Connect and keep the channels subscribed; raises the error that ends the connection."""
        connection = await connect(lambda: self._pubsub.nodes.make_connection(self.name), self._wired)
        try:
            self._changed |= self._channels
            while True:
                self._woken.clear()
                await self._update(connection)
                self._set_subscribed(True)
                await self._woken.wait()
        finally:
            await connection.close()

    def _wired(self, connection: AbstractConnection) -> SubscribingConnection:
        return SubscribingConnection(connection, REPLY_SECONDS, self._pubsub.notify, self._lose, self._woken.set)

    async def _update(self, connection: SubscribingConnection) -> None:
        changed, self._changed = self._changed, set()
        begun = (changed & self._channels) - connection.subscribed
        ended = (changed - self._channels) & connection.subscribed
        error = await connection.update(begun, ended)  # without channels, it raises the error of an ended connection
        if refused := (begun & self._channels) - connection.subscribed:
            self._pubsub.displace(refused, error)

    def _lose(self, channel: str) -> None:
        if channel in self._channels:
            self._pubsub.displace((channel,))

    def _set_subscribed(self, value: bool) -> None:
        self.is_subscribed = value
        self._pubsub.note_connected()

"""Sends commands to the nodes of a cluster that own their keys, and follows slots that move.

A node refuses a command for a slot that it does not own, or that is moving, before it executes anything. So a refused
command is sent again. Commands that only read follow ASK. All others wait until the slot has moved. Processes may still
cache that a key is missing on the old node, so it must not be created on the new one before (see `cache`).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from redis.exceptions import RedisError

from store import keys
from store.client.lua import GUARDED
from store.client.nodes.one import REPLY_SECONDS, StoreNode, read_info
from store.client.outages import LOST, ConnectionLost, NotConnected, Redirected, Unavailable, lost
from store.client.slots import SLOTS, key_of, only_reads, slot_of, tag_of

Command = tuple[Any, ...]
Address = tuple[str, int]  # host and port

REFRESH_SECONDS = 60.0  # Time after which the topology is read again, in case nothing else showed a change.
_PAUSES = (0.01, 0.2)  # First and longest pause before a refused command is sent again, s.
_ASKED = 3  # Nodes whose view of the topology is compared.
_DEFAULT_PORT = 6379


class Topology(Struct, frozen=True):
    """The primaries of a cluster, and the one that owns each slot, None for a slot without an owner."""

    primaries: tuple[Address, ...]
    owners: list[Address | None]
    epoch: int = 0  # of the cluster's configuration: a higher one is newer


class _NotSent(ConnectionLost):
    """The node could not be reached, so nothing was sent."""


class Cluster:
    """The primaries of a cluster, and which of them owns each slot."""

    def __init__(self, urls: Sequence[str], make: Callable[[str], StoreNode], changed: Callable[[], None]) -> None:
        self._urls = urls
        self._make = make
        self._changed = changed
        self._known: dict[Address, StoreNode] = {}
        self._owners: list[StoreNode | None] = [None] * SLOTS
        self._epoch = -1
        self._refreshing: asyncio.Task[None] | None = None
        self._refreshed = 0.0  # When, by the loop's clock.
        self.nodes: list[StoreNode] = []  # Always the same list: others look into it.

    def owner(self, tag: str) -> StoreNode | None:
        """Return the node that owns the keys with a tag, None while no node does."""
        return self._owners[slot_of(tag)]

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        """Return the replies to some commands in order, errors among them; raises nothing.

        The parts for different nodes leave together. A reply is Lost where its node could not be reached.
        """
        replies: list[Any] = [None] * len(commands)
        left: Sequence[int] = range(len(commands))
        clock = asyncio.get_running_loop().time
        deadline, (pause, longest) = clock() + REPLY_SECONDS, _PAUSES
        if clock() > self._refreshed + REFRESH_SECONDS:
            self.refresh()
        while left:
            parts = self._parts(commands, left)
            sent = [self._send(node, [commands[i] for i in part]) for node, part in parts.items()]
            found = [await sent[0]] if len(sent) == 1 else await asyncio.gather(*sent)
            for part, some in zip(parts.values(), found, strict=True):
                for i, reply in zip(part, some, strict=True):
                    replies[i] = reply
            left = [i for i in left if type(replies[i]) in (Redirected, _NotSent)]
            if left and clock() > deadline:
                break
            news = [self._learn(replies[i]) for i in left]
            if left and not any(news):
                await asyncio.sleep(pause)
                pause = min(2 * pause, longest)
            left = await self._reachable(commands, replies, left)
        return [
            ConnectionLost(str(reply), reply.state, reply.server) if type(reply) is _NotSent else reply
            for reply in replies
        ]

    def _parts(self, commands: Sequence[Command], left: Sequence[int]) -> dict[StoreNode | None, list[int]]:
        """Return the places of the commands for each node; None stands for slots that no node owns."""
        parts: dict[StoreNode | None, list[int]] = {}
        for i in left:
            key = key_of(commands[i])
            parts.setdefault(self.nodes[0] if key is None else self.owner(tag_of(key)), []).append(i)
        return parts

    async def _send(self, node: StoreNode | None, commands: Sequence[Command]) -> list[Any]:
        if node is None:
            self.refresh()
            return [Unavailable("no node owns the slot", "CLUSTERDOWN")] * len(commands)
        try:
            replies = await node.run(list(map(guarded, commands)))
        except NotConnected as error:
            reason = lost(error, node.name)
            return [_NotSent(str(reason), reason.state, node.name)] * len(commands)
        except LOST as error:
            self.refresh()
            return [lost(error, node.name)] * len(commands)
        for i, reply in enumerate(replies):
            if type(reply) is Redirected and reply.state == "ASK" and only_reads(commands[i]):
                replies[i] = await self._ask(reply, commands[i])
        return replies

    async def _ask(self, reply: Redirected, command: Command) -> Any:
        """Return the reply to a read of a moving slot from the node that will own it."""
        node = self._to(reply)
        try:
            _, found = await node.run([("ASKING",), command])
        except LOST as error:
            return lost(error, node.name)
        return found

    def _learn(self, reply: Any) -> bool:
        """Note the new owner of a slot that has moved; returns whether that is news."""
        if reply.state != "MOVED":
            return False
        node, slot = self._to(reply), int(str(reply).split()[1])
        if self._owners[slot] is node:
            return False
        self._owners[slot] = node
        if node not in self.nodes:
            self.nodes.append(node)
        self.refresh()
        return True

    async def _reachable(self, commands: Sequence[Command], replies: list[Any], left: Sequence[int]) -> list[int]:
        """Return the commands to send again: those that were refused, and those that a new owner can get."""
        if not any(type(replies[i]) is _NotSent for i in left):
            return list(left)
        before = {i: self.owner(tag_of(key_of(commands[i]) or "")) for i in left if type(replies[i]) is _NotSent}
        await asyncio.shield(self.refresh())
        return [i for i in left if i not in before or self.owner(tag_of(key_of(commands[i]) or "")) is not before[i]]

    def _to(self, reply: Redirected) -> StoreNode:
        """Return the node that a redirection names."""
        *_, address = str(reply).split()
        return self._node(_read_address(address, _address(self._urls[0])))

    def _node(self, address: Address) -> StoreNode:
        if address not in self._known:
            self._known[address] = self._make(_url_of(self._urls[0], address))
        return self._known[address]

    def refresh(self) -> asyncio.Task[None]:
        """Begin to read the topology again, unless that is under way; returns the task, which raises nothing.

        Callers share the task. So they wait for it through `asyncio.shield`, or one that is cancelled would cancel it.
        """
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.get_running_loop().create_task(self._refresh(), name="topology")
        return self._refreshing

    async def _refresh(self) -> None:
        self._refreshed = asyncio.get_running_loop().time()
        asked = list(dict.fromkeys([*self.nodes, *(self._node(_address(url)) for url in self._urls)]))
        views: list[Topology] = []
        for first in range(0, len(asked), _ASKED):
            found = await asyncio.gather(*(self._view(node) for node in asked[first : first + _ASKED]))
            views += [view for view in found if view]
            if views:
                break
        if views:
            self._apply(max(views, key=lambda view: view.epoch))

    async def _view(self, node: StoreNode) -> Topology | None:
        """Return the topology as one node sees it, None if it cannot be asked."""
        try:
            shards, info = await node.run([("CLUSTER", "SHARDS"), ("CLUSTER", "INFO")])
            return _read_topology(shards, info, _address(node.url), tls=node.url.startswith("rediss:"))
        except (*LOST, RedisError, KeyError, ValueError, TypeError):
            return None

    def _apply(self, found: Topology) -> None:
        """Use a topology, unless a newer one is known, or it has no primary that is online."""
        if not found.primaries or found.epoch < self._epoch:
            return
        self._epoch = found.epoch
        self.nodes[:] = [self._node(address) for address in found.primaries]
        owners = [self._known[owner] if owner else None for owner in found.owners]
        if owners != self._owners:
            self._owners = owners
            self._changed()

    async def close(self) -> None:
        """Close every connection once all commands have been answered."""
        if self._refreshing:
            await self._refreshing
        for node in self._known.values():
            await node.close()


def guarded(command: Command) -> Command:
    """Return a command as it is sent to a cluster: a script names one more key, which never exists.

    While the script's slot moves, that key is missing and others exist, so the node refuses the script as a whole.
    Otherwise it would fail in the middle, at the first missing key that it does not name.
    """
    if command[0] != "EVALSHA" or command[1] not in GUARDED:
        return command
    name, digest, count, *rest = command
    return (name, GUARDED[digest], count + 1, *rest[:count], keys.absent(tag_of(rest[0])), *rest[count:])


def _read_topology(shards: Sequence[Sequence[Any]], info: str, asked: Address, *, tls: bool) -> Topology:
    """Return the topology from the replies to CLUSTER SHARDS and CLUSTER INFO; `asked` is the node that replied."""
    owners: list[Address | None] = [None] * SLOTS
    for shard in map(_pairs, shards):
        primary = next(
            (_shown_address(node, asked, tls=tls) for node in map(_pairs, shard["nodes"]) if _leads(node)), None
        )
        ranges = [int(slot) for slot in shard["slots"]]
        for first, last in zip(ranges[::2], ranges[1::2], strict=True):
            owners[first : last + 1] = [primary] * (last + 1 - first)
    facts = read_info(info)
    primaries = tuple(dict.fromkeys(owner for owner in owners if owner))
    return Topology(primaries, owners, int(facts.get("cluster_current_epoch", 0)))


def _pairs(flat: Sequence[Any]) -> Mapping[str, Any]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _leads(node: Mapping[str, Any]) -> bool:
    return bool(node["role"] == "master" and node["health"] == "online")


def _shown_address(node: Mapping[str, Any], asked: Address, *, tls: bool) -> Address:
    host = node.get("endpoint") or node.get("ip") or asked[0]
    return (asked[0] if host == "?" else str(host)), int(node["tls-port"] if tls else node["port"])


def _read_address(text: str, asked: Address) -> Address:
    """Return the address in a redirection, such as `10.0.0.7:6379`; without a host it is the one that was asked."""
    host, _, port = text.rpartition(":")
    return (host if host and host != "?" else asked[0]), int(port)


def _address(url: str) -> Address:
    parts = urlsplit(url)
    return parts.hostname or "localhost", parts.port or _DEFAULT_PORT


def _url_of(url: str, address: Address) -> str:
    """Return the URL of another node, with the credentials and the database of this one."""
    host, port = address
    parts = urlsplit(url)
    credentials, at, _ = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{credentials}{at}{f'[{host}]' if ':' in host else host}:{port}").geturl()

"""The nodes of a database: one server, or the primaries of a cluster. The first answer tells which."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from redis.asyncio.connection import AbstractConnection

from store.client.lua import SCRIPTS
from store.client.nodes.cluster import Cluster
from store.client.nodes.one import StoreNode
from store.client.outages import LOST, Unavailable
from store.client.slots import tag_of
from store.settings import Settings
from store.settings.urls import addresses


class Nodes:
    """The nodes that own the keys, and how to reach them.

    What waits for a node raises redis-py's ConnectionError and TimeoutError, and OSError.
    """

    def __init__(self, url: str, settings: Settings) -> None:
        self._settings = settings
        self._urls = addresses(url)
        self._alone = self._make(self._urls[0], (script.text for script in SCRIPTS.values()))
        self._cluster: Cluster | None = None
        self.sender: StoreNode | Cluster = self._alone  # runs commands, after `find_out`
        self._watchers: list[Callable[[], None]] = []
        self._finding_out = asyncio.Lock()
        self.is_known = False  # whether it is a cluster
        self.trackable: Sequence[StoreNode] = ()  # those that the cache reads through; none before the first round trip
        self.is_cluster = False  # whether the keys are spread over several nodes; known after the first round trip
        self.number = int(self._alone.pool.connection_kwargs.get("db") or 0)  # of the database

    def _make(self, url: str, scripts: Iterable[str]) -> StoreNode:
        return StoreNode(url, self._settings.redis_connections, self._settings.replicas_acknowledge, tuple(scripts))

    async def find_out(self) -> None:
        """Find out whether the server is a node of a cluster; raises Unavailable if it cannot say."""
        if self.is_known:
            return
        async with self._finding_out:
            if self._cluster is None and await self._are_cluster():
                scripts = [script.guarded for script in SCRIPTS.values()]
                self._cluster = Cluster(self._urls, partial(self._make, scripts=scripts), self._changed)
                self.sender, self.is_cluster = self._cluster, True
            await self.refresh()
            if not self.all:
                raise Unavailable("no node of the cluster can say which node owns which slot", "CLUSTERDOWN")
            self.trackable = self._cluster.nodes if self._cluster else (self._alone,)
            self.is_known = True

    async def _are_cluster(self) -> bool:
        """Return whether the first node that answers belongs to a cluster."""
        for i, url in enumerate(self._urls):
            node = self._alone if i == 0 else self._make(url, ())
            try:
                (info,) = await node.run([("INFO", "cluster")])
            except LOST:
                if i == len(self._urls) - 1:
                    raise
                continue
            finally:
                if i > 0:
                    await node.close()
            if isinstance(info, Unavailable):
                raise info
            return "cluster_enabled:1" in str(info)
        return False

    def _changed(self) -> None:
        for watcher in self._watchers:
            watcher()

    def watch(self, watcher: Callable[[], None]) -> None:
        """Call a function whenever slots have other owners."""
        self._watchers.append(watcher)

    @property
    def all(self) -> Sequence[StoreNode]:
        """All nodes. Every key belongs to one of them."""
        return tuple(self._cluster.nodes) if self._cluster else (self._alone,)

    def owner(self, tag: str) -> StoreNode | None:
        """Return the node that owns the keys with a tag, None while no node does."""
        return self._cluster.owner(tag) if self._cluster else self._alone

    def index_of(self, partition: int) -> int:
        """Return which of the nodes owns a partition, -1 while none does."""
        owner = self.owner(str(partition))
        return self.all.index(owner) if owner in self.all else -1

    def node_of(self, key: str) -> str:
        """Return the URL of the node that owns a key or channel, as far as is known."""
        return (self.owner(tag_of(key)) or self.all[0]).url

    def make_connection(self, node: str) -> AbstractConnection:
        """Return a new connection to the node with a URL, not opened yet. It can receive pushes."""
        return next((each for each in self.all if each.url == node), self._alone).make_tracked()

    async def read_topology(self) -> None:
        """Learn which node owns which slot; raises Unavailable as long as no node has answered."""
        await self.find_out()
        await self.refresh()

    async def refresh(self) -> None:
        """Learn which node owns which slot. Raises nothing; one server owns them all."""
        if self._cluster:
            await asyncio.shield(self._cluster.refresh())

    def begin_refreshing(self) -> None:
        """Begin to learn which node owns which slot."""
        if self._cluster:
            self._cluster.refresh()

    async def load_scripts(self) -> None:
        """Load every script into every node."""
        await self.find_out()
        await asyncio.gather(*(node.load_scripts() for node in self.all))

    async def close(self) -> None:
        """Close every connection once all commands have been answered."""
        if self._cluster:
            await self._cluster.close()
        await self._alone.close()

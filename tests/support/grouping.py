"""One server, which is treated as a cluster of three nodes."""

from __future__ import annotations

from store.client.database import Database

NODES = 3


class Grouping(Database):
    """A database that groups its work as on a cluster. The one server has the partitions of all nodes."""

    is_cluster = True

    @staticmethod
    def node_index(partition: int) -> int:
        return partition % NODES

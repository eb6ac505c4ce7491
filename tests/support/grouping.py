"""Work that is grouped as on a cluster: one server stands for three nodes, and a cluster is used as it is."""

from store.client.database import Database

NODES = 3


class Grouping(Database):
    """A database that groups its work as on a cluster. One server has the partitions of all nodes."""

    is_cluster = True

    def node_index(self, partition: int) -> int:
        return super().node_index(partition) if self.servers.is_cluster else partition % NODES

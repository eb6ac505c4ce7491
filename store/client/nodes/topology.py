"""Which node of a cluster owns which slot."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from store.client.slots import SLOTS

Address = tuple[str, int]  # host and port


class Topology(Struct, frozen=True):
    """The primaries of a cluster, and the one that owns each slot, None for a slot without an owner."""

    primaries: tuple[Address, ...]
    owners: list[Address | None]
    epoch: int = 0  # of the cluster's configuration: a higher one is newer


def read(shards: Sequence[Sequence[Any]], info: str, asked: Address, *, tls: bool) -> Topology:
    """Return the topology from the replies to CLUSTER SHARDS and CLUSTER INFO; `asked` is the node that replied."""
    owners: list[Address | None] = [None] * SLOTS
    for shard in map(_pairs, shards):
        primary = next((_address(node, asked, tls=tls) for node in map(_pairs, shard["nodes"]) if _leads(node)), None)
        ranges = [int(slot) for slot in shard["slots"]]
        for first, last in zip(ranges[::2], ranges[1::2], strict=True):
            owners[first : last + 1] = [primary] * (last + 1 - first)
    facts = dict(line.split(":", 1) for line in info.split() if ":" in line)
    primaries = tuple(dict.fromkeys(owner for owner in owners if owner))
    return Topology(primaries, owners, int(facts.get("cluster_current_epoch", 0)))


def _pairs(flat: Sequence[Any]) -> Mapping[str, Any]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _leads(node: Mapping[str, Any]) -> bool:
    return bool(node["role"] == "master" and node["health"] == "online")


def _address(node: Mapping[str, Any], asked: Address, *, tls: bool) -> Address:
    host = node.get("endpoint") or node.get("ip") or asked[0]
    return (asked[0] if host == "?" else str(host)), int(node["tls-port"] if tls else node["port"])


def read_address(text: str, asked: Address) -> Address:
    """Return the address in a redirection, such as `10.0.0.7:6379`; without a host it is the one that was asked."""
    host, _, port = text.rpartition(":")
    return (host if host and host != "?" else asked[0]), int(port)

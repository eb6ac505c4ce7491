"""How the nodes of the store are: the memory that each uses, and how long it takes to answer."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass

from store.client.database import Database, Unavailable
from store.client.node import LOST, Node
from store.settings import urls

ANSWER_SECONDS = 2.0  # A node that takes longer counts as away.


@dataclass(frozen=True, slots=True)
class NodeHealth:
    """One node."""

    url: str  # without a password
    memory: int | None  # used, bytes; None if the node does not answer
    seconds: float  # until it answered


def silence(db: Database) -> float:
    """Return for how long every node has left a command of this process unanswered, s; no round trip."""
    return max(db.cache.silence, min((node.silence for node in db.nodes), default=0.0))


async def look(db: Database) -> list[NodeHealth]:
    """Return the health of every node; never raises for a node that is away. One round trip to each."""
    with contextlib.suppress(Unavailable):  # then the first node is the only one known
        await db.find_out()
    return list(await asyncio.gather(*map(_look, db.nodes)))


async def _look(node: Node) -> NodeHealth:
    began, memory = time.perf_counter(), None
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            (text,) = await node.run([("INFO", "memory")])
        if isinstance(text, str):
            memory = int(text.partition("used_memory:")[2].partition("\r\n")[0])
    except (TimeoutError, *LOST):
        pass
    return NodeHealth(urls.shown(node.url), memory, time.perf_counter() - began)

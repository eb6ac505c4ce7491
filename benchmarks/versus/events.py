"""Events that reach many subscribers: posts while all of them are connected, with what each delivery costs."""

import asyncio
import contextlib
import math
import resource
import statistics
import time
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.clients import SignedIn
from benchmarks.versus import contenders, load, queries
from benchmarks.versus.contenders import Contender, ContenderKind
from benchmarks.versus.generator import LoadPlan
from benchmarks.versus.reading import Effort
from benchmarks.versus.sockets import Receivers
from benchmarks.versus.stage import Stage
from benchmarks.versus.tables import spread, table
from store import keys

STREAM = """subscription { stream { __typename ... on StreamEvent { cursor }
  ... on PostCreated { post { id text createdAt author { id login name } } } } }"""
SOCKETS = 20  # of one member
CONNECTIONS = 16  # over which posts are sent
POSTS = 60  # in a turn at saturation
TEXT = "a post about tea and time, as long as most are"
LOOK_SECONDS = 0.5
IDLE_SHARE = 0.04  # of a processor, below which a process has nothing to do


@dataclass(frozen=True, slots=True)
class DeliveryTurn:
    """The costs of one turn: posts and deliveries, times in s, and the delay of each delivery."""

    posts: int
    deliveries: int
    seconds: float
    server_cpu: float
    store_cpu: float
    delays: Sequence[float]


@contextlib.contextmanager
def subscribed(server: Contender, tokens: Sequence[str], document: str) -> Iterator[Receivers]:
    """Have subscribers connected to a server."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    receivers = Receivers(server.port, tokens, document)
    try:
        yield receivers
    finally:
        receivers.close()


async def resting(server: Contender) -> float:
    """Return the share of a processor that a process takes at this moment."""
    before = server.exact_cpu
    await asyncio.sleep(LOOK_SECONDS)
    return (server.exact_cpu - before) / LOOK_SECONDS


async def settled(server: Contender, receivers: Receivers) -> None:
    """Wait until a server has nothing to do, and receivers have nothing to read."""
    while await resting(server) > IDLE_SHARE:
        receivers.turn(0)


async def received(stage: Stage, receivers: Receivers, author: SignedIn, sending: Awaitable[object]) -> int:
    """Read while posts of an author are sent; returns how many they are, once all receivers have them."""
    key, due = keys.profile(author.member), [math.inf]
    before = int(await stage.db.one("ZCARD", key))
    already = before - receivers.received
    receiving = asyncio.create_task(asyncio.to_thread(receivers.receive, lambda: due[0]))
    await sending
    made = int(await stage.db.one("ZCARD", key))
    due[0] = made - already
    await receiving
    return made - before


async def _turn(
    server: Contender, stage: Stage, receivers: Receivers, author: SignedIn, plan: LoadPlan, scratch: Path
) -> DeliveryTurn:
    await settled(server, receivers)
    del receivers.delays[:]
    cpu, store_cpu, began = server.cpu, await stage.used_cpu(), time.monotonic()
    sending = load.run(server, stage, [queries.post(author.token, TEXT)], plan, scratch)
    posts = await received(stage, receivers, author, sending)
    seconds, spent = time.monotonic() - began, (server.cpu - cpu, await stage.used_cpu() - store_cpu)
    return DeliveryTurn(posts, posts * len(receivers), seconds, *spent, [*receivers.delays])


async def measure(
    stage: Stage, kinds: Sequence[ContenderKind], readers: Sequence[SignedIn], count: int, effort: Effort, scratch: Path
) -> None:
    """Measure so many subscribers to the whole site, at saturation and at half of it, and print a table."""
    author, *others = readers
    tokens = [others[i // SOCKETS].token for i in range(count)]
    full = LoadPlan(CONNECTIONS, 0, 0, amount=POSTS)
    rows = []
    for kind in kinds:
        async with contenders.running(stage, [kind]) as (server,):
            with subscribed(server, tokens, STREAM) as receivers:

                async def turns(plan: LoadPlan) -> list[DeliveryTurn]:
                    turn = partial(_turn, server, stage, receivers, author, plan, scratch)
                    return [await turn() for _ in range(effort.rounds)]

                await turns(full)  # warms up
                saturated = await turns(full)
                rate = statistics.median(one.posts / one.seconds for one in saturated) / 2
                relaxed = await turns(replace(full, amount=0, seconds=effort.seconds, rate=rate))
        rows += [[kind.name, *_cells(saturated)], [f"{kind.name}, half as fast", *_cells(relaxed)]]
    print(f"\n### Events to {count:,} subscribers of the whole site\n")
    head = ["", "posts/s", "deliveries/s", "p50 ms", "p99 ms", "server CPU µs a delivery", "store CPU µs a post"]
    table(head, rows)


def _cells(turns: Sequence[DeliveryTurn]) -> list[str]:
    return [
        spread([one.posts / one.seconds for one in turns], 1),
        spread([one.deliveries / one.seconds for one in turns], 0),
        *(
            spread([sorted(one.delays)[int(len(one.delays) * share)] * 1000 for one in turns], 1)
            for share in (0.5, 0.99)
        ),
        spread([one.server_cpu * 1e6 / one.deliveries for one in turns], 1),
        spread([one.store_cpu * 1e6 / one.posts for one in turns], 0),
    ]

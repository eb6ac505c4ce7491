"""Likes: one at a time, by Perch and by the best-known algorithm, and many at once."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import redis
from tqdm import tqdm

from benchmarks.rivals import redis_in_action
from benchmarks.versus import load, processors, queries
from benchmarks.versus.contenders import Contender
from benchmarks.versus.load import Plan
from benchmarks.versus.stage import Reader, Stage
from benchmarks.versus.tables import ratio, spread, table
from benchmarks.versus.writing import BOOK, PERCH, Turn, identity
from store import keys

LIKES = 500  # Likes of one turn, one at a time.
LIKES_AT_ONCE = 5_000  # Likes of one turn over several connections.

Fresh = Iterator[tuple[int, Reader]]  # Likes that are not made yet: posts and members.


async def measure(
    stage: Stage, perch: Contender, readers: Sequence[Reader], rounds: int, connections: int, scratch: Path
) -> None:
    """Measure likes, and print tables."""
    public = [int(post) for post in await stage.db.one("ZRANGE", keys.public(), 0, -1)]
    fresh = itertools.cycle(itertools.product(public, readers))  # Each member likes each post once.
    await _one_at_a_time(stage, perch, fresh, rounds)
    await _at_once(stage, perch, fresh, rounds, Plan(connections, 0, 0, amount=LIKES_AT_ONCE), scratch)


async def _one_at_a_time(stage: Stage, perch: Contender, fresh: Fresh, rounds: int) -> None:
    book = redis.Redis(unix_socket_path=stage.socket, decode_responses=True)
    connection = perch.connect()
    turns: dict[str, list[Turn]] = {PERCH: [], BOOK: []}

    def by_perch(reader: Reader, post: int) -> object:
        return perch.ask(queries.like(reader.token, identity(post)), connection)

    def by_book(reader: Reader, post: int) -> object:
        return redis_in_action.like(book, reader.member, post)

    for _ in tqdm(range(rounds), desc="likes", leave=False):
        perch.process.resume()
        turns[PERCH].append(await _turn(stage, fresh, by_perch))
        perch.process.suspend()
        with processors.moved(processors.SERVER):
            turns[BOOK].append(await _turn(stage, fresh, by_book))
    perch.process.resume()
    book.close()
    costs = {name: [turn.store_cpu / LIKES * 1e6 for turn in found] for name, found in turns.items()}
    answered = [spread([statistics.median(turn.answered) for turn in found]) for found in turns.values()]
    print("\n### A like\n")
    head = ["store CPU µs, Perch", f"store CPU µs, {BOOK}", "Perch / it", "answered ms, Perch", f"answered ms, {BOOK}"]
    table(head, [[*(spread(cost, 0) for cost in costs.values()), ratio(costs[PERCH], costs[BOOK]), *answered]])


async def _turn(stage: Stage, fresh: Fresh, act: Callable[[Reader, int], object]) -> Turn:
    answered, before = [], await stage.used_cpu()
    for post, reader in itertools.islice(fresh, LIKES):
        began = time.perf_counter()
        act(reader, post)
        answered.append((time.perf_counter() - began) * 1000)
    return Turn(answered, answered, await stage.used_cpu() - before)


async def _at_once(stage: Stage, perch: Contender, fresh: Fresh, rounds: int, plan: Plan, scratch: Path) -> None:
    """Measure likes over several connections, and print a table.

    One at a time, the store idles before each command and wakes with cold caches, which more than doubles the cost.
    """
    costs, speeds = [], []
    for _ in tqdm(range(rounds), desc="likes at once", leave=False):
        some = itertools.islice(fresh, LIKES_AT_ONCE)
        likes = [queries.like(reader.token, identity(post)) for post, reader in some]
        found = await load.run(perch, stage, likes, plan, scratch)
        costs.append(found.store_ms * 1000)
        speeds.append(found.throughput)
    print(f"\n### Likes over {plan.connections} connections\n")
    table(["store CPU µs", "likes/s"], [[spread(costs, 0), spread(speeds, 0)]])

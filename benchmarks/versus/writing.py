"""Posts to many followers: Perch beside the algorithm that is best known, on the same followers' homes."""

import asyncio
import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import redis
from tqdm import tqdm

from benchmarks.clients import SignedIn
from benchmarks.rivals import redis_in_action
from benchmarks.versus import contenders, processors, queries
from benchmarks.versus.contenders import Contender, ContenderKind
from benchmarks.versus.stage import Stage
from benchmarks.versus.tables import ratio, spread, table
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep.importing.network import Network, create_follows, create_members
from store import keys
from store.homes import fanout, stored

INSERTS = 20_000  # Entries that one turn inserts into homes.
MOST_POSTS = 1_000  # Posts of one turn.
WARM_UP = 0.1  # So many more posts come first.
BATCH = 500  # Homes filled in one round trip.
OLD = 1 << 40  # Three days, in ids.
MODEL = "model:"  # Prefix of the keys that homes are copied from.
SKIP_LISTS = 10_000  # Followers whose homes are stored as skip lists, too. More would take gigabytes.
LISTPACK = "zset-max-listpack-entries"
POLL_SECONDS = 0.002
DELIVERY_SECONDS = 600
TEXT = "to all of you, as long as most posts are, more or less"
BOOK, BOOK_FAST = "Redis in Action", "Redis in Action, skip lists"
HOMES = {BOOK: redis_in_action.home_as_listpack, BOOK_FAST: redis_in_action.home_as_skip_list}


@dataclass(frozen=True, slots=True)
class WriterTurn:
    """Times in ms of each write; store CPU in s for all of them."""

    answered: list[float]
    delivered: list[float]
    store_cpu: float


def network(sizes: Sequence[int]) -> Network:
    """Return authors with so many followers each, who share these."""
    following = {f"fan{i}": [f"author{size}" for size in sizes if i < size] for i in range(max(sizes))}
    return Network("followers", [*(f"author{size}" for size in sizes), *following], following, [], 0, 0)


async def load(stage: Stage, sizes: Sequence[int]) -> None:
    """Make the authors and their followers, and fill the homes of these, as Perch and as the book have them.

    They are as full as those of a busy site: 25 KB for both, 60 KB for a skip list. Perch leaves some work on a home to
    a later post. It is spread so that each post finds such work in the same number of homes.
    """
    wanted = network(sizes)
    with tqdm(total=len(wanted.members) + wanted.edges, desc="followers", leave=False) as bar:
        members = await create_members(stage.db, wanted, NO_PASSWORD, bar.update)
        stage.members |= members
        await create_follows(stage.db, wanted, members, bar.update)
    await stage.work_off()
    await _fill(stage, [members[f"fan{i}"] for i in range(max(sizes))])


async def _fill(stage: Stage, fans: Sequence[int]) -> None:
    size, spare = stage.db.settings.home_size, stage.db.settings.home_slack - fanout.WAITING
    oldest = int(await stage.db.mint()) - OLD
    last = oldest + size + spare
    waiting = ["".join(f"{last + i:{stored.WIDTH}}" for i in range(n + 1)) for n in range(fanout.WAITING)]
    models = range(spare)  # lists that may have so many more entries before they are trimmed
    book = [part for entry in range(oldest, oldest + size) for part in (entry, entry)]
    await stage.db.ask(
        *(("RPUSH", f"{MODEL}{more}", *range(last - size - more, last)) for more in models),
        ("ZADD", f"{MODEL}{BOOK}", *book),
    )
    (_, usual) = await stage.db.one("CONFIG", "GET", LISTPACK)
    await stage.db.one("CONFIG", "SET", LISTPACK, 0)
    await stage.db.one("ZADD", f"{MODEL}{BOOK_FAST}", *book)
    await stage.db.one("CONFIG", "SET", LISTPACK, usual)
    for begin in range(0, len(fans), BATCH):
        some = list(enumerate(fans[begin : begin + BATCH], begin))
        await stage.db.ask(
            *(("COPY", f"{MODEL}{i % spare}", keys.home(fan), "REPLACE") for i, fan in some),
            *(("SET", keys.newest(fan), waiting[i % fanout.WAITING]) for i, fan in some),
            *(
                ("COPY", f"{MODEL}{name}", HOMES[name](fan), "REPLACE")
                for name in HOMES
                for i, fan in some
                if name == BOOK or i < SKIP_LISTS
            ),
        )
    await stage.db.one("DEL", *(f"{MODEL}{name}" for name in HOMES), *(f"{MODEL}{more}" for more in models))


async def posts(stage: Stage, kinds: Sequence[ContenderKind], sizes: Sequence[int], rounds: int) -> dict[int, str]:
    """Measure posts by authors of each size, and print a table. The contenders are checkouts of Perch.

    Returns Perch's speed by that of the book, for each size.
    """
    book = redis.Redis(unix_socket_path=stage.socket, decode_responses=True)
    book.set(redis_in_action.COUNTER, await stage.db.mint())
    rows: list[list[str]] = []
    compared: dict[int, str] = {}
    for size in tqdm(sizes, desc="posts", leave=False):
        author = await stage.sign_in(f"author{size}")
        last = int((await stage.db.one("ZRANGE", keys.followers(author.member), -1, -1))[0])
        rivals = [name for name in HOMES if name == BOOK or size <= SKIP_LISTS]
        turns: dict[str, list[WriterTurn]] = {name: [] for name in [*(kind.name for kind in kinds), *rivals]}
        for _ in range(rounds):
            for kind in kinds:
                async with contenders.alone(stage, kind) as perch:
                    by_perch = PerchWriter(stage, perch, author, last)
                    await _turn(stage, by_perch, math.ceil(_count(size) * WARM_UP))
                    turns[kind.name].append(await _turn(stage, by_perch, _count(size)))
            with processors.moved(processors.SERVER):  # on which no contender runs now
                for name in rivals:
                    by_book = BookWriter(stage, book, author, last, name)
                    turns[name].append(await _turn(stage, by_book, _count(size)))
        rows += _rows(turns, size)
        compared[size] = ratio(*([1 / turn.store_cpu for turn in turns[name]] for name in (kinds[0].name, BOOK)))
    book.close()
    print("\n### A post to many followers\n\nHome entries per second of the store's processor time; times in ms.")
    table(["followers", "", "entries/s", f"it / {kinds[0].name}", "answered", "delivered to all"], rows)
    return compared


def _count(size: int) -> int:
    """Return how many posts to so many followers make a turn."""
    return max(1, min(MOST_POSTS, INSERTS // size))


def _rows(turns: dict[str, list[WriterTurn]], size: int) -> list[list[str]]:
    inserts = size * _count(size)
    speeds = {name: [inserts / turn.store_cpu for turn in some] for name, some in turns.items()}
    first = next(iter(speeds.values()))
    return [
        [
            f"{size:,}",
            name,
            spread(speeds[name], 0),
            ratio(speeds[name], first),
            spread([statistics.median(turn.answered) for turn in some], 1),
            spread([statistics.median(turn.delivered) for turn in some], 1),
        ]
        for name, some in turns.items()
    ]


class PostWriter(Protocol):
    """Who posts: `finish` does the work that is left once a post is answered."""

    async def post(self) -> int: ...
    async def finish(self) -> None: ...
    async def has(self, post: int) -> bool: ...


async def _turn(stage: Stage, writer: PostWriter, count: int) -> WriterTurn:
    """Post so many times, each when the last follower has the one before: followers are reached in order."""
    answered, delivered, before = [], [], await stage.used_cpu()
    for _ in range(count):
        began = time.perf_counter()
        post = await writer.post()
        answered.append((time.perf_counter() - began) * 1000)
        await writer.finish()
        async with asyncio.timeout(DELIVERY_SECONDS):
            while not await writer.has(post):  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(POLL_SECONDS)
        delivered.append((time.perf_counter() - began) * 1000)
    return WriterTurn(answered, delivered, await stage.used_cpu() - before)


class PerchWriter:
    """An author of Perch."""

    def __init__(self, stage: Stage, perch: Contender, author: SignedIn, last: int) -> None:
        self._db, self._perch, self._author = stage.db, perch, author
        self._connection = perch.connect()
        self._ends = [("GETRANGE", keys.newest(last), -stored.WIDTH, -1), ("LINDEX", keys.home(last), -1)]

    async def post(self) -> int:
        answer = self._perch.ask(queries.post(self._author.token, TEXT), self._connection)
        return int(answer.partition(b'"status_')[2][:14], 16)

    async def finish(self) -> None:
        """Leave the rest to the server."""

    async def has(self, post: int) -> bool:
        waiting, listed = await self._db.ask(*self._ends)
        return str(post) in {waiting.strip(), listed}


class BookWriter:
    """An author of the book's, whose followers have a kind of home."""

    def __init__(self, stage: Stage, book: redis.Redis, author: SignedIn, last: int, name: str) -> None:
        self._db, self._book, self._author, self._last = stage.db, book, author, last
        self._home = HOMES[name]

    async def post(self) -> int:
        return redis_in_action.post_status(self._book, self._author.member, TEXT, self._home)

    async def finish(self) -> None:
        redis_in_action.work_off(self._book, self._home)

    async def has(self, post: int) -> bool:
        return await self._db.one("ZSCORE", self._home(self._last), post) is not None

"""The mixed load: home pages, profile pages and posts, as a site has them."""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from benchmarks.clients import SignedIn, until_no_job_is_left
from benchmarks.versus import graph, queries
from benchmarks.versus.contenders import BenchmarkError, Contender
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Stage
from resolvers.upkeep.importing.network import Network
from store import keys
from store.homes import stored

SHARES = 60, 30, 10  # of home pages, profile pages and posts, in a hundred requests
MOST_INLINE = 1_000  # followers


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a mixed load: a home by its viewer's token, a profile by token and login; and how many requests."""

    home: Callable[[str], Request] = queries.home
    profile: Callable[[str, str], Request] = queries.profile
    requests: int = 2_000  # that are sent in turn


def profiles(
    network: Network, readers: Sequence[SignedIn], count: int, profile: Callable[[str, str], Request] = queries.profile
) -> list[Request]:
    """Return requests for profiles, each member's as likely as they are followed."""
    followers = Counter(chain.from_iterable(network.following.values()))
    dice = random.Random(network.seed)  # noqa: S311
    logins = dice.choices(list(followers), list(followers.values()), k=count)
    return [profile(dice.choice(readers).token, login) for login in logins]


def posts(readers: Sequence[SignedIn], count: int, seed: int) -> list[Request]:
    """Return posts by readers drawn alike."""
    dice = random.Random(seed)  # noqa: S311
    texts = graph.texts(dice)
    return [queries.post(dice.choice(readers).token, dice.choice(texts)) for _ in range(count)]


def mixed(network: Network, readers: Sequence[SignedIn], pages: Pages) -> list[Request]:
    """Return home pages, profile pages and posts by their shares of a hundred, in an order that is always the same."""
    homes, others, written = (pages.requests * share // 100 for share in SHARES)
    dice = random.Random(network.seed)  # noqa: S311
    requests = [pages.home(dice.choice(readers).token) for _ in range(homes)]
    requests += profiles(network, readers, others, pages.profile)
    requests += posts(readers, written, network.seed)
    dice.shuffle(requests)
    return requests


async def check_posts(stage: Stage, contenders: Sequence[Contender], readers: Sequence[SignedIn]) -> None:
    """Raise BenchmarkError unless a post by each contender answers alike, and is in the homes of all followers."""
    counts = await stage.db.ask(*(("ZCARD", keys.followers(reader.member)) for reader in readers))
    _, at = max((count, i) for i, count in enumerate(counts) if count < MOST_INLINE)
    author, shapes = readers[at], set()
    for contender in contenders:
        status = json.loads(contender.ask(queries.post(author.token, "to all of you")))["data"]["post"]["status"]
        number = int(status.pop("id").removeprefix("status_"), 16)
        status["createdAt"] = len(status["createdAt"])
        shapes.add(json.dumps(status))
        await until_no_job_is_left(stage.db)
        followers = await stage.db.one("ZRANGE", keys.followers(author.member), 0, -1)
        places = (stored.places(int(follower), [number]) for follower in [author.member, *followers])
        if [None] in await stage.db.ask(*places):
            raise BenchmarkError(f"{contender.kind.name} has not delivered a post to all followers")
    if len(shapes) > 1:
        raise BenchmarkError(f"contenders answer a post differently: {shapes}")

"""Reposts, quotes and likes, for home pages as a site's readers have them."""

import itertools
import json
import random
from collections.abc import Sequence

from benchmarks.clients import SignedIn
from benchmarks.versus import contenders, graph, queries
from benchmarks.versus.contenders import BenchmarkError, Contender
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Stage
from resolvers.reading import global_ids
from store import keys

QUOTES = 40  # posts that quote another
LIKES = 20_000  # of the public timeline's posts by readers
ZIPF = 1.0  # exponent of the popularity of posts
HOMES_WITH_REPOSTS = 0.5  # share of homes
COUNTED = 1_000  # homes that stand for all
AT_ONCE = 5  # reposts between two counts of such homes


async def prepare(stage: Stage, readers: Sequence[SignedIn], seed: int) -> None:
    """Have readers quote and like posts, and members repost them until half of the readers' homes have a repost.

    Members repost the more often, the more followers they have. So a large site needs few reposts, too.
    """
    dice = random.Random(seed)  # noqa: S311
    counted = dice.sample(readers, min(COUNTED, len(readers)))
    logins = list(stage.members)
    followers = await stage.db.ask(*(("ZCARD", keys.followers(stage.members[login])) for login in logins))
    reach = list(itertools.accumulate(followers))
    public = (await stage.public_posts())[::-1]
    async with contenders.running(stage, [contenders.PERCH]) as (perch,):
        for text in graph.texts(dice)[:QUOTES]:
            _repost(perch, queries.repost(dice.choice(readers).token, _id(dice.choice(public)), text))
        for _ in range(len(public)):
            if await _share_with_reposts(stage, counted) >= HOMES_WITH_REPOSTS:
                break
            for post in dice.sample(public, AT_ONCE):
                (reposter,) = dice.choices(logins, cum_weights=reach)
                _repost(perch, queries.repost((await stage.sign_in(reposter)).token, _id(post)))
            await stage.work_off()
    weights = list(itertools.accumulate((rank + 1) ** -ZIPF for rank in range(len(public))))
    liked = dice.choices(public, cum_weights=weights, k=LIKES)
    await stage.like([(post, dice.choice(readers).member) for post in liked])


def _id(post: int) -> str:
    return global_ids.post_id(post, is_repost=False)


def _repost(perch: Contender, request: Request) -> None:
    answer = json.loads(perch.ask(request))["data"]["repost"]
    if answer["userErrors"]:
        raise BenchmarkError(f"a repost is refused: {answer['userErrors']}")


async def _share_with_reposts(stage: Stage, readers: Sequence[SignedIn]) -> float:
    sizes: list[int] = await stage.db.ask(*(("HLEN", keys.sources(reader.member)) for reader in readers))
    return sum(size > 0 for size in sizes) / len(readers)

"""The shape of a site's graph: how many followers the members have, by rank, and what that means for reads and writes.

Followers fall with rank by Zipf's law, as in `benchmarks.versus.graph`. Ranks are taken in classes that grow by some
percent, so that a hundred million members take as long as a thousand.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

from benchmarks.versus import graph

OFFSET = 10  # ranks that are nearly as popular as the first, as in `graph.generated`
GROWTH = 1.05  # size of a class of ranks, by that of the one before
SATURATED = 40.0  # e to the power of minus this is nothing
QUANTILES = 200  # of a distribution, whose mean is computed
ROUNDS = 60  # of a search by halves


@dataclass(frozen=True, slots=True)
class RankClass:
    """Members of neighbouring ranks, and how many followers each has."""

    members: float
    followers: float


@dataclass(frozen=True)
class Shape:
    """A graph of some members with so many follows each, whose followers fall with rank by an exponent."""

    members: int
    follows: float
    exponent: float
    most_followed: float = 1.0  # largest share of all members that follow one

    @cached_property
    def classes(self) -> list[RankClass]:
        """The members by rank, the most followed first.

        Nobody follows twice. So where so many follow one that more would repeat it, followers grow more slowly.
        """
        ranks = _ranks(self.members)
        most = max(1.0, self.most_followed * (self.members - 1))
        weights = [float((start + size / 2 + OFFSET) ** -self.exponent) for start, size in ranks]

        def followed(scale: float) -> list[float]:
            return [most * -math.expm1(-scale * weight / most) for weight in weights]

        def follows(scale: float) -> float:
            return sum(size * each for (_, size), each in zip(ranks, followed(scale), strict=True))

        wanted = self.members * min(self.follows, most)
        scale = halves(lambda x: follows(x) >= wanted, 0, SATURATED * most / weights[-1])
        return [RankClass(size, each) for (_, size), each in zip(ranks, followed(scale), strict=True)]

    def share_above(self, followers: float) -> float:
        """Return the share of follows that lead to members with at least so many followers."""
        return self._mean(lambda c: c.followers, lambda c: float(c.followers >= followers))

    def fan_out(self, big: float, posting: float) -> float:
        """Return the mean number of homes that a post is pushed to: none of a big author's.

        Members post in proportion to a power of their followers. 0 means that all post alike.
        """
        return self._mean(lambda c: float(c.followers**posting), lambda c: c.followers if c.followers < big else 0)

    def hit_ratio(self, kept: int) -> float:
        """Return the share of reads of members that a cache of so many records answers: they are read as followed."""
        return self.post_hits(kept, 0, 1)[0]

    def post_hits(self, kept: int, of_profiles: float, page: int) -> tuple[float, float]:
        """Return the shares of reads that a cache of posts answers, on home pages and on profile pages.

        Home pages show the newest post of an author, and profile pages the newest ones. `of_profiles` is their share.
        The oldest record leaves the cache. Its hit ratio is that of random replacement (Gelenbe, 1973). A record that
        is read with the probability p is cached with the probability pT / (1 + pT), and these sum up to the size.
        """
        if kept >= self.members * page:
            return 1.0, 1.0
        total = sum(c.members * c.followers for c in self.classes)
        older = of_profiles / page  # probability of each older post, by that of its author
        newest = 1 - of_profiles + older
        read = [(c.members, c.followers / total) for c in self.classes]

        def cached(p: float, time: float) -> float:
            return p * time / (1 + p * time)

        def filled(time: float) -> float:
            return sum(n * (cached(p * newest, time) + (page - 1) * cached(p * older, time)) for n, p in read)

        time = halves(lambda x: filled(x) >= kept, 0, page * self.members / min(p for _, p in read) / (older or 1))
        home = sum(n * p * cached(p * newest, time) for n, p in read)
        old = sum(n * p * cached(p * older, time) for n, p in read)
        return home, (home + (page - 1) * old) / page

    def _mean(self, weight: Callable[[RankClass], float], value: Callable[[RankClass], float]) -> float:
        weights = [c.members * weight(c) for c in self.classes]
        return sum(w * value(c) for w, c in zip(weights, self.classes, strict=True)) / sum(weights)


def halves(reached: Callable[[float], bool], low: float, high: float, rounds: int = ROUNDS) -> float:
    """Return where a condition that stays true once it is begins to hold, between two bounds."""
    for _ in range(rounds):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def capped(mean: float, most: float) -> float:
    """Return the mean length of homes that hold at most so many entries, of those that would have a mean without that.

    A home grows with the number of members that its member follows, which is log-normal.
    """
    spread = NormalDist(-(graph.SPREAD**2) / 2, graph.SPREAD)
    lengths = (mean * math.exp(spread.inv_cdf((i + 0.5) / QUANTILES)) for i in range(QUANTILES))
    return sum(min(length, most) for length in lengths) / QUANTILES


def _ranks(members: int) -> list[tuple[int, int]]:
    """Return the first rank and the size of each class."""
    ranks, start = [], 0
    while start < members:
        size = min(max(1, int(start * (GROWTH - 1))), members - start)
        ranks.append((start, size))
        start += size
    return ranks

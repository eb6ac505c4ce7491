"""Measures the cost of one event against many filters that do not match it.

Run it from a checkout with Perch installed: `python -m benchmarks.filters`. Every filter has phrases that share their
first word with the posts, boxes around the places of the posts, and members to follow. None of these filters passes a
post; one more filter passes each post. Times depend on the machine, so they are also given as ratios to the first row.
The rows take turns.
"""

from __future__ import annotations

import random
import statistics
import time

from resolvers.rules.filters import Facts, Filter
from resolvers.rules.matching import Filters
from resolvers.rules.places import Box
from resolvers.rules.words import phrase_of
from store.records.posts import Location

SIZES = (10, 100, 1_000, 10_000)  # filters that do not match
SCANNED = 1_000  # filters that are also matched one by one, for comparison
ROUNDS, EVENTS = 30, 200  # measurements per row, and posts in each
COMMON = ["tea", "redis", "数据库", "post", "home", "time", "people", "good", "day", "work", "like", "make", "new"]
AUTHORS = 1_000_000


def some_filter(dice: random.Random, number: int) -> Filter:
    """Return a filter of twenty members, five phrases and two boxes of about 100 km, where no post is."""
    phrases = [f"{dice.choice(COMMON)} w{number}x{i}" for i in range(5)]
    corners = [(dice.randint(-80, 80) + 0.1, dice.randint(-179, 178) + 0.1) for _ in range(2)]
    return Filter(
        frozenset(dice.randrange(AUTHORS) for _ in range(20)),
        frozenset(map(phrase_of, phrases)),
        frozenset(Box(south, west, south + 0.8, west + 0.8) for south, west in corners),
    )


def some_posts(dice: random.Random) -> list[tuple[int, str, Location]]:
    """Return posts of thirty words each, placed between the boxes, by authors whom nobody follows."""
    return [
        (
            AUTHORS + i,
            " ".join([*dice.choices(COMMON, k=29), f"#e{i}"]),
            Location(dice.randint(-80, 80), dice.randint(-179, 178)),
        )
        for i in range(EVENTS)
    ]


def main() -> None:
    """Measure, and print a table in Markdown."""
    dice = random.Random(1)  # noqa: S311  chance that can be repeated, no secret
    everything = [some_filter(dice, number) for number in range(max(SIZES))]
    passing = Filter(follow=frozenset(range(AUTHORS, AUTHORS + EVENTS)))
    indexes = {size: Filters[int]() for size in SIZES}
    for size, filters in indexes.items():
        for number, wanted in enumerate([*everything[:size], passing]):
            filters.add(number, wanted)
    posts, taken = some_posts(dice), {size: list[float]() for size in SIZES}
    for _ in range(ROUNDS):
        for size, filters in indexes.items():
            began = time.perf_counter()
            for post in posts:
                assert filters.match(Facts(*post)) == {size}
            taken[size].append((time.perf_counter() - began) / EVENTS)
    first = statistics.median(taken[SIZES[0]])
    print("| filters that do not match | µs an event | middle half | ratio |\n|---|---|---|---|")
    for size, seconds in taken.items():
        low, middle, high = statistics.quantiles(seconds, n=4)
        print(f"| {size:,} | {middle * 1e6:.1f} | {low * 1e6:.1f} to {high * 1e6:.1f} | {middle / first:.2f} |")
    facts = [Facts(*post) for post in posts[:10]]
    began = time.perf_counter()
    assert not any(wanted.passes(one) for one in facts for wanted in everything[:SCANNED])
    each = (time.perf_counter() - began) / len(facts)
    print(f"\nLooking at {SCANNED:,} of them singly takes {each * 1e6:,.1f} µs an event.")


if __name__ == "__main__":
    main()

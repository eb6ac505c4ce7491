"""The rule of importance: counts against age."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from resolvers.rules import ranking
from resolvers.rules.ranking import DECADE_SECONDS, best_first, score

MADE = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_every_number_counts() -> None:
    """One more of any reaction ranks a post higher, even the first one, for any counts."""
    for numbers in itertools.product((0, 1, 100), repeat=4):
        names = dict(zip(("likes", "reposts", "quotes", "comments"), numbers, strict=True))
        for name, value in names.items():
            assert score(MADE, **{**names, name: value + 1}) > score(MADE, **names)


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ({"comments": 1}, {"likes": 1}),
        ({"reposts": 1}, {"comments": 1}),
        ({"quotes": 1}, {"comments": 1}),
        ({"likes": 4}, {"reposts": 1}),
        ({"likes": 1, "reposts": 1}, {"quotes": 1}),
    ],
)
def test_weights(more: dict[str, int], less: dict[str, int]) -> None:
    """A comment weighs more than a like, a repost or quote more than a comment, and they add up."""
    assert score(MADE, **more) > score(MADE, **less)


@pytest.mark.parametrize(
    ("younger", "numbers", "ranks_higher"),
    [
        (1, {}, True),
        (DECADE_SECONDS - 60, {"likes": 9}, False),
        (DECADE_SECONDS + 60, {"likes": 9}, True),
        (2 * DECADE_SECONDS - 60, {"reposts": 33}, False),
        (2 * DECADE_SECONDS + 60, {"reposts": 33}, True),
    ],
)
def test_age_against_numbers(younger: int, numbers: dict[str, int], *, ranks_higher: bool) -> None:
    """A post without reactions ranks above one with ten times the weight if it is a decade of seconds younger."""
    assert (score(MADE + timedelta(seconds=younger)) > score(MADE, **numbers)) is ranks_higher


def test_best_first() -> None:
    """Posts are sorted by score, best first; posts with equal scores, newer first."""
    assert best_first({1: 0.5, 2: 2.0, 3: 0.5, 4: 1.0}) == [2, 4, 3, 1]
    assert ranking.best_first({}) == []

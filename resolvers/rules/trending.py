"""Trending hashtags: recent use compared with usual use."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

RECENT = timedelta(hours=6)  # The period of recent use.
BEFORE = timedelta(days=7)  # The period of usual use, which ends where the recent one begins.
LEAST = 3  # Posts within `RECENT` that a trending tag must have.


@dataclass(frozen=True, slots=True)
class Uses:
    """Numbers of posts that have a tag: recent ones, and earlier ones during the `known` part of `BEFORE`."""

    recent: int
    earlier: int
    known: timedelta = BEFORE


def score(uses: Uses) -> float:
    """Return how unusual a tag's recent use is: (recent - usual) / √(usual + 1).

    `usual` is the earlier use scaled to the length of `RECENT`, or unscaled if the known period is shorter than that.
    If uses were independent, √usual would be their standard deviation. So a tag used a hundred times a day has to gain
    more than a tag used twice. The 1 keeps a new tag's score finite: it equals the number of recent posts.
    """
    usual = uses.earlier * (RECENT / max(uses.known, RECENT))
    return (uses.recent - usual) / math.sqrt(usual + 1)


def best(tags: Mapping[str, Uses], count: int) -> list[str]:
    """Return at most `count` trending tags, best score first. Tags with equal scores are sorted by name."""
    scores = {tag: score(uses) for tag, uses in tags.items() if uses.recent >= LEAST}
    return sorted((tag for tag, value in scores.items() if value > 0), key=lambda tag: (-scores[tag], tag))[:count]

"""Which hashtags trend: recent use against usual use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

RECENT = timedelta(hours=6)  # in which a tag is used recently
BEFORE = timedelta(days=7)  # before that, from which its usual use is known
LEAST = 3  # posts within `RECENT` below which nothing trends


@dataclass(frozen=True, slots=True)
class Uses:
    """How many posts carry a tag: recent ones, and earlier ones in as much of the time before as is known."""

    recent: int
    earlier: int
    known: timedelta = BEFORE


def score(uses: Uses) -> float:
    """Return how unusual a tag's recent use is: (recent - usual) / √(usual + 1).

    Usual is what the time before makes of as long a time as `RECENT`; of less than that it is taken as it is. Were
    uses independent, √usual would be their standard deviation: a tag used a hundred times a day has to gain more than
    one used twice. The 1 keeps a new tag's score finite: it is the number of its recent posts.
    """
    usual = uses.earlier * (RECENT / max(uses.known, RECENT))
    return (uses.recent - usual) / math.sqrt(usual + 1)


def best(tags: Mapping[str, Uses], count: int) -> list[str]:
    """Return the tags that trend, those with the best score first; of equal ones by name."""
    scores = {tag: score(uses) for tag, uses in tags.items() if uses.recent >= LEAST}
    return sorted((tag for tag, value in scores.items() if value > 0), key=lambda tag: (-scores[tag], tag))[:count]

"""How important a post is: decided from its numbers and from when it was made, never from what time it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

from store.records import Post

LIKE, COMMENT, REPOST, QUOTE = 1, 2, 3, 3  # weights: a post that is passed on reaches others, a comment took words
DECADE_SECONDS = 45_000  # s: being twelve and a half hours younger is worth ten times the weight


def score(created: datetime, *, likes: int = 0, reposts: int = 0, quotes: int = 0, comments: int = 0) -> float:
    """Return the rank of a post: log10(1 + weighted numbers) + seconds since 1970 / `DECADE_SECONDS`.

    Age is in it as the time of making, so a score once stored stays right: two posts never change places by time
    passing alone. The logarithm makes the first ten likes worth as much as the next hundred; the 1 makes every one
    count, also the first.
    """
    weight = LIKE * likes + REPOST * reposts + QUOTE * quotes + COMMENT * comments
    return math.log10(1 + weight) + created.timestamp() / DECADE_SECONDS


def best_first(scores: Mapping[int, float]) -> list[int]:
    """Return posts in the order of their scores, the best first; of equal ones the newer first."""
    return sorted(scores, key=lambda post: (scores[post], post), reverse=True)


def score_of(post: Post) -> float:
    """Return the rank of a post as its record has it."""
    return score(
        post.created_at,
        likes=post.like_count,
        reposts=post.repost_count,
        quotes=post.quote_count,
        comments=post.comment_count,
    )

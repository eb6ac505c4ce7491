"""Importance of a post, as a pure function of its counts and its creation time, never of the present time."""

import math
from collections.abc import Mapping
from datetime import datetime

from store.records.posts import Post

LIKE, COMMENT, REPOST, QUOTE = 1, 2, 3, 3  # weights: a comment costs words, and a repost reaches other members
DECADE_SECONDS = 45_000  # being twelve and a half hours younger is worth ten times the weight


def score(created: datetime, *, likes: int = 0, reposts: int = 0, quotes: int = 0, comments: int = 0) -> float:
    """Return the score of a post: log10(1 + weighted counts) + seconds since 1970 / `DECADE_SECONDS`.

    Age enters as the creation time, so a stored score stays right: two posts never swap ranks just because time
    passes. With the logarithm, the first ten likes are worth as much as the next hundred. The 1 makes every like
    count, also the first.
    """
    weight = LIKE * likes + REPOST * reposts + QUOTE * quotes + COMMENT * comments
    return math.log10(1 + weight) + created.timestamp() / DECADE_SECONDS


def best_first(scores: Mapping[int, float]) -> list[int]:
    """Return posts sorted by score, the best first. Of posts with equal scores, the newer comes first."""
    return sorted(scores, key=lambda post: (scores[post], post), reverse=True)


def score_of(post: Post) -> float:
    """Return the score of a post from the counts in its record."""
    return score(
        post.created_at,
        likes=post.like_count,
        reposts=post.repost_count,
        quotes=post.quote_count,
        comments=post.comment_count,
    )

"""Which posts a sample of some size has: decided by the post alone, so that it is the same for everyone."""

from __future__ import annotations

from hashlib import blake2b

ID_BYTES = 8  # that hold an id
SHARES = 100  # into which all posts are divided evenly


def in_sample(post: int, percent: int) -> bool:
    """Return whether a post is in the sample of so many percent; a larger sample has all that a smaller one has.

    A hash spreads what ids have in common: neither a moment nor a member's partition is sampled more than another.
    """
    digest = blake2b(post.to_bytes(ID_BYTES, "big"), digest_size=ID_BYTES).digest()
    return int.from_bytes(digest, "big") % SHARES < percent

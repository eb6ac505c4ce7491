"""Samples of all posts: the post's id alone decides, so a sample is the same for everyone."""

from hashlib import blake2b

ID_BYTES = 8  # bytes for an id
SHARES = 100  # equal parts of all posts


def in_sample(post: int, percent: int) -> bool:
    """Return whether a post is in the sample of so many percent. A larger sample includes every smaller one.

    The id is hashed, so that no moment and no partition is sampled more than another.
    """
    digest = blake2b(post.to_bytes(ID_BYTES, "big"), digest_size=ID_BYTES).digest()
    return int.from_bytes(digest, "big") % SHARES < percent

"""Hashtags of posts as layout 2 had them: with spaces between, not each after a `#`."""

from collections.abc import Sequence

from store import keys
from store.client.database import Database, script
from store.keys.fields import StatusField
from store.records.posts import read_hashtags, write_hashtags


async def rewrite(db: Database, posts: Sequence[int]) -> int:
    """Give the hashtags of some posts their new form; returns how many had the old one. At most two round trips."""
    replies = await db.ask(*(("HGET", keys.status(post), StatusField.HASHTAGS) for post in posts))
    old = [(post, text) for post, text in zip(posts, replies, strict=True) if text and not text.startswith("#")]
    rewritten = await db.ask(
        *(
            script("rewrite_hashtags", post, was=text, hashtags=write_hashtags(read_hashtags(text)))
            for post, text in old
        )
    )
    return sum(map(int, rewritten))

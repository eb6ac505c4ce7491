"""Keys of posts and comments."""

from store.ids import partition
from store.keys.declaring import owned_by

_post = owned_by("post")
_root = owned_by("root")
_comment = owned_by("comment")

status = _post("status")
"""hash: a status, or a repost (`original` set), with its counters"""
likes = _post("likes")
"""zset: member → id of the like"""
reposts = _post("reposts")
"""zset: member with a plain repost of the post → that repost"""
quotes = _post("quotes")
"""zset: quote → its own id"""
replies = _post("replies")
"""zset: status that answers the post → its own id; without hidden and deleted ones"""
thread = _root("thread")
"""zset: post of the conversation that began with this one, itself included while it exists → its own id"""


def withdrawn(post: int, repost: int) -> str:
    """string: a repost, quote or reply gone from the lists of this post, or a post gone from a group; a day"""
    return f"withdrawn:{{{partition(post)}}}:{post}:{repost}"


favouriters = _post("favouriters")
"""zset: member who favourites the post → their id; an index that may name too much, the truth is `favourites`"""
comments = _post("comments")
"""zset: comment → its own id"""
commenters = _post("commenters")
"""zset: comment → its author, so that one member's comments on a post are found without reading all"""
comment = _comment("comment")
"""hash: a comment; in the partition of its post"""


def commented(post: int, member: int, key: str) -> str:
    """string: digest of the input and the comment that an idempotency key has made; expires in a day"""
    return f"commented:{{{partition(post)}}}:{post}:{member}:{key}"


activity = _post("activity")
"""The Pub/Sub channel on which changes to a post's counters are published."""

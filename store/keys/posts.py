"""Keys of posts and comments."""

from store.ids import partition


def status(post: int) -> str:
    """hash: a status, or a repost (`original` set), with its counters"""
    return f"status:{{{partition(post)}}}:{post}"


def likes(post: int) -> str:
    """zset: member → id of the like"""
    return f"likes:{{{partition(post)}}}:{post}"


def reposts(post: int) -> str:
    """zset: member with a plain repost of the post → that repost"""
    return f"reposts:{{{partition(post)}}}:{post}"


def quotes(post: int) -> str:
    """zset: quote → its own id"""
    return f"quotes:{{{partition(post)}}}:{post}"


def replies(post: int) -> str:
    """zset: status that answers the post → its own id; without hidden and deleted ones"""
    return f"replies:{{{partition(post)}}}:{post}"


def thread(root: int) -> str:
    """zset: post of the conversation that began with this one, itself included while it exists → its own id"""
    return f"thread:{{{partition(root)}}}:{root}"


def withdrawn(post: int, repost: int) -> str:
    """string: a repost, quote or reply gone from the lists of this post, or a post gone from a group; a day"""
    return f"withdrawn:{{{partition(post)}}}:{post}:{repost}"


def favouriters(post: int) -> str:
    """zset: member who favourites the post → their id; an index that may name too much, the truth is `favourites`"""
    return f"favouriters:{{{partition(post)}}}:{post}"


def comments(post: int) -> str:
    """zset: comment → its own id"""
    return f"comments:{{{partition(post)}}}:{post}"


def commenters(post: int) -> str:
    """zset: comment → its author, so that one member's comments on a post are found without reading all"""
    return f"commenters:{{{partition(post)}}}:{post}"


def comment(comment: int) -> str:
    """hash: a comment; in the partition of its post"""
    return f"comment:{{{partition(comment)}}}:{comment}"


def commented(post: int, member: int, key: str) -> str:
    """string: digest of the input and the comment that an idempotency key has made; expires in a day"""
    return f"commented:{{{partition(post)}}}:{post}:{member}:{key}"


def activity(post: int) -> str:
    """Return the Pub/Sub channel on which changes to a post's counters are published."""
    return f"activity:{{{partition(post)}}}:{post}"

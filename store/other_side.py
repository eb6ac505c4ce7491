"""What the other member's side says of a follow or request, read before a change of it.

Each change is decided on the acting member's side. The other side may have changed the same edge, and that change may
still be on its way. So the acting member reads the other side first, in a round trip that the mutation makes anyway.
What an acknowledged change has left there is then known, and the new change comes after it.

A change that begins only after that read is concurrent. Either order of the two is right.
"""

from collections.abc import Callable, Mapping, Sequence

from store import keys
from store.client.database import Command

There = Mapping[int, str]  # by member; "" for nothing
NOTHING: There = {}
Replies = Sequence[str | None]  # of one member's side
BLOCKS = "blocks"  # said by the side of a member who blocks the follower


def with_other_side(members: Sequence[int], there: There) -> list[int | str]:
    """Return members as scripts take them: each is followed by what the other side says."""
    return [part for member in members for part in (member, there.get(member, ""))]


def ended_commands(follower: int, member: int) -> list[Command]:
    """Return the commands that read whether a member blocks a follower, and which of the follower's edges has ended."""
    return [("ZSCORE", keys.blocked(member), follower), ("GET", keys.unfollowed(member, follower))]


def edge_commands(member: int, follower: int) -> list[Command]:
    """Return the commands that read a follower's request to a member, and their follow, on the follower's side."""
    return [("ZSCORE", keys.requested(follower), member), ("ZSCORE", keys.following(follower), member)]


def ended(replies: Replies) -> str:
    """Return what a follow has to know, from the replies to `ended_commands`: `BLOCKS`, or the newest ended edge."""
    blocks, tombstone = replies
    return BLOCKS if blocks else tombstone or ""


def request(replies: Replies) -> str:
    """Return a follower's request, from the replies to `edge_commands`."""
    return replies[0] or ""


def follow(replies: Replies) -> str:
    """Return a follower's follow, from the replies to `edge_commands`."""
    return replies[1] or ""


def edge(replies: Replies) -> str:
    """Return a follower's request or follow, from the replies to `edge_commands`."""
    return request(replies) or follow(replies)


def read(replies: Mapping[int, Replies], what: Callable[[Replies], str]) -> There:
    """Return what the other sides have said, from their replies by member."""
    return {member: what(some) for member, some in replies.items()}

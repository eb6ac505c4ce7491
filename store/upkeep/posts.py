"""Posts: the profiles, indexes of reposts and pins that lead to them."""

from collections.abc import Sequence

from msgspec import Struct

from store import keys, kinds
from store import posts as live
from store.client.database import Command, Database
from store.keys.fields import StatusField, UserField
from store.records.lists import Published, read_pairs
from store.records.posts import Post, Repost, read_post
from store.timelines import read_published
from store.upkeep import counters
from store.upkeep.lists import existing


async def posts(db: Database, ids: Sequence[int]) -> list[Post]:
    """Return the existing posts among some ids. One round trip."""
    replies = await db.ask(*(("HGETALL", keys.status(post)) for post in ids))
    return [record for post, reply in zip(ids, replies, strict=True) if (record := read_post(post, read_pairs(reply)))]


async def not_in_profile(db: Database, posts: Sequence[Post]) -> list[Post]:
    """Return those of some posts that their authors' profiles lack. One round trip."""
    places = await db.ask(*(("ZSCORE", keys.profile(post.author), _profile_entry(post)) for post in posts))
    return [post for post, place in zip(posts, places, strict=True) if place is None]


def _profile_entry(post: Post) -> str:
    if isinstance(post, Repost) and post.is_plain:
        return f"{post.id}:{post.original_id}:{0 if post.original_group else post.original_author}"
    return f"{post.id}:{post.group}" if post.group else str(post.id)


def add_to_profile(post: Post) -> list[Command]:
    """Return the commands that list a post in its author's profile, and recount the author's posts."""
    add = ("ZADD", keys.profile(post.author), post.id, _profile_entry(post))
    return [add, *counters.recount_list(kinds.PROFILE, post.author)]


async def authors(db: Database, ids: Sequence[int]) -> dict[int, int]:
    """Return the author of each existing post. One round trip."""
    replies = await db.ask(*(("HGET", keys.status(post), StatusField.AUTHOR) for post in ids))
    return {post: int(author) for post, author in zip(ids, replies, strict=True) if author}


async def unlisted_reposts(db: Database, posts: Sequence[Post]) -> list[Repost]:
    """Return the reposts and quotes among some posts that their original lacks, though it exists. Two round trips."""
    reposts = [post for post in posts if isinstance(post, Repost) and not post.is_hidden]
    originals = await existing(db, kinds.STATUS, {post.original_id for post in reposts})
    asked = [post for post in reposts if post.original_id in originals]
    places = await db.ask(
        *(
            ("ZSCORE", keys.reposts(post.original_id), post.author)
            if post.is_plain
            else ("ZSCORE", keys.quotes(post.original_id), post.id)
            for post in asked
        )
    )
    return [post for post, place in zip(asked, places, strict=True) if place is None]


def relist_repost(db: Database, post: Repost) -> list[Command]:
    """Return the commands that list a repost or quote at its original again."""
    original, plain = post.original_id, post.is_plain
    if not plain:
        return live.relist_quote_commands(db, original, post.id, post.author)
    ended = ("DEL", keys.withdrawn(original, post.id))
    return [ended, live.list_repost_command(db, original, post.id, post.author, plain=plain)]


async def unindexed_reposts(db: Database, members: Sequence[int]) -> list[tuple[int, Published]]:
    """Return each plain repost in some members' profiles that their index of reposts lacks. Two round trips."""
    replies = await db.ask(*(("ZRANGE", keys.profile(member), 0, -1) for member in members))
    entries = [(m, read_published(text)) for m, reply in zip(members, replies, strict=True) for text in reply]
    plain = [(member, post) for member, post in entries if post.original]
    indexed = await db.ask(*(("HGET", keys.reposted(member), post.original) for member, post in plain))
    return [one for one, repost in zip(plain, indexed, strict=True) if repost != str(one[1].id)]


class IndexedRepost(Struct, frozen=True):
    """An entry of a member's index of plain reposts, and whether there is such a repost."""

    key: str
    original: int
    repost: int
    exists: bool


async def reposted(db: Database, members: Sequence[int]) -> list[IndexedRepost]:
    """Return the entries of some members' indexes of plain reposts. Two round trips."""
    replies = await db.ask(*(("HGETALL", keys.reposted(member)) for member in members))
    entries = [
        (keys.reposted(member), int(original), int(repost))
        for member, reply in zip(members, replies, strict=True)
        for original, repost in read_pairs(reply).items()
    ]
    of = await db.ask(*(("HGET", keys.status(repost), StatusField.ORIGINAL) for _, _, repost in entries))
    return [IndexedRepost(*entry, original == str(entry[1])) for entry, original in zip(entries, of, strict=True)]


def index_repost(member: int, repost: Published) -> Command:
    """Return the command that adds a plain repost to its author's index, unless this has another one of the post."""
    return ("HSETNX", keys.reposted(member), repost.original, repost.id)


def remove_from_reposted(entry: IndexedRepost) -> Command:
    """Return the command that removes an entry from its index of plain reposts."""
    return ("HDEL", entry.key, entry.original)


class Pin(Struct, frozen=True):
    """The pinned post of a member; `post` is None when it does not exist."""

    member: int
    key: str
    pinned: int
    post: Post | None


async def pins(db: Database, members: Sequence[int]) -> list[Pin]:
    """Return the pins of those members who have one. Two round trips."""
    named = await db.ask(*(("HGET", keys.user(member), UserField.PINNED) for member in members))
    pinned = [(member, int(post)) for member, post in zip(members, named, strict=True) if post]
    replies = await db.ask(*(("HGETALL", keys.status(post)) for _, post in pinned))
    return [
        Pin(member, keys.user(member), post, read_post(post, read_pairs(reply)))
        for (member, post), reply in zip(pinned, replies, strict=True)
    ]


async def missing_roots(db: Database, roots: Sequence[int]) -> list[int]:
    """Return the roots that exist, and that their threads lack. Two round trips."""
    places = await db.ask(*(("ZSCORE", keys.thread(root), root) for root in roots))
    lacking = [root for root, place in zip(roots, places, strict=True) if place is None]
    exist = await existing(db, kinds.STATUS, lacking)
    return [root for root in lacking if root in exist]


def add_root(root: int) -> list[Command]:
    """Return the commands that list a post in the thread that it began."""
    return [("ZADD", keys.thread(root), root, root)]

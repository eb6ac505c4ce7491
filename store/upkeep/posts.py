"""Posts: their counters, and the profiles, indexes of reposts and pins that lead to them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from store import keys
from store import posts as live
from store.client.database import Command, Database
from store.keys.fields import StatusField, UserField
from store.records.lists import Published, read_pairs
from store.records.posts import Post, Repost, read_post
from store.timelines import read_published
from store.upkeep import counters
from store.upkeep.counters import Counts
from store.upkeep.kinds import Kind, existing


class PostFacts(Struct, frozen=True):
    """A post's counters, and the totals that they should equal; which of its author's lists have it."""

    post: Post
    key: str
    counters: Counts
    totals: Counts
    is_in_profile: bool
    is_among_hidden: bool


async def posts(db: Database, ids: Sequence[int]) -> list[PostFacts]:
    """Return the facts about the existing posts among some ids. Four round trips."""
    totals = await counters.totals_of_posts(db, ids)
    replies = await db.ask(*(("HGETALL", keys.status(post)) for post in ids))
    fields = {post: read_pairs(reply) for post, reply in zip(ids, replies, strict=True)}
    records = [record for post in ids if (record := read_post(post, fields[post]))]
    places = await db.ask(*(("ZSCORE", keys.profile(record.author), _profile_entry(record)) for record in records))
    hidden = await db.ask(*(("ZSCORE", keys.hidden(record.author), record.id) for record in records))
    return [
        PostFacts(
            record,
            keys.status(record.id),
            counters.stored(fields[record.id], counters.OF_POST),
            totals[record.id],
            is_in_profile=place is not None,
            is_among_hidden=apart is not None,
        )
        for record, place, apart in zip(records, places, hidden, strict=True)
    ]


def _profile_entry(post: Post) -> str:
    if isinstance(post, Repost) and post.is_plain:
        return f"{post.id}:{post.original_id}:{0 if post.original_group else post.original_author}"
    return f"{post.id}:{post.group}" if post.group else str(post.id)


def add_to_profile(post: Post) -> list[Command]:
    """Return the commands that list a post in its author's profile, and recount the author's posts."""
    add = ("ZADD", keys.profile(post.author), post.id, _profile_entry(post))
    return [add, *counters.recount_member(post.author, UserField.POSTS)]


def correct_hidden(post: Post) -> list[Command]:
    """Return the commands that make a member's list of hidden posts agree with a post, and recount their posts."""
    change = ("ZADD", keys.hidden(post.author), post.id, post.id)
    undo = ("ZREM", keys.hidden(post.author), post.id)
    return [change if post.is_hidden else undo, *counters.recount_member(post.author, UserField.POSTS)]


async def strangers_hidden(db: Database, members: Sequence[int]) -> list[tuple[int, int]]:
    """Return member and post where a list of hidden posts has one that is gone or another's. Two round trips."""
    replies = await db.ask(*(("ZRANGE", keys.hidden(member), 0, -1) for member in members))
    pairs = [(member, int(post)) for member, reply in zip(members, replies, strict=True) for post in reply]
    written = await db.ask(*(("HGET", keys.status(post), StatusField.AUTHOR) for _, post in pairs))
    return [pair for pair, author in zip(pairs, written, strict=True) if author != str(pair[0])]


def remove_from_hidden(member: int, post: int) -> list[Command]:
    """Return the commands that remove a post from a member's list of hidden ones, and recount their posts."""
    return [("ZREM", keys.hidden(member), post), *counters.recount_member(member, UserField.POSTS)]


async def authors(db: Database, ids: Sequence[int]) -> dict[int, int]:
    """Return the author of each existing post. One round trip."""
    replies = await db.ask(*(("HGET", keys.status(post), StatusField.AUTHOR) for post in ids))
    return {post: int(author) for post, author in zip(ids, replies, strict=True) if author}


async def unlisted_reposts(db: Database, posts: Sequence[Post]) -> list[Repost]:
    """Return the reposts and quotes among some posts that their original lacks, though it exists. Two round trips."""
    reposts = [post for post in posts if isinstance(post, Repost) and not post.is_hidden]
    originals = await existing(db, Kind.STATUS, {post.original_id for post in reposts})
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


class ProfileEntry(Struct, frozen=True):
    """An entry of a member's profile."""

    member: int
    key: str
    text: str
    post: Published
    exists: bool
    is_indexed: bool  # a plain repost: whether the member's index of reposts has it; True for other posts


async def profiles(db: Database, members: Sequence[int]) -> list[ProfileEntry]:
    """Return the entries of some members' profiles. Three round trips."""
    replies = await db.ask(*(("ZRANGE", keys.profile(member), 0, -1) for member in members))
    entries = [(m, text, read_published(text)) for m, reply in zip(members, replies, strict=True) for text in reply]
    exists = await existing(db, Kind.STATUS, [post.id for _, _, post in entries])
    plain = [(member, post) for member, _, post in entries if post.original]
    indexed = await db.ask(*(("HGET", keys.reposted(member), post.original) for member, post in plain))
    strange = {post.id for (_, post), repost in zip(plain, indexed, strict=True) if repost != str(post.id)}
    return [
        ProfileEntry(member, keys.profile(member), text, post, post.id in exists, post.id not in strange)
        for member, text, post in entries
    ]


def remove_from_profile(entry: ProfileEntry) -> list[Command]:
    """Return the commands that remove an entry from its profile, and recount the member's posts."""
    return [("ZREM", entry.key, entry.text), *counters.recount_member(entry.member, UserField.POSTS)]


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


def index_repost(entry: ProfileEntry) -> Command:
    """Return the command that adds a plain repost to its author's index, unless this has another one of the post."""
    return ("HSETNX", keys.reposted(entry.member), entry.post.original, entry.post.id)


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

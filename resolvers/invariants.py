"""What must hold of every key in the store: each kind of key has a check, and each finding its repair."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from store import keys, relations
from store.connection import Command, Database, script
from store.records import is_plain_repost, read_entries, read_pairs, read_post, read_published

COUNTED_BY_USER = {"followers": keys.followers, "following": keys.following, "posts": keys.profile}
COUNTED_BY_POST = {
    "likes": keys.likes,
    "reposts": keys.reposts,
    "quotes": keys.quotes,
    "comments": keys.comments,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """An invariant that does not hold: of which key, what is wrong, and the commands that mend it."""

    key: str
    message: str
    repair: tuple[Command, ...] = field(default=(), compare=False)


Check = Callable[[Database, Sequence[int]], Awaitable[list[Finding]]]


async def users(db: Database, members: Sequence[int]) -> list[Finding]:
    """Counters equal their sets; credentials, a lasting login and a lasting e-mail address are there."""
    found: list[Finding] = []
    counts = await _counts(db, members, COUNTED_BY_USER)
    for member, hidden in zip(members, await db.ask(*(("ZCARD", keys.hidden(m)) for m in members)), strict=True):
        counts[member]["posts"] -= hidden
    records = await db.ask(*(("HGETALL", keys.user(member)) for member in members))
    emails = await db.ask(*(("HGET", keys.credentials(member), "email") for member in members))
    users = {member: read_pairs(reply) for member, reply in zip(members, records, strict=True) if reply}
    owned = [(member, keys.login(fields["login"].lower())) for member, fields in users.items()]
    for member, email in zip(members, emails, strict=True):
        if member not in users:
            continue
        for name, count in counts[member].items():
            if int(users[member].get(name, 0)) != count:
                message = f"says {users[member].get(name, 0)} {name}, there are {count}"
                found.append(Finding(keys.user(member), message, _recount_user(member, name)))
        if email is None:
            found.append(Finding(keys.user(member), "has no credentials"))
        else:
            owned.append((member, keys.email(email.lower())))
    return found + await _names_last(db, owned)


async def _names_last(db: Database, owned: Sequence[tuple[int, str]]) -> list[Finding]:
    found: list[Finding] = []
    holders = await db.ask(*(("GET", key) for _, key in owned))
    lives = await db.ask(*(("TTL", key) for _, key in owned))
    for (member, key), holder, life in zip(owned, holders, lives, strict=True):
        if holder != str(member) or life >= 0:
            mend = (script("keep_name", [key], [member, 0]),) if holder in {None, str(member)} else ()
            message = f"{key} {'is not lasting' if holder == str(member) else f'belongs to {holder}'}"
            found.append(Finding(keys.user(member), message, mend))
    return found


async def following(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each follow stands on the followed member's side with the same id, and there is such a member."""
    found = [
        Finding(keys.following(member), f"has {count} entries, at most {db.settings.max_following}")
        for member, count in zip(members, await db.ask(*(("ZCARD", keys.following(m)) for m in members)), strict=True)
        if count > db.settings.max_following
    ]
    edges = await _edges(db, members, keys.following)
    exists = await existing(db, {other for _, other, _ in edges}, keys.user)
    seen = await db.ask(*(("ZSCORE", keys.followers(other), member) for member, other, _ in edges))
    for (member, other, edge), mirrored in zip(edges, seen, strict=True):
        if other not in exists:
            gone = (("ZREM", keys.following(member), other), *_recount_user(member, "following"))
            found.append(Finding(keys.following(member), f"follows {other}, who does not exist", gone))
        elif mirrored is None or int(mirrored) != edge:
            mend = (
                ("DEL", keys.unfollowed(other, member)),
                ("ZREM", keys.followers(other), member),
                relations.apply_command(db, member, other, edge, ended=False),
            )
            found.append(Finding(keys.following(member), f"follow of {other} is {mirrored} there, {edge} here", mend))
    return found


async def followers(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each follower follows: their own side is the truth."""
    edges = await _edges(db, members, keys.followers)
    seen = await db.ask(*(("ZSCORE", keys.following(other), member) for member, other, _ in edges))
    return [
        Finding(
            keys.followers(member),
            f"{other} does not follow",
            (("ZREM", keys.followers(member), other), *_recount_user(member, "followers")),
        )
        for (member, other, _), mirrored in zip(edges, seen, strict=True)
        if mirrored is None
    ]


async def statuses(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Counters equal their lists; the post is in its author's profile."""
    counts = await _counts(db, posts, COUNTED_BY_POST)
    replies = await db.ask(*(("HGETALL", keys.status(post)) for post in posts))
    known = {post: reply for post, reply in zip(posts, replies, strict=True) if reply}
    records = {post: read_post(post, read_pairs(reply)) for post, reply in known.items()}
    in_profile = await db.ask(*(("ZSCORE", keys.profile(r.author), _profile_member(r)) for r in records.values() if r))
    found: list[Finding] = []
    for (post, reply), stands in zip(known.items(), in_profile, strict=True):
        found += _miscounted(keys.status(post), read_pairs(reply), counts[post], post, COUNTED_BY_POST)
        record = records[post]
        if record and stands is None:
            mend = (
                ("ZADD", keys.profile(record.author), post, _profile_member(record)),
                *_recount_user(record.author, "posts"),
            )
            found.append(Finding(keys.status(post), f"is not in the profile of {record.author}", mend))
    return found


async def profiles(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each entry has its post; a plain repost is the one its author has of that original."""
    replies = await db.ask(*(("ZRANGE", keys.profile(member), 0, -1) for member in members))
    entries = [(m, text, read_published(text)) for m, reply in zip(members, replies, strict=True) for text in reply]
    exists = await existing(db, [entry.id for _, _, entry in entries], keys.status)
    plain = [(m, entry) for m, _, entry in entries if entry.original]
    own = await db.ask(*(("HGET", keys.reposted(m), entry.original) for m, entry in plain))
    found = [
        Finding(keys.profile(m), f"{text} is no post", (("ZREM", keys.profile(m), text), *_recount_user(m, "posts")))
        for m, text, entry in entries
        if entry.id not in exists
    ]
    found += [
        Finding(keys.profile(m), f"{entry.id} is not known as repost of {entry.original}")
        for (m, entry), repost in zip(plain, own, strict=True)
        if repost != str(entry.id)
    ]
    return found


async def reposted(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each plain repost that a member is known to have made exists."""
    replies = await db.ask(*(("HGETALL", keys.reposted(member)) for member in members))
    own = [(m, original, repost) for m, r in zip(members, replies, strict=True) for original, repost in _pairs(r)]
    exists = await existing(db, [repost for _, _, repost in own], keys.status)
    return [
        Finding(keys.reposted(m), f"{repost} of {original} is gone", (("HDEL", keys.reposted(m), original),))
        for m, original, repost in own
        if repost not in exists
    ]


def hanging(listing: Callable[[int], str]) -> Check:
    """Return the check that a list hangs on no post that is gone."""

    async def check(db: Database, posts: Sequence[int]) -> list[Finding]:
        exists = await existing(db, posts, keys.status)
        gone = [listing(post) for post in posts if post not in exists]
        return [Finding(key, "its post is gone", (("DEL", key),)) for key in gone]

    return check


async def comment_lists(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each comment listed exists."""
    return await _listed(db, posts, keys.comments, keys.comment, "comments")


async def quotes(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each quote listed exists."""
    return await _listed(db, posts, keys.quotes, keys.status, "quotes")


async def reposts(db: Database, posts: Sequence[int]) -> list[Finding]:
    """Each plain repost listed exists."""
    replies = await db.ask(*(("ZRANGE", keys.reposts(post), 0, -1, "WITHSCORES") for post in posts))
    listed = [(post, e) for post, reply in zip(posts, replies, strict=True) for e in read_entries(reply)]
    exists = await existing(db, [entry.place for _, entry in listed], keys.status)
    return [
        Finding(
            keys.reposts(post),
            f"{entry.place} by {entry.thing} is gone",
            (("ZREM", keys.reposts(post), entry.thing), recount(keys.status(post), keys.reposts(post), "reposts")),
        )
        for post, entry in listed
        if entry.place not in exists
    ]


async def comments(db: Database, things: Sequence[int]) -> list[Finding]:
    """Each comment is listed at its post."""
    replies = await db.ask(*(("HGET", keys.comment(thing), "post") for thing in things))
    below = [(thing, int(post)) for thing, post in zip(things, replies, strict=True) if post]
    listed = await db.ask(*(("ZSCORE", keys.comments(post), thing) for thing, post in below))
    exists = await existing(db, {post for _, post in below}, keys.status)
    found: list[Finding] = []
    for (thing, post), score in zip(below, listed, strict=True):
        listing = keys.comments(post)
        relist = (("ZADD", listing, thing, thing), recount(keys.status(post), listing, "comments"))
        if score is None:
            mend = relist if post in exists else (("DEL", keys.comment(thing)),)
            found.append(Finding(keys.comment(thing), f"is not listed at {post}", mend))
    return found


async def timeline_entries(db: Database, key: str, size: int) -> list[Finding]:
    """A timeline that all read is bounded, and has only posts that exist."""
    posts = [int(post) for post in await db.one("ZRANGE", key, 0, -1)]
    exists = await existing(db, posts, keys.status)
    gone = [post for post in posts if post not in exists]
    found: list[Finding] = []
    if len(posts) > size:
        trim = ("ZREMRANGEBYRANK", key, 0, -size - 1)
        found.append(Finding(key, f"has {len(posts)} entries, at most {size}", (trim,)))
    if gone:
        found.append(Finding(key, f"has {len(gone)} posts that are gone", (("ZREM", key, *gone),)))
    return found


async def _counts(
    db: Database, things: Sequence[int], counted: Mapping[str, Callable[[int], str]]
) -> dict[int, dict[str, int]]:
    replies = await db.ask(*(("ZCARD", key(thing)) for thing in things for key in counted.values()))
    rows = [replies[i : i + len(counted)] for i in range(0, len(replies), len(counted))]
    return {thing: dict(zip(counted, row, strict=True)) for thing, row in zip(things, rows, strict=True)}


def _miscounted(
    key: str, fields: dict[str, str], counts: dict[str, int], thing: int, counted: Mapping[str, Callable[[int], str]]
) -> list[Finding]:
    return [
        Finding(
            key,
            f"says {fields.get(name, 0)} {name}, there are {count}",
            (recount(key, counted[name](thing), name),),
        )
        for name, count in counts.items()
        if int(fields.get(name, 0)) != count
    ]


def recount(record: str, counted: str, name: str, *without: str) -> Command:
    """Return the command that sets a counter to the size of its set, or of what is in it and not in another."""
    return script("recount", [record, counted, *without], [name])


def _recount_user(member: int, name: str) -> tuple[Command, ...]:
    without = [keys.hidden(member)] if name == "posts" else []
    return (recount(keys.user(member), COUNTED_BY_USER[name](member), name, *without),)


async def _edges(db: Database, members: Sequence[int], key: Callable[[int], str]) -> list[tuple[int, int, int]]:
    replies = await db.ask(*(("ZRANGE", key(member), 0, -1, "WITHSCORES") for member in members))
    return [
        (member, entry.thing, entry.place)
        for member, reply in zip(members, replies, strict=True)
        for entry in read_entries(reply)
    ]


async def existing(db: Database, things: Iterable[int], key: Callable[[int], str]) -> set[int]:
    """Return which of some things have a record."""
    wanted = list(things)
    replies = await db.ask(*(("EXISTS", key(thing)) for thing in wanted))
    return {thing for thing, there in zip(wanted, replies, strict=True) if there}


async def _listed(
    db: Database, posts: Sequence[int], listing: Callable[[int], str], record: Callable[[int], str], counter: str
) -> list[Finding]:
    replies = await db.ask(*(("ZRANGE", listing(post), 0, -1) for post in posts))
    entries = [(post, text) for post, reply in zip(posts, replies, strict=True) for text in reply]
    exists = await existing(db, [int(text) for _, text in entries], record)
    return [
        Finding(
            listing(post),
            f"{text} is gone",
            (
                ("ZREM", listing(post), text),
                recount(keys.status(post), listing(post), counter),
            ),
        )
        for post, text in entries
        if int(text) not in exists
    ]


def _pairs(reply: Sequence[str]) -> list[tuple[int, int]]:
    return [(int(name), int(value)) for name, value in read_pairs(reply).items()]


def _profile_member(post: Any) -> str:
    return f"{post.id}:{post.original_id}:{post.original_author}" if is_plain_repost(post) else str(post.id)

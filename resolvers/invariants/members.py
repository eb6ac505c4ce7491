"""Members: names, counters, and follows that are the same on both sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from resolvers.invariants.findings import COUNTED_BY_USER, Finding, counts_of, existing, recount_one
from store import keys, relations
from store.connection import Database, script
from store.records import read_entries, read_pairs


async def users(db: Database, members: Sequence[int]) -> list[Finding]:
    """Counters equal their sets; credentials, a lasting login and a lasting e-mail address are there."""
    found: list[Finding] = []
    counts = await counts_of(db, members, COUNTED_BY_USER)
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
                found.append(Finding(keys.user(member), message, recount_one(member, name)))
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
            gone = (("ZREM", keys.following(member), other), *recount_one(member, "following"))
            found.append(Finding(keys.following(member), f"follows {other}, who does not exist", gone))
        elif mirrored is None or int(mirrored) != edge:
            mend = (
                ("DEL", keys.unfollowed(other, member)),
                ("ZREM", keys.followers(other), member),
                relations.apply_command(db, member, other, edge, "add", quietly=True),
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
            (("ZREM", keys.followers(member), other), *recount_one(member, "followers")),
        )
        for (member, other, _), mirrored in zip(edges, seen, strict=True)
        if mirrored is None
    ]


async def _edges(db: Database, members: Sequence[int], key: Callable[[int], str]) -> list[tuple[int, int, int]]:
    replies = await db.ask(*(("ZRANGE", key(member), 0, -1, "WITHSCORES") for member in members))
    return [
        (member, entry.thing, entry.place)
        for member, reply in zip(members, replies, strict=True)
        for entry in read_entries(reply)
    ]

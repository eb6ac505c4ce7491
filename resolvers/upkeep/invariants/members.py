"""Invariants of members: names, credentials and counters."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import COUNTED_BY_USER, Finding, counts_of, recount_one
from store import accounts, keys
from store.client.database import Database
from store.records import read_pairs


async def users(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each member has exact counters, credentials, and a permanent login and e-mail address."""
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
            mend = (accounts.keep_name(key, member),) if holder in {None, str(member)} else ()
            message = f"{key} {'is not lasting' if holder == str(member) else f'belongs to {holder}'}"
            found.append(Finding(keys.user(member), message, mend))
    return found

"""Members: their counters, and that they have credentials and names of their own."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from store import accounts, keys
from store.client.database import Command, Database
from store.keys.fields import CredentialsField, UserField
from store.records import read_pairs
from store.upkeep import counters
from store.upkeep.counters import Counts


class MemberFacts(Struct, frozen=True):
    """A member's counters, and the totals that they should equal; the login and the e-mail address."""

    id: int
    key: str
    counters: Counts
    totals: Counts
    login: str
    email: str | None  # None without credentials


class NameFacts(Struct, frozen=True):
    """A login or e-mail address of a member, and who holds it."""

    member: int
    key: str
    holder: int | None
    is_permanent: bool


async def members(db: Database, ids: Sequence[int]) -> list[MemberFacts]:
    """Return the facts about the existing members among some ids. Four round trips."""
    totals = await counters.totals_of_members(db, ids)
    records = await db.ask(*(("HGETALL", keys.user(member)) for member in ids))
    emails = await db.ask(*(("HGET", keys.credentials(member), CredentialsField.EMAIL) for member in ids))
    found: list[MemberFacts] = []
    for member, record, email in zip(ids, records, emails, strict=True):
        if record:
            fields = read_pairs(record)
            stored = counters.stored(fields, counters.OF_MEMBER)
            facts = MemberFacts(member, keys.user(member), stored, totals[member], fields[UserField.LOGIN], email)
            found.append(facts)
    return found


async def names(db: Database, found: Sequence[MemberFacts]) -> list[NameFacts]:
    """Return the facts about the logins and e-mail addresses of some members. Two round trips."""
    owned = [(facts.id, keys.login(facts.login.lower())) for facts in found]
    owned += [(facts.id, keys.email(facts.email.lower())) for facts in found if facts.email is not None]
    holders = await db.ask(*(("GET", key) for _, key in owned))
    lives = await db.ask(*(("TTL", key) for _, key in owned))
    return [
        NameFacts(member, key, int(holder) if holder else None, is_permanent=life < 0)
        for (member, key), holder, life in zip(owned, holders, lives, strict=True)
    ]


def keep_name(name: NameFacts) -> Command:
    """Return the command that makes a name its member's for good, unless another member holds it."""
    return accounts.keep_name(name.key, name.member)


async def permanent_holders(db: Database, names: Sequence[str]) -> dict[str, int]:
    """Return who holds each login and e-mail address that does not expire, by its key. One round trip."""
    replies = await db.ask(*(command for key in names for command in (("GET", key), ("TTL", key))))
    return {
        key: int(holder)
        for key, holder, life in zip(names, replies[::2], replies[1::2], strict=True)
        if holder is not None and life < 0
    }


def drop_name(key: str) -> Command:
    """Return the command that frees a login or e-mail address."""
    return ("DEL", key)

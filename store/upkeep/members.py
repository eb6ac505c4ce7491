"""Members: that they have credentials and names of their own."""

from collections.abc import Sequence

from msgspec import Struct

from store import account_names, keys
from store.client.database import Command, Database
from store.keys.fields import CredentialsField, UserField
from store.records.lists import Entry, Fields, read_entries, read_pairs

BIG = keys.big()
_OF_TWO_FACTOR = CredentialsField.TOTP_STEP, CredentialsField.RECOVERY_CODES


class MemberFacts(Struct, frozen=True):
    """A member's login and e-mail address, and what has to agree with their records."""

    id: int
    key: str
    login: str
    email: str | None  # None without credentials, "" for a member who lost an address that they never verified
    two_factor_left: tuple[str, ...]  # fields that belong to a second factor, where there is none
    big_since: int | None  # the change that made them a big author; None for all other members


class NameFacts(Struct, frozen=True):
    """A login or e-mail address of a member, and who holds it."""

    member: int
    key: str
    holder: int | None
    is_permanent: bool
    is_contested: bool  # whether another member holds it whose own name it is


async def members(db: Database, ids: Sequence[int]) -> list[MemberFacts]:
    """Return the facts about the existing members among some ids. Two round trips."""
    records = await db.ask(*(("HGETALL", keys.user(member)) for member in ids))
    private = await db.ask(*(("HGETALL", keys.credentials(member)) for member in ids))
    return [
        _facts(member, read_pairs(record), read_pairs(credentials))
        for member, record, credentials in zip(ids, records, private, strict=True)
        if record
    ]


def _facts(member: int, fields: Fields, credentials: Fields) -> MemberFacts:
    reach, _, since = fields.get(UserField.REACH, "").partition(":")
    left = () if CredentialsField.TOTP_SALT in credentials else _OF_TWO_FACTOR
    return MemberFacts(
        id=member,
        key=keys.user(member),
        login=fields[UserField.LOGIN],
        email=credentials.get(CredentialsField.EMAIL),
        two_factor_left=tuple(name for name in left if name in credentials),
        big_since=int(since) if reach == "big" else None,
    )


async def not_among_big(db: Database, found: Sequence[MemberFacts]) -> list[MemberFacts]:
    """Return those of some members who are big authors, and whom the list of these lacks. One round trip."""
    big = [facts for facts in found if facts.big_since is not None]
    scores = await db.ask(*(("ZSCORE", keys.big(), facts.id) for facts in big))
    return [facts for facts, score in zip(big, scores, strict=True) if score is None]


async def strangers_among_big(db: Database) -> list[Entry]:
    """Return the entries of the list of big authors who are neither that nor about to be. Two round trips."""
    entries = read_entries(await db.one("ZRANGE", keys.big(), 0, -1, "WITHSCORES"))
    reaches = await db.ask(*(("HGET", keys.user(entry.entity), UserField.REACH) for entry in entries))
    return [entry for entry, reach in zip(entries, reaches, strict=True) if reach is None]


def drop_two_factor(member: int) -> Command:
    """Return the command that removes what is left of a second factor without a secret."""
    return ("HDEL", keys.credentials(member), *_OF_TWO_FACTOR)


async def names(db: Database, found: Sequence[MemberFacts]) -> list[NameFacts]:
    """Return the facts about the logins and e-mail addresses of some members. Two or three round trips."""
    owned = [(facts.id, keys.login(facts.login.lower())) for facts in found]
    owned += [(facts.id, keys.email(facts.email.lower())) for facts in found if facts.email]
    holders = await db.ask(*(("GET", key) for _, key in owned))
    lives = await db.ask(*(("TTL", key) for _, key in owned))
    others = {
        int(holder) for (member, _), holder in zip(owned, holders, strict=True) if holder and int(holder) != member
    }
    theirs = await _own_names(db, sorted(others))
    return [
        NameFacts(member, key, int(holder) if holder else None, life < 0, key in theirs.get(int(holder or 0), ()))
        for (member, key), holder, life in zip(owned, holders, lives, strict=True)
    ]


async def _own_names(db: Database, ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Return the keys of the login and the e-mail address that each member has by their record. One round trip."""
    looks = [
        look
        for member in ids
        for look in (
            ("HGET", keys.user(member), UserField.LOGIN),
            ("HGET", keys.credentials(member), CredentialsField.EMAIL),
        )
    ]
    replies = iter(await db.ask(*looks))
    return {
        member: (keys.login((login or "").lower()), keys.email((email or "").lower()))
        for member, login, email in zip(ids, replies, replies, strict=True)
    }


def keep_name(name: NameFacts) -> Command:
    """Return the command that makes a name its member's for good, unless it is another member's own."""
    mistaken = "" if name.is_contested or name.holder is None else str(name.holder)
    return account_names.keep_name(name.key, name.member, mistaken=mistaken)


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

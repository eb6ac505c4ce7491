"""Members: credentials, names of their own, and the list of big authors."""

from collections.abc import Mapping, Sequence

from store import account_names, keys, kinds
from store.big_authors import mark_command
from store.client.database import Database
from store.keys.fields import CredentialsField, UserField
from store.records.lists import Fields, read_entries, read_pairs
from store.upkeep.findings import Finding, ask_each, existing

_OF_TWO_FACTOR = CredentialsField.TOTP_STEP, CredentialsField.RECOVERY_CODES


async def users(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each member has credentials, a whole second factor or none, and permanent names. Big authors are listed."""
    looks = {one: [("HGETALL", keys.user(one)), ("HGETALL", keys.credentials(one))] for one in members}
    found: list[Finding] = []
    names: list[tuple[int, str]] = []
    big: dict[int, int] = {}
    for member, (record, private) in await ask_each(db, looks):
        if record:
            fields, credentials = read_pairs(record), read_pairs(private)
            found += _credentials(member, credentials)
            reach, _, since = fields.get(UserField.REACH, "").partition(":")
            if reach == "big":
                big[member] = int(since)
            names.append((member, keys.login(fields[UserField.LOGIN].lower())))
            if email := credentials.get(CredentialsField.EMAIL):  # "" for a member who lost one never verified
                names.append((member, keys.email(email.lower())))
    return found + await _unlisted(db, big) + await _names(db, names)


def _credentials(member: int, credentials: Fields) -> list[Finding]:
    found = []
    if CredentialsField.EMAIL not in credentials:
        found.append(Finding(keys.user(member), "has no credentials"))
    if CredentialsField.TOTP_SALT not in credentials and any(name in credentials for name in _OF_TWO_FACTOR):
        message = "has parts of a second factor without its secret"
        found.append(Finding(keys.user(member), message, [("HDEL", keys.credentials(member), *_OF_TWO_FACTOR)]))
    return found


async def _unlisted(db: Database, big: Mapping[int, int]) -> list[Finding]:
    """Return the big authors whom the list of these lacks. `big` has the change that made each one."""
    message = "is a big author and not in the list of these"
    return [
        Finding(keys.user(member), message, [mark_command("add", member, big[member])])
        for member, (place,) in await ask_each(db, {one: [("ZSCORE", keys.big(), one)] for one in big})
        if place is None
    ]


async def big(db: Database, lists: Sequence[str]) -> list[Finding]:
    """Each member in the list of big authors is one, or is about to be."""
    (key,) = lists
    entries = read_entries(await db.one("ZRANGE", key, 0, -1, "WITHSCORES"))
    looks = {entry: [("HGET", keys.user(entry.entity), UserField.REACH)] for entry in entries}
    return [
        Finding(key, f"has {entry.entity}, who is no big author", [mark_command("remove", entry.entity, entry.place)])
        for entry, (reach,) in await ask_each(db, looks)
        if reach is None
    ]


async def _names(db: Database, owned: Sequence[tuple[int, str]]) -> list[Finding]:
    """Return the logins and e-mail addresses that their members do not hold for good. Two round trips."""
    holders = await ask_each(db, {(member, key): [("GET", key), ("TTL", key)] for member, key in owned})
    lost = [
        (member, key, int(holder or 0))
        for (member, key), (holder, life) in holders
        if int(holder or 0) != member or life >= 0
    ]
    theirs = await _own_names(db, {holder for member, _, holder in lost if holder not in {0, member}})
    found = []
    for member, key, holder in lost:
        mistaken = str(holder or "")
        mend = [] if key in theirs.get(holder, ()) else [account_names.keep_name(key, member, mistaken=mistaken)]
        message = "is not lasting" if holder == member else f"belongs to {holder or None}"
        found.append(Finding(keys.user(member), f"{key} {message}", mend))
    return found


async def _own_names(db: Database, members: set[int]) -> dict[int, tuple[str, str]]:
    """Return the keys of the login and the e-mail address that each member has by their record. One round trip."""
    looks = {
        member: [
            ("HGET", keys.user(member), UserField.LOGIN),
            ("HGET", keys.credentials(member), CredentialsField.EMAIL),
        ]
        for member in sorted(members)
    }
    return {
        member: (keys.login((login or "").lower()), keys.email((email or "").lower()))
        for member, (login, email) in await ask_each(db, looks)
    }


async def names(db: Database, found: Sequence[str]) -> list[Finding]:
    """A login or e-mail without a time limit belongs to a member."""
    replies = await ask_each(db, {key: [("GET", key), ("TTL", key)] for key in found})
    holders = {key: int(holder) for key, (holder, life) in replies if holder is not None and life < 0}
    exists = await existing(db, kinds.USER, holders.values())
    return [
        Finding(key, f"belongs to {holder}, who does not exist", [("DEL", key)])
        for key, holder in holders.items()
        if holder not in exists
    ]

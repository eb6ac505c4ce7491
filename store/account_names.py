"""Names: logins and e-mail addresses, which are reserved, held, given up and released.

A name that was given up stays reserved for a while. The store then has its keyed hash, so that nothing of a deleted
account can be read from it. Only a former login of a member who exists has its name in the key until it is free.
"""

import hmac
import time
from collections.abc import Mapping, Sequence

from store import keys
from store.client.database import Command, Database, script
from store.ids import made_at
from store.keys.fields import CredentialsField, UserField
from store.limits.windows import HOUR_SECONDS
from store.records.job_bodies import AccountDeletion, Naming
from store.records.jobs import Job

_GIVEN_UP = "name given up:"  # the purpose, which is part of what is hashed with the secret key


def login_reservation(login: str) -> str:
    """Return the key under which a login is reserved and held, the same in upper and lower case."""
    return keys.login(login.lower())


def email_reservation(address: str) -> str:
    """Return the key under which an e-mail address is reserved and held, the same in upper and lower case."""
    return keys.email(address.lower())


async def reserve(db: Database, key: str, member: int, seconds: int = 0) -> bool:
    """Reserve a login or e-mail for a while; False when another member holds it or has given it up lately.

    The reservation is one command, so exactly one of several concurrent callers gets it. A second round trip looks
    whether the name was given up: that is noted before the name is released.
    """
    life = seconds or db.settings.reservation_seconds
    holder = await db.one("SET", key, member, "NX", "GET", "EX", life)
    if holder is not None and int(holder) != member:
        return False
    former = await db.one("GET", _given_up(db, key))
    if former is None or int(former) == member:
        return True
    if holder is None:
        await release(db, key, member)
    return False


async def hold(db: Database, key: str, member: int) -> bool:
    """Reserve a name as `reserve` does, from now on for as long as a reservation lasts at least."""
    if not await reserve(db, key, member):
        return False
    await db.one("EXPIRE", key, db.settings.reservation_seconds, "GT")
    return True


async def is_free(db: Database, key: str) -> bool:
    """Return whether nobody holds or has reserved a name, and nobody has given it up lately. One round trip."""
    return await db.ask(("GET", key), ("GET", _given_up(db, key))) == [None, None]


async def release(db: Database, key: str, member: int) -> None:
    """Give up a reservation at once instead of letting it expire."""
    await db.call("release_reservation", reservation=key, holder=member)


async def apply_names(db: Database, job: Job[Naming]) -> None:
    """Make a member's current login and e-mail permanent, and release those given up.

    Both stay reserved for `LOGIN_RELEASE_DAYS`, an address that nobody verified for less.
    The step reads the current names again. So when two changes follow each other quickly, the later one wins, whichever
    job runs first.
    """
    member = job.body.member
    login, email = await db.ask(
        ("HGET", keys.user(member), UserField.LOGIN), ("HGET", keys.credentials(member), CredentialsField.EMAIL)
    )
    steps: list[Command] = []
    for name in _named(job.body.login, job.body.old_login):
        lasts = login is not None and name == login.lower()
        life = db.settings.login_release_days * keys.DAY
        if lasts or life:
            steps.append(keep_name(keys.login(name), member, 0 if lasts else life))
        else:
            steps.append(script("release_reservation", reservation=keys.login(name), holder=member))
    given_up: dict[str, int] = {}
    for name in _named(job.body.email, job.body.old_email):
        if email is not None and name == email.lower():
            steps.append(keep_name(keys.email(name), member))
        else:
            given_up[keys.email(name)] = _reserved_until(db, job, _is_proven(job.body, name))
    if steps:
        await db.ask(*steps)
    await _give_up(db, member, given_up)


async def keep_imported(db: Database, members: Sequence[int]) -> None:
    """Make the logins of imported members permanent, which were reserved, and their e-mails, which were not.

    The names are read again, because members may have changed them meanwhile. Two round trips.
    """
    reads = [
        command
        for member in members
        for command in (
            ("HGET", keys.user(member), UserField.LOGIN),
            ("HGET", keys.credentials(member), CredentialsField.EMAIL),
        )
    ]
    found = await db.ask(*reads)
    logins = [(m, name) for m, name in zip(members, found[::2], strict=True) if name]
    emails = [(m, name) for m, name in zip(members, found[1::2], strict=True) if name]
    await db.ask(
        *(keep_name(login_reservation(login), member) for member, login in logins),
        *(("SET", email_reservation(email), member, "NX") for member, email in emails),
    )


def _named(*names: str) -> set[str]:
    """Return the names that a job has, in lower case."""
    return {name.lower() for name in names if name}


def _is_proven(names: Naming, address: str) -> bool:
    """Return whether an address was verified that a job gives up. A change makes an address the member's by a link."""
    is_sign_up = bool(names.login) and not names.old_login
    return names.was_verified if address == names.old_email.lower() else not is_sign_up


def _reserved_until(db: Database, job: Job[Naming | AccountDeletion], is_proven: bool) -> int:
    """Return until when a name stays reserved that was given up with a job, in seconds since 1970.

    An address that nobody verified may be a stranger's. It stays reserved only as long as without the job: for
    `VERIFICATION_HOURS` after sign-up.
    """
    days = db.settings.login_release_days
    if is_proven or not days:
        return (made_at(job.id) // 1000 + days * keys.DAY) if days else 0
    return unverified_until(db, job.body.member)


def unverified_until(db: Database, member: int) -> int:
    """Return until when a member has their first address to themselves without verifying it, in s since 1970."""
    return made_at(member) // 1000 + db.settings.verification_hours * HOUR_SECONDS


async def _give_up(db: Database, member: int, names: Mapping[str, int]) -> None:
    """Release names, given as keys with the time (s) until when they stay reserved. Two round trips.

    The reservation is noted first, so that nobody takes the name in between.
    """
    now = int(time.time())
    noted = [("SET", _given_up(db, key), member, "EXAT", until) for key, until in names.items() if until > now]
    if noted:
        await db.ask(*noted)
    if names:
        await db.ask(*(script("release_reservation", reservation=key, holder=member) for key in names))


def _given_up(db: Database, key: str) -> str:
    """Return the key that says who gave up a name. Nobody without the secret key can tell the name from it."""
    return keys.given_up(hmac.digest(db.settings.secret_key.encode(), (_GIVEN_UP + key).encode(), "sha256").hex())


def keep_name(name: str, member: int, ttl: int = 0, mistaken: str = "") -> Command:
    """Return the command that makes a login or e-mail permanent, or lets it expire.

    `name` is its key, and `ttl` is in seconds. The command does nothing, and replies 0, when the name belongs to
    another member, unless `mistaken` says that the holder has another name.
    """
    return script("keep_name", name=name, member=member, ttl=ttl, mistaken=mistaken)


async def former_logins(db: Database, member: int) -> set[str]:
    """Return the logins that a member gave up and that nobody else can take yet."""
    oldest = int(time.time()) - db.settings.login_release_days * keys.DAY
    return set(await db.one("ZRANGE", keys.former_logins(member), f"({oldest}", "+inf", "BYSCORE"))


async def give_up_all(db: Database, job: Job[AccountDeletion]) -> None:
    """Release every name of a member with the job of the deletion of their account.

    Login, verified address and former logins stay reserved as long as after a change. An address that waited to be
    verified is free. Three round trips.
    """
    member = job.body.member
    former = await db.one("ZRANGE", keys.former_logins(member), 0, -1, "WITHSCORES")
    life = db.settings.login_release_days * keys.DAY
    names = {keys.login(name): int(when) + life for name, when in zip(former[::2], former[1::2], strict=True)}
    names[keys.login(job.body.login.lower())] = _reserved_until(db, job, is_proven=True)
    if pending := job.body.pending_email.lower():
        names[keys.email(pending)] = 0
    if address := job.body.email.lower():
        names[keys.email(address)] = _reserved_until(db, job, job.body.was_verified)
    await _give_up(db, member, names)


async def holder(db: Database, key: str) -> int | None:
    """Return the member who holds or has reserved a login or e-mail."""
    member = await db.one("GET", key)
    return int(member) if member else None


def holder_command(login: str) -> Command:
    """Return the command that reads the id of the member who has a login, in lower case; None without one."""
    return ("GET", keys.login(login))


def former_holder_command(db: Database, login: str) -> Command:
    """Return the command that reads who gave a login up with their account, None if nobody did lately."""
    return ("GET", _given_up(db, login_reservation(login)))

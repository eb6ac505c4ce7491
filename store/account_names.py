"""Names: logins and e-mail addresses, which are reserved, held, given up and released."""

from __future__ import annotations

import time
from collections.abc import Iterable

from store import keys
from store.client.database import Command, Database, script
from store.keys.fields import CredentialsField, UserField
from store.records import Job


def login_reservation(login: str) -> str:
    """Return the key under which a login is reserved and held, the same in upper and lower case."""
    return keys.login(login.lower())


def email_reservation(address: str) -> str:
    """Return the key under which an e-mail address is reserved and held, the same in upper and lower case."""
    return keys.email(address.lower())


async def reserve(db: Database, key: str, member: int) -> bool:
    """Reserve a login or e-mail for a while; False when another member holds it.

    The reservation is one command, so exactly one of several concurrent callers gets it.
    """
    holder = await db.one("SET", key, member, "NX", "GET", "EX", db.settings.reservation_seconds)
    return holder is None or int(holder) == member


async def release(db: Database, key: str, member: int) -> None:
    """Give up a reservation at once instead of letting it expire."""
    await db.call("release_reservation", reservation=key, holder=member)


async def apply_names(db: Database, job: Job) -> None:
    """Make a member's current login and e-mail permanent, and release those given up.

    A login given up stays reserved for `LOGIN_RELEASE_DAYS`. An e-mail address is released at once.
    The step reads the current names again. So when two changes follow each other quickly, the later one wins, whichever
    job runs first.
    """
    member = int(str(job.body["member"]))
    login, email = await db.ask(
        ("HGET", keys.user(member), UserField.LOGIN), ("HGET", keys.credentials(member), CredentialsField.EMAIL)
    )
    steps: list[Command] = []
    for key, current, field in ((keys.login, login, "login"), (keys.email, email, "email")):
        life = db.settings.login_release_days * keys.DAY if field == "login" else 0
        for name in {str(job.body[f]).lower() for f in (field, f"old_{field}") if job.body.get(f)}:
            lasts = current is not None and name == current.lower()
            if lasts or life:
                steps.append(keep_name(key(name), member, 0 if lasts else life))
            else:
                steps.append(script("release_reservation", reservation=key(name), holder=member))
    await db.ask(*steps)


def keep_name(name: str, member: int, ttl: int = 0) -> Command:
    """Return the command that makes a login or e-mail permanent, or lets it expire.

    `name` is its key, and `ttl` is in seconds. The command does nothing, and replies 0, when the name belongs to
    another member.
    """
    return script("keep_name", name=name, member=member, ttl=ttl)


async def former_logins(db: Database, member: int) -> set[str]:
    """Return the logins that a member gave up and that nobody else can take yet."""
    oldest = int(time.time()) - db.settings.login_release_days * keys.DAY
    return set(await db.one("ZRANGE", keys.former_logins(member), f"({oldest}", "+inf", "BYSCORE"))


async def free_names(db: Database, member: int, login: str, emails: Iterable[str]) -> None:
    """Release every name of a deleted member, including logins given up and an address that waited to be verified."""
    former = await db.one("ZRANGE", keys.former_logins(member), 0, -1)
    names = [*(keys.login(name) for name in {login.lower(), *former}), *(keys.email(one.lower()) for one in emails)]
    await db.ask(*(script("release_reservation", reservation=name, holder=member) for name in names))


async def holder(db: Database, key: str) -> int | None:
    """Return the member who holds or has reserved a login or e-mail."""
    found = await db.one("GET", key)
    return int(found) if found else None


def holder_command(login: str) -> Command:
    """Return the command that reads the id of the member who has a login, in lower case; None without one."""
    return ("GET", keys.login(login))

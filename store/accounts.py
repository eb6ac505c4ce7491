"""Members: names, profiles, credentials."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping

from store import keys
from store.client.database import Command, Database, script
from store.ids import partition
from store.keys.fields import CredentialsField, UserField
from store.limits.writes import member_keys
from store.mail.letters import Link
from store.mail.tokens import sign_up_mail
from store.moderation.records import Acting, Outranked
from store.records import Credentials, Job, Role, User, read_job, read_pairs
from store.secret import Secret
from store.sessions import announce


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


async def create(
    db: Database,
    member: int,
    *,
    login: str,
    name: str,
    email: str,
    password: Secret,
    role: Role = Role.MEMBER,
    link: Link | None = None,
) -> Job | None:
    """Create a member whose login and e-mail are reserved; returns the job that makes these names permanent.

    `link` is sent to the member to verify the address. Without it, the address counts as verified.
    Returns None when the member exists already.
    """
    names = {"login": login, "name": name, "email": email}
    (job,) = await db.ask(create_command(member, **names, password=password, role=role, link=link))
    return Job(int(job), "names", {"member": str(member), "login": login, "email": email}) if job else None


def create_command(
    member: int,
    *,
    login: str,
    name: str,
    email: str,
    password: Secret,
    role: Role = Role.MEMBER,
    link: Link | None = None,
) -> Command:
    """Return the command that creates a member; its reply is the job's id. `password` is a hash."""
    p = partition(member)
    return script(
        "create_member",
        minted=keys.minted(p),
        jobs=keys.jobs(p),
        user=keys.user(member),
        credentials=keys.credentials(member),
        home_state=keys.home_state(member),
        active=keys.active(p),
        partition=p,
        member=member,
        login=login,
        name=name,
        email=email,
        password_hash=password.reveal(),
        role=role.value,
        day=int(time.time()) // keys.DAY,
        **sign_up_mail(member, link),
    )


async def update(
    db: Database,
    member: int,
    *,
    profile: Mapping[str, str] | None = None,
    credentials: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
) -> Job | None:
    """Change fields of a member atomically; `names` are the new login, name and e-mail among them.

    Returns the job that applies the names, None when none changes.
    """
    p = partition(member)
    body = {"member": str(member), **names} if names else {}
    changes = [*(profile or {}).items(), *(credentials or {}).items()]
    job = await db.call(
        "update_member",
        minted=keys.minted(p),
        jobs=keys.jobs(p),
        user=keys.user(member),
        credentials=keys.credentials(member),
        former_logins=keys.former_logins(member),
        partition=p,
        names=json.dumps(body) if body else "",
        release_seconds=_release_seconds(db),
        profile_count=len(profile or {}),
        changes=[part for change in changes for part in change],
    )
    return read_job(job[0], "names", job[1]) if job else None


async def set_account_state(
    db: Database, member: int, what: str, *, holds: bool, acting: Acting | None = None
) -> Job | None:
    """Make a member private or suspended, or end that; returns the job that moves their published posts.

    `what` is `UserField.PRIVATE` or `UserField.SUSPENDED`. Suspension ends every session. Returns None when nothing
    changes. A moderator's act is logged by the job. Raises Outranked for an equal or superior of who acts.
    """
    p = partition(member)
    reply = await db.call(
        "set_account_state",
        minted=keys.minted(p),
        jobs=keys.jobs(p),
        user=keys.user(member),
        credentials=keys.credentials(member),
        sessions=keys.sessions(member),
        partition=p,
        member=member,
        state=what,
        wanted="1" if holds else "",
        **(acting.arguments() if acting else {}),
    )
    if not reply:
        return None
    if reply == ["denied"]:
        raise Outranked
    job, body, ended = reply
    await announce(db, member, ended)
    return read_job(job, "privacy_change", body)


async def set_role(db: Database, member: int, role: Role, acting: Acting) -> Job | None:
    """Set a member's role from their next request on; returns the job that logs the act, None when nothing changes.

    Raises Outranked unless the member's present role is below the rank of who acts.
    """
    p = partition(member)
    outcome, *job = await db.call(
        "set_role",
        minted=keys.minted(p),
        jobs=keys.jobs(p),
        credentials=keys.credentials(member),
        partition=p,
        member=member,
        role=role.value,
        **acting.arguments(),
    )
    if outcome == "denied":
        raise Outranked
    return read_job(job[0], "act", job[1]) if job else None


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
        life = _release_seconds(db) if field == "login" else 0
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


def _release_seconds(db: Database) -> int:
    return db.settings.login_release_days * 86_400


async def former_logins(db: Database, member: int) -> set[str]:
    """Return the logins that a member gave up and that nobody else can take yet."""
    oldest = int(time.time()) - _release_seconds(db)
    return set(await db.one("ZRANGE", keys.former_logins(member), f"({oldest}", "+inf", "BYSCORE"))


async def delete(db: Database, member: int, checked_hash: Secret) -> Job | None:
    """Delete a member and end their sessions; returns the job that removes the rest.

    Returns None when the member is gone, or when their password's hash is no longer `checked_hash`.
    """
    p = partition(member)
    reply = await db.call(
        "delete_member",
        minted=keys.minted(p),
        jobs=keys.jobs(p),
        active=keys.active(p),
        user=keys.user(member),
        credentials=keys.credentials(member),
        sessions=keys.sessions(member),
        tokens=keys.mail_tokens(member),
        **keys.home_keys(member),
        partition=p,
        member=member,
        checked_hash=checked_hash.reveal(),
    )
    if reply is None:
        return None
    job, body, ended = reply
    await announce(db, member, ended)
    return read_job(job, "delete_account", body)


async def free_names(db: Database, member: int, login: str, emails: Iterable[str]) -> None:
    """Release every name of a deleted member, including logins given up and an address that waited to be verified."""
    former = await db.one("ZRANGE", keys.former_logins(member), 0, -1)
    names = [*(keys.login(name) for name in {login.lower(), *former}), *(keys.email(one.lower()) for one in emails)]
    await db.ask(*(script("release_reservation", reservation=name, holder=member) for name in names))


async def forget(db: Database, member: int) -> None:
    """Remove the remaining keys of a deleted member in their own partition."""
    kinds = (
        keys.following,
        keys.followers,
        keys.profile,
        keys.reposted,
        keys.hidden,
        keys.liked,
        keys.discussed,
        keys.muted,
        keys.memberships,
        keys.invited,
    )
    # A read that began before the delete may have built the home again.
    homes = (keys.home, keys.home_state, keys.sources, keys.newest, keys.home_read)
    boxes = (keys.notifications, keys.withdrawn_notifications, keys.notification_state, keys.mentions)
    rest = (keys.former_logins, keys.known_addresses, keys.exports, keys.export_stream, keys.mail_tokens)
    await db.ask(
        ("DEL", *(key(member) for key in (*kinds, *homes, *boxes, *rest))),
        ("DEL", *member_keys(member)),
        ("ZREM", keys.active(partition(member)), member),
    )


def user_command(member: int) -> Command:
    """Return the command that reads a member's public record."""
    return ("HGETALL", keys.user(member))


def credentials_command(member: int) -> Command:
    """Return the command that reads a member's private record."""
    return ("HGETALL", keys.credentials(member))


def holder_command(login: str) -> Command:
    """Return the command that reads the id of the member who has a login, in lower case; None without one."""
    return ("GET", keys.login(login))


async def user(db: Database, member: int) -> User | None:
    """Return one member."""
    return User.read(member, read_pairs(await db.one("HGETALL", keys.user(member))))


async def credentials(db: Database, member: int) -> Credentials | None:
    """Return a member's credentials, None without the member."""
    return Credentials.read(read_pairs(await db.one("HGETALL", keys.credentials(member))))


async def holder(db: Database, key: str) -> int | None:
    """Return the member who holds or has reserved a login or e-mail."""
    found = await db.one("GET", key)
    return int(found) if found else None

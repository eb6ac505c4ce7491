"""Members: profiles, credentials, and what happens to a whole account."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from store import keys
from store.client.database import Command, Database, script
from store.credentials.records import Credentials, Role
from store.ids import partition
from store.limits.writes import member_keys
from store.mail.letters import Link
from store.mail.tokens import sign_up_mail
from store.moderation.records import Acting, Outranked
from store.pictures.images import ImageRefused, Wanted, image_prefix, write_profile
from store.records.jobs import AccountDeletion, ActLogging, Job, Naming, ObjectRemoval, PrivacyChange, read_job
from store.records.lists import read_pairs
from store.records.members import User
from store.secret import Secret
from store.sessions import announce


async def create(
    db: Database,
    member: int,
    *,
    login: str,
    name: str,
    email: str,
    password: Secret,
    role: Role = Role.MEMBER,
    is_verified: bool = False,
    link: Link | None = None,
) -> Job | None:
    """Create a member whose login and e-mail are reserved; returns the job that makes these names permanent.

    `is_verified` says whether the address counts as verified. Otherwise `link` is sent to the member to verify it.
    Returns None when the member exists already.
    """
    names = {"login": login, "name": name, "email": email}
    new = create_command(member, **names, password=password, role=role, is_verified=is_verified, link=link)
    (reply,) = await db.ask(new)
    return read_job(Naming, *reply) if reply else None


def create_command(
    member: int,
    *,
    login: str,
    name: str,
    email: str,
    password: Secret,
    role: Role = Role.MEMBER,
    is_verified: bool = False,
    link: Link | None = None,
) -> Command:
    """Return the command that creates a member; its reply has the job's id and body. `password` is a hash."""
    p = partition(member)
    return script(
        "create_member",
        **keys.committing(p),
        **keys.of(member, keys.user, keys.credentials, keys.home_state),
        active=keys.active(p),
        member=member,
        login=login,
        name=name,
        email=email,
        password_hash=password.reveal(),
        role=role.value,
        day=int(time.time()) // keys.DAY,
        verified="1" if is_verified else "",
        **sign_up_mail(member, link),
    )


async def update(
    db: Database,
    member: int,
    *,
    profile: Mapping[str, str] | None = None,
    credentials: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
    pictures: Mapping[str, Wanted | None] | None = None,
) -> Job | None:
    """Change fields of a member atomically; `names` are the new login, name and e-mail among them.

    `pictures` are the new avatar and header, None to remove one. Returns the job that applies the names and removes
    replaced pictures, None without either. Raises ImageRefused for a picture that cannot be attached.
    """
    p = partition(member)
    changes = [*(profile or {}).items(), *(credentials or {}).items()]
    outcome, *job = await db.call(
        "update_member",
        **keys.committing(p),
        **keys.of(member, keys.user, keys.credentials, keys.former_logins, keys.images),
        uploads=keys.uploads(p),
        names=json.dumps(dict(names)) if names else "",
        release_seconds=db.settings.login_release_days * keys.DAY,
        profile_count=len(profile or {}),
        member=member,
        image_prefix=image_prefix(p),
        pictures=write_profile(pictures or {}),
        changes=[part for change in changes for part in change],
    )
    if outcome == "image":
        raise ImageRefused(*job)
    if not job:
        return None
    kind, *committed = job
    return read_job(Naming, *committed) if kind == Naming.kind else read_job(ObjectRemoval, *committed)


async def set_account_state(
    db: Database, member: int, what: str, *, holds: bool, acting: Acting | None = None
) -> Job[PrivacyChange] | None:
    """Make a member private or suspended, or end that; returns the job that moves their published posts.

    `what` is `UserField.PRIVATE` or `UserField.SUSPENDED`. Suspension ends every session. Returns None when nothing
    changes. A moderator's act is logged by the job. Raises Outranked for an equal or superior of who acts.
    """
    reply = await db.call(
        "set_account_state",
        **keys.committing(partition(member)),
        **keys.of(member, keys.user, keys.credentials, keys.sessions),
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
    return read_job(PrivacyChange, job, body)


async def set_role(db: Database, member: int, role: Role, acting: Acting) -> Job | None:
    """Set a member's role from their next request on; returns the job that logs the act, None when nothing changes.

    Raises Outranked unless the member's present role is below the rank of who acts.
    """
    outcome, *job = await db.call(
        "set_role",
        **keys.committing(partition(member)),
        credentials=keys.credentials(member),
        member=member,
        role=role.value,
        **acting.arguments(),
    )
    if outcome == "denied":
        raise Outranked
    return read_job(ActLogging, *job) if job else None


async def delete(db: Database, member: int, checked_hash: Secret) -> Job | None:
    """Delete a member and end their sessions; returns the job that removes the rest.

    Returns None when the member is gone, or when their password's hash is no longer `checked_hash`.
    """
    p = partition(member)
    reply = await db.call(
        "delete_member",
        **keys.committing(p),
        active=keys.active(p),
        **keys.of(member, keys.user, keys.credentials, keys.sessions, keys.images),
        tokens=keys.mail_tokens(member),
        **keys.home_keys(member),
        member=member,
        image_prefix=image_prefix(p),
        checked_hash=checked_hash.reveal(),
    )
    if reply is None:
        return None
    job, body, ended = reply
    await announce(db, member, ended)
    return read_job(AccountDeletion, job, body)


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
    rest = (keys.images, keys.former_logins, keys.known_addresses, keys.exports, keys.export_stream, keys.mail_tokens)
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


async def user(db: Database, member: int) -> User | None:
    """Return one member."""
    return User.read(member, read_pairs(await db.one("HGETALL", keys.user(member))))


async def credentials(db: Database, member: int) -> Credentials | None:
    """Return a member's credentials, None without the member."""
    return Credentials.read(read_pairs(await db.one("HGETALL", keys.credentials(member))))

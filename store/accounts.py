"""Members: profiles, credentials, and what happens to a whole account."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from store import keys
from store.client.database import Command, Database, script
from store.credentials.records import Credentials, Role
from store.ids import partition
from store.keys.fields import UserField
from store.limits.writes import member_keys
from store.mail.letters import MailLink
from store.mail.tokens import sending
from store.moderation.records import Acting
from store.pictures.images import ImageRefusal, WantedImage, write_profile
from store.records.job_bodies import AccountDeletion, ActLogging, Naming, ObjectRemoval, PrivacyChange
from store.records.jobs import Job, OneBody, read_job
from store.records.lists import read_pairs
from store.records.members import User
from store.refusals import PartRefused, Refusal, refused
from store.secret import Secret
from store.sessions import announce


@dataclass(frozen=True, slots=True)
class AccountDraft:
    """A member to be created, whose login and e-mail are reserved."""

    login: str
    name: str
    email: str
    password: Secret  # its hash
    role: Role = Role.MEMBER
    is_verified: bool = False  # whether the address counts as verified
    link: MailLink | None = None  # sent to the member to verify the address


async def create(db: Database, member: int, draft: AccountDraft) -> Job | None:
    """Create a member; returns the job that makes their names permanent, None when the member exists already."""
    (reply,) = await db.ask(create_command(member, draft))
    return read_job(Naming, *reply) if reply else None


def create_command(member: int, draft: AccountDraft) -> Command:
    """Return the command that creates a member; its reply has the job's id and body."""
    return script(
        "create_member",
        member,
        member=member,
        login=draft.login,
        name=draft.name,
        email=draft.email,
        password_hash=draft.password.reveal(),
        role=draft.role.value,
        day=int(time.time()) // keys.DAY,
        verified="1" if draft.is_verified else "",
        **sending(draft.link),
    )


async def update(
    db: Database,
    member: int,
    *,
    profile: Mapping[str, str] | None = None,
    credentials: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
    pictures: Mapping[str, WantedImage | None] | None = None,
) -> Job | PartRefused[ImageRefusal] | None:
    """Change fields of a member atomically; `names` are the new login, name and e-mail among them.

    `pictures` are the new avatar and header, None to remove one. Returns the job that applies the names and removes
    replaced pictures, None without either.
    """
    changes = [*(profile or {}).items(), *(credentials or {}).items()]
    reply = await db.call(
        "update_member",
        member,
        names=json.dumps(dict(names)) if names else "",
        release_seconds=db.settings.login_release_days * keys.DAY,
        profile_count=len(profile or {}),
        member=member,
        pictures=write_profile(pictures or {}),
        changes=[part for change in changes for part in change],
    )
    return refused(reply) or (_read_update(*reply) if reply else None)


def _read_update(job: str, body: str, kind: str) -> Job:
    return read_job(Naming, job, body) if kind == Naming.kind else read_job(ObjectRemoval, job, body)


async def set_account_state(db: Database, member: int, what: str, *, holds: bool) -> Job[PrivacyChange] | None:
    """Make a member private or suspended, or end that; returns the job that moves their published posts.

    `what` is `UserField.PRIVATE` or `UserField.SUSPENDED`. Suspension ends every session. Returns None when nothing
    changes.
    """
    reply = await _set_state(db, member, what, holds=holds)
    return await _read_end(db, member, PrivacyChange, reply) if reply else None


async def suspend(
    db: Database, member: int, *, holds: bool, acting: Acting
) -> Job[PrivacyChange] | Literal[Refusal.OUTRANKED] | None:
    """Suspend a member as a moderator, or end that; returns as `set_account_state` does. The job logs the act."""
    reply = await _set_state(db, member, UserField.SUSPENDED, holds=holds, acting=acting)
    return refused(reply) or (await _read_end(db, member, PrivacyChange, reply) if reply else None)


async def _set_state(db: Database, member: int, what: str, *, holds: bool, acting: Acting | None = None) -> Any:
    return await db.call(
        "set_account_state",
        member,
        member=member,
        state=what,
        wanted="1" if holds else "",
        **(acting.arguments() if acting else {}),
    )


async def _read_end(db: Database, member: int, kind: type[OneBody], reply: Sequence[Any]) -> Job[OneBody]:
    """Announce the sessions that a change has ended; returns its job."""
    job, body, ended = reply
    await announce(db, member, ended)
    return read_job(kind, job, body)


async def set_role(db: Database, member: int, role: Role, acting: Acting) -> Job | Literal[Refusal.OUTRANKED] | None:
    """Set a member's role from their next request on; returns the job that logs the act, None when nothing changes."""
    reply = await db.call("set_role", member, member=member, role=role.value, **acting.arguments())
    return refused(reply) or (read_job(ActLogging, *reply) if reply else None)


async def delete(db: Database, member: int, checked_hash: Secret) -> Job | Literal[Refusal.CHANGED]:
    """Delete a member and end their sessions; returns the job that removes the rest.

    CHANGED says that the member is gone, or that their password's hash is no longer `checked_hash`.
    """
    reply = await db.call(
        "delete_member",
        member,
        member=member,
        checked_hash=checked_hash.reveal(),
    )
    return refused(reply) or await _read_end(db, member, AccountDeletion, reply)


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

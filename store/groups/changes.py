"""Creating, changing and deleting groups, and their directory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from store import keys
from store.client.database import Command, Database, script
from store.groups.membership import PEOPLE
from store.groups.records import GroupKind
from store.keys.fields import GroupField
from store.records.job_bodies import GroupDeletion, GroupSettling
from store.records.jobs import Created, Job, read_job
from store.refusals import Refusal, refused

NotOwned = Literal[Refusal.GONE, Refusal.DENIED]  # there is no such group, or the actor is no owner of it


@dataclass(frozen=True, slots=True)
class GroupDraft:
    """A group to be created."""

    owner: int
    name: str
    description: str
    kind: GroupKind
    idempotency_key: str | None = None
    digest: str = ""


async def create(db: Database, draft: GroupDraft) -> Created[GroupSettling] | Literal[Refusal.CONFLICT, Refusal.FULL]:
    """Commit a group. FULL says that the member has `MAX_GROUPS`. Raises MemberGone."""
    (reply,) = await db.ask(create_command(db, draft))
    return refused(reply) or _read_created(*reply)


def _read_created(group: str, *job: str) -> Created[GroupSettling]:
    return Created(bool(job), int(group), read_job(GroupSettling, *job) if job else None)


def create_command(db: Database, draft: GroupDraft) -> Command:
    """Return the command that commits a group."""
    owner = draft.owner
    key = draft.idempotency_key
    idempotency = {"idempotency": keys.idempotency(owner, "createGroup", key)} if key else {}
    return script(
        "create_group",
        owner,
        **idempotency,
        member=owner,
        name=draft.name,
        description=draft.description,
        kind=draft.kind.value,
        max_groups=db.settings.max_groups,
        digest=draft.digest,
        ttl=keys.DAY,
    )


async def update(db: Database, group: int, actor: int, changes: Mapping[str, str]) -> Job | NotOwned | None:
    """Change fields of a group; returns the job, None when nothing changes."""
    reply = await db.call(
        "update_group",
        group,
        actor=actor,
        id=group,
        channel=db.channel(keys.group_channel(group)),
        changes=[part for pair in changes.items() for part in pair],
    )
    return refused(reply) or (read_job(GroupSettling, *reply) if reply else None)


async def delete(db: Database, group: int, actor: int) -> Job | NotOwned:
    """Delete a group; returns the job for the rest."""
    reply = await db.call(
        "delete_group",
        group,
        actor=actor,
        id=group,
        channel=db.channel(keys.group_channel(group)),
    )
    return refused(reply) or read_job(GroupDeletion, *reply)


async def hide(
    db: Database, group: int, *, hidden: bool, act: str = ""
) -> Job[GroupSettling] | Literal[Refusal.GONE] | None:
    """Hide a group, or show it again; returns the job, which logs the act, None when nothing changes."""
    reply = await db.call(
        "hide_group",
        group,
        id=group,
        channel=db.channel(keys.group_channel(group)),
        wanted="1" if hidden else "",
        **({"act": act} if act else {}),
    )
    return refused(reply) or (read_job(GroupSettling, *reply) if reply else None)


async def forget(db: Database, group: int) -> None:
    """Remove the remaining keys of a deleted group in its own partition."""
    kinds = (*PEOPLE, keys.group_roles, keys.group_timeline, keys.group_changes)
    await db.ask(("DEL", *(key(group) for key in kinds)))


async def list_in_directory(db: Database, group: int) -> None:
    """List a group in the directory with its number of members, or remove one that is gone, private or hidden.

    The group is read again after the write. So the last of several concurrent calls always writes what is right.
    """
    count = await _count_listed(db, group)
    while True:
        await db.ask(directory_command(group, count))
        before, count = count, await _count_listed(db, group)
        if before == count:
            return


def directory_command(group: int, count: int | None) -> Command:
    """Return the command that lists a group in the directory; without a count, it removes the group."""
    if count is None:
        return ("ZREM", keys.group_directory(), group)
    return ("ZADD", keys.group_directory(), count, group)


async def _count_listed(db: Database, group: int) -> int | None:
    """Return the number of members that the directory has to give for a group, None when it must not list it."""
    return read_count(*await db.ask(*count_commands(group)))


def count_commands(group: int) -> Sequence[Command]:
    """Return the commands that read what the directory has to say about a group."""
    return [("HMGET", keys.group(group), GroupField.KIND, GroupField.HIDDEN), ("ZCARD", keys.group_members(group))]


def read_count(facts: Sequence[str | None], count: int) -> int | None:
    """Return what the directory has to say about a group: its number of members, None when it must not list it.

    `facts` are the group's kind and whether it is hidden.
    """
    kind, hidden = facts
    return None if kind is None or hidden or kind == GroupKind.PRIVATE.value else count

"""Members of groups: joining, leaving, inviting, roles. Each change commits a job that settles the members' indexes."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from store import keys
from store.client.database import Command, Database, script
from store.groups.records import GroupKind, GroupRole
from store.ids import partition
from store.keys.fields import GroupField
from store.records.job_bodies import GroupDeletion, GroupSettling
from store.records.jobs import Job, read_job
from store.refusals import Refusal, refused, refused_members
from store.scripts.mailboxes import mailboxes

# The lists of those who are in a group, ask to join it, are invited or banned. Its members are on no other list.
PEOPLE = (keys.group_members, keys.group_requests, keys.group_invitations, keys.group_banned)

MemberRefusal = Literal[Refusal.IN_GROUP, Refusal.BANNED, Refusal.UNASKED, Refusal.OUTRANKED, Refusal.FULL]


class Changed(NamedTuple):
    """The job of a change that an actor makes to what some members are in a group, and those who were refused."""

    job: Job | None  # None when nothing has changed
    refused: dict[int, MemberRefusal]


MembersChanged = Changed | Literal[Refusal.GONE, Refusal.DENIED]  # DENIED: by the actor's role in the group
Change = Callable[[Database, int, int, Sequence[int]], Awaitable[MembersChanged]]


async def join(
    db: Database, group: int, member: int
) -> Job | Literal[Refusal.GONE, Refusal.BANNED, Refusal.FULL] | None:
    """Join a group, or ask a private one; returns the job, None when that is done already. Raises MemberGone.

    FULL says that the member has `MAX_GROUPS`.
    The member's index is written first. So after a crash it may have an extra entry, but it never lacks one.
    """
    indexed = await db.one(*index_command(db, group, member))
    if refused(indexed):
        return Refusal.FULL
    reply = await db.one(*join_command(group, member))
    if refused(reply):
        await settle(db, group, [member])
    return refused(reply) or read_change(reply)


def read_change(reply: Sequence[str]) -> Job | None:
    """Return the job of a change of one member from a script's reply, None when nothing has changed."""
    return read_job(GroupSettling, *reply) if reply else None


def join_command(group: int, member: int) -> Command:
    """Return the command that lets a member join a group, or ask to."""
    return script("join_group", group, member=member, id=group)


def index_command(db: Database, group: int, member: int) -> Command:
    """Return the command that adds a group to a member's index, unless that is full."""
    return script("index_group", member, group=group, max_groups=db.settings.max_groups)


async def leave(
    db: Database, group: int, member: int, *, is_deleted: bool = False
) -> Job | Literal[Refusal.GONE, Refusal.LAST_OWNER] | None:
    """Leave a group, take back a request to join it, or decline an invitation; returns the job, None without a change.

    `is_deleted` says that the member's account is deleted. Then another member becomes owner, and a group without
    members is deleted.
    """
    reply = await db.call(
        "leave_group",
        group,
        member=member,
        id=group,
        is_deleted="1" if is_deleted else "",
        channel=db.channel(keys.group_channel(group)),
    )
    if not reply or isinstance(reply, str):
        return refused(reply) if reply else None
    *committed, kind = reply
    return read_job(GroupDeletion if kind == GroupDeletion.kind else GroupSettling, *committed)


async def invite(db: Database, group: int, actor: int, members: Sequence[int]) -> MembersChanged:
    """Invite members to a group; who has asked to join a private one joins at once."""
    return _read(members, await db.call("invite_to_group", group, actor=actor, id=group, invited=members))


async def approve(db: Database, group: int, actor: int, members: Sequence[int]) -> MembersChanged:
    """Let members in who have asked to join. One without a request is refused, unless they are in the group."""
    return await _take_off(db, keys.group_requests(group), "approve", (group, actor, members))


async def reject(db: Database, group: int, actor: int, members: Sequence[int]) -> MembersChanged:
    """Turn members away who have asked to join."""
    return await _take_off(db, keys.group_requests(group), "reject", (group, actor, members))


async def unban(db: Database, group: int, actor: int, members: Sequence[int]) -> MembersChanged:
    """End bans of members. They are strangers to the group from now on."""
    return await _take_off(db, keys.group_banned(group), "unban", (group, actor, members))


async def _take_off(db: Database, listing: str, step: str, change: tuple[int, int, Sequence[int]]) -> MembersChanged:
    group, actor, members = change
    reply = await db.call("take_off_list", group, list=listing, actor=actor, id=group, step=step, named=members)
    return _read(members, reply)


async def remove(db: Database, group: int, actor: int, members: Sequence[int]) -> MembersChanged:
    """Remove members from a group, and take back invitations. Refuses for an equal or higher role."""
    return await _expel(db, group, actor, members)


async def ban(db: Database, group: int, actor: int, members: Sequence[int]) -> MembersChanged:
    """Remove members from a group, and keep them out: `MAX_BLOCKED` at most. Refuses for an equal or higher role."""
    return await _expel(db, group, actor, members, banned=keys.group_banned(group))


async def _expel(db: Database, group: int, actor: int, members: Sequence[int], **banned: str) -> MembersChanged:
    reply = await db.call(
        "expel_members",
        group,
        **banned,
        actor=actor,
        id=group,
        channel=db.channel(keys.group_channel(group)),
        max_banned=db.settings.max_blocked,
        named=members,
    )
    return _read(members, reply)


async def set_role(
    db: Database, group: int, actor: int, member: int, role: GroupRole
) -> bool | Literal[Refusal.GONE, Refusal.DENIED, Refusal.STRANGER, Refusal.LAST_OWNER]:
    """Set a member's role; returns False when they have it already."""
    reply = await db.call("set_group_role", group, actor=actor, member=member, role=role.value)
    return refused(reply) or bool(reply)


def _read(members: Sequence[int], reply: Any) -> MembersChanged:
    """Return what a change did from the reply of its script: a refusal, or the job with an answer per member."""
    refusal: MembersChanged | None = refused(reply)
    if refusal:
        return refusal
    job, body, *answers = reply
    return Changed(read_job(GroupSettling, job, body) if job else None, refused_members(members, answers))


def facts_commands(group: int, member: int) -> list[Command]:
    """Return the commands that read what a member is in a group: the ids of membership, request, inviter and ban.

    `read_facts` takes the replies apart.
    """
    return [("EXISTS", keys.group(group)), *(("ZSCORE", key(group), member) for key in PEOPLE)]


def read_facts(replies: Iterable[Any]) -> list[Sequence[Any]]:
    """Return the replies to `facts_commands` of several members, one by one."""
    left = iter(replies)
    return list(zip(*[left] * (1 + len(PEOPLE)), strict=True))


async def settle(db: Database, group: int, members: Sequence[int]) -> None:
    """Make members' indexes of groups, and notifications of invitations, agree with what they are in a group.

    The group is read again after the write. So the last of several concurrent calls always writes what is right.
    A deleted member is taken off the group's invitations and bans.
    """
    facts = await _facts(db, group, members)
    while True:
        pairs = zip(members, facts, strict=True)
        replies = await db.ask(*(settle_command(db, group, member, found) for member, found in pairs))
        gone = [member for member, is_there in zip(members, replies, strict=True) if not is_there]
        if gone:
            await db.ask(*(("ZREM", key(group), *gone) for key in (keys.group_invitations, keys.group_banned)))
        before, facts = facts, await _facts(db, group, members)
        if before == facts:
            return


async def _facts(db: Database, group: int, members: Sequence[int]) -> list[Sequence[Any]]:
    commands = [command for member in members for command in facts_commands(group, member)]
    return read_facts(await db.ask(*commands))


def settle_command(db: Database, group: int, member: int, facts: Sequence[Any]) -> Command:
    """Return the command that makes a member's indexes agree with the replies to `facts_commands`.

    Its reply is 0 when the member is gone.
    """
    p = partition(member)
    exists, joined, asked, inviter, ban = facts
    return script(
        "settle_member",
        member,
        member=member,
        group=group,
        is_indexed="1" if exists and (joined or asked) else "",
        inviter=inviter if exists and inviter else "",
        ban=ban if exists and ban else "",
        mailboxes=mailboxes(db, p),
    )


async def readers(db: Database, group: int, members: Collection[int]) -> set[int]:
    """Return those of some members who see what is in a group; one round trip."""
    if not members:
        return set()
    kind, joined, banned = await db.ask(
        ("HGET", keys.group(group), GroupField.KIND),
        ("ZMSCORE", keys.group_members(group), *members),
        ("ZMSCORE", keys.group_banned(group), *members),
    )
    is_open = kind is not None and kind != GroupKind.PRIVATE.value
    facts = zip(members, joined, banned, strict=True)
    return {member for member, own, ban in facts if ban is None and kind and (is_open or own is not None)}


async def some(db: Database, group: int, count: int) -> list[int]:
    """Return some of those who are on a list of a group; [] when nobody is left."""
    for key in PEOPLE:
        if found := await db.one("ZRANGE", key(group), 0, count - 1):
            return [int(member) for member in found]
    return []


async def drop(db: Database, group: int, members: Sequence[int]) -> None:
    """Take members off the lists of a deleted group."""
    await db.ask(*(("ZREM", key(group), *members) for key in PEOPLE))


# A member's indexes of groups, which `settle` keeps right, and which the deletion of an account reads.


async def forget_bans(db: Database, member: int, groups: Sequence[int]) -> None:
    """Remove bans of a deleted member, first at the groups."""
    await db.ask(*(("ZREM", keys.group_banned(group), member) for group in groups))
    await db.one("ZREM", keys.banned_from(member), *groups)


async def forget_invitations(db: Database, member: int, groups: Sequence[int]) -> None:
    """Remove groups from a deleted member's index of invitations."""
    await db.one("ZREM", keys.invited(member), *groups)

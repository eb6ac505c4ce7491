"""Members of groups: joining, leaving, inviting, roles. Each change commits a job that settles the members' indexes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Any

from store import keys
from store.client.database import Command, Database, script
from store.groups.records import GroupKind, GroupRole
from store.ids import partition
from store.keys.fields import GroupField
from store.records.jobs import Job, read_job
from store.scripts.mailboxes import mailboxes

# The lists of those who are in a group, ask to join it, are invited or banned. Its members are on no other list.
PEOPLE = (keys.group_members, keys.group_requests, keys.group_invitations, keys.group_banned)

Answers = dict[int, str]  # member → what the change did
# A change that an actor makes to what some members are in a group, as `invite` describes it.
Change = Callable[[Database, int, int, Sequence[int]], Awaitable[tuple[str, Answers, Job | None]]]


async def join(db: Database, group: int, member: int) -> tuple[str, Job | None]:
    """Join a group, or ask a private one.

    Returns `joined` with the job, `asked`, `again`, `full` for a member with `MAX_GROUPS`, `banned`, or `gone` without
    the group. Raises MemberGone.

    The member's index is written first. So after a crash it may have an extra entry, but it never lacks one.
    """
    if await db.one(*index_command(db, group, member)) == "full":
        return "full", None
    outcome, *job = await db.one(*join_command(group, member))
    if outcome in {"gone", "banned"}:
        await settle(db, group, [member])
    return outcome, read_job(job[0], "group_members", job[1]) if job else None


def join_command(group: int, member: int) -> Command:
    """Return the command that lets a member join a group, or ask to."""
    return script(
        "join_group", **_keys(group), **_waiting(group), banned=keys.group_banned(group), member=member, id=group
    )


def index_command(db: Database, group: int, member: int) -> Command:
    """Return the command that adds a group to a member's index, unless that is full."""
    p = partition(member)
    return script(
        "index_group",
        minted=keys.minted(p),
        user=keys.user(member),
        memberships=keys.memberships(member),
        partition=p,
        group=group,
        max_groups=db.settings.max_groups,
    )


async def leave(db: Database, group: int, member: int, *, is_deleted: bool = False) -> tuple[str, Job | None]:
    """Leave a group, take back a request to join it, or decline an invitation.

    Returns `left` with the job, `again`, `owner` for the only owner, or `gone` without the group. `is_deleted` says
    that the member's account is deleted: another member becomes owner, and a group without members is deleted.
    """
    outcome, *job = await db.call(
        "leave_group",
        **_keys(group),
        **_waiting(group),
        member=member,
        id=group,
        is_deleted="1" if is_deleted else "",
        channel=db.channel(keys.group_channel(group)),
    )
    return outcome, read_job(job[0], job[2], job[1]) if job else None


async def invite(db: Database, group: int, actor: int, members: Sequence[int]) -> tuple[str, Answers, Job | None]:
    """Invite members to a group; who has asked to join a private one joins at once.

    Returns `done` with the answers `new`, `again`, `member` or `banned`, and the job. Else returns `denied` or `gone`.
    """
    lists = {**_waiting(group), "banned": keys.group_banned(group)}
    reply = await db.call("invite_to_group", **_keys(group), **lists, actor=actor, id=group, invited=members)
    return _answers(reply, members)


async def approve(db: Database, group: int, actor: int, members: Sequence[int]) -> tuple[str, Answers, Job | None]:
    """Let members in who have asked to join. Returns as `invite` does, with the answers `new`, `again` or `none`."""
    return await _answer(db, group, actor, members, is_approval="1")


async def reject(db: Database, group: int, actor: int, members: Sequence[int]) -> tuple[str, Answers, Job | None]:
    """Turn members away who have asked to join. Returns as `invite` does, with the answers `new`, `again` or `none`."""
    return await _answer(db, group, actor, members, is_approval="")


async def _answer(
    db: Database, group: int, actor: int, members: Sequence[int], *, is_approval: str
) -> tuple[str, Answers, Job | None]:
    reply = await db.call(
        "answer_requests",
        **_keys(group),
        requests=keys.group_requests(group),
        actor=actor,
        id=group,
        is_approval=is_approval,
        asking=members,
    )
    return _answers(reply, members)


async def remove(db: Database, group: int, actor: int, members: Sequence[int]) -> tuple[str, Answers, Job | None]:
    """Remove members from a group, and take back invitations.

    Returns as `invite` does, with the answers `new`, `again`, or `denied` for an equal or higher role.
    """
    reply = await db.call(
        "remove_members",
        **_keys(group),
        invitations=keys.group_invitations(group),
        actor=actor,
        id=group,
        channel=db.channel(keys.group_channel(group)),
        removed=members,
    )
    return _answers(reply, members)


async def ban(db: Database, group: int, actor: int, members: Sequence[int]) -> tuple[str, Answers, Job | None]:
    """Remove members from a group, and keep them out.

    Returns as `invite` does, with the answers `new`, `again`, `denied` for an equal or higher role, or `limit` where
    the group bans `MAX_BLOCKED` members.
    """
    reply = await db.call(
        "ban_members",
        **_keys(group),
        **_waiting(group),
        banned=keys.group_banned(group),
        actor=actor,
        id=group,
        channel=db.channel(keys.group_channel(group)),
        max_banned=db.settings.max_blocked,
        named=members,
    )
    return _answers(reply, members)


async def unban(db: Database, group: int, actor: int, members: Sequence[int]) -> tuple[str, Answers, Job | None]:
    """End bans of members. Returns as `invite` does, with the answers `new` or `again`."""
    banned = keys.group_banned(group)
    reply = await db.call("unban_members", **_keys(group), banned=banned, actor=actor, id=group, named=members)
    return _answers(reply, members)


async def set_role(db: Database, group: int, actor: int, member: int, role: GroupRole) -> str:
    """Set a member's role.

    Returns `new`, `again`, `denied`, `stranger` when the member is not in the group, `owner` for its only owner, or
    `gone` without the group.
    """
    outcome: str = await db.call(
        "set_group_role",
        group=keys.group(group),
        members=keys.group_members(group),
        roles=keys.group_roles(group),
        actor=actor,
        member=member,
        role=role.value,
    )
    return outcome


def _keys(group: int) -> dict[str, Any]:
    """Return the script parameters that every change of a group's members takes."""
    p = partition(group)
    return {
        "minted": keys.minted(p),
        "jobs": keys.jobs(p),
        "group": keys.group(group),
        "members": keys.group_members(group),
        "roles": keys.group_roles(group),
        "partition": p,
    }


def _waiting(group: int) -> dict[str, str]:
    """Return the script parameters that name who may become a member of a group."""
    return {"requests": keys.group_requests(group), "invitations": keys.group_invitations(group)}


def _answers(reply: Sequence[str], members: Sequence[int]) -> tuple[str, Answers, Job | None]:
    outcome, *rest = reply
    if outcome != "done":
        return outcome, {}, None
    job, body, *answers = rest
    return outcome, dict(zip(members, answers, strict=True)), read_job(job, "group_members", body) if job else None


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
        minted=keys.minted(p),
        user=keys.user(member),
        memberships=keys.memberships(member),
        invited=keys.invited(member),
        banned_from=keys.banned_from(member),
        partition=p,
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

"""Blocks and mutes. A block is a versioned edge, stored on both sides; a mute is stored with the muting member only."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from store import keys
from store.client.database import Command, Database, script
from store.ids import partition
from store.other_side import NOTHING, There, with_other_side
from store.records.job_bodies import Blocking, Muting, Unblocking, Unmuting
from store.records.jobs import Job, read_job
from store.records.lists import read_entries
from store.records.members import Relationship
from store.refusals import Refusal, refused_members
from store.scripts.mailboxes import mailboxes

Blocks = list[tuple[int, int]]  # other member, block
Changed = tuple[Job | None, dict[int, Literal[Refusal.FULL]]]  # the job, and the members beyond `MAX_BLOCKED`


async def block(db: Database, member: int, others: Sequence[int], there: There = NOTHING) -> Changed:
    """Commit blocks on the blocking side.

    A block ends every follow and request between the two members. `there` are those that the others' sides have.
    """
    return await _change(
        db,
        Blocking,
        member,
        others,
        **_ending(member, others, there),
        max_blocked=db.settings.max_blocked,
        big_author_threshold=db.settings.big_author,
        mailboxes=mailboxes(db, partition(member)),
    )


async def unblock(db: Database, member: int, others: Sequence[int], there: There = NOTHING) -> Changed:
    """End blocks on the blocking side.

    Follows that the others made before they knew of the block end, too. `there` are those.
    """
    return await _change(db, Unblocking, member, others, **_ending(member, others, there))


def _ending(member: int, others: Sequence[int], there: There) -> dict[str, Any]:
    """Return the script parameters of a change of blocks, which ends what the others' sides have."""
    return {
        "tombstone_prefix": keys.unfollowed_prefix(member),
        "ttl": keys.DAY,
        "others": with_other_side(others, there),
    }


async def mute(db: Database, member: int, others: Sequence[int]) -> Changed:
    """Mute members."""
    return await _mute(db, Muting, member, others)


async def unmute(db: Database, member: int, others: Sequence[int]) -> Changed:
    """End mutes."""
    return await _mute(db, Unmuting, member, others)


async def _mute(db: Database, kind: type[Muting], member: int, others: Sequence[int]) -> Changed:
    parameters = {
        "max_muted": db.settings.max_blocked,
        "kind": kind.kind,
        "mailboxes": mailboxes(db, partition(member)),
        "others": others,
    }
    return await _change(db, kind, member, others, **parameters)


async def _change(
    db: Database,
    kind: type[Blocking | Unblocking | Muting],
    member: int,
    others: Sequence[int],
    /,
    **parameters: Any,
) -> Changed:
    """Run the script of a change. It has the name of the job that it commits; one script mutes and unmutes."""
    job, body, *answers = await db.call(
        Muting.kind if kind is Unmuting else kind.kind,
        member,
        member=member,
        **parameters,
    )
    return read_job(kind, job, body) if job else None, refused_members(others, answers)


async def apply_to_blocked(db: Database, member: int, blocks: Blocks, *, ended: bool) -> None:
    """Apply blocks, or their ends, on the blocked members' side; removes blocks of deleted members."""
    replies = await db.ask(*(apply_command(db, member, other, block, ended=ended) for other, block in blocks))
    gone = [other for (other, _), reply in zip(blocks, replies, strict=True) if reply is None]
    if gone:
        await db.one("ZREM", keys.blocked(member), *gone)


def apply_command(db: Database, member: int, other: int, block: int, *, ended: bool, quietly: bool = False) -> Command:
    """Return the command that applies a block, or its end, on the blocked member's side.

    With `quietly`, it changes no notifications.
    """
    return script(
        "apply_block",
        other,
        tombstone=keys.unblocked(other, member),
        step="remove" if ended else "add",
        blocker=member,
        block=block,
        ttl=keys.DAY,
        member=other,
        mailboxes="" if quietly else mailboxes(db, partition(other)),
    )


_RELATIONSHIP = (keys.following, keys.blocked, keys.blocked_by, keys.muted)  # as the fields of Relationship


RELATIONSHIP_SETS = len(_RELATIONSHIP)


def relationship_commands(member: int, others: Sequence[int]) -> list[Command]:
    """Return the commands that read a member's relationship to each of some others, a set after another."""
    return [("ZMSCORE", key(member), *others) for key in _RELATIONSHIP]


def all_relationship_commands(member: int, most: int) -> list[Command]:
    """Return the commands that read a member's relationships to all others, at most `most` of each set."""
    return [("ZRANGE", key(member), 0, most - 1) for key in _RELATIONSHIP]


async def relationships(db: Database, member: int, others: Sequence[int] | None = None) -> dict[int, Relationship]:
    """Return a member's relationships to all whom they block or mute or who block them, or to each of `others`."""
    sets = (keys.blocked(member), keys.blocked_by(member), keys.muted(member))
    if others is None:
        replies = await db.ask(*(("ZRANGE", key, 0, -1) for key in sets))
        blocked, by, muted = ({int(other) for other in reply} for reply in replies)
        others = sorted(blocked | by | muted)
    else:
        scores = await db.ask(*(("ZMSCORE", key, *others) for key in sets))
        blocked, by, muted = (
            {other for other, score in zip(others, reply, strict=True) if score is not None} for reply in scores
        )
    return {
        other: Relationship(blocks=other in blocked, is_blocked=other in by, mutes=other in muted) for other in others
    }


async def forget(db: Database, member: int, count: int, when_ended: Callable[[Sequence[int]], Awaitable[None]]) -> bool:
    """Remove a batch of blocks by and of a deleted member, first on the other side; True when none is left.

    `when_ended` is awaited for the members who blocked them, before their blocks are removed on the member's own side.
    So after a crash it is awaited again.
    """
    blocked, by = await db.ask(
        ("ZRANGE", keys.blocked(member), 0, count - 1, "WITHSCORES"),
        ("ZRANGE", keys.blocked_by(member), 0, count - 1),
    )
    blocks = [(entry.entity, entry.place) for entry in read_entries(blocked)]
    await apply_to_blocked(db, member, blocks, ended=True)
    await db.ask(*(("ZREM", keys.blocked(int(other)), member) for other in by))
    await when_ended([int(other) for other in by])
    steps = [(keys.blocked(member), [other for other, _ in blocks]), (keys.blocked_by(member), by)]
    await db.ask(*(("ZREM", key, *others) for key, others in steps if others))
    return not blocked and not by

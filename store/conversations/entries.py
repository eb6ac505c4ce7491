"""A participant's entries: which conversations they see, in which order, and up to where they have read each."""

from collections.abc import Sequence
from typing import Literal

from store import keys
from store.client.database import Command, Database, script
from store.conversations.records import Participant, State
from store.refusals import Refusal, refused

SCANNED = 100  # entries looked at per step


def apply_command(db: Database, state: State, participant: Participant) -> Command:
    """Return the command that brings a participant's entry up to the state of a conversation, unless it is newer.

    Its reply is None where the member has deleted their account and has not left yet.
    """
    member = participant.member
    return script(
        "apply_conversation",
        member,
        left_conversation=keys.left_conversation(member, state.id),
        member=member,
        conversation=state.id,
        version=state.version,
        since=participant.since,
        last=state.last,
        other=state.last_by_others(member),
        senders=state.senders,
        base=state.base,
        changes=state.written_changes,
        log_kept=db.settings.message_events_kept,
        channel=db.channel(keys.messages_channel(member)),
        ttl=keys.DAY,
    )


async def mark_read(db: Database, member: int, conversation: int, until: int) -> Literal[Refusal.GONE] | None:
    """Raise a member's read mark of a conversation. GONE says that they have no entry of it."""
    reply = await db.call(
        "mark_conversation_read",
        member,
        conversation=conversation,
        until_message=until,
        log_kept=db.settings.message_events_kept,
        channel=db.channel(keys.messages_channel(member)),
    )
    return refused(reply)


def unread_command(member: int) -> Command:
    """Return the command that counts the conversations in which a member has unread messages."""
    return ("SCARD", keys.unread_conversations(member))


def read_marks_command(member: int, conversations: Sequence[int]) -> Command:
    """Return the command that reads a member's entries of some conversations, for `read_mark`."""
    return ("HMGET", keys.conversation_state(member), *conversations)


def read_mark(entry: str | None) -> int:
    """Return the read mark of an entry: the newest message marked read, 0 without one."""
    return int(entry.split(":")[2]) if entry else 0


async def scan(db: Database, member: int, cursor: str = "0") -> tuple[str, dict[int, int]]:
    """Return a batch of a member's conversations, each with the size of its set, and the cursor of the next batch.

    The cursor is "0" at the end. It includes conversations that the member does not see because of a block.
    """
    following, pairs = await db.one("HSCAN", keys.conversation_state(member), cursor, "COUNT", SCANNED)
    entries = zip(pairs[::2], pairs[1::2], strict=True)
    return str(following), {int(conversation): int(entry.rpartition(":")[2]) for conversation, entry in entries}


async def forget(db: Database, member: int) -> None:
    """Remove all of a deleted member's entries."""
    kinds = (keys.conversations, keys.conversation_state, keys.unread_conversations, keys.message_log)
    await db.ask(("DEL", *(key(member) for key in kinds)))

"""Conversations and their messages, in the partition of the set of members who take part.

`entries` has what lies in a participant's own partition, `log` what their live subscribers get.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from store import keys
from store.client.database import Command, Database, script
from store.conversations.records import Change, Conversation, State, read_participants
from store.ids import PARTITIONS, partition
from store.keys.fields import MessageField
from store.limits.writes import Limit, count_commands, refused_ahead, surplus
from store.pictures.images import Reservation
from store.records.job_bodies import ConversationChange, Departure
from store.records.jobs import Created, Job, read_created, read_job
from store.refusals import PartRefused, Refusal, Surplus, refused

DELETIONS_KEPT = 100  # of one conversation, for live subscribers of participants whose entry is behind
CHANGES_READ = 100  # newest messages, and as many deletions, that a job reads for live subscribers
CLEARED_AT_ONCE = 500  # messages of an ended conversation removed per step

Unsent = (
    PartRefused[Literal[Refusal.UNWILLING]]  # with the member who does not allow it
    | Literal[Refusal.CONFLICT, Refusal.HOUR, Refusal.TEXT, Refusal.GONE, Refusal.ALONE, Refusal.LATE]
)
Sent = Created[ConversationChange] | Surplus[Created] | Unsent


@dataclass(frozen=True, slots=True)
class MessageDraft:
    """A message to be sent. `willing` are the other participants who allow the sender to write to them."""

    sender: int
    text: str
    willing: Collection[int] = ()
    idempotency_key: str | None = None
    input_digest: str = ""
    limit: Limit | None = None
    reservation: Reservation | None = None  # of pictures


@lru_cache(maxsize=PARTITIONS)
def prefixes(p: int) -> str:
    """Return a partition's keys and key prefixes for `messaging.lua`, which completes them with ids."""
    own = (keys.conversation, keys.messages, keys.message)
    sent = keys.sent_prefix(p << 4).rpartition(f"{p << 4}:")[0]
    return " ".join(
        [
            str(p),
            keys.minted(p),
            keys.jobs(p),
            *(keys.prefix(key, p) for key in own),
            sent,
            keys.prefix(keys.deleted_messages, p),
        ]
    )


def digest_of(members: Collection[int]) -> str:
    """Return the digest of a set of members, which names its conversation."""
    return hashlib.blake2b(" ".join(map(str, sorted(members))).encode(), digest_size=16).hexdigest()


def _partition_of(digest: str) -> int:
    return int(digest, 16) % PARTITIONS


def of_members_command(members: Collection[int]) -> Command:
    """Return the command that reads the id of the conversation of a set of members, None without one."""
    digest = digest_of(members)
    return ("GET", keys.conversation_of(_partition_of(digest), digest))


async def start(db: Database, members: Collection[int], draft: MessageDraft) -> Sent:
    """Send a message to the conversation of a set of members, which begins with it if there is none.

    Members who had left return. Those who would be added have to be in `willing`.
    """
    return await _send(db, start_command(members, draft), draft)


def start_command(members: Collection[int], draft: MessageDraft) -> Command:
    """Return the command that sends a message to the conversation of a set of members, for `read_sent`."""
    digest = digest_of(members)
    p = _partition_of(digest)
    return script(
        "start_conversation",
        conversation_of=keys.conversation_of(p, digest),
        **_idempotency(p, digest, draft),
        prefixes=prefixes(p),
        members=_text(sorted(members)),
        digest=digest,
        sender=draft.sender,
        willing=_text(draft.willing),
        text=draft.text,
        input_digest=draft.input_digest,
        ttl=keys.DAY,
        refused=refused_ahead(draft.limit),
    )


async def send(db: Database, conversation: int, draft: MessageDraft) -> Sent:
    """Send a message to a conversation. In one of two, the other member has to be in `willing`."""
    p = partition(conversation)
    command = script(
        "send_message",
        conversation,
        taken=keys.taken(conversation, draft.reservation.id if draft.reservation else 0),
        **_idempotency(p, str(conversation), draft),
        prefixes=prefixes(p),
        id=conversation,
        sender=draft.sender,
        willing=_text(draft.willing),
        text=draft.text,
        input_digest=draft.input_digest,
        ttl=keys.DAY,
        refused=refused_ahead(draft.limit),
        packed=draft.reservation.packed if draft.reservation else "",
    )
    return await _send(db, command, draft)


async def sent_before(db: Database, conversation: int, draft: MessageDraft) -> Sent | None:
    """Return the outcome of a draft whose idempotency key was used before, None for a new key."""
    used = _idempotency(partition(conversation), str(conversation), draft).get("idempotency")
    digest, _, message = (await db.one("GET", used) or "").partition(" ") if used else ("", "", "")
    if not digest:
        return None
    return Created(is_new=False, id=int(message)) if digest == draft.input_digest else Refusal.CONFLICT


async def _send(db: Database, command: Command, draft: MessageDraft) -> Sent:
    """Send a message, and count it in the same round trip. Where a limit is exceeded, only a retry succeeds."""
    reply, *counted = await db.ask(command, *count_commands(draft.limit))
    sent = read_sent(reply)
    return surplus(draft.limit, sent, counted) or sent


def read_sent(reply: Any) -> Sent:
    """Return the outcome of a draft from a script's reply."""
    return refused(reply) or read_created(ConversationChange, reply)


def _idempotency(p: int, subject: str, draft: MessageDraft) -> dict[str, str]:
    key = draft.idempotency_key
    return {"idempotency": keys.messaged(p, subject, draft.sender, key)} if key else {}


def _text(members: Collection[int]) -> str:
    return " ".join(map(str, members))


async def delete(db: Database, message: int) -> Job[ConversationChange] | Literal[Refusal.GONE]:
    """Delete a message for everybody; returns the job that tells its participants."""
    reply = await db.call(
        "delete_message",
        message,
        prefixes=prefixes(partition(message)),
        id=message,
        kept=DELETIONS_KEPT,
    )
    return refused(reply) or read_job(ConversationChange, *reply)


async def leave(db: Database, conversation: int, member: int) -> Job[Departure] | None:
    """Remove a member from a conversation; returns the job of that, None when they are not in it."""
    (reply,) = await db.ask(leave_command(conversation, member))
    return read_job(Departure, *reply) if reply else None


def leave_command(conversation: int, member: int) -> Command:
    """Return the command that removes a member from a conversation."""
    p = partition(conversation)
    return script(
        "leave_conversation",
        conversation,
        prefixes=prefixes(p),
        id=conversation,
        member=member,
        conversation_of_prefix=keys.conversation_of(p, ""),
    )


async def state(db: Database, conversation: int) -> State | None:
    """Return the state of a conversation as it is now, None when it has ended."""
    (reply,) = await db.ask(state_command(conversation))
    return read_state(conversation, reply)


def state_command(conversation: int) -> Command:
    """Return the command that reads the state of a conversation."""
    return script(
        "read_conversation",
        conversation,
        sent_prefix=keys.sent_prefix(conversation),
        window=CHANGES_READ,
    )


def read_state(conversation: int, reply: Sequence[Any] | None) -> State | None:
    """Return the state of a conversation from the reply to `state_command`."""
    if not reply:
        return None
    version, text, newest, base, said, deleted = reply
    changes = [Change(int(message), str(message)) for message in said]
    pairs = zip(deleted[::2], deleted[1::2], strict=True)
    changes += [Change(int(deletion), f"{deletion}:{what}") for what, deletion in pairs]
    return State(
        id=conversation,
        version=int(version),
        participants=read_participants(text),
        newest=dict(_pair(text) for text in newest.split()),
        base=int(base),
        changes=sorted(changes, key=lambda change: -change.id),
    )


def _pair(text: str) -> tuple[int, int]:
    member, _, message = text.partition(":")
    return int(member), int(message)


async def oldest_pictures(db: Database, conversation: int) -> list[tuple[int, str]]:
    """Return those of the messages that `clear` removes next that have pictures, with these, packed."""
    messages = await db.one("ZRANGE", keys.messages(conversation), 0, CLEARED_AT_ONCE - 1)
    replies = await db.ask(*(("HGET", keys.message(int(one)), MessageField.IMAGES) for one in messages))
    return [(int(one), packed) for one, packed in zip(messages, replies, strict=True) if packed]


async def clear(db: Database, conversation: int, members: Sequence[int]) -> bool:
    """Remove a batch of an ended conversation's messages; True when nothing is left of it."""
    messages = [int(one) for one in await db.one("ZRANGE", keys.messages(conversation), 0, CLEARED_AT_ONCE - 1)]
    await db.ask(*(("DEL", keys.message(message)) for message in messages))
    if len(messages) == CLEARED_AT_ONCE:
        await db.one("ZREM", keys.messages(conversation), *messages)
        return False
    sent = [keys.sent(conversation, member) for member in members]
    await db.one("DEL", keys.messages(conversation), keys.deleted_messages(conversation), *sent)
    return True


def conversation_command(conversation: int) -> Command:
    """Return the command that reads a conversation's hash."""
    return ("HGETALL", keys.conversation(conversation))


def message_command(message: int) -> Command:
    """Return the command that reads a message's hash."""
    return ("HGETALL", keys.message(message))


def summary_command(
    conversation: Conversation, viewer: int, read: int, hidden: Collection[int], muted: Collection[int]
) -> Command:
    """Return the command that reads what a participant sees of a conversation.

    `read` is their read mark. `hidden` are the participants whose messages they do not see, and `muted` those
    whose messages are never unread.
    """
    shown = [one.member for one in conversation.participants if one.member not in hidden]
    return script(
        "summarise_conversation",
        conversation.id,
        sent_prefix=keys.sent_prefix(conversation.id),
        viewer=viewer,
        since=conversation.since(viewer),
        read=read,
        hidden=_text(hidden),
        muted=_text(set(muted).difference(hidden)),
        shown=_text(shown),
    )

"""Conversations and the entries of their participants, as verify compares them, and the commands that mend them."""

from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct

from store import keys
from store.client.database import Command, Database, script
from store.conversations import entries
from store.conversations import messages as conversations
from store.conversations.records import Conversation, Participant, State
from store.ids import partition
from store.keys.fields import ConversationField, MessageField
from store.records.lists import read_pairs


class StoredConversation(Struct, frozen=True):
    """A conversation with its messages: the sender of each, None for one without a record, and what each list has.

    `written` are the senders as the records have them, "" for one that lacks it; 0 stands for one that is no number.
    """

    record: Conversation
    holder: str | None  # the conversation that the set of members has
    digest: str
    senders: dict[int, int | None]  # of the listed messages
    sent: dict[int, set[int]]  # messages listed for each member
    written: dict[int, str]


async def stored(db: Database, ids: Sequence[int]) -> list[StoredConversation]:
    """Return some conversations with all their messages. Three round trips."""
    replies = await db.ask(*map(conversations.conversation_command, ids))
    fields = {one: read_pairs(reply) for one, reply in zip(ids, replies, strict=True) if reply}
    records = [record for one in fields if (record := Conversation.read(one, fields[one]))]
    lists = iter(await db.ask(*(command for record in records for command in _list_commands(record))))
    found = []
    for record in records:
        holder, messages = next(lists), list(map(int, next(lists)))
        sent = {member: set(map(int, next(lists))) for member in record.members}
        senders: dict[int, int | None] = dict.fromkeys(messages)
        found.append(
            StoredConversation(record, holder, fields[record.id].get(ConversationField.DIGEST, ""), senders, sent, {})
        )
    looks = [(one, message) for one in found for message in one.senders]
    wanted = (MessageField.SENDER, MessageField.CONVERSATION)
    replies = await db.ask(*(("HMGET", keys.message(message), *wanted) for _, message in looks))
    for (one, message), (sender, of) in zip(looks, replies, strict=True):
        one.written[message] = sender or ""
        one.senders[message] = int(sender) if (sender or "").isdigit() else 0 if sender or of else None
    return found


def _list_commands(record: Conversation) -> list[Command]:
    return [
        ("GET", keys.conversation_of(partition(record.id), conversations.digest_of(record.members))),
        ("ZRANGE", keys.messages(record.id), 0, -1),
        *(("ZRANGE", keys.sent(record.id, member), 0, -1) for member in record.members),
    ]


def hold(one: StoredConversation) -> Command:
    """Return the command that makes a conversation the one of its members."""
    return ("SET", keys.conversation_of(partition(one.record.id), right_digest(one)), one.record.id)


def right_digest(one: StoredConversation) -> str:
    """Return the digest of a conversation's members."""
    return conversations.digest_of(one.record.members)


def correct_digest(one: StoredConversation) -> Command:
    """Return the command that stores the digest of a conversation's members."""
    record, field = keys.conversation(one.record.id), ConversationField.DIGEST
    return script("replace_field", record=record, field=field, old=one.digest, new=right_digest(one))


def unlist(one: StoredConversation, message: int) -> list[Command]:
    """Return the commands that remove a message from all lists of a conversation."""
    conversation = one.record.id
    sent = [("ZREM", keys.sent(conversation, member), message) for member in one.record.members]
    return [("ZREM", keys.messages(conversation), message), *sent]


def correct_sender(one: StoredConversation, message: int, sender: int) -> Command:
    """Return the command that sets the sender of a message to the member whose list has it."""
    record, field = keys.message(message), MessageField.SENDER
    return script("replace_field", record=record, field=field, old=one.written[message], new=sender)


def resend(one: StoredConversation, message: int, sender: int) -> list[Command]:
    """Return the commands that list a message for its sender alone."""
    conversation = one.record.id
    others = [("ZREM", keys.sent(conversation, member), message) for member in one.record.members if member != sender]
    return [("ZADD", keys.sent(conversation, sender), message, message), *others]


class LostMessage(Struct, frozen=True):
    """A message that its conversation does not list, or whose conversation is gone."""

    key: str
    conversation: int
    repair: list[Command]


async def lost_messages(db: Database, ids: Sequence[int]) -> list[LostMessage]:
    """Return those of some messages that no conversation lists. Two round trips."""
    fields = (MessageField.CONVERSATION, MessageField.SENDER)
    replies = await db.ask(*(("HMGET", keys.message(message), *fields) for message in ids))
    known = [(message, int(of), int(sender)) for message, (of, sender) in zip(ids, replies, strict=True) if of]
    looks = await db.ask(
        *(
            command
            for message, of, _ in known
            for command in (("EXISTS", keys.conversation(of)), ("ZSCORE", keys.messages(of), message))
        )
    )
    found = []
    for (message, of, sender), exists, listed in zip(known, looks[::2], looks[1::2], strict=True):
        if not exists:
            found.append(LostMessage(keys.message(message), of, [("DEL", keys.message(message))]))
        elif listed is None:
            lists = (keys.messages(of), keys.sent(of, sender))
            found.append(LostMessage(keys.message(message), of, [("ZADD", key, message, message) for key in lists]))
    return found


async def without_conversation(db: Database, found: dict[str, int]) -> list[str]:
    """Return those of some keys whose conversation is gone. One round trip."""
    replies = await db.ask(*(("EXISTS", keys.conversation(conversation)) for conversation in found.values()))
    return [key for key, exists in zip(found, replies, strict=True) if not exists]


async def held(db: Database, holders: Sequence[str]) -> dict[str, int]:
    """Return the conversation that each of some sets of members has, by the key that says so. One round trip."""
    replies = await db.ask(*(("GET", key) for key in holders))
    return {key: int(conversation) for key, conversation in zip(holders, replies, strict=True) if conversation}


def drop(key: str) -> Command:
    """Return the command that removes a key of conversations."""
    return ("DEL", key)


class StoredEntry(Struct, frozen=True):
    """A participant's entry of a conversation as it is stored, and what decides how it should be."""

    text: str | None
    place: int | None
    is_unread: bool
    blocked: frozenset[int]
    blocked_by: frozenset[int]
    muted: frozenset[int]
    has_account: bool


async def entries_of(db: Database, state: State) -> list[StoredEntry]:
    """Return the entries of a conversation's participants. One round trip."""
    members = [one.member for one in state.participants]
    commands: list[Command] = []
    for member in members:
        commands += [
            ("HGET", keys.conversation_state(member), state.id),
            ("ZSCORE", keys.conversations(member), state.id),
            ("SISMEMBER", keys.unread_conversations(member), state.id),
            ("ZMSCORE", keys.blocked(member), *members),
            ("ZMSCORE", keys.blocked_by(member), *members),
            ("ZMSCORE", keys.muted(member), *members),
            ("EXISTS", keys.user(member)),
        ]
    replies = iter(await db.ask(*commands))
    return [_entry(members, [next(replies) for _ in range(7)]) for _ in members]


def _entry(members: Sequence[int], replies: Sequence[Any]) -> StoredEntry:
    text, place, unread, blocked, by, muted, account = replies
    return StoredEntry(
        text=text,
        place=None if place is None else int(place),
        is_unread=bool(unread),
        blocked=_scored(members, blocked),
        blocked_by=_scored(members, by),
        muted=_scored(members, muted),
        has_account=bool(account),
    )


def _scored(members: Sequence[int], scores: Sequence[Any]) -> frozenset[int]:
    return frozenset(member for member, score in zip(members, scores, strict=True) if score is not None)


def reapply(db: Database, state: State, participant: Participant, *, anew: bool) -> list[Command]:
    """Return the commands that bring an entry up to a state. With `anew`, it is removed before, read mark included."""
    member = participant.member
    removal: list[Command] = [
        ("HDEL", keys.conversation_state(member), state.id),
        ("DEL", keys.left_conversation(member, state.id)),
    ]
    return [*(removal if anew else ()), entries.apply_command(db, state, participant)]


async def reapply_muting(db: Database, ids: Sequence[int]) -> int:
    """Bring the entries of participants who mute others up to the state of some conversations; returns their number.

    Two round trips for each conversation. An entry that is newer by then stays as it is.
    """
    count = 0
    replies = await db.ask(*map(conversations.state_command, ids))
    for one, reply in zip(ids, replies, strict=True):
        if state := conversations.read_state(one, reply):
            pairs = zip(state.participants, await entries_of(db, state), strict=True)
            muting = [participant for participant, entry in pairs if entry.muted and entry.text]
            await db.ask(*(entries.apply_command(db, state, participant) for participant in muting))
            count += len(muting)
    return count


async def listed(db: Database, members: Sequence[int]) -> dict[int, set[int]]:
    """Return the conversations that each member has any entry of. One round trip."""
    replies = await db.ask(
        *(
            command
            for member in members
            for command in (
                ("ZRANGE", keys.conversations(member), 0, -1),
                ("HKEYS", keys.conversation_state(member)),
                ("SMEMBERS", keys.unread_conversations(member)),
            )
        )
    )
    parts = zip(replies[::3], replies[1::3], replies[2::3], strict=True)
    return {member: {int(one) for part in three for one in part} for member, three in zip(members, parts, strict=True)}


async def participants(db: Database, ids: Collection[int]) -> dict[int, set[int]]:
    """Return who is in each of some conversations, for those that exist. One round trip."""
    replies = await db.ask(*map(conversations.conversation_command, ids))
    records = [Conversation.read(one, read_pairs(reply)) for one, reply in zip(ids, replies, strict=True) if reply]
    return {record.id: set(record.present) for record in records if record}


def remove(member: int, conversation: int) -> list[Command]:
    """Return the commands that remove a member's entry of a conversation."""
    return [
        ("ZREM", keys.conversations(member), conversation),
        ("HDEL", keys.conversation_state(member), conversation),
        ("SREM", keys.unread_conversations(member), conversation),
    ]

"""Conversations: their messages and lists, and the entries of their participants."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from store import keys
from store.client.database import Command, Database, script
from store.conversations import entries as live_entries
from store.conversations import messages as live
from store.conversations.records import Conversation, Participant, State
from store.ids import partition
from store.keys.fields import ConversationField, MessageField
from store.records.lists import read_pairs
from store.upkeep.findings import Finding, ask_each

_OF_MESSAGE = (MessageField.SENDER, MessageField.CONVERSATION)


async def conversations(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each conversation is the one of its members, and its lists have exactly its messages, each by its sender."""
    fields = {
        one: read_pairs(reply)
        for one, (reply,) in await ask_each(db, {one: [live.conversation_command(one)] for one in ids})
    }
    records = [record for one in fields if (record := Conversation.read(one, fields[one]))]
    lists = dict(await ask_each(db, {record.id: _list_commands(record) for record in records}))
    listed = {int(message) for _, messages, *_ in lists.values() for message in messages}
    written = dict(await ask_each(db, {one: [("HMGET", keys.message(one), *_OF_MESSAGE)] for one in listed}))
    found: list[Finding] = []
    for record in records:
        holder, messages, *sent = lists[record.id]
        found += _identity(record, holder, fields[record.id].get(ConversationField.DIGEST, ""))
        of_members = {one: set(map(int, some)) for one, some in zip(record.members, sent, strict=True)}
        found += _messages(record, {int(one): written[int(one)][0] for one in messages}, of_members)
    return found


def _list_commands(record: Conversation) -> list[Command]:
    return [
        ("GET", _holder(record)),
        ("ZRANGE", keys.messages(record.id), 0, -1),
        *(("ZRANGE", keys.sent(record.id, member), 0, -1) for member in record.members),
    ]


def _holder(record: Conversation) -> str:
    """Return the key that says which conversation the members of one have."""
    return keys.conversation_of(partition(record.id), live.digest_of(record.members))


def _identity(record: Conversation, holder: str | None, digest: str) -> list[Finding]:
    key, found = keys.conversation(record.id), list[Finding]()
    if holder != str(record.id):
        found.append(Finding(key, f"its members have {holder}", [("SET", _holder(record), record.id)]))
    if digest != (right := live.digest_of(record.members)):
        mend = script("replace_field", record=key, field=ConversationField.DIGEST, old=digest, new=right)
        found.append(Finding(key, "has not the digest of its members", [mend]))
    return found


def _messages(
    record: Conversation, written: Mapping[int, tuple[str | None, str | None]], sent: Mapping[int, set[int]]
) -> list[Finding]:
    """Return what is wrong with the messages of a conversation.

    `written` are sender and conversation as the records of the listed messages have them. `sent` are the messages
    listed for each member.
    """
    senders = {message: _sender(*fields) for message, fields in written.items()}
    found: list[tuple[str, list[Command]]] = []
    for message, sender in senders.items():
        by = next((member for member, some in sent.items() if message in some), None)
        if sender is None:
            found.append((f"message {message} is listed and gone", _unlist(record, message)))
        elif sender not in sent and by is not None:
            old, field = written[message][0] or "", MessageField.SENDER
            mend = script("replace_field", record=keys.message(message), field=field, old=old, new=by)
            found.append((f"message {message} is by {sender}, who was never in it", [mend]))
    for member, some in sent.items():
        right = {message for message, sender in senders.items() if sender == member}
        found += [
            (f"message {one} is not listed as sent by {member}", _resend(record, one, member))
            for one in sorted(right - some)
        ]
        alone = sorted(some - senders.keys())
        found += [(f"message {one} is listed for {member} alone", _unlist(record, one)) for one in alone]
    return [Finding(keys.conversation(record.id), *one) for one in found]


def _sender(sender: str | None, conversation: str | None) -> int | None:
    """Return the sender of a message, 0 for one that is missing or no number, None without a record."""
    if sender and sender.isdigit():
        return int(sender)
    return 0 if sender or conversation else None


def _unlist(record: Conversation, message: int) -> list[Command]:
    """Return the commands that remove a message from all lists of a conversation."""
    lists = [keys.messages(record.id), *(keys.sent(record.id, member) for member in record.members)]
    return [("ZREM", key, message) for key in lists]


def _resend(record: Conversation, message: int, sender: int) -> list[Command]:
    """Return the commands that list a message for its sender alone."""
    others = [("ZREM", keys.sent(record.id, member), message) for member in record.members if member != sender]
    return [("ZADD", keys.sent(record.id, sender), message, message), *others]


async def messages(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each message is listed in its conversation."""
    replies = await ask_each(db, {message: [("HMGET", keys.message(message), *_OF_MESSAGE)] for message in ids})
    looks: dict[tuple[int, int, int], list[Command]] = {
        (message, int(of), int(sender)): [
            ("EXISTS", keys.conversation(int(of))),
            ("ZSCORE", keys.messages(int(of)), message),
        ]
        for message, ((sender, of),) in replies
        if of
    }
    found = []
    for (message, of, sender), (exists, place) in await ask_each(db, looks):
        mend: list[Command] = [("ZADD", key, message, message) for key in (keys.messages(of), keys.sent(of, sender))]
        if not exists or place is None:
            repair = mend if exists else [("DEL", keys.message(message))]
            found.append(Finding(keys.message(message), f"is not listed in {of}", repair))
    return found


async def hanging_lists(db: Database, found: Sequence[str]) -> list[Finding]:
    """Each participant's list of messages belongs to a conversation that exists."""
    return await _hanging(db, {key: int(key.split(":")[2]) for key in found})


async def hanging_holders(db: Database, found: Sequence[str]) -> list[Finding]:
    """The conversation that a set of members has exists."""
    return await _hanging(
        db, {key: int(of) for key, (of,) in await ask_each(db, {key: [("GET", key)] for key in found}) if of}
    )


async def _hanging(db: Database, found: Mapping[str, int]) -> list[Finding]:
    looks = {key: [("EXISTS", keys.conversation(of))] for key, of in found.items()}
    return [
        Finding(key, "its conversation is gone", [("DEL", key)])
        for key, (exists,) in await ask_each(db, looks)
        if not exists
    ]


class StoredEntry(Struct, frozen=True):
    """A participant's entry of a conversation as it is stored, and what decides how it should be."""

    text: str | None
    place: int | None
    is_unread: bool
    blocked: frozenset[int]
    blocked_by: frozenset[int]
    muted: frozenset[int]
    has_account: bool


async def _entries(db: Database, state: State) -> Iterator[tuple[Participant, StoredEntry]]:
    """Return the participants of a conversation with their entries. One round trip."""
    members = [one.member for one in state.participants]
    looks: dict[Participant, list[Command]] = {
        one: [
            ("HGET", keys.conversation_state(one.member), state.id),
            ("ZSCORE", keys.conversations(one.member), state.id),
            ("SISMEMBER", keys.unread_conversations(one.member), state.id),
            ("EXISTS", keys.user(one.member)),
            *(("ZMSCORE", key(one.member), *members) for key in (keys.blocked, keys.blocked_by, keys.muted)),
        ]
        for one in state.participants
    }
    return ((one, _entry(members, *replies)) for one, replies in await ask_each(db, looks))


def _entry(members: Sequence[int], text: str | None, place: Any, unread: int, account: int, *lists: Any) -> StoredEntry:
    blocked, blocked_by, muted = (
        frozenset(member for member, score in zip(members, scores, strict=True) if score is not None)
        for scores in lists
    )
    return StoredEntry(
        text, None if place is None else int(place), bool(unread), blocked, blocked_by, muted, bool(account)
    )


async def _states(db: Database, ids: Sequence[int]) -> Iterator[State]:
    replies = await ask_each(db, {one: [live.state_command(one)] for one in ids})
    return (state for one, (reply,) in replies if (state := live.read_state(one, reply)))


async def entries(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each participant's entry of a conversation is what its messages, and blocks and mutes of its members, make it."""
    return [
        finding
        for state in await _states(db, ids)
        for participant, entry in await _entries(db, state)
        for finding in _wrong_entry(db, state, participant, entry)
    ]


def _wrong_entry(db: Database, state: State, participant: Participant, entry: StoredEntry) -> list[Finding]:
    key, member = keys.conversation(state.id), participant.member
    if not entry.has_account and participant.since:
        return [Finding(key, f"{member} is in it and has no account", [live.leave_command(state.id, member)])]
    wrong = _difference(state, participant, entry)
    if not wrong:
        return []
    mend = [live_entries.apply_command(db, state, participant)]
    if entry.text is not None and int(entry.text.partition(":")[0]) > state.version:
        # An entry of a version to come is removed before, read mark included.
        left = keys.left_conversation(member, state.id)
        mend = [("HDEL", keys.conversation_state(member), state.id), ("DEL", left), *mend]
    return [Finding(key, f"entry of {member} {wrong}", mend)]


def _difference(state: State, participant: Participant, entry: StoredEntry) -> str:
    """Return how an entry differs from what it should be, "" if it does not."""
    if not participant.since:
        return "is left over" if entry.text or entry.place or entry.is_unread else ""
    if entry.text is None:
        return "is missing"
    version, other, read, size = map(int, entry.text.split(":"))
    seen = {
        member: message
        for member, message in state.newest.items()
        if message > participant.since and (member == participant.member or member not in entry.blocked)
    }
    uncounted = {participant.member, *entry.muted}
    others = [message for member, message in seen.items() if member not in uncounted]
    is_apart = len(state.participants) == 2 and bool(entry.blocked | entry.blocked_by)  # noqa: PLR2004
    last = max(others, default=0)
    place = None if is_apart else max(seen.values(), default=participant.since)
    right = (state.version, last, len(state.participants), place, not is_apart and last > read)
    is_right = (version, other, size, entry.place, entry.is_unread) == right
    return "" if is_right else f"is {entry.text} at {entry.place}, not of version {state.version} at {place}"


async def reapply_muting(db: Database, ids: Sequence[int]) -> int:
    """Bring the entries of participants who mute others up to the state of some conversations; returns their number.

    A round trip for all, and two for each conversation. An entry that is newer by then stays as it is.
    """
    count = 0
    for state in await _states(db, ids):
        muting = [participant for participant, entry in await _entries(db, state) if entry.muted and entry.text]
        await db.ask(*(live_entries.apply_command(db, state, participant) for participant in muting))
        count += len(muting)
    return count


async def listed(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each conversation of which a member has an entry exists, and the member is in it."""
    looks = {
        member: [
            ("ZRANGE", keys.conversations(member), 0, -1),
            ("HKEYS", keys.conversation_state(member)),
            ("SMEMBERS", keys.unread_conversations(member)),
        ]
        for member in members
    }
    pairs = [
        (member, conversation)
        for member, parts in await ask_each(db, looks)
        for conversation in sorted({int(one) for part in parts for one in part})
    ]
    present = await _present(db, {conversation for _, conversation in pairs})
    return [
        Finding(
            keys.conversations(member),
            f"is not in {conversation}",
            [
                ("ZREM", keys.conversations(member), conversation),
                ("HDEL", keys.conversation_state(member), conversation),
                ("SREM", keys.unread_conversations(member), conversation),
            ],
        )
        for member, conversation in pairs
        if member not in present[conversation]
    ]


async def _present(db: Database, ids: Collection[int]) -> dict[int, tuple[int, ...]]:
    """Return who is in each of some conversations. One round trip."""
    replies = await ask_each(db, {one: [live.conversation_command(one)] for one in ids})
    records = {one: Conversation.read(one, read_pairs(reply)) for one, (reply,) in replies}
    return {one: record.present if record else () for one, record in records.items()}

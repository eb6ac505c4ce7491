"""Invariants of conversations: their messages and lists, and the entries of their participants."""

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store import kinds
from store.client.database import Database
from store.conversations import messages as live
from store.conversations.records import Participant, State
from store.upkeep import conversations as stored
from store.upkeep.conversations import StoredConversation, StoredEntry
from store.upkeep.scanning import KeyBatch


async def conversations(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each conversation is the one of its members, and its lists have exactly its messages, each by its sender."""
    found: list[Finding] = []
    for one in await stored.stored(db, ids):
        key = kinds.CONVERSATION.key(one.record.id)
        if one.holder != str(one.record.id):
            found.append(Finding(key, f"its members have {one.holder}", [stored.hold(one)]))
        if one.digest != stored.right_digest(one):
            found.append(Finding(key, "has not the digest of its members", [stored.correct_digest(one)]))
        found += _messages(one, key)
    return found


def _messages(one: StoredConversation, key: str) -> list[Finding]:
    found = [
        Finding(key, f"message {message} is listed and gone", stored.unlist(one, message))
        for message, sender in one.senders.items()
        if sender is None
    ]
    for message, sender in one.senders.items():
        by = next((member for member, sent in one.sent.items() if message in sent), None)
        if sender is not None and sender not in one.sent and by is not None:
            mend = [stored.correct_sender(one, message, by)]
            found.append(Finding(key, f"message {message} is by {sender}, who was never in it", mend))
    for member, sent in one.sent.items():
        right = {message for message, sender in one.senders.items() if sender == member}
        found += [
            Finding(key, f"message {message} is not listed as sent by {member}", stored.resend(one, message, member))
            for message in sorted(right - sent)
        ]
        gone = [message for message in sorted(sent) if message not in one.senders]
        found += [
            Finding(key, f"message {message} is listed for {member} alone", stored.unlist(one, message))
            for message in gone
        ]
    return found


async def entries(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each participant's entry of a conversation is what its messages, and blocks and mutes of its members, make it."""
    found: list[Finding] = []
    replies = await db.ask(*map(live.state_command, ids))
    states = [live.read_state(one, reply) for one, reply in zip(ids, replies, strict=True)]
    for state in filter(None, states):
        for participant, entry in zip(state.participants, await stored.entries_of(db, state), strict=True):
            found += _entry(db, state, participant, entry)
    return found


def _entry(db: Database, state: State, participant: Participant, entry: StoredEntry) -> list[Finding]:
    key, member = kinds.CONVERSATION.key(state.id), participant.member
    if not entry.has_account and participant.since:
        return [Finding(key, f"{member} is in it and has no account", [live.leave_command(state.id, member)])]
    wrong = _difference(state, participant, entry)
    if not wrong:
        return []
    is_newer = entry.text is not None and int(entry.text.partition(":")[0]) > state.version
    mend = stored.reapply(db, state, participant, anew=is_newer)
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


async def messages(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each message is listed in its conversation."""
    return [
        Finding(lost.key, f"is not listed in {lost.conversation}", lost.repair)
        for lost in await stored.lost_messages(db, ids)
    ]


async def hanging(db: Database, found: KeyBatch) -> list[Finding]:
    """Each participant's list of messages belongs to a conversation that exists, as does what a set of members has."""
    owned = {**found.sent, **await stored.held(db, found.conversation_holders)}
    gone = await stored.without_conversation(db, owned)
    return [Finding(key, "its conversation is gone", [stored.drop(key)]) for key in gone]


async def listed(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each conversation of which a member has an entry exists, and the member is in it."""
    entries_of = await stored.listed(db, members)
    present = await stored.participants(db, {one for found in entries_of.values() for one in found})
    return [
        Finding(kinds.CONVERSATIONS.key(member), f"is not in {one}", stored.remove(member, one))
        for member, found in entries_of.items()
        for one in sorted(found)
        if member not in present.get(one, ())
    ]

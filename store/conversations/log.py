"""A member's message log: what changed in their conversations, for live subscribers.

It exists while somebody is subscribed, and for `MESSAGE_EVENTS_SECONDS` longer. A member who is not connected costs
nothing but their entries.
"""

from dataclasses import dataclass

from store import keys
from store.client.database import Database
from store.ids import LARGEST


@dataclass(frozen=True, slots=True)
class Received:
    """A message was received."""

    id: int
    message: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """A message that had been received was deleted."""

    id: int
    message: int
    conversation: int
    sender: int


@dataclass(frozen=True, slots=True)
class Read:
    """A conversation was read further."""

    id: int
    conversation: int


LoggedChange = Received | Deleted | Read
_KINDS: dict[str, type[LoggedChange]] = {"received": Received, "deleted": Deleted, "read": Read}


@dataclass(frozen=True, slots=True)
class ConversationChanges:
    """Changes in a member's conversations after an id, oldest first.

    `newest` is the newest id of all changes. Changes at or below the floor may be missing.
    """

    floor: int
    newest: int
    found: list[LoggedChange]


async def newest(db: Database, member: int) -> int:
    """Return the id of the newest change in a member's conversations, from which on changes are logged."""
    return (await changes_after(db, member, LARGEST, 0)).newest


async def changes_after(db: Database, member: int, last: int, count: int) -> ConversationChanges:
    """Return at most `count` changes in a member's conversations after an id, and keep the log for a while longer."""
    floor, newest, found = await db.call(
        "message_changes",
        member,
        after=last,
        limit=count,
        seconds=db.settings.message_events_seconds,
    )
    pairs = zip(found[::2], found[1::2], strict=True)
    return ConversationChanges(int(floor), int(newest), [_read(text, int(place)) for text, place in pairs])


def _read(text: str, place: int) -> LoggedChange:
    kind, *numbers = text.split(":")
    return _KINDS[kind](place, *map(int, numbers))


def channel(member: int) -> str:
    """Return the Pub/Sub channel on which changes to a member's message log are published."""
    return keys.messages_channel(member)

"""Stored conversations and messages, and the state and summary of a conversation."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property, lru_cache

from msgspec import Struct

from store.ids import instant
from store.keys.fields import ConversationField, MessageField
from store.records.lists import Fields
from store.records.pictures import Image, read_images

PARSED_KEPT = 1_000  # texts of participants, which are the same at each message


class Participant(Struct, frozen=True):
    """A member of a conversation's set. `since` is the id above which they see messages, 0 once they have left."""

    member: int
    since: int


@lru_cache(PARSED_KEPT)
def read_participants(text: str) -> tuple[Participant, ...]:
    """Return the participants of a conversation from their stored text."""
    return tuple([Participant(*map(int, pair.split(":"))) for pair in text.split()])


class Conversation(Struct, frozen=True, dict=True):
    """A conversation of a fixed set of members, some of whom may have left."""

    id: int
    participants: tuple[Participant, ...]

    @property
    def created_at(self) -> datetime:
        return instant(self.id)

    @cached_property
    def members(self) -> tuple[int, ...]:
        """The whole set, those who have left included."""
        return tuple([one.member for one in self.participants])

    @cached_property
    def present(self) -> tuple[int, ...]:
        """Those who have not left."""
        return tuple([one.member for one in self.participants if one.since])

    @property
    def is_pair(self) -> bool:
        """Whether it is a conversation of two."""
        return len(self.participants) == 2  # noqa: PLR2004

    def since(self, member: int) -> int:
        """Return the id above which a member sees messages, 0 if they are not in the conversation."""
        return next((one.since for one in self.participants if one.member == member), 0)

    @classmethod
    def read(cls, conversation: int, fields: Fields) -> "Conversation | None":
        if not fields:
            return None
        return cls(conversation, read_participants(fields[ConversationField.PARTICIPANTS]))


class Message(Struct, frozen=True):
    """A message of a conversation."""

    id: int
    conversation_id: int
    sender_id: int
    text: str
    images: tuple[Image, ...] = ()

    @property
    def created_at(self) -> datetime:
        return instant(self.id)

    @classmethod
    def read(cls, message: int, fields: Fields) -> "Message | None":
        if not fields:
            return None
        conversation, sender = fields[MessageField.CONVERSATION], fields[MessageField.SENDER]
        images = read_images(fields.get(MessageField.IMAGES), message)
        return cls(message, int(conversation), int(sender), fields[MessageField.TEXT], images)


class Summary(Struct, frozen=True):
    """A conversation as a participant sees it: unread messages, the last message, the newest one marked read."""

    unread: int
    last_read: int  # 0 without one
    last: Message | None

    @classmethod
    def read(cls, conversation: int, reply: Sequence[str]) -> "Summary":
        unread, last_read, last, sender, text, packed = reply
        images = read_images(packed, int(last))
        message = Message(int(last), conversation, int(sender), text, images) if sender else None
        return cls(int(unread), int(last_read), message)


class Change(Struct, frozen=True):
    """A message or deletion, as `message`, or `deletion:message:sender`."""

    id: int
    text: str


class State(Struct, frozen=True, dict=True):
    """The state of a conversation at one moment, for the entries of its participants.

    `newest` has the newest message of each participant, 0 without one. `changes` are the newest ones, newest first;
    those at or below `base` may be missing.
    """

    id: int
    version: int
    participants: tuple[Participant, ...]
    newest: Mapping[int, int] = {}
    base: int = 0
    changes: Sequence[Change] = ()

    @cached_property
    def last(self) -> int:
        """The newest message, 0 without one."""
        return max(self.newest.values(), default=0)

    def last_by_others(self, member: int) -> int:
        """Return the newest message by anybody but one participant, 0 without one."""
        if self.newest.get(member) != self.last:
            return self.last
        return max((message for sender, message in self.newest.items() if sender != member), default=0)

    @cached_property
    def senders(self) -> str:
        """The newest messages as scripts take them."""
        return " ".join([f"{member}:{message}" for member, message in self.newest.items()])

    @cached_property
    def written_changes(self) -> str:
        """The newest changes as scripts take them."""
        return " ".join([change.text for change in self.changes])

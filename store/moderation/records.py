"""The records of moderation: reports with their cases, and acts of moderators."""

import json
from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.json import decode
from msgspec.structs import replace

from store.conversations.records import Message
from store.credentials.records import Role
from store.ids import instant
from store.keys.fields import ModerationActField as Field
from store.records.lists import Fields
from store.records.pictures import EVIDENCE, read_images, write_images

RANKS = {Role.MEMBER: 0, Role.MODERATOR: 1, Role.ADMIN: 2}
OPERATOR = 0  # stands for who runs a command on the store, in place of a member
OPERATOR_RANK = 3  # above every role


class ReportReason(Enum):
    """Why something is reported."""

    SPAM = "SPAM"
    ABUSE = "ABUSE"
    ILLEGAL = "ILLEGAL"
    OTHER = "OTHER"


class ReportState(Enum):
    """Whether a report is resolved, and how."""

    OPEN = "OPEN"
    DISMISSED = "DISMISSED"
    ACTIONED = "ACTIONED"


class ReportAction(Enum):
    """A decision on a report."""

    DISMISS = "DISMISS"
    DELETE_CONTENT = "DELETE_CONTENT"
    SUSPEND_AUTHOR = "SUSPEND_AUTHOR"

    @property
    def state(self) -> ReportState:
        """The state of the reports that it resolves."""
        return ReportState.DISMISSED if self is ReportAction.DISMISS else ReportState.ACTIONED


class ModerationActKind(Enum):
    """An act of a moderator or administrator."""

    REPORT_DISMISSED = "REPORT_DISMISSED"
    CONTENT_DELETED = "CONTENT_DELETED"
    USER_SUSPENDED = "USER_SUSPENDED"
    USER_UNSUSPENDED = "USER_UNSUSPENDED"
    ROLE_CHANGED = "ROLE_CHANGED"
    PROMOTION_CREATED = "PROMOTION_CREATED"
    PROMOTION_ENDED = "PROMOTION_ENDED"
    MESSAGES_READ = "MESSAGES_READ"
    GROUP_SHOWN = "GROUP_SHOWN"


ACTS = {
    ReportAction.DISMISS: ModerationActKind.REPORT_DISMISSED,
    ReportAction.DELETE_CONTENT: ModerationActKind.CONTENT_DELETED,
    ReportAction.SUSPEND_AUTHOR: ModerationActKind.USER_SUSPENDED,
}


class Subject(Struct, frozen=True):
    """What a report or an act is about: its kind, as in global ids, and its id."""

    kind: str
    id: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"

    @classmethod
    def read(cls, text: str) -> "Subject":
        kind, _, number = text.partition(":")
        return cls(kind, int(number))


class Report(Struct, frozen=True):
    """A member's report, with the state of its case."""

    id: int
    case: int
    reporter_id: int
    reason: ReportReason
    note: str
    about: Subject
    author: int  # who wrote or owns the subject, or is it
    state: ReportState
    resolver: int  # 0 while it is open
    report_count: int

    @property
    def created_at(self) -> datetime:
        return instant(self.id)

    @classmethod
    def read(cls, report: int, reply: Sequence[str]) -> "Report | None":
        """Return a report from the reply of `read_report`, None without one."""
        if not reply:
            return None
        case, reporter, reason, note, subject, author, state, resolver, count = reply
        return cls(
            id=report,
            case=int(case),
            reporter_id=int(reporter),
            reason=ReportReason(reason),
            note=note,
            about=Subject.read(subject),
            author=int(author),
            state=ReportState(state),
            resolver=int(resolver),
            report_count=int(count),
        )


class Act(Struct, frozen=True):
    """An act to be logged: what somebody does, the text that goes with it, and the name under which it is logged once.

    The actor is 0 for an operator. Without a name, the id of the job that carries the act is its name.
    """

    actor: int
    kind: ModerationActKind
    subject: Subject
    report: int = 0
    note: str = ""
    text: str = ""
    name: str = ""

    def written(self) -> str:
        """Return the act as JSON, for a script that puts it into the body of a job."""
        return json.dumps(self.fields())

    def fields(self) -> dict[str, str]:
        """Return the act as the fields of its record, and its name."""
        return {
            "actor": str(self.actor),
            "kind": self.kind.value,
            "subject": str(self.subject),
            "report": str(self.report),
            "note": self.note,
            "text": self.text,
            "name": self.name,
        }


class Acting(Struct, frozen=True):
    """Who acts on a member: the rank of their role, and their act. Without one, the change is logged elsewhere."""

    rank: int
    act: Act | None = None

    def arguments(self) -> dict[str, int | str]:
        """Return the arguments of a script that checks the rank and commits a job with the act."""
        return {"rank": self.rank, **({"act": self.act.written()} if self.act else {})}


class ModerationAct(Struct, frozen=True):
    """An act in the moderation log. `removed` is the text that was deleted, None once it is let go of."""

    id: int
    actor_id: int  # 0 for an operator
    kind: ModerationActKind
    about: Subject
    report_id: int  # 0 without one
    note: str
    removed: str | None = None

    @property
    def created_at(self) -> datetime:
        return instant(self.id)

    @classmethod
    def read(cls, act: int, fields: Fields, removed: str | None) -> "ModerationAct | None":
        if not fields:
            return None
        return cls(
            id=act,
            actor_id=int(fields[Field.ACTOR]),
            kind=ModerationActKind(fields[Field.KIND]),
            about=Subject.read(fields[Field.SUBJECT]),
            report_id=int(fields[Field.REPORT]),
            note=fields[Field.NOTE],
            removed=removed,
        )


def write_messages(messages: Sequence[Message]) -> str:
    """Return a copy of messages of one conversation as JSON."""
    return json.dumps(
        [[one.id, one.conversation_id, one.sender_id, one.text, write_images(one.images)] for one in messages]
    )


def read_messages(text: str | None, *, is_evidence: bool) -> list[Message]:
    """Return the messages of a copy, [] without one. As evidence, their pictures have moderators' links."""
    if not text:
        return []
    messages = [_message(*parts) for parts in decode(text, type=list[list[Any]])]
    return [_as_evidence(one) for one in messages] if is_evidence else messages


def _as_evidence(message: Message) -> Message:
    return replace(message, images=tuple([replace(one, version=EVIDENCE) for one in message.images]))


def _message(message: int, conversation: int, sender: int, text: str, packed: str = "") -> Message:
    return Message(message, conversation, sender, text, read_images(packed, message))

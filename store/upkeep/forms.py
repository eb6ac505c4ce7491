"""The form of each kind of key: the texts that it may have. `malformed` finds what does not have it."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from store import kinds
from store.groups.records import GroupKind
from store.keys.fields import (
    CaseField,
    CommentField,
    ConversationField,
    CredentialsField,
    GroupField,
    HomeField,
    ImageField,
    LayoutField,
    LogHeadField,
    MessageField,
    ModerationActField,
    NotificationsField,
    ReportField,
    StatusField,
    UserField,
)
from store.moderation.records import ReportReason, ReportState
from store.records.pictures import UploadPurpose, UploadState

ANY, ID, IDS = r".*", r"\d+", r"\d+( \d+)*"
SUBJECT = r"[A-Za-z_]+:\d+"


def _one_of(values: Iterable[Any]) -> str:
    return "|".join(re.escape(value.value) for value in values)


class KeyForm(Struct, frozen=True):
    """The texts that a key of one kind may have.

    `entry` is the pattern of a string, of an entry of a list or set, and of a field of a hash without `fields`.
    """

    entry: str = ANY
    value: str = ANY  # of each field of a hash without `fields`
    score: str = ""  # the score of all entries, or `OWN`; "" if they differ
    fields: Mapping[str, str] = {}  # field of a record that has to be there → its pattern
    optional: Mapping[str, str] = {}  # the same for fields that may be absent; others may be there, too
    is_truth: bool = False  # whether a value of a wrong type is left, because others depend on that it is there


OWN = "own"  # The score of an entry is the id at its beginning.
_ITSELF = KeyForm(ID, score=OWN)
_IDS = KeyForm(ID)


def _record(fields: Mapping[str, str], optional: Mapping[str, str] | None = None) -> KeyForm:
    return KeyForm(fields=fields, optional=optional or {}, is_truth=True)


def _all(pattern: str, *fields: str) -> dict[str, str]:
    return dict.fromkeys(fields, pattern)


# Lists of ids follow from their declarations. Other kinds that are not here have no other form than their type: nothing
# reads them but scripts that let them expire.
FORMS: Mapping[str, KeyForm] = {
    **{one.name: _ITSELF if one.has_own_ids else _IDS for one in kinds.LISTS},
    "minted": KeyForm(ID),
    "jobs": KeyForm(fields={"kind": r"\w+", "body": r"\{.*\}"}),
    "dead_jobs": _IDS,
    "user": _record(
        _all(ANY, UserField.LOGIN, UserField.NAME, UserField.BIO) | _all(ID, *kinds.counted(kinds.USER)),
        {**_all(ID, UserField.PINNED, UserField.MAGNITUDE), UserField.REACH: r"(growing|big|shrinking):\d+"},
    ),
    "credentials": _record(
        {CredentialsField.EMAIL: ANY, CredentialsField.PASSWORD: ANY, CredentialsField.ROLE: r"[A-Z]+"},
        _all(ID, CredentialsField.TOTP_STEP),
    ),
    "sessions": KeyForm(value=r"\{.*\}"),
    "login": KeyForm(ID),
    "email": KeyForm(ID),
    "names": KeyForm(r".*\0\d+", score="0"),
    "indexed": KeyForm(ID, r"\d+(\0.*)?"),
    "profile": KeyForm(r"\d+(:\d+){0,2}", score=OWN),
    "home": KeyForm(r"\d+(:\d+)?"),
    "newest": KeyForm(r" *\d+( +\d+)*"),
    "home_state": KeyForm(fields={HomeField.FLOOR: ID}, optional=_all(ID, HomeField.BUILDING, HomeField.CHANGED)),
    "sources": KeyForm(ID, r"\d+:\d+( \d+:\d+)*"),
    "candidates": KeyForm(r"\d+:\d+"),
    "home_read": KeyForm(ID),
    "active": _IDS,
    "big": _IDS,
    "big_version": KeyForm(ID),
    "reposted": KeyForm(ID, ID),
    "notifications": KeyForm(r"LIKE:0:\d+:\d+|(?!LIKE:)[A-Z_]+(:\d+){3}"),
    "notification_state": KeyForm(optional=_all(ID, NotificationsField.READ, NotificationsField.FLOOR)),
    "mentions": KeyForm(r"\d+(:\d+)?", score=OWN),
    "status": _record(
        {StatusField.AUTHOR: ID, StatusField.TEXT: ANY},
        {
            **_all(
                ID, StatusField.ORIGINAL, StatusField.ORIGINAL_AUTHOR, StatusField.ORIGINAL_GROUP, StatusField.GROUP
            ),
            **_all(ID, *kinds.counted(kinds.STATUS)),
            **_all(ID, StatusField.REPLY_TO, StatusField.REPLY_TO_AUTHOR, StatusField.ROOT),
            **_all(r"-?\d+(\.\d+)?(e-?\d+)?", StatusField.LATITUDE, StatusField.LONGITUDE),
            StatusField.MENTIONS: IDS,
            StatusField.HASHTAGS: r"#.+",
        },
    ),
    "comment": _record(
        {CommentField.AUTHOR: ID, CommentField.TEXT: ANY, CommentField.POST: ID},
        {CommentField.REPLY_TO: ID, CommentField.MENTIONS: IDS},
    ),
    "conversation_of": KeyForm(ID),
    "conversation": _record(
        {
            ConversationField.PARTICIPANTS: r"\d+:\d+( \d+:\d+)*",
            ConversationField.DIGEST: ANY,
            ConversationField.VERSION: ID,
        },
        {ConversationField.FORGOTTEN: ID},
    ),
    "sent": _ITSELF,
    "message": _record({MessageField.CONVERSATION: ID, MessageField.SENDER: ID, MessageField.TEXT: ANY}),
    "deleted_messages": KeyForm(r"\d+:\d+"),
    "message_log": KeyForm(),
    "conversation_state": KeyForm(ID, r"\d+(:\d+){3}"),
    "unread_conversations": _IDS,
    "image": _record(
        {
            ImageField.OWNER: ID,
            ImageField.PURPOSE: _one_of(UploadPurpose),
            ImageField.CONTENT_TYPE: ANY,
            ImageField.SIZE: ID,
            ImageField.STATE: _one_of(UploadState),
        },
        {
            **_all(ID, ImageField.WIDTH, ImageField.HEIGHT, ImageField.BYTES, ImageField.VERSION),
            ImageField.SUBJECT: SUBJECT,
        },
    ),
    "uploads": _ITSELF,
    "originals": KeyForm(ID, r"\d+ \d+ \d+"),
    "group": _record({GroupField.NAME: ANY, GroupField.DESCRIPTION: ANY, GroupField.KIND: _one_of(GroupKind)}),
    "group_roles": KeyForm(ID, r"[A-Z]+"),
    "group_changes": KeyForm(r"\d+|floor"),
    "group_directory": _IDS,
    "report": _record(
        {**_all(ID, ReportField.CASE, ReportField.REPORTER), ReportField.REASON: _one_of(ReportReason)},
    ),
    "report_messages": KeyForm(r"\[.*\]", is_truth=True),
    "case": _record(
        {CaseField.SUBJECT: SUBJECT, CaseField.AUTHOR: ID, CaseField.STATE: _one_of(ReportState)},
        {CaseField.RESOLVER: ID},
    ),
    "open_cases": KeyForm(SUBJECT, ID),
    "cases": _IDS,
    "moderation_log": KeyForm(is_truth=True),
    "moderation_act": _record(_all(ID, ModerationActField.ACTOR, ModerationActField.REPORT)),
    "removed_text": KeyForm(is_truth=True),
    "log_head": _record({LogHeadField.COUNT: ID}),
    **dict.fromkeys(("hashtag", "public"), _ITSELF),
    **dict.fromkeys(("important_hashtag", "important_public", "rescore", "promotions"), _IDS),
    "promotion": KeyForm(is_truth=True),  # its own check reads it as a whole
    "layout": KeyForm(rf"\d+|{LayoutField.VERSION}", ID, is_truth=True),
    "processes": KeyForm(r"\d+:.*"),
}

"""Global ids: opaque to clients, unique across all types."""

import re
from collections.abc import Sequence

from resolvers.process.errors import BadUserInput, UserErrorCode, no_such, refuse
from resolvers.process.tokens import Claims
from store.conversations.records import Conversation, Message
from store.groups.records import Group
from store.ids import LARGEST, Identified
from store.moderation.records import ModerationAct, Report
from store.notifications import Notification
from store.pictures.uploads import Upload
from store.promotions import Promotion
from store.records.members import User
from store.records.pictures import Image
from store.records.posts import Comment, Repost, Status
from store.settings import Settings

_DIGITS = 14  # hexadecimal digits for 53 bits; the number is fixed, so that a truncated id is recognised
POSTS = ("status", "repost")

_KINDS: dict[type, str] = {
    User: "user",
    Status: "status",
    Repost: "repost",
    Comment: "comment",
    Group: "group",
    Promotion: "promotion",
    Notification: "notification",
    Conversation: "conversation",
    Message: "message",
    Report: "report",
    ModerationAct: "act",
    Image: "image",
    Upload: "upload",
    Claims: "viewer",
}
_FORM = re.compile(rf"({'|'.join(_KINDS.values())})_([0-9a-f]{{{_DIGITS}}})")


def of(root: Identified) -> str:
    """Return the global id of a record."""
    return f"{_KINDS[type(root)]}_{root.id:014x}"  # _DIGITS, written out for speed: runs for every object of a page


def kind_of(record: Identified) -> str:
    """Return the type that a record's global id begins with."""
    return _KINDS[type(record)]


def user_id(member: int) -> str:
    """Return the global id of a member."""
    return write("user", member)


def post_id(post: int, *, is_repost: bool) -> str:
    """Return the global id of a post that may have been deleted."""
    return write("repost" if is_repost else "status", post)


def write(kind: str, number: int) -> str:
    """Return the global id of an entity of a type, which may be gone."""
    return f"{kind}_{number:0{_DIGITS}x}"


def read(text: str) -> tuple[str, int] | None:
    """Return type and number of a global id; None if it is malformed."""
    match = _FORM.fullmatch(text)
    if not match or int(match[2], 16) > LARGEST:
        return None
    return match[1], int(match[2], 16)


def is_of(text: str, record: Identified | None) -> bool:
    """Return whether a global id names a record, type included: a status id never names a repost."""
    return record is not None and of(record) == text


def expect(text: str, kinds: Sequence[str], *path: str) -> int:
    """Return the number of a global id in a mutation's input; raises Refused if it is malformed or of another type."""
    named = read(text)
    if named is None:
        raise refuse(UserErrorCode.INVALID, f"{path[-1]}: this is not an id of this API", *path)
    if named[0] not in kinds:
        raise no_such(kinds[0], *path)
    return named[1]


def expect_argument(text: str, argument: str) -> tuple[str, int]:
    """Return type and number of a global id in a query's argument; raises BadUserInput if it is malformed."""
    named = read(text)
    if named is None:
        raise BadUserInput(f"{argument}: this is not an id of this API")
    return named


def at_most(settings: Settings, ids: Sequence[str], argument: str) -> None:
    """Raise BadUserInput if there are more ids than one call may have."""
    if len(ids) > settings.max_ids:
        raise BadUserInput(f"{argument}: at most {settings.max_ids} ids, here are {len(ids)}")

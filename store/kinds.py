"""The kinds of keys that one entity owns: its record, its lists, and the rest. Each list is declared once, here.

`verify`, `repair`, `recount` and exports follow these declarations. So a new list is one declaration: its entries, its
count, and its copy on the other side are checked and mended without more code.
"""

from collections.abc import Callable

from msgspec import Struct

from store import keys
from store.keys.fields import CommentField, StatusField, UserField
from store.settings import Settings


class KeyKind(Struct, frozen=True, eq=False):
    """A kind of key that is named by the id of one entity. `key` builds it."""

    key: Callable[[int], str]

    @property
    def name(self) -> str:
        """The name of the function in `store.keys` that builds the keys."""
        return self.key.__name__


class Record(KeyKind, frozen=True, eq=False):
    """The record of an entity. It exists as long as the entity does."""

    noun: str


class Owned(KeyKind, frozen=True, eq=False):
    """A key that belongs to an entity with a record. `verify` finds it where that record is gone.

    Some keys stay after their owner until the job of the deletion has read them, or have another check.
    """

    of: Record
    is_owner_checked: bool = True
    unexported: str = ""  # of a member's key: why no section of an export has it


class List(Owned, frozen=True, eq=False):
    """A sorted set of what belongs to one entity.

    `named_by` is the field of an entry's record that names the owner. So the record says in which list the entry is:
    only with the flag `only_with`, and never with the flag `never_with`.
    """

    entries: Record | None = None  # what an entry is; None where each may be gone, or where another check reads them
    is_by_place: bool = False  # whether the id of what is listed is the score
    has_own_ids: bool = False  # whether each score is the id of its entry
    counter: str = ""  # field of the owner's record that has the number of entries
    uncounted: "List | None" = None  # the owner's list of entries that do not count
    copied_to: "List | None" = None  # list of each entry that has the owner, with the same score
    may_name_too_much: bool = False  # whether it is an index: a copy with entries that are no more, and its own scores
    most: Callable[[Settings], int] | None = None  # entries
    named_by: str = ""
    only_with: str = ""
    never_with: str = ""


USER = Record(keys.user, "member")
STATUS = Record(keys.status, "post")
COMMENT = Record(keys.comment, "comment")
CONVERSATION = Record(keys.conversation, "conversation")
MESSAGE = Record(keys.message, "message")
GROUP = Record(keys.group, "group")
REPORT = Record(keys.report, "report")
CASE = Record(keys.case, "case")
MODERATION_ACT = Record(keys.moderation_act, "act")
IMAGE = Record(keys.image, "picture")

# Members: relationships.
FOLLOWERS = List(keys.followers, USER, counter=UserField.FOLLOWERS, is_owner_checked=False)
FOLLOWING = List(
    keys.following,
    USER,
    entries=USER,
    counter=UserField.FOLLOWING,
    copied_to=FOLLOWERS,
    most=lambda settings: settings.max_following,
    is_owner_checked=False,
)
REQUESTS = List(keys.requests, USER, is_owner_checked=False)
REQUESTED = List(keys.requested, USER, entries=USER, copied_to=REQUESTS, is_owner_checked=False)
BLOCKED_BY = List(
    keys.blocked_by, USER, is_owner_checked=False, unexported="others' blocks, which the member cannot see"
)
BLOCKED = List(keys.blocked, USER, entries=USER, copied_to=BLOCKED_BY, is_owner_checked=False)
MUTED = List(keys.muted, USER, is_owner_checked=False)

# Members: posts and what they do with those of others.
HIDDEN = List(
    keys.hidden,
    USER,
    entries=STATUS,
    has_own_ids=True,
    named_by=StatusField.AUTHOR,
    only_with=StatusField.HIDDEN,
    is_owner_checked=False,
)
PROFILE = List(
    keys.profile,
    USER,
    entries=STATUS,
    is_by_place=True,
    counter=UserField.POSTS,
    uncounted=HIDDEN,
    is_owner_checked=False,
)
REPOSTED = Owned(keys.reposted, USER, is_owner_checked=False)
LIKED = List(keys.liked, USER, has_own_ids=True, may_name_too_much=True, is_owner_checked=False)
DISCUSSED = List(keys.discussed, USER, has_own_ids=True, may_name_too_much=True, is_owner_checked=False)
FAVOURITERS = List(keys.favouriters, STATUS, entries=USER, has_own_ids=True, may_name_too_much=True)
FAVOURITES = List(
    keys.favourites,
    USER,
    entries=STATUS,
    copied_to=FAVOURITERS,
    most=lambda settings: settings.max_favourites,
)

# Members: homes, notifications, pictures, mails and exports.
HOME = Owned(keys.home, USER, is_owner_checked=False, unexported="computed from follows and posts")
HOME_STATE = Owned(keys.home_state, USER, is_owner_checked=False, unexported="a part of the home")
SOURCES = Owned(keys.sources, USER, is_owner_checked=False, unexported="a part of the home")
HOME_READ = Owned(keys.home_read, USER)
NOTIFICATIONS = List(keys.notifications, USER, most=lambda settings: settings.notifications_kept)
WITHDRAWN_NOTIFICATIONS = List(
    keys.withdrawn_notifications,
    USER,
    most=lambda settings: settings.notifications_kept,
    unexported="notifications that were taken back",
)
NOTIFICATION_STATE = Owned(keys.notification_state, USER)
MENTIONS = List(
    keys.mentions,
    USER,
    most=lambda settings: settings.mentions_kept,
    unexported="an index of others' posts and comments; notifications name them",
)
IMAGES = List(keys.images, USER, entries=IMAGE, has_own_ids=True)
MAIL_TOKENS = Owned(
    keys.mail_tokens, USER, is_owner_checked=False, unexported="digests of tokens in mails, which expire"
)
EXPORTS = Owned(keys.exports, USER, unexported="a digest of a link that is about to expire")
EXPORT_STREAM = Owned(keys.export_stream, USER, unexported="only while an export is sent")

# Posts.
LIKES = List(keys.likes, STATUS, entries=USER, counter=StatusField.LIKES, copied_to=LIKED)
REPOSTS = List(keys.reposts, STATUS, entries=STATUS, is_by_place=True, counter=StatusField.REPOSTS)
QUOTES = List(keys.quotes, STATUS, entries=STATUS, has_own_ids=True, counter=StatusField.QUOTES)
REPLIES = List(
    keys.replies,
    STATUS,
    entries=STATUS,
    has_own_ids=True,
    counter=StatusField.REPLIES,
    named_by=StatusField.REPLY_TO,
    never_with=StatusField.HIDDEN,
)
THREAD = List(  # its owner is the post that began the conversation, which may be gone, and is an entry until then
    keys.thread,
    STATUS,
    entries=STATUS,
    has_own_ids=True,
    named_by=StatusField.ROOT,
    never_with=StatusField.HIDDEN,
    is_owner_checked=False,
)
COMMENTS = List(
    keys.comments,
    STATUS,
    entries=COMMENT,
    has_own_ids=True,
    counter=StatusField.COMMENTS,
    named_by=CommentField.POST,
)
COMMENTERS = List(keys.commenters, STATUS, entries=COMMENT)

# Conversations.
CONVERSATIONS = List(keys.conversations, USER)
CONVERSATION_STATE = Owned(keys.conversation_state, USER)
UNREAD_CONVERSATIONS = Owned(keys.unread_conversations, USER, unexported="computed from read marks and messages")
MESSAGE_LOG = List(keys.message_log, USER, unexported="changes for live subscribers, which expire")
MESSAGES = List(keys.messages, CONVERSATION, has_own_ids=True)
DELETED_MESSAGES = List(keys.deleted_messages, CONVERSATION)

# Groups.
MEMBERSHIPS = List(keys.memberships, USER, may_name_too_much=True, most=lambda settings: settings.max_groups)
INVITED = List(keys.invited, USER)
BANNED_FROM = List(
    keys.banned_from,
    USER,
    unexported="others' bans, which name nobody; a group that bans the member refuses to let them join",
)
GROUP_MEMBERS = List(keys.group_members, GROUP, entries=USER, copied_to=MEMBERSHIPS)
GROUP_REQUESTS = List(keys.group_requests, GROUP, entries=USER, copied_to=MEMBERSHIPS)
GROUP_INVITATIONS = List(keys.group_invitations, GROUP, entries=USER, copied_to=INVITED)
GROUP_BANNED = List(keys.group_banned, GROUP, entries=USER, copied_to=BANNED_FROM)
GROUP_ROLES = Owned(keys.group_roles, GROUP)
GROUP_TIMELINE = List(keys.group_timeline, GROUP, entries=STATUS, has_own_ids=True, named_by=StatusField.GROUP)
GROUP_CHANGES = List(keys.group_changes, GROUP)

# Moderation.
REPORT_MESSAGES = Owned(keys.report_messages, REPORT)
EVIDENCE = Owned(keys.evidence, MESSAGE, is_owner_checked=False)
CASE_REPORTS = List(keys.case_reports, CASE, entries=REPORT, is_by_place=True)
REMOVED_TEXT = Owned(keys.removed_text, MODERATION_ACT, is_owner_checked=False)

KINDS = tuple(kind for kind in list(globals().values()) if isinstance(kind, KeyKind))
LISTS = tuple(kind for kind in KINDS if isinstance(kind, List))


def counted(record: Record) -> dict[str, List]:
    """Return the lists whose sizes a record has, by the fields that have them."""
    return {one.counter: one for one in LISTS if one.of is record and one.counter}


def truths(copy: List) -> list[List]:
    """Return the lists that a list is a copy of, none for one that is no copy."""
    return [one for one in LISTS if one.copied_to is copy]


def naming(record: Record) -> list[List]:
    """Return the lists that a record names, which therefore have it."""
    return [one for one in LISTS if one.entries is record and one.named_by]

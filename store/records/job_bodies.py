"""The bodies of jobs: what the steps of each kind need, as a script commits it.

A script commits a body as JSON, with numbers as text. A field that it leaves out, or writes as '' or as an empty list,
has its default here.
"""

from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct

Edges = list[tuple[int, int]]  # another member, and the id of the follow, request, block or mute


class Ids(tuple[int, ...]):
    """Ids, which a body separates by spaces."""

    __slots__ = ()


class Words(tuple[str, ...]):
    """Words, which a body separates by spaces."""

    __slots__ = ()


class Body(Struct, frozen=True, kw_only=True):
    """The fields that the steps of a job need. Each subclass with a kind is listed in `KINDS`."""

    kind: ClassVar[str]
    act: Mapping[str, str] | None = None  # a moderator's, as `Act.fields` has it; it is logged before the job's steps


class Naming(Body, frozen=True, kw_only=True):
    """A member's names have changed. At sign-up, there is a login without an old one."""

    kind = "names"
    member: int
    login: str = ""
    email: str = ""
    name: str = ""
    old_login: str = ""
    old_email: str = ""
    was_verified: bool = False  # the old address
    objects: Words = Words()  # replaced pictures


class Importing(Body, frozen=True, kw_only=True):
    """Members, follows or posts were imported, all of one partition."""

    kind = "import"
    members: list[int] = []
    follows: list[Ids] = []  # a follower, then edges and followed members in turn
    moved: list[int] = []  # members who have reached another magnitude
    posts: list[tuple[int, str]] = []  # public ones, with their hashtags


class NameIndexing(Body, frozen=True, kw_only=True):
    """A member's follower count has reached another magnitude."""

    kind = "index"
    member: int


class AccountDeletion(Body, frozen=True, kw_only=True):
    """A member's account was deleted."""

    kind = "delete_account"
    member: int
    login: str = ""
    email: str = ""
    was_verified: bool = False
    pending_email: str = ""  # an address that waited to be verified
    objects: Words = Words()


class PrivacyChange(Body, frozen=True, kw_only=True):
    """A member's account became private or public, or was suspended or restored."""

    kind = "privacy_change"
    member: int
    what: str  # `UserField.PRIVATE` or `UserField.SUSPENDED`
    is_apart: bool = False  # The other of these holds, so the public sees no change.


class AuthorPromotion(Body, frozen=True, kw_only=True):
    """An author is to become a big one."""

    kind = "grow"
    member: int


class AuthorDemotion(Body, frozen=True, kw_only=True):
    """An author is to be a big one no longer."""

    kind = "shrink"
    member: int


class PostBody(Body, frozen=True, kw_only=True):
    """The fields that all jobs of a post have."""

    author: int
    text: str = ""
    hashtags: str = ""
    plain: bool = False  # The post is a plain repost.
    original: int = 0  # 0 unless the post is a repost or quote
    original_author: int = 0
    of_quote: bool = False
    reply_to: int = 0  # 0 unless the post answers another one
    reply_to_author: int = 0
    root: int = 0
    group: int = 0  # 0 outside of groups
    latitude: str = ""
    longitude: str = ""
    is_public: bool = True


class PostDelivery(PostBody, frozen=True, kw_only=True):
    """A post was created. The job has the post's id."""

    kind = "post"
    mentions: Ids = Ids()
    original_group: int = 0
    is_pulled: bool = False  # Readers pull the posts of this big author.


class PostDeletion(PostBody, frozen=True, kw_only=True):
    """A post was deleted."""

    kind = "delete"
    post: int
    mentions: Ids = Ids()
    original_group: int = 0
    overtook: bool = False  # The delivery was under way.
    objects: Words = Words()


class PostHiding(PostBody, frozen=True, kw_only=True):
    """A post was hidden."""

    kind = "hide"
    post: int


class PostUnhiding(PostHiding, frozen=True, kw_only=True):
    """A hidden post is shown again."""

    kind = "unhide"


class CommentMentions(Body, frozen=True, kw_only=True):
    """A comment was created that mentions members."""

    kind = "mentions"
    comment: int
    post: int
    author: int
    mentions: Ids = Ids()


class CommentDeletion(CommentMentions, frozen=True, kw_only=True):
    """A comment was deleted that mentions members, or by a moderator."""

    kind = "unmention"


class Following(Body, frozen=True, kw_only=True):
    """A member has followed others, or asked to."""

    kind = "follow"
    follower: int
    edges: Edges = []
    asked: Edges = []


class Approval(Body, frozen=True, kw_only=True):
    """A member has approved requests of others."""

    kind = "approve"
    member: int
    edges: Edges = []


class Rejection(Body, frozen=True, kw_only=True):
    """A member has rejected requests of others."""

    kind = "reject"
    member: int
    asked: Edges = []


class Unfollowing(Body, frozen=True, kw_only=True):
    """A member follows others no longer, or has withdrawn requests."""

    kind = "unfollow"
    member: int
    edges: Edges = []
    asked: Edges = []


class FollowerRemoval(Body, frozen=True, kw_only=True):
    """A member has removed followers."""

    kind = "remove_followers"
    member: int
    edges: Edges = []


class Blocking(Body, frozen=True, kw_only=True):
    """A member has blocked others, which has ended follows and requests."""

    kind = "block"
    member: int
    blocks: Edges = []
    following: Edges = []
    followers: Edges = []
    requested: Edges = []
    requests: Edges = []


class Unblocking(Body, frozen=True, kw_only=True):
    """A member blocks others no longer, which has ended late follows."""

    kind = "unblock"
    member: int
    edges: Edges = []
    followers: Edges = []


class Muting(Body, frozen=True, kw_only=True):
    """A member has muted others."""

    kind = "mute"
    member: int
    edges: Edges = []


class Unmuting(Muting, frozen=True, kw_only=True):
    """A member mutes others no longer."""

    kind = "unmute"


class GroupSettling(Body, frozen=True, kw_only=True):
    """A group, or what some members are in it, has changed."""

    kind = "group_members"
    group: int
    members: Ids = Ids()
    shown: str = ""  # `hide` or `unhide` when strangers no longer see the group's posts, or see them again
    barred: Ids = Ids()  # members who were banned, or are no longer


class GroupDeletion(Body, frozen=True, kw_only=True):
    """A group was deleted."""

    kind = "delete_group"
    group: int


class ConversationChange(Body, frozen=True, kw_only=True):
    """A message was sent or deleted. Only a deleted one is named."""

    kind = "conversation"
    conversation: int
    message: int = 0
    images: str = ""  # the deleted message's pictures, packed


class Departure(Body, frozen=True, kw_only=True):
    """A member has left a conversation."""

    kind = "leave"
    conversation: int
    member: int
    ended: Ids = Ids()  # all who were in the conversation, when the last of them has left


class Resolution(Body, frozen=True, kw_only=True):
    """A moderator has resolved a case."""

    kind = "resolve"
    case: int
    subject: str
    author: int = 0
    action: str
    rank: int
    pictures: str = ""  # kept as evidence for this case alone, those of each message on a line


class ActLogging(Body, frozen=True, kw_only=True):
    """An act is to be logged, and nothing else is to be done."""

    kind = "act"
    member: int


class IntendedAct(Body, frozen=True, kw_only=True):
    """A promotion is about to begin or to end. The act is logged if that happens."""

    kind = "intended_act"
    promotion: int
    is_end: bool = False
    intended: Mapping[str, str]  # as `Act.fields` has it


class PictureReservation(Body, frozen=True, kw_only=True):
    """Pictures were reserved for a message."""

    kind = "reservation"
    owner: int
    conversation: int
    images: Ids = Ids()


class ObjectRemoval(Body, frozen=True, kw_only=True):
    """Pictures are gone whose stored objects remain."""

    kind = "remove_objects"
    objects: Words = Words()


class UploadProcessing(Body, frozen=True, kw_only=True):
    """The bytes of an upload have arrived."""

    kind = "process_image"
    image: int
    object: str

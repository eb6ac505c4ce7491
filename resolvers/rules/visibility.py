"""Visibility: pure functions that decide what a viewer sees, at every read and for every live event.

| whose | the member | comments, likes | posts | lists |
|---|---|---|---|---|
| the viewer's own | yes | yes | yes | yes |
| public | yes | yes | yes | yes |
| private | yes | yes | to approved followers | to approved followers |
| the viewer blocks | yes | no | no | yes |
| blocks the viewer | no, but it can be blocked | no | no | no |
| suspended | to moderators | to moderators | to moderators | to moderators |

Lists are a member's followers and followed members. If several rows apply, each one takes away what it denies. A hidden
post is visible to its author and to moderators only. A post in a group also requires that the viewer sees what is in
the group. What is in a private group is visible to its members alone. A member whom a group bans sees of it what
strangers see of a private group. What is in a hidden group is visible to the
site's moderators alone, and only its members and they see that it exists. A comment also requires that the viewer sees
its post, and a plain repost that they see its original. A suspended viewer sees what a stranger sees, and what is
theirs: their follows and memberships show them nothing. Muting hides nothing: it only leaves the muted member out of
the viewer's timelines, notifications and streams.

Only participants who have not left see a conversation, from the moment on since which they take part. A block in either
direction hides a conversation of two from both. In a larger one, a member who blocks a participant does not see that
participant's messages. A suspended member sees their conversations and what they wrote, and no message of others. While
a member mutes a participant, that participant's messages count as read.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from store.conversations.records import Conversation, Message
from store.groups.records import Group, GroupKind
from store.records.members import MessageAudience, Relationship, User
from store.records.posts import Comment, Post, Repost, Status

Relationships = Mapping[int, Relationship]  # of the viewer, to all other members of the conversation


class Permissions(Struct, frozen=True):
    """The viewer's permissions on a member: what they see of the member, hidden posts aside."""

    member: bool = False
    words: bool = False  # comments and likes
    lists: bool = False
    posts: bool = False
    is_wanted: bool = False  # not muted or blocked: appears in timelines, notifications and streams


UNSEEN = Permissions()
OPEN = Permissions(member=True, words=True, lists=True, posts=True, is_wanted=True)


def permissions(
    user: User | None, relationship: Relationship, viewer: int | None, is_moderator: bool, *, is_suspended: bool = False
) -> Permissions:
    """Return a viewer's permissions on a member, given their relationship. A deleted member (None) is unseen.

    `is_suspended` says whether the viewer is. Then they see no more than a member who does not follow.
    """
    if user is None:
        return UNSEEN
    if user.id == viewer:
        return OPEN
    if relationship.is_blocked or (user.is_suspended and not is_moderator):
        return UNSEEN
    follows = relationship.follows and not is_suspended
    words, lists = not relationship.blocks, follows or not user.is_private
    if words and lists and not relationship.mutes:
        return OPEN
    return Permissions(member=True, words=words, lists=lists, posts=words and lists, is_wanted=is_wanted(relationship))


def granted(permissions: Permissions) -> Permissions:
    """Return a moderator's permissions on a member to whom a report, the log or their act leads: they see who it is."""
    return replace(permissions, member=True)


def to_block(user: User | None, *, is_moderator: bool) -> User | None:
    """Return what a viewer sees of a member who blocks them where they block that member: id and login.

    None for a member whom the viewer would not see without that block either.
    """
    if user is None or (user.is_suspended and not is_moderator):
        return None
    return User(
        id=user.id, login=user.login, name=user.login, bio="", follower_count=0, following_count=0, post_count=0
    )


def is_wanted(relationship: Relationship) -> bool:
    """Return whether there is no block or mute between the viewer and a member; also for a deleted member."""
    return not (relationship.blocks or relationship.is_blocked or relationship.mutes)


def allows_promotions(relationship: Relationship) -> bool:
    """Return whether a viewer is shown what a member pays for: not where they block or mute that sponsor."""
    return not (relationship.blocks or relationship.mutes)


def counts_as_member(*, is_member: bool, is_suspended: bool) -> bool:
    """Return whether a viewer's membership of a group shows them anything: not while they are suspended."""
    return is_member and not is_suspended


def opens_group(group: Group | None, *, is_member: bool, is_banned: bool, is_moderator: bool = False) -> bool:
    """Return whether a viewer sees what is in a group: posts, members and description. A deleted group is unseen.

    `is_member` is what `counts_as_member` returns. `is_moderator` says whether they are a moderator of the site.
    """
    if group is None or is_banned or (group.is_hidden and not is_moderator):
        return False
    return is_member or group.kind is not GroupKind.PRIVATE


def sees_group(group: Group | None, *, is_member: bool, is_moderator: bool) -> bool:
    """Return whether a viewer sees that a group exists."""
    return group is not None and (not group.is_hidden or is_member or is_moderator)


def allows_messages(user: User, *, follows: bool) -> bool:
    """Return whether a member lets another begin a conversation with them; `follows` if they follow the other one."""
    return user.messages_from is MessageAudience.EVERYONE or (
        follows and user.messages_from is MessageAudience.FOLLOWED
    )


class Sight(Struct, frozen=True):
    """The viewer, and the facts that decide what they see. Whatever was not loaded is unseen."""

    viewer: int | None
    is_moderator: bool
    permissions: Mapping[int, Permissions]  # of members
    posts: Mapping[int, Post | None]
    groups: Mapping[int, bool]  # whether the viewer sees what is in them

    def of(self, member: int) -> Permissions:
        """Return the viewer's permissions on a member."""
        return self.permissions.get(member, UNSEEN)


def sees(sight: Sight, entity: User | Post | Comment | Group | None) -> bool:
    """Return whether the viewer sees a member, post or comment, or that a group exists."""
    match entity:
        case Status():  # includes Repost, a subclass
            return _sees_post(sight, entity)
        case Group():
            return not entity.is_hidden or sight.is_moderator
        case User():
            return sight.of(entity.id).member
        case Comment():
            return sight.of(entity.author).words and sees(sight, sight.posts.get(entity.post_id))
        case _:
            return False


def _sees_post(sight: Sight, post: Post) -> bool:
    if post.is_hidden and post.author != sight.viewer and not sight.is_moderator:
        return False
    if post.group and not sight.groups.get(post.group):
        return False
    if isinstance(post, Repost) and post.is_plain and not sees(sight, sight.posts.get(post.original_id)):
        return False
    return sight.of(post.author).posts


def seen(sight: Sight, posts: Sequence[Post | None], *, wanted: bool = False) -> list[Post | None]:
    """Return the posts that the viewer sees, None for the others. With `wanted`, muted authors' posts are None, too."""
    shown: list[Post | None] = []
    for post in posts:
        is_shown = False
        if post is not None:
            author = sight.permissions.get(post.author, UNSEEN)
            # The permissions on its author alone decide about a status that is neither hidden nor in a group.
            is_plain = type(post) is Status and not post.is_hidden and not post.group
            is_shown = author.posts and (author.is_wanted or not wanted) and (is_plain or sees(sight, post))
        shown.append(post if is_shown else None)
    return shown


def notifies(sight: Sight, actor: int, *about: Post | Comment | Group | None) -> bool:
    """Return whether the viewer is notified of a member's action on posts, comments or a group.

    The viewer must have neither muted nor blocked the member, and must see all that the action is about. Without an
    actor (0), as of a resolved report, the site itself notifies.
    """
    return (not actor or sight.of(actor).is_wanted) and all(sees(sight, entity) for entity in about)


def sees_conversation(conversation: Conversation, viewer: int | None, relationships: Relationships) -> bool:
    """Return whether a viewer sees a conversation."""
    if viewer is None or not conversation.since(viewer):
        return False
    return not conversation.is_pair or not any(
        relationships[member].blocks or relationships[member].is_blocked
        for member in conversation.members
        if member != viewer
    )


def hidden_senders(
    conversation: Conversation, viewer: int, relationships: Relationships, *, is_suspended: bool
) -> list[int]:
    """Return the participants whose messages a viewer does not see; `is_suspended` says whether the viewer is."""
    return [
        member for member in conversation.members if member != viewer and (is_suspended or relationships[member].blocks)
    ]


def muted_senders(conversation: Conversation, viewer: int, relationships: Relationships) -> list[int]:
    """Return the participants whose messages are never unread, because the viewer mutes them."""
    return [member for member in conversation.members if member != viewer and relationships[member].mutes]


def sees_message(
    message: Message, conversation: Conversation, viewer: int, relationships: Relationships, *, is_suspended: bool
) -> bool:
    """Return whether a viewer who sees a conversation sees one of its messages; `is_suspended` as above."""
    return message.id > conversation.since(viewer) and (
        message.sender_id == viewer or not (is_suspended or relationships[message.sender_id].blocks)
    )

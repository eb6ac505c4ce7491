"""Who sees what, decided from facts alone: at every read and for every live event.

| whose | the member | comments, likes | posts | lists |
|---|---|---|---|---|
| the viewer's own | yes | yes | yes | yes |
| public | yes | yes | yes | yes |
| private | yes | yes | to approved followers | to approved followers |
| the viewer blocks | yes | no | no | yes |
| blocks the viewer | no | no | no | no |
| suspended | to moderators | to moderators | to moderators | to moderators |

Lists are whom a member follows and who follows them. Where several lines hold, each takes away. A hidden post is seen
by its author and by moderators, a comment by who sees the post below which it stands, a plain repost by who sees its
original. Muting hides nothing: what the viewer mutes is left out of timelines, notifications and streams alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from store.records import Comment, Post, Relationship, Repost, Status, User


class Permissions(Struct, frozen=True):
    """What the viewer sees of a member, hidden posts aside."""

    member: bool = False
    words: bool = False  # comments and likes
    lists: bool = False
    posts: bool = False
    is_wanted: bool = False  # what they do belongs into timelines, notifications and streams


UNSEEN = Permissions()
OPEN = Permissions(member=True, words=True, lists=True, posts=True, is_wanted=True)


def permissions(user: User | None, relationship: Relationship, viewer: int | None, is_moderator: bool) -> Permissions:
    """Return what a viewer sees of a member by the bond between them; of one who is gone, nothing."""
    if user is None:
        return UNSEEN
    if user.id == viewer:
        return OPEN
    if relationship.is_blocked or (user.is_suspended and not is_moderator):
        return UNSEEN
    words, lists = not relationship.blocks, relationship.follows or not user.is_private
    if words and lists and not relationship.mutes:
        return OPEN
    return Permissions(member=True, words=words, lists=lists, posts=words and lists, is_wanted=hears(relationship))


def hears(relationship: Relationship) -> bool:
    """Return whether nothing stands between the viewer and a member: also one who is gone by now."""
    return not (relationship.blocks or relationship.is_blocked or relationship.mutes)


class Sight(Struct, frozen=True):
    """Who looks, and what decides what they see; nothing is seen of what was not looked up."""

    viewer: int | None
    is_moderator: bool
    permissions: Mapping[int, Permissions]  # of members
    posts: Mapping[int, Post | None]

    def of(self, member: int) -> Permissions:
        """Return what is seen of a member."""
        return self.permissions.get(member, UNSEEN)


def sees(sight: Sight, thing: User | Post | Comment | None) -> bool:
    """Return whether a member, post or comment can be seen."""
    match thing:
        case Status():  # reposts are statuses, too
            if thing.is_hidden and thing.author != sight.viewer and not sight.is_moderator:
                return False
            if isinstance(thing, Repost) and thing.is_plain and not sees(sight, sight.posts.get(thing.original_id)):
                return False
            return sight.of(thing.author).posts
        case User():
            return sight.of(thing.id).member
        case Comment():
            return sight.of(thing.author).words and sees(sight, sight.posts.get(thing.post_id))
        case _:
            return False


def seen(sight: Sight, posts: Sequence[Post | None], *, wanted: bool = False) -> list[Post | None]:
    """Return the posts that can be seen, or those that are `wanted` in timelines, too, None for the others."""
    shown: list[Post | None] = []
    for post in posts:
        is_shown = False
        if post is not None:
            author = sight.permissions.get(post.author, UNSEEN)
            # Nothing but its author decides whether a status is seen that is not hidden.
            is_plain = type(post) is Status and not post.is_hidden
            is_shown = author.posts and (author.is_wanted or not wanted) and (is_plain or sees(sight, post))
        shown.append(post if is_shown else None)
    return shown


def timeline(sight: Sight, posts: Sequence[Post | None]) -> list[Post | None]:
    """Return the posts that belong into the viewer's timelines, None for the others."""
    return seen(sight, posts, wanted=True)


def tells(sight: Sight, actor: int, *about: Post | Comment | None) -> bool:
    """Return whether the viewer is told what a member did to some things: they want to hear of them, and see these."""
    return sight.of(actor).is_wanted and all(sees(sight, thing) for thing in about)

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

from msgspec import Struct, field

from store.records import NO_BOND, Bond, Comment, Post, Repost, Status, User


class Standing(Struct, frozen=True):
    """What the viewer sees of a member, hidden posts aside."""

    member: bool = False
    words: bool = False  # comments and likes
    lists: bool = False

    @property
    def posts(self) -> bool:
        return self.words and self.lists


UNSEEN = Standing()
OPEN = Standing(member=True, words=True, lists=True)


class Sight(Struct, frozen=True):
    """Who looks, and the facts that decide what they see; a fact that was not fetched is one that is not so."""

    viewer: int | None
    is_moderator: bool
    users: Mapping[int, User | None]
    bonds: Mapping[int, Bond]
    posts: Mapping[int, Post | None]
    decided: dict[int, Standing] = field(default_factory=dict)  # of members looked at before


def sees(sight: Sight, thing: User | Post | Comment | None) -> bool:
    """Return whether a member, post or comment can be seen."""
    match thing:
        case Status():  # reposts are statuses, too
            if thing.is_hidden and thing.author != sight.viewer and not sight.is_moderator:
                return False
            if isinstance(thing, Repost) and thing.is_plain and not sees(sight, sight.posts.get(thing.original_id)):
                return False
            return _standing(sight, thing.author).posts
        case User():
            return sees_member(sight, thing.id)
        case Comment():
            return sees_words(sight, thing.author) and sees(sight, sight.posts.get(thing.post_id))
        case None:
            return False


def timeline(sight: Sight, posts: Sequence[Post | None]) -> list[Post | None]:
    """Return the posts that belong into the viewer's timelines, None for the others."""
    shown: list[Post | None] = []
    wanted: dict[int, bool] = {}  # authors
    for post in posts:
        is_shown = False
        if post is not None:
            if post.author not in wanted:
                wanted[post.author] = _standing(sight, post.author).posts and hears(sight, post.author)
            # Nothing but its author decides whether a status is seen that is not hidden.
            is_plain = type(post) is Status and not post.is_hidden
            is_shown = wanted[post.author] and (is_plain or sees(sight, post))
        shown.append(post if is_shown else None)
    return shown


def sees_member(sight: Sight, member: int) -> bool:
    """Return whether a member can be seen."""
    return _standing(sight, member).member


def sees_words(sight: Sight, member: int) -> bool:
    """Return whether a member's comments and likes can be seen where they stand."""
    return _standing(sight, member).words


def sees_posts(sight: Sight, member: int) -> bool:
    """Return whether what a member publishes can be seen, hidden posts aside."""
    return _standing(sight, member).posts


def sees_lists(sight: Sight, member: int) -> bool:
    """Return whether it can be seen whom a member follows and who follows them."""
    return _standing(sight, member).lists


def wants(sight: Sight, member: int) -> bool:
    """Return whether what a member does belongs into the viewer's timelines, notifications and streams."""
    return _standing(sight, member).words and hears(sight, member)


def hears(sight: Sight, member: int) -> bool:
    """Return whether nothing stands between the viewer and a member: also one who is gone by now."""
    bond = sight.bonds.get(member, NO_BOND)
    return not (bond.blocks or bond.is_blocked or bond.mutes)


def tells(sight: Sight, actor: int, *about: Post | Comment | None) -> bool:
    """Return whether the viewer is told what a member did to some things: they want to hear of them, and see these."""
    return wants(sight, actor) and all(sees(sight, thing) for thing in about)


def _standing(sight: Sight, member: int) -> Standing:
    found = sight.decided.get(member)
    if found is None:
        found = _decide(sight, member)
        if member in sight.users:  # another sight of the same viewer may know more
            sight.decided[member] = found
    return found


def _decide(sight: Sight, member: int) -> Standing:
    user, bond = sight.users.get(member), sight.bonds.get(member, NO_BOND)
    if user is None:
        return UNSEEN
    if member == sight.viewer:
        return OPEN
    if bond.is_blocked or (user.is_suspended and not sight.is_moderator):
        return UNSEEN
    if not bond.blocks and (bond.follows or not user.is_private):
        return OPEN
    return Standing(member=True, words=not bond.blocks, lists=bond.follows or not user.is_private)

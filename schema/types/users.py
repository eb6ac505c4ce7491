"""Members, and lists of them."""

import strawberry

from resolvers import pins, relationships, timelines
from schema.types.descriptions import enum, limit
from schema.types.fields import argument, attribute_of_each, batched, field, is_a, later, resolved
from schema.types.images import Image
from schema.types.nodes import Node, created
from schema.types.paging import PAGE, PAGE_EITHER_WAY, connection, since
from store.credentials.records import Role
from store.records import members as records

enum(
    Role,
    "A member's role on the whole site, which decides what they may do.",
    MEMBER="May do what every member may.",
    MODERATOR="May also see suspended members and hidden posts, and act on reports and on what members wrote.",
    ADMIN="May do what moderators may, give roles, and create and end promotions.",
)

WITH_USER = {"with_user": argument(strawberry.ID, "The id of the member to compare this one with.")}


@strawberry.type(description="A member. Sensitive data (email, password, sessions) is never part of this type.")
class User(Node):
    login: str = field(
        "Unique, case-insensitively: 1 to 20 of a-z, A-Z, 0-9 and _. "
        f"After a change, the former login stays reserved for {limit('login_release_days')} days.",
        cached=True,
        shared=True,
    )
    name: str = field(f"The display name, 1 to {limit('max_name')} characters in one line.", cached=True, shared=True)
    bio: str = field(
        f"A text of the member about themselves, at most {limit('max_bio')} characters. It may be empty.",
        cached=True,
        shared=True,
    )
    avatar: Image | None = field("A square picture of the member. Null when there is none.", cached=True)
    header: Image | None = field("A wide picture for the top of their profile. Null when there is none.", cached=True)
    created_at = created("When the member signed up.")
    is_private: bool = field(
        "Whether the member approves each follower. Only approved followers see the posts and the lists "
        "of follows of a private member.",
        cached=True,
        shared=True,
    )
    is_suspended: bool = field(
        "Whether moderators suspended the account. Only moderators and the member see a suspended account.",
        cached=True,
        shared=True,
    )
    follower_count: int = field(
        "How many members follow this one, the same for every viewer.", cached=True, shared=True
    )
    following_count: int = field(
        "How many members this one follows, the same for every viewer.", cached=True, shared=True
    )
    post_count: int = field(
        "How many posts the profile has, the same for every viewer: statuses, quotes and plain reposts. "
        "Hidden ones do not count.",
        cached=True,
        shared=True,
    )
    followers = resolved(
        relationships.followers,
        later("FollowConnection", __name__),
        "Members who follow this one, newest follow first. Empty where the viewer may not see the lists.",
        takes=PAGE,
    )
    following = resolved(
        relationships.following,
        later("FollowConnection", __name__),
        "Members whom this one follows, newest follow first. Empty where the viewer may not see the lists.",
        takes=PAGE,
    )
    common_following = resolved(
        relationships.common_following,
        later("UserConnection", __name__),
        "Members that both this one and `withUser` follow, by this one's newest follow first. Empty where "
        "the viewer may not see both members' lists.",
        takes=WITH_USER | PAGE,
    )
    common_followers = resolved(
        relationships.common_followers,
        later("UserConnection", __name__),
        "Members that follow both this one and `withUser`, by this one's newest follower first. Empty "
        "where the viewer may not see both members' lists.",
        takes=WITH_USER | PAGE,
    )
    common_follower_count = resolved(
        relationships.common_follower_count,
        int | None,
        "How many members follow both. Null where counting would take too long, above "
        f"{relationships.COMMON_COUNTED:,} followers of each, or where the viewer may not see both members' lists.",
        takes=WITH_USER,
    )
    timeline = resolved(
        timelines.profile,
        later("Timeline", "schema.types.timelines"),
        "The profile timeline: this member's own statuses, quotes and plain reposts. Empty where the "
        "viewer may not see the posts.",
        takes=PAGE_EITHER_WAY,
        cached=True,
    )
    pinned_post = batched(
        pins.pinned_posts,
        later("Post", "schema.types.posts") | None,
        "The status or quote that this member shows first on their profile. Null when there is none, or "
        "where the viewer may not see it. While it is hidden, only its author and moderators see it here.",
        cached=True,
    )
    viewer_is_following = batched(
        attribute_of_each(relationships.of_viewer, "follows"),
        bool,
        "Whether the viewer follows this member. False for an anonymous request.",
        cached=True,
    )
    is_following_viewer = batched(
        relationships.are_following_viewer,
        bool,
        "Whether this member follows the viewer. False for an anonymous request.",
    )
    is_mutual = batched(relationships.are_mutual, bool, "Whether this member and the viewer follow each other.")
    viewer_has_requested_follow = batched(
        relationships.viewer_has_requested_follow,
        bool,
        "Whether the viewer asked to follow this private member and was not answered yet.",
    )
    viewer_has_blocked = batched(
        attribute_of_each(relationships.of_viewer, "blocks"),
        bool,
        "Whether the viewer blocks this member.",
        cached=True,
    )
    viewer_has_muted = batched(
        attribute_of_each(relationships.of_viewer, "mutes"), bool, "Whether the viewer mutes this member.", cached=True
    )

    is_type_of = is_a(records.User, is_kept=True)


UserConnection = connection(User, "a member", "members")


FollowConnection = connection(
    User,
    "a member who follows or is followed",
    "follows",
    name="Follow",
    node_is="The member who follows, or is followed.",
    followed_at=since("When the follow began."),
)

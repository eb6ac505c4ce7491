"""Every mutation: a table of contents."""

import strawberry

from resolvers import (
    favourites,
    images,
    likes_and_comments,
    notifications,
    pins,
    posts,
    promotions,
    relationships,
    timelines,
    uploads,
)
from schema.mutations.accounts import AccountMutations
from schema.mutations.conversations import ConversationMutations
from schema.mutations.declaring import mutation
from schema.mutations.groups import GroupMutations
from schema.mutations.moderation import ModerationMutations
from schema.types.account_inputs import UsersInput
from schema.types.descriptions import limit
from schema.types.images import UpdateImageInput
from schema.types.notifications import MarkNotificationsReadInput
from schema.types.posts import CommentInput, DeleteCommentInput, PostIdInput, PostInput, RepostInput
from schema.types.promotions import CreatePromotionInput, EndPromotionInput
from schema.types.timelines import MarkHomeReadInput
from schema.types.uploads import CreateUploadInput


@strawberry.type(
    description="Everything that can be changed. All but `signUp`, `logIn`, `refreshSession`, `verifyEmail`, "
    "`requestPasswordReset` and `resetPassword` need a token, and are refused with UNAUTHENTICATED without one. "
    "Suspended members may only log in and out, refresh and end sessions, change or reset their password, change their "
    "second factor, change and verify their e-mail address, and export and delete their account. Repeating a change "
    "that is already made changes nothing and is no error. Deleting something again is refused with NOT_FOUND."
)
class Mutation(AccountMutations, ConversationMutations, GroupMutations, ModerationMutations):
    create_upload = mutation(
        uploads.create_upload,
        CreateUploadInput,
        "Announces a picture; its bytes are then PUT to the upload's url. A member announces at most "
        f"{limit('images_per_day')} pictures a day.",
    )
    update_image = mutation(
        images.update_image,
        UpdateImageInput,
        "Changes alt text and focus of a picture of the viewer's own, once it belongs to something.",
    )

    follow = mutation(
        relationships.follow,
        UsersInput,
        "Follows members at once, or asks private ones. A member follows and asks at most "
        f"{limit('max_following')} others, and {limit('follows_per_hour')} an hour.",
    )
    unfollow = mutation(relationships.unfollow, UsersInput, "Ends the viewer's follows, and takes back requests.")
    approve_follow_requests = mutation(
        relationships.approve_follow_requests, UsersInput, "Approves the requests of members to follow the viewer."
    )
    reject_follow_requests = mutation(
        relationships.reject_follow_requests, UsersInput, "Rejects the requests of members to follow the viewer."
    )
    remove_followers = mutation(
        relationships.remove_followers, UsersInput, "Ends the follows of members to the viewer."
    )
    block = mutation(
        relationships.block,
        UsersInput,
        "Ends any follow in both directions. Neither member sees the other's posts, comments and likes, "
        "and the blocked one does not see the viewer. A member who blocks the viewer can be blocked back: of them, the "
        f"payload has id and login. A member blocks at most {limit('max_blocked')} others.",
    )
    unblock = mutation(
        relationships.unblock, UsersInput, "Ends the viewer's blocks. Follows that they ended stay ended."
    )
    mute = mutation(
        relationships.mute,
        UsersInput,
        "Leaves members out of the viewer's timelines, notifications and streams. They are not notified. "
        f"Their messages arrive and count as read. A member mutes at most {limit('max_blocked')} others.",
    )
    unmute = mutation(relationships.unmute, UsersInput, "Ends the viewer's mutes.")

    post = mutation(
        posts.post,
        PostInput,
        "Publishes a status, which may answer a post. A member publishes at most "
        f"{limit('posts_per_hour')} posts an hour, reposts included.",
    )
    repost = mutation(
        posts.repost,
        RepostInput,
        "Reposts a post, plainly or as a quote. Hidden posts, other members' private posts, and posts in "
        "private groups cannot be reposted. A member has at most one plain repost of a post.",
    )
    unrepost = mutation(posts.unrepost, PostIdInput, "Takes back the viewer's plain repost of a post.")
    delete_post = mutation(
        posts.delete_post,
        PostIdInput,
        "Deletes a post of the viewer's own, or one in a group that the viewer moderates, everywhere and "
        "for good. Moderators of the site delete any post by a member of a lower role. Its plain reposts disappear "
        "with it, its quotes and replies stay.",
    )
    hide_post = mutation(
        posts.hide_post,
        PostIdInput,
        "Hides a status or quote of the viewer's own. Until it is shown again, only the author and moderators see it.",
    )
    unhide_post = mutation(posts.unhide_post, PostIdInput, "Shows a hidden post of the viewer's own again.")
    pin_post = mutation(
        pins.pin_post,
        PostIdInput,
        "Pins a status or quote of the viewer's own to their profile, in place of the one pinned before. "
        "A hidden post and a plain repost are refused with NOT_ALLOWED. Deleting the post ends the pin.",
    )
    unpin_post = mutation(
        pins.unpin_post, PostIdInput, "Unpins a post of the viewer's own. A post that is not pinned changes nothing."
    )
    like = mutation(
        likes_and_comments.like,
        PostIdInput,
        f"Likes a post. A member likes at most {limit('likes_per_hour')} posts an hour.",
        limited=True,
    )
    unlike = mutation(likes_and_comments.unlike, PostIdInput, "Takes back the viewer's like of a post.")
    favourite = mutation(
        favourites.favourite,
        PostIdInput,
        "Adds a post to the viewer's favourites, which nobody else sees. A member has at most "
        f"{limit('max_favourites')}.",
    )
    unfavourite = mutation(
        favourites.unfavourite,
        PostIdInput,
        "Removes a post from the viewer's favourites, also one that they may not see any more.",
    )
    comment = mutation(
        likes_and_comments.comment,
        CommentInput,
        "Comments on a post, or answers a comment on it. A member makes at most "
        f"{limit('comments_per_hour')} comments an hour.",
        limited=True,
    )
    delete_comment = mutation(
        likes_and_comments.delete_comment,
        DeleteCommentInput,
        "Deletes a comment. Only its author, the author of the post, and moderators may do so.",
    )
    mark_notifications_read = mutation(
        notifications.mark_notifications_read,
        MarkNotificationsReadInput,
        "Marks notifications read. Those marked read stay so.",
        optional=True,
    )

    mark_home_read = mutation(
        timelines.mark_home_read,
        MarkHomeReadInput,
        "Marks the home read up to an entry, on all devices of the viewer. The mark never moves down.",
    )

    create_promotion = mutation(
        promotions.create_promotion,
        CreatePromotionInput,
        f"Begins a promotion. Administrators only. At most {limit('max_promotions')} run at one time.",
    )
    end_promotion = mutation(
        promotions.end_promotion, EndPromotionInput, "Ends a promotion at once and for good. Administrators only."
    )

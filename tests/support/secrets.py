"""Every mutation with the secrets it takes, and a check that an output contains none."""

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from tests.support.people import Member, mutation_text

CURRENT, NEXT, NEWCOMERS = (f"{whose} very own pass phrase" for whose in ("alice's", "the next", "dave's"))
CODE = "mnbv-cxyz-lkjh-gfds"

KINDS = ("status", "user", "comment", "promotion", "group", "conversation", "message", "report", "image")
POST, USER, COMMENT, PROMOTION, GROUP, CONVERSATION, MESSAGE, REPORT, IMAGE = (
    f"{kind}_00000000000001" for kind in KINDS
)

LINK = "1.the-token-of-a-link-has-43-characters-in-it"  # of a token that came by mail, and that no member has

OF_MEMBERS = ["follow", "unfollow", "approveFollowRequests", "rejectFollowRequests", "removeFollowers"]


OF_MEMBERS += ["block", "unblock", "mute", "unmute"]


OF_GROUP_MEMBERS = ["inviteToGroup", "approveGroupMembers", "rejectGroupMembers", "removeGroupMembers"]
OF_GROUP_MEMBERS += ["banGroupMembers", "unbanGroupMembers"]


OF_POSTS = [
    "unrepost",
    "hidePost",
    "unhidePost",
    "pinPost",
    "unpinPost",
    "like",
    "unlike",
    "favourite",
    "unfavourite",
    "deletePost",
]


FIELDS: dict[str, dict[str, Any]] = {
    "signUp": {"login": "dave", "name": "Dave", "email": "dave@example.org", "password": NEWCOMERS},
    "logIn": {"identifier": "alice", "password": CURRENT, "code": CODE},
    "refreshSession": {},  # the token is alice's
    "endSession": {"sessionId": "unknown"},
    "enableTwoFactor": {"password": CURRENT},
    "confirmTwoFactor": {"code": CODE},
    "disableTwoFactor": {"password": CURRENT, "code": CODE},
    "changePassword": {"currentPassword": CURRENT, "newPassword": NEXT},
    "updateProfile": {"name": "Alice the second", "login": "alice2", "isPrivate": True},
    "changeEmail": {"email": "other@example.org", "currentPassword": CURRENT},
    "resendVerification": {},
    "verifyEmail": {"token": LINK},
    "requestPasswordReset": {"email": "alice@example.org"},
    "resetPassword": {"token": LINK, "newPassword": NEXT},
    **{name: {"userIds": [USER]} for name in OF_MEMBERS},
    "post": {"text": "hello"},
    "updateImage": {"imageId": IMAGE, "alt": "a wren"},
    "repost": {"postId": POST},
    "comment": {"postId": POST, "text": "well"},
    "deleteComment": {"commentId": COMMENT},
    **{name: {"postId": POST} for name in OF_POSTS},
    "markNotificationsRead": {},
    "markHomeRead": {"cursor": f"home.{0:014x}"},
    "createGroup": {"name": "Birds", "kind": "PUBLIC"},
    **{name: {"groupId": GROUP} for name in ["updateGroup", "deleteGroup", "joinGroup", "leaveGroup"]},
    **{name: {"groupId": GROUP, "userIds": [USER]} for name in OF_GROUP_MEMBERS},
    "setGroupRole": {"groupId": GROUP, "userId": USER, "role": "OWNER"},
    "startConversation": {"userIds": [USER], "text": "hello"},
    "sendMessage": {"conversationId": CONVERSATION, "text": "hello"},
    "deleteMessage": {"messageId": MESSAGE},
    "markConversationRead": {"conversationId": CONVERSATION},
    "leaveConversation": {"conversationId": CONVERSATION},
    "createPromotion": {"sponsorId": USER, "subject": {"userId": USER}, "endsAt": "2099-01-01T00:00:00Z"},
    "endPromotion": {"promotionId": PROMOTION},
    "exportData": {"password": CURRENT},
    "createUpload": {"purpose": "POST", "contentType": "image/png", "size": 100},
    "report": {"subjectId": COMMENT, "reason": "OTHER", "note": "see"},
    "resolveReport": {"reportId": REPORT, "action": "DISMISS"},
    "suspendUser": {"userId": USER, "suspended": True},
    "setRole": {"userId": USER, "role": "MODERATOR"},
    **{name: {"groupId": GROUP} for name in ["hideGroup", "unhideGroup"]},
    "logOut": {"everywhere": True},
    "deleteAccount": {"password": CURRENT},
}


def shown(secrets: Iterable[str], text: str) -> list[str]:
    """Return the secrets that a text contains, plain or in the encoding of JSON or a URL."""
    return [one for one in secrets if any(form in text for form in (one, json.dumps(one)[1:-1], quote(one, "")))]


def mutation(name: str) -> str:
    """Return the text of a mutation."""
    return mutation_text(name, "userErrors { code }")


def fields_of(name: str, alice: Member) -> dict[str, Any]:
    """Return the input of a mutation."""
    return {"refreshToken": alice.refresh_token} if name == "refreshSession" else FIELDS[name]

"""The payloads of mutations: the result, or the reasons of a refusal.

Each is a class of `resolvers.operation.payloads`, which says what its fields are. Here they are described.
"""

from datetime import datetime
from functools import reduce
from operator import or_
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import strawberry

from resolvers.operation import payloads as results
from resolvers.operation.payloads import Payload
from resolvers.process.errors import UserError as Refusal
from resolvers.process.one_time_codes import RECOVERY_CODES
from schema.types.conversations import Conversation, Message
from schema.types.descriptions import USER_ERRORS, limit
from schema.types.fields import computed, field, records_of
from schema.types.groups import Group
from schema.types.images import Image
from schema.types.moderation import Report
from schema.types.nodes import UserError
from schema.types.posts import Comment, Post, Repost, Status
from schema.types.promotions import Promotion
from schema.types.uploads import Upload
from schema.types.users import User
from schema.types.viewer import Viewer
from store.records import posts as records
from store.secret import Secret

VIEWER = "The viewer, as they are after the mutation."
POST = "The post, as it is after the mutation. For a plain repost, its original. Null where the viewer may not see it."
CONVERSATION = "The conversation, as it is after the mutation. Null where the viewer does not see it."

TYPES: dict[type[Payload], Any] = {}  # Of the schema, by the class of the payload.

_NODES = (Comment, Conversation, Group, Image, Message, Promotion, Report, Repost, Status, Upload, User, Viewer)
_KINDS: dict[Any, Any] = {
    **{record: node for node in _NODES for record in records_of(node)},
    records.Post: Post,
    Refusal: UserError,
    Secret: str,
    datetime: datetime,
    str: strawberry.ID,  # The only texts in payloads that are no secrets are global ids.
}


def payload(result: type[Payload], description: str, **descriptions: str) -> None:
    """Describe a payload and each of its fields; raises TypeError where it has other fields than these."""
    hints = get_type_hints(result)
    described = {**descriptions, "user_errors": descriptions.get("user_errors", USER_ERRORS)}
    if different := hints.keys() ^ described.keys():
        raise TypeError(f"{result.__name__} and its description differ in {', '.join(sorted(different))}")
    fields = {name: _field(name, hints[name], text) for name, text in described.items()}
    TYPES[result] = strawberry.type(type(result.__name__, (), fields), description=description)


def _field(name: str, kind: Any, description: str) -> Any:
    if Secret not in (kind, *get_args(kind)) and list[Secret] not in get_args(kind):
        return field(description, _shown(kind))

    def reveal(root: Any) -> Any:
        value = getattr(root, name)
        return [secret.reveal() for secret in value] if isinstance(value, list) else value and value.reveal()

    return computed(reveal, _shown(kind), description)


def _shown(kind: Any) -> Any:
    """Return the type in the schema of a field of a payload."""
    parts = get_args(kind)
    if get_origin(kind) is list:
        return list[_shown(parts[0])]  # type: ignore[misc]  # made while the schema is
    if NoneType in parts:
        return _shown(reduce(or_, [part for part in parts if part is not NoneType])) | None
    return _KINDS[kind]


payload(
    results.SessionPayload,
    "A session that has begun or goes on. All but `userErrors` is null when it was refused.",
    access_token="The token that requests send as `Authorization: Bearer TOKEN`.",
    refresh_token="The token that `refreshSession` takes. Each one works once.",
    device_token="To be kept on the device, also after log-out, and sent with the next log-in.",
    expires_at=f"When `accessToken` stops being accepted: {limit('access_token_seconds')} seconds after it was issued.",
    viewer="The member who is signed in now.",
)
payload(
    results.ExportDataPayload,
    "Where the viewer's data can be fetched. All but `userErrors` is null when it was refused.",
    url="Where the file is, a path on this server after `PUBLIC_URL`; for an hour, and for this session "
    "only. A GET of it needs no token, and works until the whole file was sent once.",
    expires_at=f"When the link stops working: {limit('export_link_seconds')} seconds after the mutation.",
)
payload(results.LogOutPayload, "Whether the session ended.")
payload(
    results.ImagePayload,
    "A picture after a change.",
    image="The picture, as it is after the mutation. Null when it was refused.",
)
payload(results.RequestPasswordResetPayload, "The same answer for every address, whether or not it has an account.")
payload(results.ViewerPayload, "The viewer after a change.", viewer=f"{VIEWER} Null when it was refused.")
payload(
    results.DeleteAccountPayload,
    "An account that is deleted.",
    deleted_user_id="The id that the `User` had. Null when it was refused.",
)
payload(
    results.UsersPayload,
    "Members after a change. Some may be done and others refused.",
    users="The members for whom it was done, as the viewer sees them now. Those out of sight are left out.",
    viewer=VIEWER,
    user_errors="Why it was refused for some members, in the order of the input.",
)
payload(results.PostPayload, "A status that is published.", status="The new status. Null when it was refused.")
payload(
    results.RepostPayload,
    "A repost that is published.",
    repost="The new repost. Null when it was refused.",
    original="The post that it passes on, with its new counts. Null when it was refused, or the original is gone.",
)
payload(results.PostIdPayload, "A post after a change.", post=POST)
payload(
    results.DeletePostPayload,
    "A post that is deleted.",
    deleted_post_id="The id that the post had. Null when it was refused.",
    author="Its author, with the new `postCount`.",
)
payload(
    results.CommentPayload,
    "A comment that is published.",
    comment="The new comment. Null when it was refused.",
    post=POST,
)
payload(
    results.DeleteCommentPayload,
    "A comment that is deleted.",
    deleted_comment_id="The id that the comment had. Null when it was refused.",
    post=POST,
)
payload(results.PromotionPayload, "A promotion after a change.", promotion="The promotion. Null when it was refused.")
payload(
    results.MessagePayload,
    "A message that is sent.",
    message="The new message. Null when it was refused.",
    conversation=CONVERSATION,
)
payload(
    results.DeleteMessagePayload,
    "A message that is deleted.",
    deleted_message_id="The id that the message had. Null when it was refused.",
    conversation=CONVERSATION,
)
payload(
    results.ConversationPayload,
    "A conversation after a change.",
    conversation=f"{CONVERSATION} Null once the viewer has left.",
)
payload(
    results.ReportPayload, "A report that was filed or resolved.", report="The report, as it is after the mutation."
)
payload(
    results.UserPayload,
    "A member on whom a moderator or an administrator acted.",
    user="The member, as they are after the mutation.",
)
payload(
    results.GroupPayload,
    "A group after a change.",
    group="The group, as it is after the mutation. Null when it was refused. A change of several members may "
    "be done for some and refused for others.",
)
payload(
    results.DeleteGroupPayload,
    "A group that is deleted.",
    deleted_group_id="The id that the group had. Null when it was refused.",
)
payload(
    results.EnableTwoFactorPayload,
    "A secret for the viewer's authenticator app. It is shown once.",
    secret="The secret, in base32, for apps that take it typed. Null when it was refused.",
    uri="The secret as an `otpauth:` URI, which apps read from a QR code. Null when it was refused.",
)
payload(
    results.ConfirmTwoFactorPayload,
    "The second factor, which is on now.",
    recovery_codes=f"{RECOVERY_CODES} codes, each of which works once in place of a code of the app. They are shown "
    "once, and to be kept where the app is not. Null when it was refused.",
    viewer="The viewer, as they are after the mutation. Null when it was refused.",
)
payload(
    results.UploadPayload,
    "An upload that was announced.",
    upload="The upload, with its link. Null when it was refused.",
)

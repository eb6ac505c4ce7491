"""Uploads: files on their way to be pictures."""

from datetime import datetime

import strawberry

from resolvers import uploads
from resolvers.operation.context import Context
from resolvers.process.errors import UserErrorCode
from schema.types.descriptions import IDEMPOTENCY_KEY, enum, limit
from schema.types.fields import batched, computed, field, is_a, resolved
from schema.types.images import Image
from schema.types.nodes import Node
from store.pictures.uploads import Upload as Stored
from store.records.pictures import UploadPurpose, UploadState

enum(
    UploadPurpose,
    "What a picture is uploaded for.",
    POST="A picture of a post.",
    MESSAGE="A picture of a message.",
    AVATAR="The square picture beside a member's name.",
    HEADER="The wide picture at the top of a profile.",
)
enum(
    UploadState,
    "How far an upload has come.",
    WAITING="Its bytes have not arrived.",
    PROCESSING="Its bytes have arrived, and the picture is being made.",
    READY="The picture can be attached.",
    FAILED="The bytes are no picture that is accepted: `error` says why.",
)


def _url(context: Context, upload: Stored) -> str | None:
    url = uploads.url(context, upload)
    return url.reveal() if url else None


def _error(root: Stored) -> UserErrorCode | None:
    return UserErrorCode(root.error) if root.error else None


@strawberry.type(description="A file on its way to be a picture. Only its member sees it.")
class Upload(Node):
    purpose: UploadPurpose = field("What the picture is for.")
    state: UploadState = field("How far it has come.")
    url = resolved(
        _url,
        str | None,
        "Where to PUT the bytes, with the content type and size that were announced. A PUT may be "
        "repeated. Null once the bytes have arrived. Whoever has the link can use it.",
    )
    expires_at = resolved(
        uploads.expires_at,
        datetime,
        f"When `url` stops working: {limit('upload_link_seconds')} seconds after the upload was announced. "
        f"Once the bytes have arrived, when it is removed unless it is attached: after {limit('unattached_hours')} "
        "hours.",
    )
    error = computed(
        _error,
        UserErrorCode | None,
        "Why it failed: INVALID for bytes that are no complete JPEG, PNG, WebP or GIF, TOO_LONG for a "
        "picture with too many pixels or that takes too much memory or time. Null unless it failed.",
    )

    image = batched(
        uploads.images, Image | None, "The picture that it has become. Null before it is READY, and where it failed."
    )

    is_type_of = is_a(Stored)


@strawberry.input(description="A picture to be uploaded.")
class CreateUploadInput:
    purpose: UploadPurpose = strawberry.field(description="What the picture is for.")
    content_type: str = strawberry.field(description=f"The type of the file: {', '.join(uploads.CONTENT_TYPES)}.")
    size: int = strawberry.field(description=f"The size of the file in bytes, at most {limit('max_image_bytes')}.")
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY_KEY)

"""Uploads: files on their way to be pictures."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from resolvers import uploads
from resolvers.live import uploads as live_uploads
from resolvers.process.errors import UserErrorCode
from schema.types.descriptions import IDEMPOTENCY_KEY, USER_ERRORS, enum, limit
from schema.types.images import Image
from schema.types.nodes import Info, Node, UserError, batched, is_a
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


def _url(root: Stored, info: Info) -> str | None:
    url = uploads.url(info.context, root)
    return url.reveal() if url else None


def _expires_at(root: Stored, info: Info) -> datetime:
    return uploads.expires_at(info.context.settings, root)


def _image(roots: list[Stored], info: Info) -> Awaitable[Any]:
    return uploads.images(info.context, roots)


def _error(root: Stored) -> UserErrorCode | None:
    return UserErrorCode(root.error) if root.error else None


@strawberry.type(description="A file on its way to be a picture. Only its member sees it.")
class Upload(Node):
    purpose: UploadPurpose = strawberry.field(description="What the picture is for.")
    state: UploadState = strawberry.field(description="How far it has come.")
    url = strawberry.field(
        resolver=_url,
        graphql_type=str | None,
        description="Where to PUT the bytes, with the content type and size that were announced. A PUT may be "
        "repeated. Null once the bytes have arrived. Whoever has the link can use it.",
    )
    expires_at = strawberry.field(
        resolver=_expires_at,
        graphql_type=datetime,
        description=f"When `url` stops working: {limit('upload_link_seconds')} seconds after the upload was announced. "
        f"Once the bytes have arrived, when it is removed unless it is attached: after {limit('unattached_hours')} "
        "hours.",
    )
    error = strawberry.field(
        resolver=_error,
        graphql_type=UserErrorCode | None,
        description="Why it failed: INVALID for bytes that are no complete JPEG, PNG, WebP or GIF, TOO_LONG for a "
        "picture with too many pixels or that takes too much memory or time. Null unless it failed.",
    )

    image = batched(
        _image,
        graphql_type=Image | None,
        description="The picture that it has become. Null before it is READY, and where it failed.",
    )

    is_type_of = is_a(Stored)


OwnUpload: TypeAlias = Annotated[strawberry.ID, strawberry.argument(description="The id of an upload of the viewer's.")]


async def live(info: Info, id: OwnUpload) -> AsyncGenerator[Any, None]:  # noqa: A002  the contract's name
    async with aclosing(live_uploads.upload(info.context, id)) as states:
        async for upload in states:
            yield upload


@strawberry.input(description="A picture to be uploaded.")
class CreateUploadInput:
    purpose: UploadPurpose = strawberry.field(description="What the picture is for.")
    content_type: str = strawberry.field(description=f"The type of the file: {', '.join(uploads.CONTENT_TYPES)}.")
    size: int = strawberry.field(description=f"The size of the file in bytes, at most {limit('max_image_bytes')}.")
    idempotency_key: str | None = strawberry.field(default=None, description=IDEMPOTENCY_KEY)


@strawberry.type(description="An upload that was announced.")
class UploadPayload:
    upload: Upload | None = strawberry.field(description="The upload, with its link. Null when it was refused.")
    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)

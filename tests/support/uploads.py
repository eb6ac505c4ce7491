"""Pictures drawn by tests, and uploads as a client makes them."""

import io
from typing import Any

from PIL import Image

from resolvers.jobs.worker import Worker
from store.client.database import Database
from tests.support.people import Member

UPLOAD = "upload { id purpose state url expiresAt error }"
TYPES = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}


def drawn(form: str = "JPEG", size: tuple[int, int] = (64, 48), mode: str = "RGB", **options: Any) -> bytes:
    """Return a file with a picture: red at its top left, blue elsewhere."""
    picture = Image.new("RGB", size, "blue")
    picture.paste("red", (0, 0, size[0] // 2, size[1] // 2))
    file = io.BytesIO()
    (picture if mode == "RGB" else picture.convert(mode)).save(file, form, **options)
    return file.getvalue()


async def announce(member: Member, data: bytes, kind: str = "image/jpeg", **fields: Any) -> dict[str, Any]:
    """Return a new upload for these bytes."""
    given = {"purpose": "POST", "contentType": kind, "size": len(data), **fields}
    payload = await member.do("createUpload", UPLOAD, **given)
    assert not payload["userErrors"], payload
    upload: dict[str, Any] = payload["upload"]
    return upload


async def put(member: Member, url: str, data: Any, kind: str | None = "image/jpeg", **headers: str) -> int:
    """PUT bytes to a link without the member's token, and return the status."""
    given = {**({"Content-Type": kind} if kind else {}), **headers}
    async with member.client.put(url, data=data, headers=given, skip_auto_headers=["Content-Type"]) as response:
        await response.read()
        response.close()  # the rest of a body that was refused is not sent
        return response.status


async def upload_of(member: Member, identity: str) -> Any:
    """Return an upload as its member sees it."""
    return await member.ask(f"query($id: ID!) {{ {UPLOAD.replace('upload', 'upload(id: $id)', 1)} }}", id=identity)


async def sent(member: Member, data: bytes, kind: str = "image/jpeg", **fields: Any) -> str:
    """Return the id of an upload whose bytes have arrived."""
    upload = await announce(member, data, kind, **fields)
    assert await put(member, upload["url"], data, kind) == 204
    identity: str = upload["id"]
    return identity


async def uploaded_picture(
    member: Member, worker: Worker, data: bytes | None = None, kind: str = "image/jpeg", **fields: Any
) -> str:
    """Return the id of an upload that is READY, by the way that a client takes."""
    identity = await sent(member, data or drawn(), kind, **fields)
    await worker.run_once()
    assert (await upload_of(member, identity))["state"] == "READY"
    return identity


async def objects(db: Database) -> set[str]:
    """Return the paths of all objects."""
    return {one.path async for chunk in db.media.listing() for one in chunk}

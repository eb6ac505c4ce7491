"""The section of pictures, and their files."""

from collections.abc import AsyncIterator

from resolvers.archives.viewing import Export, Written, made, pages
from resolvers.reading import global_ids
from resolvers.reading.pictures import attached
from store import kinds
from store.media.objects import MediaMissing, PictureForm
from store.pictures.uploads import Upload, read_command, read_uploads
from store.records.pictures import Image

FOLDER = "pictures"


def file_of(image: Image | Upload) -> str:
    """Return the name of a picture's file in an archive."""
    return f"{FOLDER}/image_{image.id:014x}.webp"


def named(image: Image) -> Written:
    """Return a picture as an entry names it that shows the picture."""
    return {"id": global_ids.of(image), "alt": image.alt, "file": file_of(image)}


async def pictures(export: Export) -> AsyncIterator[list[Written]]:
    """Yield the uploads and pictures of the member, oldest first. Six round trips a page."""
    async for view, entries in pages(export, kinds.IMAGES, export.member):
        ids = [entry.entity for entry in entries]
        uploads = [one for one in read_uploads(ids, await view.batcher.run(list(map(read_command, ids)))) if one]
        shown = await attached(view, uploads)
        yield [_entry(one, shown.get(one.id)) for one in uploads]


def _entry(upload: Upload, image: Image | None) -> Written:
    entry: Written = {
        "id": global_ids.of(upload),
        "uploadedAt": made(upload.id),
        "purpose": upload.purpose.value,
        "state": upload.state.value,
        "belongsTo": upload.subject or None,
    }
    if image:
        focus = {"x": image.focus_x, "y": image.focus_y} if image.focus_x is not None else None
        entry |= {**named(image), "width": image.width, "height": image.height, "focus": focus}
    return entry


async def files(export: Export) -> AsyncIterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each picture's large form, one at a time."""
    media = export.services.db.media
    async for view, entries in pages(export, kinds.IMAGES, export.member):
        ids = [entry.entity for entry in entries]
        for upload in read_uploads(ids, await view.batcher.run(list(map(read_command, ids)))):
            if upload is None or upload.image is None:
                continue
            try:
                pieces = [piece async for piece in media.stream(upload.object, PictureForm.LARGE)]
            except MediaMissing:
                continue  # removed since the record was read
            yield file_of(upload), b"".join(pieces)

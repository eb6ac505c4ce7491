"""Uploads as their member sees them; for anybody else there are none."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.operation.context import Context
from store.pictures.uploads import Upload, read_command, read_uploads


async def uploads(context: Context, ids: Sequence[int]) -> list[Upload | None]:
    """Return those of some uploads that are the viewer's own, None for the others; one round trip."""
    if context.viewer is None:
        return [None] * len(ids)
    found = read_uploads(ids, await context.batcher.run([read_command(upload) for upload in ids]))
    return [upload if upload and upload.owner == context.viewer else None for upload in found]

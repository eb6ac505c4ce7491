"""An upload's state, live."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from resolvers.live.waking import wakes
from resolvers.operation.context import Context
from resolvers.process.errors import BadUserInput, NotFound
from resolvers.reading import global_ids
from resolvers.reading.pictures import uploads
from store.pictures.uploads import Upload, channel
from store.records.pictures import UploadState

_ENDED = (UploadState.READY, UploadState.FAILED)


async def upload(context: Context, global_id: str) -> AsyncGenerator[Upload, None]:
    """Yield an upload of the viewer's as it is, then whenever its state has changed, until it is READY or FAILED.

    Raises BadUserInput for the id of nothing or of another member's upload, and NotFound once the upload is removed.
    """
    await context.member()
    kind, number = global_ids.expect_argument(global_id, "id")
    if kind != "upload" or await _look(context, number) is None:
        raise BadUserInput("id: there is no such upload")
    last: UploadState | None = None
    async with aclosing(wakes(context.services.pubsub, channel(number))) as woken:
        async for _ in woken:
            async with context.room:
                now = await _look(context, number)
                if now is None:
                    raise NotFound("id: there is no such upload any more")
                before, last = last, now.state
                if last is not before:
                    yield now
            if last in _ENDED:
                return


async def _look(context: Context, number: int) -> Upload | None:
    (found,) = await uploads(context.fresh(counted=False), [number])
    return found

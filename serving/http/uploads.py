"""Takes the bytes of uploads: a PUT to the link of an upload streams them to a temporary file while it counts them."""

import asyncio
import contextlib
import errno
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import structlog
from aiohttp import hdrs, web

from resolvers import uploads
from resolvers.process.errors import REFUSING_SECONDS, RateLimited, ServiceUnavailable, unavailable
from resolvers.process.services import Services
from serving.http.middleware import REQUEST_ID, preflight
from serving.http.requests import Proxies, RequestRefused, UnknownPath
from store.client.database import Unavailable
from store.ids import LARGEST
from store.media.objects import MediaMissing, MediaUnavailable
from store.pictures.uploads import Upload
from store.records.pictures import UploadState
from store.secret import Secret

METHODS = "PUT, OPTIONS"
AT_ONCE = 2  # requests that may bring the bytes of one upload at the same time
PIECE_BYTES = 64 << 10  # written to the temporary file at a time

_NUMBER = re.compile(r"[0-9]{1,16}", re.ASCII)
_OUT_OF_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

log = structlog.get_logger(__name__)


class Uploads:
    """The handler of links to uploads."""

    def __init__(self, services: object, proxies: Proxies) -> None:
        self._services = cast("Services", services)  # tests of other paths have no database
        self._proxies = proxies
        self._receiving: dict[int, int] = {}  # uploads whose bytes are being received here, and how often

    def add_routes(self, app: web.Application) -> None:
        """Add the routes of links to uploads."""
        path = f"{uploads.PATH}{{upload}}/{{token}}"
        app.router.add_put(path, self.__call__)
        app.router.add_options(path, self._options)

    async def _options(self, _: web.Request) -> web.Response:
        return preflight(METHODS)

    async def __call__(self, request: web.Request) -> web.Response:
        """Receive the bytes of an upload. Repeating a PUT that was answered changes nothing."""
        address = self._proxies.of_request(request)
        upload = await self._open(request, address)
        if upload.state is not UploadState.WAITING:
            return web.Response(status=204)
        _check_head(request, upload, self._services.settings.upload_link_seconds)
        with self._one_of_few(upload.id):
            try:
                async with uploads.admitted(self._services, upload, address):
                    await self._store(request, upload)
            except Unavailable as error:
                raise unavailable(error) from error
            except (MediaUnavailable, MediaMissing) as error:
                log.warning("media_unavailable", reason=str(error))
                raise ServiceUnavailable("pictures cannot be stored now: try again later", REFUSING_SECONDS) from error
        return web.Response(status=204)

    async def _store(self, request: web.Request, upload: Upload) -> None:
        """Receive and store the bytes of an upload, which may be gone in the end."""
        with _temporary_file(self._services.settings.data_dir) as file:
            await _receive(request, upload.size, file, self._services.settings.upload_seconds)
            if not await uploads.receive(self._services.db, upload, file):
                raise UnknownPath

    async def _open(self, request: web.Request, address: str) -> Upload:
        """Return the upload of a link. Any other link looks like a path at which nothing is served."""
        number, token = request.match_info["upload"], Secret(request.match_info["token"])
        known = _NUMBER.fullmatch(number) and int(number) <= LARGEST
        upload = await uploads.opened(
            self._services, int(number) if known else 0, token, address=address, request_id=request[REQUEST_ID]
        )
        if upload is None or not known:
            raise UnknownPath
        return upload

    @contextlib.contextmanager
    def _one_of_few(self, upload: int) -> Iterator[None]:
        """Refuse more than a retry beside the first attempt, so that one link takes no more room than two files."""
        if self._receiving.get(upload, 0) >= AT_ONCE:
            raise RateLimited("the bytes of this upload are being received already", 1)
        self._receiving[upload] = self._receiving.get(upload, 0) + 1
        try:
            yield
        finally:
            self._receiving[upload] -= 1
            if not self._receiving[upload]:
                del self._receiving[upload]


def _check_head(request: web.Request, upload: Upload, link_seconds: int) -> None:
    """Refuse a request whose head already differs from what was announced, or that comes too late."""
    if uploads.has_expired(upload, link_seconds):
        raise RequestRefused(410, f"This link worked for {link_seconds} s: announce the picture again")
    if hdrs.CONTENT_ENCODING in request.headers:
        raise RequestRefused(415, "Content-Encoding must be left out: a picture is compressed already")
    if request.headers.get(hdrs.CONTENT_TYPE, "").strip().lower() != upload.content_type:
        raise RequestRefused(415, f"Content-Type must be {upload.content_type}, as was announced")
    length = request.content_length
    if length is not None and length != upload.size:
        raise _wrong_size(upload.size, length)


async def _receive(request: web.Request, size: int, file: IO[bytes], seconds: int) -> None:
    """Write exactly `size` bytes of a body to a file, and wind it back. It never writes more."""
    received = 0
    try:
        async with asyncio.timeout(seconds):
            # iter_any() would give all that has arrived at once, which takes megabytes for each client.
            async for piece in request.content.iter_chunked(PIECE_BYTES):
                received += len(piece)
                if received > size:
                    raise _wrong_size(size, received, at_least=True)
                await asyncio.to_thread(file.write, piece)
        file.flush()
        file.seek(0)
    except TimeoutError:
        raise RequestRefused(408, f"The bytes must be here within {seconds} s") from None
    except ConnectionError:
        raise RequestRefused(400, "The connection was lost before the end of the bytes") from None
    except OSError as error:
        if error.errno not in _OUT_OF_ROOM:
            raise
        log.exception("no room for an upload")
        raise ServiceUnavailable(uploads.NO_ROOM, REFUSING_SECONDS) from error
    if received != size:
        raise _wrong_size(size, received)


def _wrong_size(announced: int, received: int, *, at_least: bool = False) -> RequestRefused:
    some = f"{received:,} or more" if at_least else f"{received:,}"
    return RequestRefused(413 if received > announced else 400, f"{announced:,} bytes were announced, these are {some}")


def _temporary_file(data_dir: Path) -> IO[bytes]:
    """Return a file without a name beside the store: a crash leaves nothing, and /tmp may be in memory."""
    data_dir.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryFile(dir=data_dir)

"""The object store: bytes of pictures under names, in a folder or a bucket. Redis is the truth about them."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from aiohttp import ClientConnectionError, ClientError, ClientSession, ClientTimeout, hdrs
from msgspec import Struct
from yarl import URL

from store.settings import Settings

if TYPE_CHECKING:
    from obstore.store import ObjectStore

UPLOADS_NEED = 2  # times MIN_FREE_DISK, so that uploads are refused before anything else is
PUT_AT_ONCE = 1  # objects that a process stores at a time, so that uploads at once share little memory
FILE_PART_BYTES = 256 << 10  # of a large object, which is written to a folder in parts
PUT_LINK_SECONDS = 60  # life of a link by which this process itself stores an object in a bucket
PIECE_BYTES = 128 << 10  # of an object that is read
LIST_CHUNK = 1_000  # objects listed at a time
CONNECT_SECONDS = 5  # to reach S3
REQUEST_SECONDS = 30  # for one request to S3
RETRIES = 2  # of a request to S3 that failed
PARTIAL = "#"  # in the name of a file that is being written, as obstore names it
SENT_BYTES = 64 << 10  # of a file that are read and sent to S3 at a time
FIRST_PAUSE = 0.1  # seconds before the first retry of sending; each later pause is twice as long
RETRY_SECONDS = 20  # in which a request to S3 is tried again
_PASSING = {408, 429, 500, 502, 503, 504}  # statuses after which S3 asks for a retry


class PictureForm(Enum):
    """A stored object of a picture."""

    ORIGINAL = "original"  # as uploaded; only until it is processed
    LARGE = "large.webp"
    SMALL = "small.webp"

    @property
    def content_type(self) -> str:
        """The type that is sent with it. Nobody is sent an original."""
        return "application/octet-stream" if self is PictureForm.ORIGINAL else "image/webp"


class MediaUnavailable(Exception):
    """The object store cannot be reached, is full, or refuses. The message is for operators."""


class MediaMissing(Exception):
    """There is no such object."""


class StoredObject(Struct, frozen=True):
    """An object as a listing shows it."""

    path: str
    size: int  # bytes
    modified: datetime


class Media:
    """The object store of a site. It is opened at its first use; every method may raise MediaUnavailable."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._puts = asyncio.Semaphore(PUT_AT_ONCE)

    @cached_property
    def _store(self) -> "ObjectStore":
        # Imported here: commands and processes that see no picture do without its 20 MB.
        from obstore.store import LocalStore, S3Store

        where = urlsplit(self._settings.media_store)
        if where.scheme:
            patience: Any = {
                "client_options": {
                    "connect_timeout": f"{CONNECT_SECONDS}s",
                    "timeout": f"{REQUEST_SECONDS}s",
                    "allow_http": True,  # for an endpoint that the operator gives as http://
                },
                "retry_config": {"max_retries": RETRIES, "retry_timeout": timedelta(seconds=RETRY_SECONDS)},
            }
            return S3Store(where.netloc, prefix=where.path.strip("/") or None, **patience)
        return LocalStore(self._folder.resolve(), mkdir=True)

    def path(self, name: str, form: PictureForm) -> Path | None:
        """Return the file of an object in a folder, None for a bucket."""
        return self._folder / name / form.value if self.is_folder else None

    @property
    def _folder(self) -> Path:
        return Path(self._settings.media_store or self._settings.data_dir / "media")

    @property
    def is_folder(self) -> bool:
        """Whether objects are files of a folder."""
        return not urlsplit(self._settings.media_store).scheme

    async def has_room(self) -> bool:
        """Return whether there is disk space for uploads, where they arrive and where they are stored."""
        least = UPLOADS_NEED * self._settings.min_free_disk << 20
        folders = [self._settings.data_dir, *([self._folder] if self.is_folder else [])]
        return not least or min(await asyncio.to_thread(lambda: [_free_bytes(folder) for folder in folders])) >= least

    async def put(self, name: str, form: PictureForm, file: IO[bytes]) -> None:
        """Store a file as an object, replacing one of the same name."""
        async with self._puts:
            try:
                with _outages():
                    await (self._write if self.is_folder else self._send)(name, form, file)
            except MediaMissing as error:  # such as of the bucket
                raise MediaUnavailable(str(error)) from error

    async def _write(self, name: str, form: PictureForm, file: IO[bytes]) -> None:
        import obstore

        await obstore.put_async(
            self._store, f"{name}/{form.value}", file, chunk_size=FILE_PART_BYTES, max_concurrency=1
        )

    async def _send(self, name: str, form: PictureForm, file: IO[bytes]) -> None:
        """Send a file to the bucket. obstore would have parts of 5 MiB in memory, several at a time."""
        import obstore
        from obstore.store import S3Store

        assert isinstance(self._store, S3Store)
        life = timedelta(seconds=PUT_LINK_SECONDS + RETRIES * REQUEST_SECONDS)
        link = await obstore.sign_async(self._store, "PUT", f"{name}/{form.value}", life)
        await _put(link, file, form.content_type)

    async def size(self, name: str, form: PictureForm) -> int | None:
        """Return an object's size in bytes, None without the object."""
        import obstore

        try:
            with _outages():
                return (await obstore.head_async(self._store, f"{name}/{form.value}"))["size"]
        except MediaMissing:
            return None

    async def stream(
        self, name: str, form: PictureForm, start: int = 0, end: int | None = None
    ) -> AsyncIterator[bytes]:
        """Yield the bytes of an object from `start` until before `end`, in pieces. Raises MediaMissing."""
        import obstore

        options: Any = {"range": (start, end) if end is not None else {"offset": start}} if start or end else None
        with _outages():
            pieces = (await obstore.get_async(self._store, f"{name}/{form.value}", options=options)).stream(PIECE_BYTES)
        while True:
            with _outages():
                piece = await anext(pieces, None)
            if piece is None:
                return
            yield bytes(piece)

    async def presigned(self, name: str, form: PictureForm, seconds: int) -> str | None:
        """Return a link to an object in a bucket that works for so many seconds; None for a folder."""
        import obstore
        from obstore.store import S3Store

        store = self._store
        if not isinstance(store, S3Store):
            return None
        with _outages():
            return await obstore.sign_async(store, "GET", f"{name}/{form.value}", timedelta(seconds=seconds))

    async def delete(self, names: Sequence[str], forms: Sequence[PictureForm] = tuple(PictureForm)) -> None:
        """Remove forms of some names, all by default. Missing objects are no error."""
        for name in names:
            for form in forms:
                await self.remove(f"{name}/{form.value}")
            if self.is_folder:
                await asyncio.to_thread(self._remove_folder, name)

    async def remove(self, path: str) -> None:
        """Remove one object by the path that a listing gives. A missing object is no error."""
        import obstore

        if PARTIAL in path and self.is_folder:
            with _outages():
                await asyncio.to_thread((self._folder / path).unlink, missing_ok=True)
            return
        with contextlib.suppress(MediaMissing), _outages():
            await obstore.delete_async(self._store, path)

    def _remove_folder(self, name: str) -> None:
        folder = self._folder / name
        with contextlib.suppress(OSError):  # another form is still there, or another process was first
            folder.rmdir()

    async def listing(self) -> AsyncIterator[list[StoredObject]]:
        """Yield all objects, some at a time, in no order. Of a folder, files that are half-written are listed, too."""
        import obstore

        with _outages():
            chunks = obstore.list(self._store, chunk_size=LIST_CHUNK)
        while True:
            with _outages():
                chunk = await anext(chunks, None)
            if chunk is None:
                break
            yield [StoredObject(one["path"], one["size"], one["last_modified"]) for one in chunk]
        if self.is_folder and (left := await asyncio.to_thread(self._half_written)):
            yield left

    def _half_written(self) -> list[StoredObject]:
        listed: list[StoredObject] = []
        for path in self._folder.glob(f"*/*{PARTIAL}*"):
            with contextlib.suppress(FileNotFoundError):  # it has become an object meanwhile
                facts = path.stat()
                modified = datetime.fromtimestamp(facts.st_mtime, UTC)
                listed.append(StoredObject(f"{path.parent.name}/{path.name}", facts.st_size, modified))
        return listed


def _free_bytes(folder: Path) -> int:
    """Return the free disk space where a folder is, or will be made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


@contextlib.contextmanager
def _outages() -> Iterator[None]:
    """Turn errors of the object store into those of this module."""
    from obstore.exceptions import BaseError, NotFoundError

    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        raise MediaMissing(str(error)) from None
    except (BaseError, OSError) as error:
        raise MediaUnavailable(str(error).partition("\n")[0]) from error


async def _put(link: str, file: IO[bytes], content_type: str) -> None:
    """Send what is left of a file by a PUT, and repeat that after an outage that may pass.

    Raises MediaUnavailable, whose message has no link, because links are signed.
    """
    begin, pause = file.tell(), FIRST_PAUSE
    for attempt in range(RETRIES + 1):
        file.seek(begin)
        refusal, may_pass = await _put_once(link, file, content_type)
        if refusal is None:
            return
        if attempt == RETRIES or not may_pass:
            raise MediaUnavailable(refusal)
        await asyncio.sleep(pause)
        pause *= 2


async def _put_once(link: str, file: IO[bytes], content_type: str) -> tuple[str | None, bool]:
    """Return why a bucket has not taken a file, None if it has, and whether a retry may help."""
    begin = file.tell()
    size = file.seek(0, os.SEEK_END) - begin
    file.seek(begin)
    timeout = ClientTimeout(total=REQUEST_SECONDS, sock_connect=CONNECT_SECONDS)
    headers = {hdrs.CONTENT_TYPE: content_type, hdrs.CONTENT_LENGTH: str(size)}
    try:
        async with (
            ClientSession(timeout=timeout, trust_env=True) as session,
            session.put(URL(link, encoded=True), data=_pieces(file), headers=headers) as response,
        ):
            if response.ok:
                return None, False
            return f"the bucket answers a PUT with {response.status}", response.status in _PASSING
    except (ClientConnectionError, TimeoutError) as error:
        return f"the bucket cannot be reached: {type(error).__name__}", True
    except ClientError as error:
        return f"the bucket does not take a PUT: {type(error).__name__}", False


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(file.read, SENT_BYTES):
        yield piece

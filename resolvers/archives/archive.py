"""The archive of an export: a ZIP of JSON files and of pages to read them, made and sent piece by piece."""

import asyncio
import contextlib
import io
import zipfile
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from resolvers.archives import browsing, pictures
from resolvers.archives.sections import SECTIONS, Section
from resolvers.archives.viewing import Export, Written, moment
from resolvers.operation.inputs import batches
from store import accounts
from store.client.database import MemberGone

FORMAT, VERSION = "perch-export", 1
MANIFEST = "export.json"
ENTRIES_PER_FILE = 500  # some 300 KB of JSON; an export holds two files in memory
RENDERED = 25  # entries made into HTML at a time, half a millisecond; then others have their turn
COMPRESSION = 6  # of 9: more takes longer, and saves a few per cent


def data_file(section: str, number: int) -> str:
    """Return the name of a section's file of JSON; files are numbered from 1."""
    return f"data/{section}-{number}.json"


class _Pieces(io.RawIOBase):
    """What the archive has written and nobody has taken yet. It cannot seek: what is written is sent."""

    def __init__(self) -> None:
        super().__init__()
        self._written: list[bytes] = []

    def writable(self) -> bool:
        """Return True: an archive may be written into this."""
        return True

    def write(self, data: Any) -> int:
        """Take some bytes."""
        self._written.append(bytes(data))
        return len(self._written[-1])

    def take(self) -> bytes:
        """Return what was written since the last call."""
        data = b"".join(self._written)
        self._written.clear()
        return data


class _Archive:
    """A ZIP under construction. It is compressed in a thread, because zlib lets others work meanwhile."""

    def __init__(self) -> None:
        self._pieces = _Pieces()
        self._zip = zipfile.ZipFile(self._pieces, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION)
        self._when = datetime.now(UTC)
        self.counts: dict[str, tuple[int, int]] = {}  # section → files and entries

    async def add(self, section: Section, number: int, entries: Sequence[Written], *, is_last: bool) -> bytes:
        """Add the files of up to ENTRIES_PER_FILE entries; returns the bytes to be sent."""
        _, before = self.counts.get(section.name, (0, 0))
        self.counts[section.name] = (number, before + len(entries))
        articles: list[str] = []
        for some in batches(entries, RENDERED):
            articles.append(browsing.articles(some))
            await asyncio.sleep(0)
        page = browsing.page(section.title, section.name, number, "".join(articles), is_last=is_last)
        return await _in_thread(self._add, section.name, number, msgspec.json.encode(entries), page.encode())

    def _add(self, name: str, number: int, data: bytes, page: bytes) -> bytes:
        self._write(data_file(name, number), data)
        self._write(f"pages/{name}-{number}.html", page)
        return self._pieces.take()

    async def add_picture(self, name: str, data: bytes) -> bytes:
        """Add the file of a picture, which is compressed already; returns the bytes to be sent."""
        return await _in_thread(self._add_picture, name, data)

    def _add_picture(self, name: str, data: bytes) -> bytes:
        self._write(name, data, zipfile.ZIP_STORED)
        return self._pieces.take()

    async def finish(self, login: str) -> bytes:
        """Add the start page and the manifest; returns the last bytes."""
        return await _in_thread(self._finish, login)

    def _finish(self, login: str) -> bytes:
        rows = [(section.name, section.title, self.counts[section.name][1]) for section in SECTIONS]
        self._write("index.html", browsing.index(login, moment(self._when), rows).encode())
        sections = {name: {"files": files, "entries": count} for name, (files, count) in self.counts.items()}
        manifest = {"format": FORMAT, "version": VERSION, "exportedAt": moment(self._when), "sections": sections}
        self._write(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
        self._zip.close()
        return self._pieces.take()

    def close(self) -> None:
        """Close the archive, also one that is not finished, which nobody sees the end of."""
        self._zip.close()

    def _write(self, name: str, data: bytes, compression: int = zipfile.ZIP_DEFLATED) -> None:
        info = zipfile.ZipInfo(name, self._when.timetuple()[:6])
        info.compress_type, info.external_attr = compression, 0o600 << 16
        self._zip.writestr(info, data)


async def _in_thread(call: Callable[..., bytes], *args: object) -> bytes:
    """Run a call in a thread. A cancellation waits for its end, so that nothing uses the archive afterwards."""
    running = asyncio.ensure_future(asyncio.to_thread(call, *args))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        raise


async def stream(export: Export, login: str) -> AsyncGenerator[bytes, None]:
    """Yield the archive piece by piece, in bounded memory.

    Raises Unauthenticated as soon as the session ends, and MemberGone when the account is deleted meanwhile. What is
    deleted during the export may be missing in it.
    """
    with contextlib.closing(_Archive()) as archive:
        async with contextlib.aclosing(_pieces(export, archive, login)) as pieces:
            async for piece in pieces:
                yield piece


async def _pieces(export: Export, archive: _Archive, login: str) -> AsyncGenerator[bytes, None]:
    for section in SECTIONS:
        number, held = 1, list[Written]()
        async for entries in section.read(export):
            held += entries
            while len(held) > ENTRIES_PER_FILE:  # one entry more says that there is another page
                yield await archive.add(section, number, held[:ENTRIES_PER_FILE], is_last=False)
                number, held = number + 1, held[ENTRIES_PER_FILE:]
        yield await archive.add(section, number, held, is_last=True)
    async for name, data in pictures.files(export):
        yield await archive.add_picture(name, data)
    if await accounts.user(export.services.db, export.member) is None:
        raise MemberGone
    yield await archive.finish(login)

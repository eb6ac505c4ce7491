"""Looks at the structure of a file before it is decoded: some structures cost far more than the pixels that they hold.

A decoder goes over all pixels for each scan of a progressive JPEG.
Pillow reads each segment, chunk and block in Python, and unpacks each colour profile.
"""

import mmap
import os
import re
from collections.abc import Callable, Iterator
from typing import IO

MOST_SCANS = 32  # of a JPEG; libjpeg writes 10 for colours, and 18 for CMYK
MOST_PARTS = 1_000  # segments, chunks or blocks that are read one by one
PNG_PART_BYTES = 1 << 10  # A PNG may have one chunk more for each of these: encoders divide the pixels among chunks.

# ITU T.81 annex B: a marker with a segment. No such marker is within the data of a scan.
_MARKER = re.compile(rb"\xff[^\x00\x01\xd0-\xd7\xff]")
_SCAN, _END = 0xDA, 0xD9
_JUNK = -1  # in place of a kind: bytes that belong to nothing
_GIF_HEAD, _TABLE_BIT, _TABLE_SIZE = 13, 0x80, 0x07
_EXTENSION, _IMAGE, _COMMENT, _APPLICATION = 0x21, 0x2C, 0xFE, 0xFF
_LOOPS = b"NETSCAPE2.0"  # an extension of which Pillow reads one more block by itself


def is_excessive(source: IO[bytes]) -> bool:
    """Return whether a file has more scans or parts than any picture needs. Decoders refuse malformed ones."""
    if not os.fstat(source.fileno()).st_size:
        return False
    with mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return any(data[: len(first)] == first and is_so(data) for first, is_so in _CHECKS.items())


def _is_excessive_jpeg(data: mmap.mmap) -> bool:
    scans = 0
    for count, kind in enumerate(_segments(data)):
        scans += kind == _SCAN
        if scans > MOST_SCANS or count >= MOST_PARTS:
            return True
    return False


def _segments(data: mmap.mmap) -> Iterator[int]:
    """Yield the kinds of a JPEG's segments. Before the first scan, each byte that belongs to none is a part, too."""
    at, is_scanned, kind = 2, False, _JUNK
    while kind != _END and at < len(data):
        marker = _MARKER.search(data, at)
        if not is_scanned:
            yield from (_JUNK for _ in range(at, marker.start() if marker else len(data)))
        if not marker:
            return
        kind, start = data[marker.end() - 1], marker.end()
        is_scanned |= kind == _SCAN
        yield kind
        at = start + max(2, int.from_bytes(data[start : start + 2], "big"))


def _is_excessive_png(data: mmap.mmap) -> bool:
    most, profiles = MOST_PARTS + len(data) // PNG_PART_BYTES, 0
    for count, kind in enumerate(_chunks(data)):
        profiles += kind == b"iCCP"  # a kilobyte may unpack to a mebibyte
        if count >= most or profiles > 1:
            return True
    return False


def _chunks(data: mmap.mmap) -> Iterator[bytes]:
    """Yield the kinds of a PNG's chunks, as PNG §5.3 divides it."""
    at = 8
    while at + 8 <= len(data):
        yield data[at + 4 : at + 8]
        at += 12 + int.from_bytes(data[at : at + 4], "big")  # length, kind and checksum


def _is_excessive_gif(data: mmap.mmap) -> bool:
    return any(count >= MOST_PARTS for count, _ in enumerate(_blocks(data)))


def _blocks(data: mmap.mmap) -> Iterator[int]:
    """Yield the kinds of a GIF's blocks before its first image, as Pillow reads them. Bytes between are parts, too."""
    flags = data[_GIF_HEAD - 3] if len(data) >= _GIF_HEAD else 0
    at = _GIF_HEAD + (3 << (flags & _TABLE_SIZE) + 1 if flags & _TABLE_BIT else 0)
    while at + 2 < len(data) and data[at] != _IMAGE:
        if data[at] != _EXTENSION:
            yield _JUNK
            at += 1
            continue
        kind, size, first = data[at + 1], data[at + 2], at + 3
        yield kind
        at = first + size
        if kind == _COMMENT and not size:
            continue
        if kind == _APPLICATION and data[first : first + len(_LOOPS)] == _LOOPS and at < len(data):
            at += 1 + data[at]
        while at < len(data) and (size := data[at]):
            yield kind
            at += 1 + size
        at += 1


_CHECKS: dict[bytes, Callable[[mmap.mmap], bool]] = {
    b"\xff\xd8": _is_excessive_jpeg,
    b"\x89PNG": _is_excessive_png,
    b"GIF8": _is_excessive_gif,
}

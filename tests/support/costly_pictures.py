"""Small files that take a decoder seconds: each repeats something that a picture needs once, or never."""

import functools
import io
import re
import struct
import zlib
from collections.abc import Callable

from PIL import Image

from tests.support.uploads import drawn

HUGE = (7_000, 7_000)  # pixels, as many as are accepted
SCANS = 650  # of a JPEG
BYTES = 9_000_000  # of the larger files


@functools.cache
def scans(count: int = SCANS, size: tuple[int, int] = HUGE) -> bytes:
    """Return a progressive JPEG with so many more scans that refine nothing. Each goes over all coefficients."""
    file = io.BytesIO()
    Image.new("RGB", size, "blue").save(file, "JPEG", progressive=True)
    data = file.getvalue()
    # The first scan of the coefficients of brightness, with its table: of one colour, it says that there are none.
    found = re.search(rb"\xff\xc4[^\xff]+\xff\xda\x00\x08\x01\x01.\x01..(?:[^\xff]|\xff\x00)*", data, re.DOTALL)
    assert found
    table, head, end_of_blocks = found[0].rpartition(b"\xff\xda")
    scan = table + head + end_of_blocks[:5] + b"\x01\x3f\x10" + end_of_blocks[8:]
    return data[:-2] + scan * count + data[-2:]


def segments(content: bytes, count: int) -> bytes:
    """Return a JPEG that repeats a segment of application 1."""
    segment = b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content
    data = drawn("JPEG")
    return data[:2] + segment * count + data[2:]


def junk() -> bytes:
    """Return a JPEG that begins with bytes that mean nothing."""
    data = drawn("JPEG")
    return data[:2] + b"\xff" * BYTES + data[2:]


def chunk(kind: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def chunks(kind: bytes, content: bytes, count: int) -> bytes:
    """Return a PNG that repeats a chunk before its pixels."""
    data = drawn("PNG")
    return data[:33] + chunk(kind, content) * count + data[33:]


def divided() -> bytes:
    """Return a PNG whose pixels are divided among chunks of a byte."""
    pixels = zlib.compress(b"\0" * 900_001, 0)[:700_000]
    head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 900, 1_000, 8, 0, 0, 0, 0))
    return head + b"".join(chunk(b"IDAT", pixels[at : at + 1]) for at in range(len(pixels))) + chunk(b"IEND", b"")


def profiles() -> bytes:
    """Return a PNG with many colour profiles, each of which unpacks to almost a mebibyte."""
    return chunks(b"iCCP", b"p\0\0" + zlib.compress(bytes((1 << 20) - 1), 9), 8_000)


def blocks(kind: int, first: bytes = b"") -> bytes:
    """Return a GIF with an extension of a kind that is divided among blocks of a byte, after a first one."""
    data = drawn("GIF")
    at = 13 + (3 << (data[10] & 7) + 1)
    return data[:at] + bytes((0x21, kind)) + first + b"\x01x" * (BYTES // 2) + b"\0" + data[at:]


COSTLY: dict[str, Callable[[], bytes]] = {
    "jpeg scans": scans,
    "jpeg segments": lambda: segments(b"", BYTES // 4),
    "jpeg junk": junk,
    "png chunks": lambda: chunks(b"teSt", b"", BYTES // 12),
    "png pixels": divided,
    "png profiles": profiles,
    "gif comment": lambda: blocks(0xFE),
    "gif extension": lambda: blocks(0x01, b"\0"),
    "gif loops": lambda: blocks(0xFF, b"\x0bNETSCAPE2.0\0"),
}

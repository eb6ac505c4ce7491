"""The file of a backup: a line of JSON, then frames of compressed records, encrypted with AES-256-GCM on request.

The nonce of a frame is its number, and its associated data are the first line. A frame says whether it is the last one.
So a file whose frames are missing, repeated or in another order is refused. Each file has a salt of its own, and
therefore a key of its own.
"""

import base64
import secrets
import zlib
from collections.abc import Iterator
from typing import IO, Any

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from msgspec import Struct

FORMAT = "perch-backup-1"
FRAME_BYTES = 1 << 20  # of records in a frame, before it is compressed
MOST_BYTES = 1 << 30  # of a frame: the server's own limit of one value is half of it
SALT_BYTES, KEY_BYTES, NONCE_BYTES, LENGTH_BYTES = 16, 32, 12, 5
LEAST_SECRET = 16  # bytes of a key file
_WORK = {"n": 1 << 15, "r": 8, "p": 1}  # of scrypt: 32 MiB, some 0.1 s
_LAST = 1  # in the byte that precedes a frame's records


class Unreadable(Exception):
    """The file is no whole backup, or cannot be decrypted. The message is one line that says which."""


class BackupRecord(Struct, array_like=True):
    """A key's value, or a piece of a picture's object. Later records replace earlier ones of the same name."""

    name: str  # of a key, or the path of an object
    data: bytes | None  # None: the key does not exist
    expires: int = 0  # of a key: ms since 1970, 0 for never
    is_object: bool = False  # its pieces follow one another; an empty one ends it


class Head(Struct):
    """The first line of the file."""

    format: str
    created: str
    layout: int
    salt: str = ""  # base64; without it, the file is not encrypted


class Writer:
    """Writes a backup to a file."""

    def __init__(self, file: IO[bytes], created: str, layout: int, secret: bytes | None) -> None:
        salt = secrets.token_bytes(SALT_BYTES) if secret else b""
        self._line = msgspec.json.encode(Head(FORMAT, created, layout, base64.b64encode(salt).decode()))
        self._file, self._cipher = file, _cipher(secret, salt) if secret else None
        self._records: list[BackupRecord] = []
        self._size = self._frames = 0
        file.write(self._line + b"\n")

    def add(self, record: BackupRecord) -> None:
        """Add a record."""
        self._records.append(record)
        self._size += len(record.data or b"") + len(record.name)
        if self._size >= FRAME_BYTES:
            self._write(is_last=False)

    def end(self) -> None:
        """Write what is left. A file without this is no whole backup."""
        self._write(is_last=True)

    def _write(self, *, is_last: bool) -> None:
        packed = zlib.compress(msgspec.msgpack.encode(self._records), level=1)
        frame = bytes([_LAST if is_last else 0]) + packed
        if self._cipher:
            frame = self._cipher.encrypt(_nonce(self._frames), frame, self._line)
        self._file.write(len(frame).to_bytes(LENGTH_BYTES, "big") + frame)
        self._frames += 1
        self._records, self._size = [], 0


class Reader:
    """Reads a backup. Every method may raise Unreadable."""

    def __init__(self, file: IO[bytes], secret: bytes | None) -> None:
        self._file = file
        line = file.readline(4096).rstrip(b"\n")
        try:
            self.head = msgspec.json.decode(line, type=Head)
        except msgspec.MsgspecError:
            raise Unreadable("it is no backup of Perch") from None
        if self.head.format != FORMAT:
            raise Unreadable(f"it has the format {self.head.format!r}, and this Perch reads {FORMAT!r}")
        if self.head.salt and not secret:
            raise Unreadable("it is encrypted: give its key with --key-file")
        if secret and not self.head.salt:
            raise Unreadable("it is not encrypted: leave --key-file out")
        self._line = line
        self._cipher = _cipher(secret, base64.b64decode(self.head.salt)) if secret else None

    def records(self) -> Iterator[list[BackupRecord]]:
        """Yield all records, a frame at a time. Only after the last frame is it known that the file is whole."""
        number, is_last = 0, False
        while not is_last:
            frame = self._frame(number)
            is_last = frame[0] == _LAST
            try:
                yield msgspec.msgpack.decode(zlib.decompress(frame[1:]), type=list[BackupRecord])
            except (zlib.error, msgspec.MsgspecError):
                raise Unreadable("it is damaged") from None
            number += 1
        if self._file.read(1):
            raise Unreadable("it is damaged: something follows its end")

    def _frame(self, number: int) -> bytes:
        size = int.from_bytes(self._file.read(LENGTH_BYTES), "big")
        frame = self._file.read(size) if size <= MOST_BYTES else b""
        if not frame or len(frame) < size:
            raise Unreadable("it is not whole")
        if self._cipher is None:
            return frame
        try:
            return self._cipher.decrypt(_nonce(number), frame, self._line)
        except InvalidTag:
            raise Unreadable("the key is another one, or the file is damaged") from None


def _cipher(secret: bytes, salt: bytes) -> AESGCM:
    work: dict[str, Any] = _WORK
    return AESGCM(Scrypt(salt=salt, length=KEY_BYTES, **work).derive(secret))


def _nonce(number: int) -> bytes:
    return number.to_bytes(NONCE_BYTES, "big")

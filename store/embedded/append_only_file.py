"""Checks the embedded store's append-only file, and cuts off a damaged end.

A power cut leaves zeros, other bytes or half a command at the end of the newest file. The server then refuses to start.
This module truncates that file after its last complete command, and saves the cut part in a file beside it. If the last
MULTI has no EXEC, the cut is before that MULTI. So no script stays half applied.

Damage anywhere else is refused, and so is a damaged end larger than the limit: an operator has to decide what to lose.

The supervisor runs this module as a script, with the standard library alone:

    python -I -S append_only_file.py DATA_DIR LARGEST_CUT_BYTES

The script prints its outcome as a JSON object. It exits with CUT, REFUSED, or WHOLE if nothing is damaged.
"""

import contextlib
import json
import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

WHOLE, CUT, REFUSED = 0, 3, 4  # exit statuses

FOLDER = "appendonlydir"
_MANIFEST = "appendonly.aof.manifest"
_LINE = re.compile(r"file (\S+) seq \d+ type ([bhi])(?: .*)?")  # base, history, incremental
_ADVICE = "nothing was changed; put a backup of that folder in its place, or mend it with valkey-check-aof"

_BLOCK_BYTES = 1 << 20  # bytes read at a time
_ARRAY = re.compile(rb"\*([1-9]\d{0,9})\r\n").match
_BULK = re.compile(rb"\$(0|[1-9]\d{0,9})\r\n").match
_ANNOTATION = re.compile(rb"#[^\r\n]{0,1021}\r\n").match
_HEADER_BYTES = 1024  # no header or annotation is longer
_CRLF = b"\r\n"
_MULTI, _EXEC = b"*1\r\n$5\r\nMULTI\r\n", b"*1\r\n$4\r\nEXEC\r\n"


class TruncationRefused(Exception):
    """The files are damaged where nothing may be cut. The message is one line and says what to do."""


class Cut(NamedTuple):
    """A damaged end that was cut off."""

    file: str
    offset: int  # bytes of the file that remain
    size: int  # bytes that were cut off
    kept: str  # the file that has these


class _Damaged(Exception):
    """The next bytes are no complete command."""


class _Commands:
    """A reader that steps over the commands of a file. It holds two blocks at most, however large a command is."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self._block = b""
        self._at = 0  # within the block
        self._read = 0  # bytes of the file up to the block's end

    @property
    def offset(self) -> int:
        """Return the number of bytes stepped over."""
        return self._read - len(self._block) + self._at

    def is_at_end(self) -> bool:
        """Return whether all bytes of the file have been stepped over."""
        return self.offset == self._size

    def step(self) -> bytes:
        """Step over one command or annotation; returns the bytes of a MULTI or EXEC, else b"". Raises _Damaged."""
        if len(self._block) - self._at < _HEADER_BYTES:
            self._fill()
        block, at = self._block, self._at
        if header := _ARRAY(block, at):
            self._at = header.end()
            self._step_over_strings(int(header[1]))
            if header[1] != b"1":
                return b""
            return next((mark for mark in (_MULTI, _EXEC) if block.startswith(mark, at)), b"")
        if annotation := _ANNOTATION(block, at):
            self._at = annotation.end()
            return b""
        raise _Damaged

    def _step_over_strings(self, left: int) -> None:
        while True:
            block, at = self._block, self._at
            while left and (header := _BULK(block, at)):
                end = header.end() + int(header[1])
                if block[end : end + 2] != _CRLF:
                    break
                at, left = end + 2, left - 1
            self._at = at
            if not left:
                return
            if header and int(header[1]) > _BLOCK_BYTES:
                self._step_over_long(self.offset + header.end() - at + int(header[1]))
                left -= 1
            elif self._read == self._size or len(block) - at >= (end + 2 - at if header else _HEADER_BYTES):
                raise _Damaged  # the block has the whole string, or the file ends within it
            else:
                self._fill()

    def _step_over_long(self, end: int) -> None:
        self._file.seek(min(end, self._size))
        self._block = self._file.read(_BLOCK_BYTES)
        self._at, self._read = len(_CRLF), self._file.tell()
        if not self._block.startswith(_CRLF):
            raise _Damaged

    def _fill(self) -> None:
        self._block = self._block[self._at :] + self._file.read(_BLOCK_BYTES)
        self._at, self._read = 0, self._file.tell()


def whole_bytes(path: Path) -> int:
    """Return the offset at which a file's last complete command ends, or at which a MULTI without EXEC begins."""
    with path.open("rb") as file:
        commands, end = _Commands(file), 0
        transaction: int | None = None  # offset of the MULTI that is open
        try:
            while not commands.is_at_end():
                mark = commands.step()
                if mark == _MULTI and transaction is None:
                    transaction = end
                elif mark == _EXEC:
                    transaction = None
                end = commands.offset
        except _Damaged:
            pass
    return end if transaction is None else transaction


def require_files(data_dir: Path) -> None:
    """Raise Refused if a file is missing or empty, and the server would therefore start with less data or none."""
    for path, kind in _files(data_dir / FOLDER):
        if not path.exists():
            raise TruncationRefused(f"{path} is missing, though the manifest names it; {_ADVICE}")
        if kind == "b" and path.suffix == ".rdb" and path.stat().st_size == 0:
            raise TruncationRefused(f"{path} is empty; {_ADVICE}")


def mend(data_dir: Path, largest: int) -> Cut | None:
    """Cut a damaged end of at most `largest` bytes off the newest file; returns None if no file is damaged.

    Raises Refused, OSError.
    """
    files = [path for path, kind in _files(data_dir / FOLDER) if kind == "i"]
    if not files:
        return None
    *older, newest = files
    for path in older:
        if (whole := whole_bytes(path)) < path.stat().st_size:
            raise TruncationRefused(f"{path} is damaged at byte {whole} and is not the newest file; {_ADVICE}")
    whole, size = whole_bytes(newest), newest.stat().st_size
    if whole == size:
        return None
    if size - whole > largest:
        raise TruncationRefused(
            f"{newest} is damaged at byte {whole}; with DAMAGED_END_MIB={-(-(size - whole) >> 20)} the store starts "
            f"and keeps these last {size - whole} bytes in a file beside it"
        )
    return _cut(newest, whole, size - whole)


def _files(folder: Path) -> list[tuple[Path, str]]:
    """Return the manifest's files and their kinds, in the order in which the server loads them."""
    manifest = folder / _MANIFEST
    if not manifest.exists():
        if any(path.stat().st_size for path in folder.glob("*.incr.aof")):
            raise TruncationRefused(f"{manifest} is missing; {_ADVICE}")
        return []
    # Bytes outside ASCII are damage like any other. They are replaced, so that decoding raises no error.
    lines = [line for line in manifest.read_text("ascii", "replace").splitlines() if not line.startswith("#")]
    matches = [_LINE.fullmatch(line.strip()) for line in lines]
    if not lines or None in matches:
        raise TruncationRefused(f"{manifest} is damaged; {_ADVICE}")
    return [(folder / match[1], match[2]) for match in matches if match and match[2] != "h"]


def _cut(path: Path, offset: int, size: int) -> Cut:
    kept = path.with_name(f"{path.name}.cut-{offset}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    draft = path.with_name(f"{path.name}.cut")  # may exist after a killed check; then the file is still complete
    with path.open("rb+") as file:
        file.seek(offset)
        draft.touch(0o600)
        with draft.open("wb") as beside:
            try:
                shutil.copyfileobj(file, beside, _BLOCK_BYTES)
                beside.flush()
                os.fsync(beside.fileno())
            except OSError:
                draft.unlink()  # frees its disk space
                raise
        draft.rename(kept)
        _sync_folder(path.parent)  # the copy must be durable before the file is truncated
        file.truncate(offset)
        os.fsync(file.fileno())
    return Cut(str(path), offset, size, str(kept))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def main(arguments: list[str]) -> int:
    """Mend the files of a data directory; return the exit status."""
    data_dir, largest = arguments
    try:
        cut = mend(Path(data_dir), int(largest))
    except TruncationRefused as error:
        _print_outcome({"refused": str(error)})
        return REFUSED
    except OSError as error:
        _print_outcome(
            {"refused": f"{data_dir}: the damaged end cannot be cut off: {error.strerror}: {error.filename}"}
        )
        return REFUSED
    if cut is None:
        return WHOLE
    _print_outcome({"cut": cut._asdict()})
    return CUT


def _print_outcome(outcome: dict[str, Any]) -> None:
    line = f"{json.dumps(outcome)}\n".encode()
    for descriptor in (sys.stdout.fileno(), sys.stderr.fileno()):
        with contextlib.suppress(OSError):  # the reader is gone, or the disk is full
            os.write(descriptor, line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

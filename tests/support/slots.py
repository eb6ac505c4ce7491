"""What a server is asked to do, by clients and within scripts, and the slots of the keys that each command names."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

from redis.crc import key_slot

from store.client.database import Database
from store.client.lua import NAMES

_LINE = re.compile(rb"\+[\d.]+ \[\d+ (lua|[^\]]*)\] (.*)")
_WORD = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|.)")
_ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b"}


@dataclass(frozen=True)
class Executed:
    """A command that the server has executed. `script` is the one that called it, "" for a client's command."""

    words: tuple[bytes, ...]
    script: str = ""
    slot: int | None = None  # of the first key of the script

    def __str__(self) -> str:
        return f"{self.script or 'client'}: {b' '.join(self.words)[:200]!r}"


@dataclass
class Monitor:
    """Everything that a server executes, in its order (MONITOR)."""

    commands: dict[Executed, None] = field(default_factory=dict)  # each once
    scripts: set[str] = field(default_factory=set)
    _running: tuple[str, int | None] = ("", None)

    def take(self, line: bytes) -> None:
        """Read a line of the monitor. The calls of a script follow its own line."""
        found = _LINE.match(line)
        if not found:
            return
        words = tuple(_ESCAPE.sub(_unescaped, word) for word in _WORD.findall(found[2]))
        if found[1] == b"lua":
            self.commands[Executed(words, *self._running)] = None
            return
        if words[0].upper() in {b"EVALSHA", b"EVAL"}:
            name = NAMES.get(words[1].decode(), "of a test")
            self._running = name, key_slot(words[3]) if words[2] != b"0" else None
            self.scripts.add(name)
        self.commands[Executed(words)] = None


def _unescaped(found: re.Match[bytes]) -> bytes:
    what = found[1]
    return bytes.fromhex(what[1:].decode()) if what[:1] == b"x" and len(what) == 3 else _ESCAPED.get(what, what)


@contextlib.asynccontextmanager
async def monitored(path: str) -> AsyncIterator[Monitor]:
    """Record all that the server behind a Unix socket executes in the context."""
    monitor = Monitor()
    reader, writer = await asyncio.open_unix_connection(path, limit=1 << 24)
    writer.write(b"MONITOR\r\n")
    assert (await reader.readline()).startswith(b"+OK")

    async def read() -> None:
        while line := await reader.readline():
            monitor.take(line)

    reading = asyncio.create_task(read())
    yield monitor
    writer.write(b"QUIT\r\n")
    await reading
    writer.close()


async def slots_of(db: Database, commands: Iterable[Executed]) -> list[tuple[Executed, set[int]]]:
    """Return each command that names keys, with their slots."""
    asked = list(commands)
    replies = await db.run([("COMMAND", "GETKEYS", *one.words) for one in asked])
    return [
        (one, {int(key_slot(key.encode())) for key in reply})
        for one, reply in zip(asked, replies, strict=True)
        if isinstance(reply, list)
    ]

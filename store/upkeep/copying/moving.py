"""Copies keys from a running server to another database, and collects the keys that change meanwhile.

The server announces each change of a key to a connection that tracks all of them (CLIENT TRACKING with BCAST). It
announces neither acknowledged nor delivered entries of a stream. So streams count as changed whenever one looks.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from redis.exceptions import RedisError

from store.client.connection import RedisConnection, connect
from store.client.database import Command, Database, Unavailable
from store.client.nodes.one import StoreNode
from store.records.lists import read_pairs

SCANNED = 500  # COUNT: keys scanned per step
BATCH_BYTES = 4 << 20  # bytes of values restored per round trip
REPLY_SECONDS = 60  # a large value takes long
REFUSING = 65_000  # added to `min-replicas-to-write`: more replicas than any server has
DISK_IS_LOW = 1 << 20  # added to it by the supervisor of an embedded store without disk space
_NEWER = "DUMP payload version"  # in the error reply to a value of a newer server
_LAG = 10  # `min-replicas-max-lag`, s: the server's default; with 0 the number of replicas is ignored


class MoveFailed(Exception):
    """A step of the move did not succeed. The message is one line that says which, and why."""


@contextmanager
def _failing(what: str) -> Iterator[None]:
    """Raise MoveFailed, which says what has failed, for an error of a server or of a connection to it."""
    try:
        yield
    except (RedisError, Unavailable, OSError) as error:
        raise MoveFailed(f"{what}: {error}") from error


@dataclass(frozen=True, slots=True)
class Value:
    """A key's value as DUMP returns it, and when it expires: ms since 1970, 0 for never."""

    key: str
    dumped: bytes
    expires: int

    @property
    def restore(self) -> Command:
        """The command that stores it."""
        return ("RESTORE", self.key, self.expires, self.dumped, "REPLACE", "ABSTTL")


class _Binary(RedisConnection):
    """A connection with replies in bytes, which collects the names of changed keys."""

    encoding = None

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.changed: set[str] = set()
        self.was_emptied = False

    def _take_push(self, push: Sequence[Any], *, is_overtaking: bool) -> None:  # noqa: ARG002  order does not matter here
        if push[0] != b"invalidate":
            return
        if push[1] is None:
            self.was_emptied = True
        else:
            self.changed.update(key.decode(errors="replace") for key in push[1])


class MovedServer:
    """The server that is left. Raises MoveFailed when it cannot be reached, or refuses something."""

    def __init__(self, reading: _Binary, tracking: _Binary, number: int) -> None:
        self._reading = reading
        self._tracking = tracking
        self.number = number  # of its database
        self.streams: set[str] = set()

    @classmethod
    async def open(cls, node: StoreNode) -> Self:
        """Connect to a server, and collect changes from now on."""
        with _failing("the server that is left"):
            reading, tracking = [
                await connect(node.make_tracked, lambda made: _Binary(made, REPLY_SECONDS)) for _ in range(2)
            ]
            (info,) = _sound(await reading.send([("CLIENT", "INFO")]))
            _sound(await tracking.send([("CLIENT", "TRACKING", "ON", "BCAST")]))
        facts = dict(part.split("=", 1) for part in info.decode().split() if "=" in part)
        return cls(reading, tracking, int(facts["db"]))

    async def close(self) -> None:
        """Close the connections."""
        await self._reading.close()
        await self._tracking.close()

    async def ask(self, *commands: Command) -> list[Any]:
        """Send commands and return their replies, in bytes."""
        with _failing("the server that is left"):
            return _sound(await self._reading.send(commands))

    async def all_keys(self) -> AsyncIterator[list[str]]:
        """Yield batches of all keys that exist during the whole scan. Some may be repeated."""
        cursor = b""
        while cursor != b"0":
            ((cursor, found),) = await self.ask(("SCAN", cursor or b"0", "COUNT", SCANNED))
            yield [_name(key) for key in found]

    async def values(self, names: Sequence[str]) -> tuple[list[Value], list[str]]:
        """Return the values of some keys, and the names of those that no longer exist."""
        looks = ("DUMP", "PEXPIRETIME", "TYPE")
        replies = await self.ask(*((look, name) for name in names for look in looks))
        dumped, expires, kinds = replies[::3], replies[1::3], replies[2::3]
        self.streams |= {name for name, kind in zip(names, kinds, strict=True) if kind == b"stream"}
        found = [Value(n, d, max(0, e)) for n, d, e in zip(names, dumped, expires, strict=True) if d is not None]
        return found, [name for name, value in zip(names, dumped, strict=True) if value is None]

    async def pause_writes(self, milliseconds: int) -> None:
        """Make all writes of the server wait, at most for so long. Reads continue."""
        await self.ask(("CLIENT", "PAUSE", milliseconds, "WRITE"))

    async def resume_writes(self) -> None:
        """Let writes continue."""
        await self.ask(("CLIENT", "UNPAUSE"))

    async def synchronise(self) -> None:
        """Wait until every change made so far has been announced.

        The server announces changes at the end of its turn, and so behind the replies of that turn. A second command is
        sent after the first reply, so its own reply comes behind them.
        """
        with _failing("changes can no longer be followed"):
            for _ in range(2):
                await self._tracking.send([("PING",)])

    def take_changed(self) -> set[str]:
        """Return the keys that have changed since the last call; raises MoveFailed once changes have been missed."""
        if not self._tracking.is_open:
            raise MoveFailed("the connection that announces changes was lost")
        if self._tracking.was_emptied:
            raise MoveFailed("the server that is left was emptied")
        taken, self._tracking.changed = self._tracking.changed, set()
        return taken


async def refuse_writes(db: Database) -> None:
    """Make a server refuse writes, and answer reads: it asks for more replicas than any server has."""
    replicas, lag = await _replicas(db)
    if replicas % DISK_IS_LOW < REFUSING:
        await _configure(db, "min-replicas-to-write", replicas + REFUSING)
    if not lag:
        await _configure(db, "min-replicas-max-lag", _LAG)


async def accept_writes(db: Database) -> bool:
    """Undo `refuse_writes`, of an earlier run, too; returns whether writes were refused."""
    replicas, _ = await _replicas(db)
    if replicas % DISK_IS_LOW < REFUSING:
        return False
    await _configure(db, "min-replicas-to-write", replicas - REFUSING)
    return True


async def _replicas(db: Database) -> tuple[int, int]:
    with _failing("the server that is left"):
        found = read_pairs(await db.one("CONFIG", "GET", "min-replicas-*"))
    return int(found["min-replicas-to-write"]), int(found["min-replicas-max-lag"])


async def _configure(db: Database, name: str, value: int) -> None:
    with _failing("the server that is left cannot be told to refuse or accept writes"):
        await db.one("CONFIG", "SET", name, value)


async def restore(target: Database, values: Sequence[Value], gone: Sequence[str]) -> None:
    """Store values in another database, and delete the keys that are gone."""
    size, batch = 0, list[Command](("DEL", name) for name in gone)
    for value in values:
        batch.append(value.restore)
        size += len(value.dumped)
        if size > BATCH_BYTES:
            await _store(target, batch)
            size, batch = 0, []
    await _store(target, batch)


async def _store(target: Database, commands: Sequence[Command]) -> None:
    try:
        await target.ask(*commands)
    except (RedisError, Unavailable) as error:
        is_older = _NEWER in str(error)
        raise MoveFailed(f"the target: {'it is older, and cannot read the values' if is_older else error}") from error


async def missing(db: Database, names: Sequence[str]) -> list[str]:
    """Return the keys among some that a database does not have."""
    found = await db.ask(*(("EXISTS", name) for name in names))
    return [name for name, exists in zip(names, found, strict=True) if not exists]


def _name(key: bytes) -> str:
    try:
        return key.decode()
    except UnicodeDecodeError:
        raise MoveFailed(f"the key {key!r} is not one of Perch's") from None


def _sound(replies: Iterable[Any]) -> list[Any]:
    found = list(replies)
    for reply in found:
        if isinstance(reply, Exception):
            raise reply
    return found


async def all_keys(db: Database) -> AsyncGenerator[list[str], None]:
    """Yield batches of all keys, of each node in turn."""
    for node in db.nodes:
        cursor = ""
        while cursor != "0":
            try:
                ((cursor, found),) = _sound(await node.run([("SCAN", cursor or "0", "COUNT", SCANNED)]))
            except (RedisError, Unavailable, OSError) as error:
                raise MoveFailed(str(error)) from error
            yield found


async def run_id(db: Database) -> str:
    """Return what names one run of a server."""
    return _run_id(await db.one("INFO", "server"))


class Server(NamedTuple):
    """One node of a store: what names its run, and how many keys it has."""

    run_id: str
    keys: int


async def servers(db: Database) -> list[Server]:
    """Return all nodes of a store; one round trip."""
    found = await db.each_node(("INFO", "server"), ("DBSIZE",))
    return [Server(_run_id(info), int(size)) for info, size in found]


def _run_id(info: str) -> str:
    return next(line.split(":", 1)[1] for line in info.splitlines() if line.startswith("run_id:"))

"""One server that a case is sent to, and all that can be observed of it from outside and inside."""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, cast
from unittest.mock import patch

import prometheus_client
from aiohttp.web_protocol import _ErrInfo

from serving.http.app import DOOR, RECORDER
from serving.http.client_connection import ClientConnection
from serving.observing import NoRecorder
from store.client.metering import METER
from store.client.tracing import Span
from tests.support.spans import CALLER, TRACE, Spans
from tests.support.transport.raw import Site
from tests.support.ways.cases import Case

PIECE = 16_384  # bytes that arrive at once; the kernel cuts larger ones anywhere, and a server parses what has arrived
PATIENCE = 20  # s; an expected event counts as lost after that
SHOWN = 300  # characters before and after the place where two texts begin to differ
START = ClientConnection.start.__name__  # aiohttp's loop over the requests of a connection
STEADY = 10  # turns of the event loop; a server that has waited for its client so long does nothing more by itself

_NEW_ID = re.compile(r"[0-9a-f]{18}")  # a request id that the server has made
_MASKED = (
    (re.compile(rb"\r\nDate: [^\r]*"), b"\r\nDate: now"),
    (re.compile(rb"\b[0-9a-f]{18}\b"), b"(new)"),
    (re.compile(rb"(?<=[_.])0[0-9a-f]{13}\b"), b"(id)"),
    (re.compile(rb"\b\d{4}-\d\d-\d\dT[\d:.]+Z"), b"(moment)"),
)
_TIMES = re.compile("_sum|_bucket|_created")
_HEAD = re.compile(rb"HTTP/1\.[01] \d{3} [^\r]*(?:\r\n[^\r\n]+)*\r\n\r\n")

Counts = dict[str, float]
Lines = list[Any]


@dataclass(frozen=True)
class Seen:
    """The observations of one case, without moments and without ids that the server makes."""

    received: bytes  # by the client; the headers of each response are sorted
    is_closed: bool  # by the server
    lines: list[dict[str, Any]]  # of the log
    contexts: list[Any]  # of the operations
    spans: list[Any]
    left: tuple[int, int]  # connections and requests that still count, when all is over


@dataclass(frozen=True)
class Record:
    """The observations of a server from its start to its end."""

    seen: list[Seen]
    counts: Counts  # that have risen
    metrics: list[str]
    stored: list[str]  # at the end


def differences(one: Any, other: Any) -> Iterator[str]:
    """Yield what differs between two records, or between what was seen of one case."""
    for name, a, b in ((each.name, getattr(one, each.name), getattr(other, each.name)) for each in fields(one)):
        if name == "seen":
            for left, right in zip(a, b, strict=True):
                yield from differences(left, right)
        elif a != b:
            yield f"  {name}:\n    {_around(str(a), str(b))}\n    {_around(str(b), str(a))}"


def _around(text: str, other: str) -> str:
    """Return the part of a text where it begins to differ from another one."""
    place = next((place for place, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), 0)
    return f"…{text[max(0, place - SHOWN) : place + SHOWN]}…"


class Client(asyncio.Protocol):
    """A client that takes all that it is sent."""

    def __init__(self) -> None:
        self.transport: Any = None
        self.received = b""
        self.is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  a reset is an end like another
        self.is_lost = True


ARRIVED: Counter[ClientConnection] = Counter()  # bytes that the server has got of its client


@contextmanager
def counting_arrivals() -> Iterator[None]:
    """Count the bytes that arrive at each connection."""
    receive = ClientConnection.data_received

    def counted(self: ClientConnection, data: bytes) -> None:
        ARRIVED[self] += len(data)
        receive(self, data)

    with patch.object(ClientConnection, "data_received", counted):
        yield


class Way:
    """A server that answers in one of the two ways."""

    def __init__(self, site: Site, spans: Spans, contexts: list[Any], lines: Lines) -> None:
        self._admission, self._port = site.admission, site.port
        self._shedder, self._recorder = site.app[DOOR].shedder, site.app[RECORDER]
        self._spans, self._contexts, self._lines = spans, contexts, lines
        self._own: set[asyncio.Task[Any]] = set()  # what runs all the time

    async def record(self, cases: Sequence[Case], stored: Callable[[], Awaitable[list[str]]]) -> Record:
        """Send cases to the server, and return what was observed; `stored` returns what is stored at the end."""
        before = _counts()
        seen = [await self._send(case) for case in cases]
        now = _counts()
        risen = {name: now[name] - before.get(name, 0) for name in now if now[name] != before.get(name, 0)}
        return Record(seen, risen, self._metrics(), await stored())

    async def _send(self, case: Case) -> Seen:
        try:
            return await self.send(case)
        except TimeoutError:
            raise AssertionError(f"the server does not come to rest: {case}") from None

    async def send(self, case: Case) -> Seen:
        """Send all of a case to the server, and return what was observed until nothing of it was left."""
        before, self._own = len(self._lines), asyncio.all_tasks()
        client, connection = await self._connect(case.address)
        for data, settles in (segment for write in case.writes for segment in write.segments):
            if not await self._give(client, connection, data, settles=settles):
                break
        is_closed = _is_over(connection)
        if not is_closed:
            client.transport.write_eof()
            if not _reads(connection):  # so the server does not notice
                connection.cut()
        await _until(lambda: client.is_lost and not self._admission and not self._works())
        ARRIVED.clear()
        return Seen(
            received=_response(client.received),
            is_closed=is_closed,
            lines=[_line(line) for line in self._lines[before:]],
            contexts=[_context(one) for one in _taken(self._contexts)],
            spans=[_span(one) for one in self._spans.take()],
            left=(len(self._admission), self._shedder.running),
        )

    def _metrics(self) -> list[str]:
        """Return the metrics of operations, without times."""
        if isinstance(self._recorder, NoRecorder):
            return []
        self._recorder.collect()
        shown = prometheus_client.generate_latest(self._recorder.registry).decode().splitlines()
        return [line for line in shown if line.startswith("perch_operation") and not _TIMES.search(line)]

    def _works(self) -> bool:
        """Return whether a request is still worked on. Reading the rest of its body on a lost connection is no work."""
        return any(cast("Any", task.get_coro()).__name__ != START for task in asyncio.all_tasks() - self._own)

    async def _connect(self, address: str) -> tuple[Client, ClientConnection]:
        loop = asyncio.get_running_loop()
        _, client = await loop.create_connection(Client, "127.0.0.1", self._port, local_addr=(address, 0))
        await _until(lambda: self._admission)
        (connection,) = self._admission.heads
        assert isinstance(connection, ClientConnection)
        return client, connection

    async def _give(self, client: Client, connection: ClientConnection, data: bytes, *, settles: bool) -> bool:
        """Send bytes until the server has them; returns whether it takes more."""
        wanted = ARRIVED[connection]
        for begin in range(0, len(data), PIECE):
            piece = data[begin : begin + PIECE]
            wanted += len(piece)
            client.transport.write(piece)
            await _until(partial(_has_taken, connection, wanted))
        if not settles:
            return not _is_over(connection)
        steady = 0
        async with asyncio.timeout(PATIENCE):
            while steady < STEADY:
                steady = steady + 1 if _has_done(connection, wanted) else 0
                await asyncio.sleep(0)
        return not _is_over(connection)


def _has_done(connection: ClientConnection, wanted: int) -> bool:
    """Return whether a server does nothing more with the bytes that it was sent."""
    if _is_over(connection):
        return True
    return (ARRIVED[connection] >= wanted or not _reads(connection)) and _waits(connection)


def _has_taken(connection: ClientConnection, wanted: int) -> bool:
    """Return whether a server has the bytes that it was sent, or takes none now."""
    return ARRIVED[connection] >= wanted or _is_over(connection) or not _reads(connection)


def _is_over(connection: ClientConnection) -> bool:
    return connection.transport is None or connection.transport.is_closing()


def _reads(connection: ClientConnection) -> bool:
    return connection.transport is not None and connection.transport.is_reading()


def _waits(connection: ClientConnection) -> bool:
    """Return whether a server waits for its client. The queue alone does not tell, if requests are pipelined."""
    request = connection._current_request  # noqa: SLF001  aiohttp does not tell
    is_socket = connection._payload_parser is not None  # noqa: SLF001
    is_working = request is not None and request.content.is_eof()
    if is_socket or is_working:
        return is_socket
    is_waiting = connection.queue is not None and connection.queue is not connection._admission.answering  # noqa: SLF001
    # After an invalid chunk, aiohttp reads no more of the body. The handler may wait for its rest nevertheless, and
    # aiohttp does so after the answer.
    is_reading = request is None or request.content._waiter is not None  # noqa: SLF001
    return is_waiting or (is_reading and any(isinstance(one, _ErrInfo) for one, _ in connection._messages))  # noqa: SLF001


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  the server runs in the same loop
            await asyncio.sleep(0)


# ------------------------------------------------------------ without what differs at each time


def _response(data: bytes) -> bytes:
    for pattern, mask in _MASKED:
        data = pattern.sub(mask, data)
    return _HEAD.sub(lambda found: _sorted(found[0]), data)


def _sorted(head: bytes) -> bytes:
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    return b"\r\n".join([first, *sorted(lines), b"", b""])


def _line(line: dict[str, Any]) -> dict[str, Any]:
    shown = {name: _text(value) for name, value in line.items() if name != "ms"}
    if "exc_info" in line:
        shown["exc_info"] = repr(line["exc_info"])
    if (trace := line.get("trace_id")) and trace != f"{TRACE:032x}":
        shown["trace_id"] = "(new)"
    return shown


def _text(value: Any) -> Any:
    return _NEW_ID.sub("(new)", value) if isinstance(value, str) else value


def _context(context: Any) -> Any:
    names = ("claims", "address", "user_agent", "request_id", "socket", "counted")
    return [_text(getattr(context, name)) for name in names]


def _span(span: Span) -> Any:
    facts = {name: value for name, value in span.facts.items() if name != "job"}
    return [span.kind.name, span.name, span.trace == TRACE, span.trace > 0, span.parent == CALLER, span.error, facts]


def _counts() -> Counts:
    counts: Counts = {}
    for each in fields(METER):
        value = getattr(METER, each.name)
        counts |= (
            {f"{each.name} {label}": n for label, n in value.items()}
            if isinstance(value, Counter)
            else {each.name: value}
        )
    return counts


def _taken(some: list[Any]) -> Sequence[Any]:
    taken = list(some)
    some.clear()
    return taken

"""Admits connections, and closes idle ones to make room or when they have waited too long.

A connection waits for its client before and within the head of a request, within a body, and between two requests. Only
a waiting connection is closed to make room for a new one, the longest waiting first. A request that is being answered,
a websocket and an event stream are never closed for that.

Each kind of waiting has a queue, ordered by the time at which connections began to wait. So admitting, waiting and
expiring take constant time per connection, and one timer per process serves all of them.
"""

import asyncio
from collections import defaultdict
from contextlib import suppress
from typing import Protocol, TypeAlias

import structlog

from resolvers.process.errors import RateLimited, RequestError, ServiceUnavailable
from serving.http.requests import Proxies
from store.client.metering import METER
from store.settings import Settings

SWEEP_SECONDS = 1.0  # Time between two sweeps for connections that have waited too long.
REPORT_SECONDS = 60.0  # Time between two log records of connections closed or refused for lack of room.
RETRY_SECONDS = 1  # Room is made whenever a connection ends.
UNREAD_BEATS = 3  # Heartbeats for which a client may read nothing of a response.

log = structlog.get_logger(__name__)


class AdmittedConnection(Protocol):
    """One connection, as admission sees it."""

    share: str | None  # The address by which the connection is counted, if any.
    queue: "Queue | None"  # The queue in which it is, None while it is a websocket or an event stream.
    since: float  # The time at which it was put there, by the loop's clock.

    def cut(self) -> None:
        """Drop the connection and all unsent data."""


Queue: TypeAlias = dict[AdmittedConnection, None]  # Ordered by the time at which they began to wait.


class Admissions:
    """The open connections of this process."""

    def __init__(self, settings: Settings, most: int) -> None:
        self._most = most
        self._most_per_address = settings.connections_per_address
        self._proxies = Proxies(settings.trusted_proxies)
        self._loop = asyncio.get_running_loop()
        self._open: set[AdmittedConnection] = set()
        self._by_address: defaultdict[str, set[AdmittedConnection]] = defaultdict(set)
        self.heads: Queue = {}  # The head of a request has not arrived completely.
        self.bodies: Queue = {}  # The head has arrived. The body has not, and `requests` has a time limit for it.
        self.pauses: Queue = {}  # These wait between two requests.
        self.unread: Queue = {}  # The client does not read the response.
        self.answering: Queue = {}  # These wait for nothing: a request is being answered.
        self._limits = (
            (self.heads, settings.request_head_seconds),
            (self.pauses, settings.keep_alive_seconds),
            (self.unread, UNREAD_BEATS * settings.heartbeat_seconds),
        )
        self._closed = self._refused = 0  # For lack of room, since the last report.
        self._reported = -REPORT_SECONDS
        self._drain_seconds = settings.drain_seconds
        self._emptied = asyncio.Event()
        self.drains = False  # Whether idle connections may be used once more when the process stops.
        self.ending = False  # Whether each connection ends with its next answer.

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, client: AdmittedConnection, peer: str | None) -> RequestError | None:
        """Admit a new connection, or return the refusal; `peer` is its other end, None for a Unix socket."""
        share = self._proxies.share(peer)
        if share is not None and not self._has_room_for(share):
            self._refused += 1
            METER.refusals["connections_per_address"] += 1
            return RateLimited("Too many connections from this address", RETRY_SECONDS)
        if len(self._open) >= self._most and not self._close_longest():
            self._refused += 1
            METER.refusals["max_connections"] += 1
            return ServiceUnavailable("The server has too many connections: try again later")
        client.share = share
        self._open.add(client)
        if share is not None:
            self._by_address[share].add(client)
        self.wait(client, self.heads)
        return None

    def wait(self, client: AdmittedConnection, queue: Queue) -> None:
        """Put a connection into a queue, because it begins to wait for its client, or to be answered."""
        self.leave_queue(client)
        if client in self._open:
            client.queue, client.since = queue, self._loop.time()
            queue[client] = None

    @staticmethod
    def leave_queue(client: AdmittedConnection) -> None:
        """Take a connection out of its queue."""
        if client.queue is not None:
            del client.queue[client]
            client.queue = None

    def is_waiting(self, client: AdmittedConnection) -> bool:
        """Return whether a connection waits for its client to send something."""
        queue = client.queue
        return queue is self.pauses or queue is self.heads or queue is self.bodies

    def leave(self, client: AdmittedConnection) -> None:
        """Remove a connection. A second call changes nothing."""
        self.leave_queue(client)
        self._open.discard(client)
        if client.share is not None and client.share in self._by_address:
            self._by_address[client.share].discard(client)
            if not self._by_address[client.share]:
                del self._by_address[client.share]
        if self.ending and not self._open:
            self._emptied.set()

    async def drain(self) -> None:
        """End each connection with its next answer, and give idle ones DRAIN_SECONDS for it if the process drains.

        The answer says `Connection: close`, so its client sends nothing more. Race: a request that a client sends on an
        idle connection at the moment when DRAIN_SECONDS are over is lost. Clients that close idle connections earlier
        never meet it.
        """
        self.ending = True
        if not self.drains or not self._open:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self._drain_seconds):
                await self._emptied.wait()

    async def run(self) -> None:
        """Close connections that have waited too long, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self.sweep()

    def sweep(self) -> None:
        """Close connections that have waited too long, and log how many were closed or refused for lack of room."""
        now = self._loop.time()
        for queue, seconds in self._limits:
            while queue and (first := next(iter(queue))).since + seconds <= now:
                self._close(first)
        if (self._closed or self._refused) and now - self._reported >= REPORT_SECONDS:
            log.warning("connections_limited", open=len(self), closed=self._closed, refused=self._refused)
            self._closed = self._refused = 0
            self._reported = now

    def _has_room_for(self, share: str) -> bool:
        """Return whether an address may have one more connection. Its longest waiting one is closed where needed."""
        if not self._most_per_address or len(self._by_address.get(share, ())) < self._most_per_address:
            return True
        waiting = [one for one in self._by_address[share] if self.is_waiting(one)]
        if not waiting:
            return False
        self._close_for_room(min(waiting, key=lambda one: one.since))
        return True

    def _close_longest(self) -> bool:
        """Close the connection that has waited longest; return False where none waits."""
        first = [next(iter(queue)) for queue in (self.heads, self.bodies, self.pauses) if queue]
        if not first:
            return False
        self._close_for_room(min(first, key=lambda one: one.since))
        return True

    def _close_for_room(self, client: AdmittedConnection) -> None:
        self._closed += 1
        self._close(client)

    def _close(self, client: AdmittedConnection) -> None:
        self.leave(client)
        client.cut()

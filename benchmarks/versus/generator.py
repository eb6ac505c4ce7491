"""The load generator, a process of its own: sends requests over keep-alive connections, and measures the answers.

`python -m benchmarks.versus.generator FILE` reads a plan: the fields of `LoadPlan`, a port, and encoded requests. It
prints `begin` when the warm-up is over, and the result as JSON when the time is. It needs Linux, for epoll.

Without a rate, each connection sends its next request when it has its answer. With a rate, requests become due at
random moments, the same in every run, whether or not earlier ones were answered. A request that waits for a free
connection is measured from the moment it was due, so a server that falls behind cannot hide it.

The generator's own delay does not count: the time until it comes to a request that is due is reported beside. The
kernel says when an answer arrived, whenever it is read.
"""

import gc
import json
import math
import random
import re
import select
import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ERRORS = b'rrors":[{'  # ends the names of both lists of errors, `errors` and `userErrors`
GOOD = b"HTTP/1.1 200"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
CHUNK, ANCILLARY = 1 << 18, 64  # bytes read at a time
TIMESTAMPS = 35  # SO_TIMESTAMPNS: what is received comes with its time, s and ns
SHOWN = 600  # bytes of a wrong answer
LOOK_SECONDS = 0.01  # at most, between two looks at the time
TIMER_SLACK = Path("/proc/self/timerslack_ns")  # The kernel may be late by 50 µs where nothing else is said.


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """How load is made: times in s; `rate` in requests per second, 0 for as many as are answered.

    With an `amount` that many requests are made instead, however long they take. The warm-up lasts until at least
    `least` requests were answered. `first` is the place of the request that is sent first, as a share of all.
    """

    connections: int
    warmup: float
    seconds: float
    rate: float = 0
    amount: int = 0
    least: int = 0
    first: float = 0


class Connection:
    """One connection, with at most one request under way."""

    def __init__(self, port: int) -> None:
        self.since = 0.0
        self._answer = b""
        self._size = 0  # of the answer, 0 before its head is complete
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, TIMESTAMPS, 1)

    def read(self) -> tuple[bytes, float]:
        """Read what there is. Returns the answer, empty while a part of it is missing, and when it arrived."""
        chunk, stamps, *_ = self.socket.recvmsg(CHUNK, ANCILLARY)
        if not chunk:
            raise ConnectionError("the server closed a connection")
        answer = self._answer + chunk if self._answer else chunk
        end = -1 if self._size else answer.find(b"\r\n\r\n")
        if end >= 0:
            length = LENGTH.search(answer, 0, end)
            if not length:
                raise ValueError(f"an answer without a length: {answer[:end]!r}")
            self._size = end + 4 + int(length[1])
        if len(answer) != self._size:
            self._answer = answer
            return b"", 0
        self._answer, self._size = b"", 0
        if not stamps:  # the kernel begins with stamps a moment after the first socket asked for them
            return answer, time.time()
        seconds, nanoseconds = struct.unpack("qq", stamps[0][2])
        return answer, seconds + nanoseconds / 1e9


class Generator:
    """Carries out a plan once."""

    def __init__(self, plan: LoadPlan, port: int, requests: Sequence[bytes]) -> None:
        self._plan, self._requests = plan, requests
        self._next = int(plan.first * len(requests))
        self._epoll = select.epoll()
        connections = [Connection(port) for _ in range(plan.connections)]
        self._connections = {one.socket.fileno(): one for one in connections}
        for one in connections:
            self._epoll.register(one.socket, select.EPOLLIN)
        # Connections take turns: Bun closes those on which no request comes for ten seconds.
        self._free = deque(connections)
        self._waiting = deque[float]()  # since when requests wait for a free connection
        self._began = self._cpu = math.inf
        self._answered = self._failures = 0  # whether measured or not
        self._example: str | None = None  # of a failure
        self._taken: list[float] = []
        self._late: list[float] = []  # time from when a request was due until the generator came to it

    def run(self) -> dict[str, object]:
        """Make the load. Returns the result."""
        plan, dice = self._plan, random.Random(1)  # noqa: S311  the same in every run
        start = due = now = time.time()
        if not plan.rate:
            self._waiting.extend([now] * plan.connections)
            self._send_waiting()
        while not self._is_over(now):
            if self._began == math.inf and now >= start + plan.warmup and self._answered >= plan.least:
                self._began, self._cpu = now, time.process_time()
                print("begin", flush=True)
            if plan.rate and due <= now:
                if due >= self._began:
                    self._late.append(now - due)
                self._waiting.append(now)
                self._send_waiting()
                due += dice.expovariate(plan.rate)
                now = time.time()
            left = min(due - now, LOOK_SECONDS) if plan.rate else LOOK_SECONDS
            select.select([self._epoll], (), (), max(left, 0))  # µs, where epoll itself counts whole ms
            for descriptor, _ in self._epoll.poll(0):
                if not self._is_over(now):
                    self._receive(self._connections[descriptor])
            now = time.time()
        return self._result(now - self._began)

    def _is_over(self, now: float) -> bool:
        amount = self._plan.amount
        return len(self._taken) + self._failures >= amount if amount else now >= self._began + self._plan.seconds

    def _send_waiting(self) -> None:
        while self._waiting and self._free:
            one = self._free.popleft()
            one.since = self._waiting.popleft()
            one.socket.sendall(self._requests[self._next % len(self._requests)])
            self._next += 1

    def _receive(self, one: Connection) -> None:
        answer, arrived = one.read()
        if not answer:
            return
        self._answered += 1
        if not answer.startswith(GOOD) or ERRORS in answer:
            self._failures += 1
            self._example = self._example or answer[:SHOWN].decode(errors="replace")
        elif one.since >= self._began:
            self._taken.append(arrived - one.since)
        self._free.append(one)
        if not self._plan.rate:
            self._waiting.append(time.time())
        self._send_waiting()

    def _result(self, seconds: float) -> dict[str, object]:
        return {
            "seconds": seconds,
            "answered": len(self._taken),
            "unanswered": len(self._connections) - len(self._free) + len(self._waiting),
            "failures": self._failures,
            "example": self._example,
            "p50": _percentile(self._taken, 0.5) * 1000,
            "p99": _percentile(self._taken, 0.99) * 1000,
            "late": _percentile(self._late, 0.99) * 1000,
            "load_cpu": time.process_time() - self._cpu,
        }


def _percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)] if values else 0.0


def main(path: Path) -> None:
    """Carry out the plan of a file, and print the result."""
    plan = json.loads(path.read_text("utf-8"))
    port, requests = plan.pop("port"), plan.pop("requests")
    TIMER_SLACK.write_text("1")
    gc.disable()
    print(json.dumps(Generator(LoadPlan(**plan), port, [request.encode() for request in requests]).run()), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

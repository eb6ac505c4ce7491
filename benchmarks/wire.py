"""Server and clients of a benchmark: Perch in a process of its own, and all its clients in one event loop.

The clients are as cheap as possible, since they share the machine with what they measure. They read sockets when epoll
reports data, and parse nothing of a message but the timestamp in its post. It needs Linux, for epoll and /proc.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import resource
import select
import socket
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

SERVER = Path(__file__).parent.parent / "server.py"
PATIENCE = 120  # s to wait for an expected event
STAMP = b"at="  # in the text of a post, before the time at which it was sent
STAMP_DIGITS = 16
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10  # opcodes, RFC 6455
_SMALL_BUFFER = 4_096  # bytes that the kernel buffers for a client that does not read
_CHUNK = 1 << 18  # bytes read at a time
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Server:
    """One process of Perch."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.port = port
        self._process = process

    @property
    def cpu(self) -> float:
        """CPU time the process has used, s, in steps of 10 ms."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    @property
    def memory(self) -> int:
        """Resident memory of the process, bytes."""
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * _PAGE

    @property
    def descriptors(self) -> int:
        """Files and sockets that the process has open."""
        return len(list(Path(f"/proc/{self._process.pid}/fd").iterdir()))

    def wait_until_idle(self) -> None:
        """Wait until the process has nothing left to do."""
        busy = True
        while busy:
            before = self.cpu
            time.sleep(0.5)
            busy = self.cpu - before > 0.02


@contextlib.contextmanager
def serving(folder: Path, **settings: object) -> Iterator[Server]:
    """Run `server.py serve` on a data directory; the process is gone at the end."""
    chosen = {
        "data_dir": folder,
        "port": 0,
        "rate_limit": 0,
        "overload_delay_ms": 0,
        "sign_ups_per_hour": 1_000_000,
        "log_level": "WARNING",
    }
    chosen |= {"password_memory_kib": 8, "password_passes": 1, "connections_per_address": 0, **settings}
    environment = os.environ | {name.upper(): str(value) for name, value in chosen.items()}
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    process = subprocess.Popen(  # noqa: S603  own script
        [sys.executable, str(SERVER), "serve"], stdout=subprocess.PIPE, env=environment, text=True
    )
    try:
        assert process.stdout
        line = next(line for line in process.stdout if "/graphql" in line)
        yield Server(process, int(line.split(":")[-1].split("/")[0]))
    finally:
        process.terminate()
        process.wait()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class End(Protocol):
    """A client's end of a connection."""

    socket: socket.socket

    def take(self) -> None:
        """Read what there is."""


class Loop:
    """All clients of this process, and the moments between a post and its receipts."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._ends: dict[int, End] = {}

    def add(self, end: End) -> None:
        """Read a connection from now on."""
        self._ends[end.socket.fileno()] = end
        self._epoll.register(end.socket, select.EPOLLIN)

    def drop(self, ends: Sequence[End]) -> None:
        """Close connections."""
        for end in ends:
            if self._ends.pop(end.socket.fileno(), None):
                self._epoll.unregister(end.socket)
            end.socket.close()

    def run(self, done: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Read all connections until a condition holds; raises TimeoutError when that takes too long."""
        deadline = time.monotonic() + seconds
        while not done():
            if time.monotonic() > deadline:
                raise TimeoutError
            self.turn(0.1)

    def turn(self, seconds: float) -> None:
        """Read what comes first, waiting for it."""
        for descriptor, _ in self._epoll.poll(seconds):
            self._ends[descriptor].take()


class Subscriber:
    """One websocket that speaks graphql-transport-ws, and what its operations deliver."""

    def __init__(
        self, port: int, token: str, operations: Sequence[dict[str, Any]], delays: array[float], *, small: bool = False
    ) -> None:
        self.delays = delays  # s from each post to its receipt, of all who share the list
        self.received = self.gaps = 0
        self._buffer = b""
        self.socket = socket.socket()
        if small:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        self._greet(token)
        for number, payload in enumerate(operations):
            self._say(TEXT, {"id": str(number), "type": "subscribe", "payload": payload})
        self.socket.setblocking(False)

    def _greet(self, token: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        head = "GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        head += f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
        self.socket.sendall(f"{head}Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n".encode())
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += self.socket.recv(_CHUNK)
        self._buffer = self._buffer.split(b"\r\n\r\n", 1)[1]
        self._say(TEXT, {"type": "connection_init", "payload": {"Authorization": f"Bearer {token}"}})
        while not (frames := list(self._frames())):
            self._buffer += self.socket.recv(_CHUNK)
        assert b"connection_ack" in frames[0][1], frames

    def _say(self, opcode: int, message: object) -> None:
        payload = message if isinstance(message, bytes) else json.dumps(message).encode()
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
        self.socket.sendall(bytes([0x80 | opcode]) + length + bytes(4) + payload)  # the mask changes nothing

    def take(self) -> None:
        """Read what there is."""
        self._buffer += self.socket.recv(_CHUNK)
        now = time.monotonic()
        for opcode, payload in self._frames():
            if opcode == PING:
                self._say(PONG, payload)
            elif opcode == PONG:
                pass  # The server probes whether there is room.
            elif (at := payload.find(STAMP)) >= 0:
                start = at + len(STAMP)
                self.delays.append(now - float(payload[start : start + STAMP_DIGITS]))
                self.received += 1
            elif b"StreamGap" in payload:
                self.gaps += 1
            else:
                raise RuntimeError(payload)

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        buffer, start = self._buffer, 0
        while len(buffer) >= start + 4:
            size, head = buffer[start + 1], 2
            if size == 126:
                size, head = int.from_bytes(buffer[start + 2 : start + 4], "big"), 4
            assert size < 1 << 16
            if len(buffer) < start + head + size:
                break
            yield buffer[start] & 15, buffer[start + head : start + head + size]
            start += head + size
        self._buffer = buffer[start:]


class Poster:
    """One connection over which a member posts, one post at a time."""

    def __init__(self, port: int, token: str = "") -> None:
        self.is_idle = True
        self.answer: dict[str, Any] = {}
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._authorization = f"Authorization: Bearer {token}\r\n" if token else ""
        self._buffer = b""

    def post(self, text: str, location: dict[str, float] | None = None) -> None:
        """Send a post that carries this moment; the answer is taken when it comes."""
        query = "mutation($input: PostInput!) { post(input: $input) { status { id } userErrors { message } } }"
        place = {"location": location} if location else {}
        # Made before the moment is taken, so that this does not count as the server's time.
        head = self._request(query, {"input": {"text": f"{STAMP.decode()}{'0' * STAMP_DIGITS} {text}", **place}})
        stamp = f"{STAMP.decode()}{time.monotonic():0{STAMP_DIGITS}.6f}".encode()
        self.socket.sendall(head.replace(STAMP + b"0" * STAMP_DIGITS, stamp))
        self.is_idle = False

    def ask(self, query: str, **variables: object) -> dict[str, Any]:
        """Return the data of an answer, waited for."""
        self.socket.sendall(self._request(query, variables))
        self.is_idle = False
        while not self.is_idle:
            self.take()
        return self.answer

    def take(self) -> None:
        """Read what there is."""
        self._buffer += self.socket.recv(_CHUNK)
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if found and len(body) >= int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]):
            answer = json.loads(body)
            assert "errors" not in answer, answer
            assert not any((field or {}).get("userErrors") for field in answer["data"].values()), answer
            self.answer, self._buffer, self.is_idle = answer["data"], b"", True

    def _request(self, query: str, variables: object) -> bytes:
        body = json.dumps({"query": query, "variables": variables}, ensure_ascii=False).encode()
        head = f"POST /graphql HTTP/1.1\r\nHost: localhost\r\n{self._authorization}Content-Type: application/json\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def sign_up(port: int, count: int) -> tuple[list[str], list[str]]:
    """Return access tokens and ids of new members."""
    door, tokens, ids = Poster(port), [], []
    for number in range(count):
        login = f"member{port}x{number}"
        given = {"login": login, "name": login, "email": f"{login}@example.org", "password": "correct horse battery"}
        query = """mutation($input: SignUpInput!) { signUp(input: $input) {
          accessToken viewer { user { id } } userErrors { message } } }"""
        made = door.ask(query, input=given)["signUp"]
        tokens.append(made["accessToken"])
        ids.append(made["viewer"]["user"]["id"])
    door.socket.close()
    return tokens, ids

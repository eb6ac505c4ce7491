"""Many websockets in one event loop, as cheap as possible, since they share a processor with the store and the load.

Sockets are read when epoll reports data. Of a message, nothing is parsed but the time at which its post was made. It
needs Linux, for epoll.
"""

import base64
import json
import os
import select
import socket
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from benchmarks.versus.contenders import BenchmarkError

PATIENCE = 120  # s without what is expected
MADE, INSTANT = b'"createdAt":"', 24  # what is before the time of a post, and its length
TEXT, PING, PONG = 1, 9, 10  # opcodes, RFC 6455
CHUNK = 1 << 18  # bytes read at a time
LOOK_SECONDS = 0.1  # between two looks at whether all have been received


class RawSubscriber:
    """One websocket that speaks graphql-transport-ws, and counts the posts that its subscription delivers."""

    def __init__(self, port: int, token: str, document: str, delays: "array[float]") -> None:
        self.received = self.gaps = 0
        self._delays = delays
        self._buffer = b""
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._greet(token)
        self._say(TEXT, {"id": "1", "type": "subscribe", "payload": {"query": document}})
        self.socket.setblocking(False)

    def _greet(self, token: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        head = "GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        head += f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
        self.socket.sendall(f"{head}Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n".encode())
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += self.socket.recv(CHUNK)
        self._buffer = self._buffer.split(b"\r\n\r\n", 1)[1]
        self._say(TEXT, {"type": "connection_init", "payload": {"Authorization": f"Bearer {token}"}})
        while not (frames := list(self._frames())):
            self._buffer += self.socket.recv(CHUNK)
        if b"connection_ack" not in frames[0][1]:
            raise BenchmarkError(f"a subscriber is refused: {frames[0][1]!r}")

    def _say(self, opcode: int, message: object) -> None:
        payload = message if isinstance(message, bytes) else json.dumps(message).encode()
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
        self.socket.sendall(bytes([0x80 | opcode]) + length + bytes(4) + payload)  # the mask changes nothing

    def take(self) -> None:
        """Read what there is."""
        self._buffer += self.socket.recv(CHUNK)
        now = time.time()
        for opcode, payload in self._frames():
            if opcode == PING:
                self._say(PONG, payload)
            elif (at := payload.find(MADE)) >= 0:
                start = at + len(MADE)
                made = datetime.fromisoformat(payload[start : start + INSTANT].decode())
                self._delays.append(now - made.timestamp())
                self.received += 1
            elif b"StreamGap" in payload:
                self.gaps += 1
            elif opcode != PONG:  # the server probes whether there is room
                raise BenchmarkError(f"a subscriber gets {payload!r}")

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        buffer, start = self._buffer, 0
        while len(buffer) >= start + 4:
            size, head = buffer[start + 1], 2
            if size == 126:
                size, head = int.from_bytes(buffer[start + 2 : start + 4], "big"), 4
            if len(buffer) < start + head + size:
                break
            yield buffer[start] & 15, buffer[start + head : start + head + size]
            start += head + size
        self._buffer = buffer[start:]


class Receivers:
    """Subscribers of one server with one document, and the seconds from each post until each of them had it."""

    def __init__(self, port: int, tokens: Sequence[str], document: str) -> None:
        self.delays = array("d")
        self._all = [RawSubscriber(port, token, document, self.delays) for token in tokens]
        self._by_descriptor = {one.socket.fileno(): one for one in self._all}
        self._epoll = select.epoll()
        for one in self._all:
            self._epoll.register(one.socket, select.EPOLLIN)

    def __len__(self) -> int:
        return len(self._all)

    @property
    def received(self) -> int:
        """Posts that all have received."""
        return min(one.received for one in self._all)

    def turn(self, seconds: float) -> None:
        """Read what comes first, waiting for it."""
        for descriptor, _ in self._epoll.poll(seconds):
            self._by_descriptor[descriptor].take()

    def receive(self, due: Callable[[], float]) -> None:
        """Read until all have received as many posts as are due. Raises BenchmarkError if somebody is too slow."""
        since, before = time.monotonic(), 0
        while self.received < due():
            self.turn(LOOK_SECONDS)
            if len(self.delays) > before:
                since, before = time.monotonic(), len(self.delays)
            if any(one.gaps for one in self._all) or time.monotonic() > since + PATIENCE:
                raise BenchmarkError("subscribers were too slow")

    def close(self) -> None:
        """Close all sockets."""
        self._epoll.close()
        for one in self._all:
            one.socket.close()

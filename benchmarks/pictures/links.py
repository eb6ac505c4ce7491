"""Measures links to pictures: GETs of files of 600 kB from a folder, and of the redirects that lead to a bucket.

Run it from a checkout with Perch and its extra `dev` installed, on Linux: `python -m benchmarks.pictures.links`. The
server and each client are processes. A client keeps its connections open and reads without looking at the bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import multiprocessing
import os
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.exports import MIB, Watch
from benchmarks.pictures.making import encoded, noise
from benchmarks.pictures.site import storing
from benchmarks.streams import table
from benchmarks.wire import Poster, serving, sign_up
from store.media.objects import Form, Media
from store.settings import Settings

FILE_BYTES = 600_000  # of the large form
CLIENTS = 8  # processes with one connection each, or one to Perch and one to the bucket
SECONDS = 5.0
BUFFER = 1 << 20  # bytes that a client reads at a time
PAUSE = 0.1  # s between two looks at an upload
CREATE = "mutation($input: CreateUploadInput!) { createUpload(input: $input) { upload { id url } } }"
STATE = "query($id: ID!) { upload(id: $id) { state image { url } } }"


def _picture(server_port: int) -> str:
    """Return the link to the large form of a new picture."""
    (token,), _ = sign_up(server_port, 1)
    poster, data = Poster(server_port, token), encoded(noise((800, 600)), "JPEG")
    given = {"purpose": "POST", "contentType": "image/jpeg", "size": len(data)}
    upload = poster.ask(CREATE, input=given)["createUpload"]["upload"]
    connection = HTTPConnection("127.0.0.1", server_port)
    connection.request("PUT", upload["url"], body=data, headers={"Content-Type": "image/jpeg"})
    connection.getresponse().read()
    while (found := poster.ask(STATE, id=upload["id"])["upload"])["state"] != "READY":
        time.sleep(PAUSE)
    link: str = found["image"]["url"]
    return link


def _enlarge(folder: Path, media_store: str, link: str) -> None:
    """Put a file of the size to be measured in the place of a picture's large form."""
    media = Media(Settings(data_dir=folder, media_store=media_store))
    name = urlsplit(link).path.split("/")[-2]
    asyncio.run(media.put(name, Form.LARGE, io.BytesIO(os.urandom(FILE_BYTES))))


class _Connection:
    """A connection that asks for one link again and again."""

    def __init__(self, address: tuple[str, int], target: str) -> None:
        self._socket = socket.create_connection(address)
        self._request = f"GET {target} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n\r\n".encode()
        self._buffer = bytearray(BUFFER)

    def get(self) -> tuple[int, str]:
        """Return the number of bytes of an answer and where it leads to, "" for nowhere."""
        self._socket.sendall(self._request)
        read = self._socket.recv_into(self._buffer)
        while (end := self._buffer.find(b"\r\n\r\n", 0, read)) < 0:
            read += self._socket.recv_into(memoryview(self._buffer)[read:])
        lines = bytes(self._buffer[:end]).decode().split("\r\n")
        head = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        left = size = int(head.get("content-length", 0))
        left -= read - end - 4
        while left:
            left -= self._socket.recv_into(self._buffer, min(left, BUFFER))
        if lines[0].split()[1] not in {"200", "302"}:
            raise SystemExit(lines[0])
        return size, head.get("location", "")


def _get(links: Sequence[str], seconds: float, found: multiprocessing.Queue[int]) -> None:
    """Ask for links one after the other, again and again, and report how often."""
    connections = [
        _Connection((urlsplit(link).hostname or "", urlsplit(link).port or 0), "/" + link.split("/", 3)[3])
        for link in links
    ]
    deadline, answered = time.monotonic() + seconds, 0
    while time.monotonic() < deadline:
        for connection in connections:
            connection.get()
        answered += 1
    found.put(answered)


def measure(folder: Path, store: str, seconds: float) -> list[list[object]]:
    """Return rows: a server that sends files, or that redirects to a bucket, which sends them."""
    with (
        storing(folder / store, store) as media_store,
        serving(folder / store, RATE_LIMIT=0, MEDIA_STORE=media_store) as server,
    ):
        path = _picture(server.port)
        _enlarge(folder / store, media_store, path)
        link = f"http://127.0.0.1:{server.port}{path}"
        size, place = _Connection(("127.0.0.1", server.port), path).get()
        rows = []
        for name, links in _ways(store, link, place):
            before, cpu, watch = server.memory, server.cpu, Watch(server)
            watch.start()
            answered, took = _load(links, seconds)
            spent, delays = server.cpu - cpu, watch.end()
            rate, late = answered / took, delays[int(len(delays) * 0.99)] if delays else 0.0
            sent = rate * (size if store == "folder" else FILE_BYTES if len(links) > 1 else 0) / 1e6
            growth = (watch.memory - before) / MIB
            rows.append([name, rate, sent, 1000 * spent / answered, before / MIB, growth, late])
        return rows


def _ways(store: str, link: str, place: str) -> list[tuple[str, list[str]]]:
    if store == "folder":
        return [("folder", [link])]
    return [("bucket, the redirect alone", [link]), ("bucket, redirect and file", [link, place])]


def _load(links: Sequence[str], seconds: float) -> tuple[int, float]:
    """Return how many answers all clients got, and in what time."""
    found: multiprocessing.Queue[int] = multiprocessing.Queue()
    began = time.monotonic()
    clients = [multiprocessing.Process(target=_get, args=(links, seconds, found)) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    answered = sum(found.get() for _ in clients)
    for client in clients:
        client.join()
    return answered, time.monotonic() - began


def main() -> int:
    """Measure a folder and a bucket."""
    parser = argparse.ArgumentParser(description="Measures links to pictures.")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each measurement")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for store in ("folder", "bucket") for row in measure(Path(folder), store, asked.seconds)]
    head = ["", "requests/s", "MB/s", "server CPU, ms", "memory before, MiB", "growth, MiB", "healthz p99, ms"]
    table(head, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Measures pictures: a server's memory while many upload at once, what processing costs, and what stored files hold.

Run it from a checkout with Perch installed, on Linux: `python -m benchmarks.pictures`. The server is a process of its
own on an embedded store in a folder that is removed at the end. `--exiftool 200` looks with ExifTool (Debian:
libimage-exiftool-perl) at the stored forms of so many files, hostile and ordinary ones, for anything of the original
but pixels and colour profile. Tags planted into a stored form show first that such a look finds them. It exits with 1
if a form has any, or if a plant is overlooked.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import sys
import tempfile
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

from benchmarks.exports import MIB, Watch
from benchmarks.pictures.making import encoded, made_of, noise
from benchmarks.pictures.metadata import kept, overlooked
from benchmarks.pictures.site import storing
from benchmarks.streams import table
from benchmarks.wire import Poster, serving, sign_up

CLIENTS = 20
UPLOAD_BYTES = 10_000_000
PIECE = 1 << 16  # bytes that a client sends at a time
SMALL = (4_000, 3_000)  # pixels: 12 million, as a phone takes them
LARGE = (8_660, 5_773)  # pixels: 50 million
CREATE = "mutation($input: CreateUploadInput!) { createUpload(input: $input) { upload { url } } }"


def _send(port: int, path: str, data: bytes) -> None:
    connection = HTTPConnection("127.0.0.1", port)
    pieces = (data[at : at + PIECE] for at in range(0, len(data), PIECE))
    headers = {"Content-Type": "image/jpeg", "Content-Length": str(len(data))}
    connection.request("PUT", path, body=pieces, headers=headers)
    status = connection.getresponse().status
    connection.close()
    if status != 204:
        raise SystemExit(f"a PUT was answered with {status}")


def uploads(folder: Path, store: str) -> list[object]:
    """Return a row: the memory of a server while clients upload at the same time to a `folder` or a `bucket`."""
    with (
        storing(folder / store, store) as media,
        serving(folder / store, RUN_WORKER="false", RATE_LIMIT=0, MEDIA_STORE=media) as server,
    ):
        tokens, _ = sign_up(server.port, CLIENTS)
        data = os.urandom(UPLOAD_BYTES)
        given = {"purpose": "POST", "contentType": "image/jpeg", "size": len(data)}

        def links() -> list[str]:
            posters = [Poster(server.port, token) for token in tokens]
            return [one.ask(CREATE, input=given)["createUpload"]["upload"]["url"] for one in posters]

        small = {**given, "size": 10}
        warm = Poster(server.port, tokens[0]).ask(CREATE, input=small)["createUpload"]["upload"]["url"]
        _send(server.port, warm, data[:10])  # the object store is opened at its first use
        paths = links()
        server.wait_until_idle()
        before, cpu, watch, began = server.memory, server.cpu, Watch(server), time.perf_counter()
        watch.start()
        threads = [threading.Thread(target=_send, args=(server.port, path, data)) for path in paths]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds, delays = time.perf_counter() - began, watch.end()
        late = delays[int(len(delays) * 0.99)] if delays else 0.0
        return [store, CLIENTS, before / MIB, (watch.memory - before) / MIB, seconds, server.cpu - cpu, late]


def processing(name: str, data: bytes, count: int) -> list[object]:
    """Return a row: the time, CPU and memory that files like this one take, one after the other.

    The memory is that of the largest child process until now, so smaller files have to be measured first.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    for _ in range(count):
        made, _ = asyncio.run(made_of(data))
        if made.error:
            raise SystemExit(f"{name}: {made.error}")
    seconds = (time.perf_counter() - began) / count
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / count
    return [name, len(data) / MIB, seconds, cpu, 1 / seconds, after.ru_maxrss / 1024]


def main() -> int:
    """Measure, or look at what is kept."""
    parser = argparse.ArgumentParser(description="Measures pictures.")
    parser.add_argument("--exiftool", type=int, metavar="N", help="only look with ExifTool at the forms of N files")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.exiftool:
            found = [f"overlooked: {plant}" for plant in overlooked(Path(folder))] + kept(asked.exiftool, Path(folder))
            print(*found, sep="\n", end="\n" if found else "")
            return 1 if found else 0
        columns = ["store", "clients", "memory before, MiB", "growth, MiB", "time, s", "CPU, s", "healthz p99, ms"]
        table(columns, [uploads(Path(folder), store) for store in ("folder", "bucket")])
    rows = [
        processing("small JPEG (640x480)", encoded(noise((640, 480)), "JPEG"), 10),
        processing("12 megapixel JPEG", encoded(noise(SMALL), "JPEG", quality=85), 5),
        processing("50 megapixel JPEG", encoded(noise(LARGE), "JPEG", quality=75), 3),
        processing("50 megapixel PNG", encoded(noise(LARGE), "PNG", compress_level=1), 2),
        processing("50 megapixel WebP", encoded(noise(LARGE), "WEBP", quality=50, method=0), 2),
    ]
    table(["file", "MiB", "time, s", "CPU, s", "a second", "peak memory, MiB"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

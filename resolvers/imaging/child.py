"""The child process that decodes one file: it limits itself first, and prints one line of JSON."""

import contextlib
import json
import os
import resource
import time
from typing import IO

NICENESS = 10  # so that requests come first
FILE_BYTES = 64 << 20  # of a form
OPEN_FILES = 32


def main(arguments: list[str]) -> None:
    """Make the forms of a file, and print what was made or why not. Takes the numbers that `processing` passes."""
    source, large, small, square, most_pixels, memory, seconds = map(int, arguments)
    _limit(memory, seconds)
    try:
        files = os.fdopen(source, "rb"), os.fdopen(large, "r+b"), os.fdopen(small, "r+b")
        made = _make(*files, square=bool(square), most_pixels=most_pixels)
    except MemoryError:
        made = {"error": "TOO_LONG"}
    print(json.dumps(made | {"seconds": time.process_time()}), flush=True)  # noqa: T201  the parent reads it
    os._exit(0)  # without freeing a large picture piece by piece


def _make(source: IO[bytes], *targets: IO[bytes], square: bool, most_pixels: int) -> dict[str, object]:
    """Return what was made, or why not. The imports may need more memory than is allowed."""
    from resolvers.imaging.forms import Unacceptable, make
    from resolvers.imaging.structure import is_excessive

    if is_excessive(source):
        return {"error": "TOO_LONG"}
    try:
        made = make(source, targets, square=square, most_pixels=most_pixels)
    except Unacceptable as refusal:
        return {"error": refusal.code}
    for target in targets:
        target.flush()
    return made


def _limit(memory: int, seconds: int) -> None:
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(ValueError):  # macOS does not limit the address space
            resource.setrlimit(what, (allowed, allowed))
    os.nice(NICENESS)

"""The child process that decodes one file: it limits itself first, and prints one line of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys

NICENESS = 10  # so that requests come first
FILE_BYTES = 64 << 20  # of a form
OPEN_FILES = 32


def main(arguments: list[str]) -> None:
    """Make the forms of a file, and print what was made or why not. Takes the numbers that `processing` passes."""
    source, large, small, square, most_pixels, memory, seconds = map(int, arguments)
    _limit(memory, seconds)
    try:
        from resolvers.imaging.forms import Unacceptable, make

        try:
            targets = [os.fdopen(large, "r+b"), os.fdopen(small, "r+b")]
            made = make(os.fdopen(source, "rb"), targets, square=bool(square), most_pixels=most_pixels)
            for target in targets:
                target.flush()
        except Unacceptable as refusal:
            made = {"error": refusal.code}
    except MemoryError:
        made = {"error": "TOO_LONG"}
    print(json.dumps(made), flush=True)  # noqa: T201  the parent reads it
    os._exit(0)  # without freeing a large picture piece by piece


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


if __name__ == "__main__":
    main(sys.argv[1:])

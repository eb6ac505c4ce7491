"""Runs the child process that makes the forms of a picture, and kills it when it takes too long."""

import asyncio
import contextlib
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import msgspec
import structlog
from msgspec import Struct

from store.settings import Settings

START_BYTES = 512 << 20  # of address space that Python, Pillow and the decoders may take
PIXEL_BYTES = 8  # of address space for each pixel of the largest picture that is accepted
WAITING = 4  # seconds that may pass, for each second of processor time

_ROOT = Path(__file__).parents[2]
# `-I` ignores the environment and the current folder, so the root of the packages is named here.
_PROGRAM = (
    f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from resolvers.imaging.child import main; main(sys.argv[1:])"
)

log = structlog.get_logger()


class MadeForms(Struct, frozen=True):
    """What the child process reports."""

    width: int = 0  # pixels of the large form
    height: int = 0
    blurhash: str = ""
    error: str = ""  # a UserErrorCode; "" for a picture
    seconds: float = 0.0  # of processor time


async def make(settings: Settings, source: IO[bytes], targets: Sequence[IO[bytes]], *, square: bool) -> MadeForms:
    """Make the large and the small form of a file. A file that needs too much memory or time has the error TOO_LONG.

    A child that was killed reports no processor time. It counts as having taken all that it was allowed.
    Files without names are enough: the child inherits them, so a crash leaves nothing.
    """
    memory, seconds = START_BYTES + PIXEL_BYTES * settings.max_image_pixels, settings.image_seconds
    files = [file.fileno() for file in (source, *targets)]
    arguments = (*files, int(square), settings.max_image_pixels, memory, seconds)
    command = (sys.executable, "-I", "-c", _PROGRAM, *map(str, arguments))
    process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, pass_fds=files)
    try:
        async with asyncio.timeout(seconds * WAITING):
            output, complaint = await process.communicate()
    except TimeoutError:
        log.warning("image_timed_out", seconds=seconds * WAITING)
        return MadeForms(error="TOO_LONG", seconds=seconds)
    finally:
        await _end(process)
    if process.returncode == 0 and output:
        return msgspec.json.decode(output, type=MadeForms)
    reason = complaint.decode(errors="replace").strip().rpartition("\n")[2]
    log.warning("image_refused", status=process.returncode, reason=reason)
    return MadeForms(error="TOO_LONG", seconds=seconds)  # a limit of the child has killed it


async def _end(process: Process) -> None:
    """Kill the process unless it has ended. Its pipes are closed, and nothing of it is left."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()

"""Pins processes to processors: the server has one to itself, store and load generator share another."""

import contextlib
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

SERVER, LOAD = 0, 1  # among the processors that this process may use
ALL = None  # any of them


def pin(process: psutil.Process, which: int | None) -> None:
    """Pin all threads of a process to one processor, or to all, where the system supports it."""
    if sys.platform != "linux" or not can_pin():
        return
    allowed = set(_ALL) if which is None else {_ALL[which]}
    for thread in process.threads():
        try:
            os.sched_setaffinity(thread.id, allowed)
        except ProcessLookupError:
            continue  # it has ended since


@contextlib.contextmanager
def moved(which: int) -> Iterator[None]:
    """Run this process on another processor, such as the one that servers have in their turns.

    A client of the store that shares its processor costs it less: 12 µs a round trip, not 39. That processor is never
    idle then, and no other one has to be woken.
    """
    process = psutil.Process()
    pin(process, which)
    try:
        yield
    finally:
        pin(process, LOAD)


def can_pin() -> bool:
    """Return whether processes can be pinned to different processors here."""
    return len(_ALL) > 1


def model() -> str:
    """Return the model name of the processors, as far as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def busy(which: int) -> float:
    """Return for how long a processor has been busy, s; 0 where processes are not pinned."""
    if not can_pin():
        return 0
    times = psutil.cpu_times(percpu=True)[_ALL[which]]
    return float(sum(times) - times.idle - times.iowait - times.guest - times.guest_nice)


_ALL = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []

"""Which processor a process may use: the server has one to itself, store and load generator share another."""

from __future__ import annotations

import os
import sys

import psutil

SERVER, LOAD = 0, 1  # among the processors that this process may use


def pin(process: psutil.Process, which: int) -> None:
    """Let all threads of a process run on one processor only, where the system has such a thing."""
    if sys.platform != "linux" or not can_pin():
        return
    processor = _ALL[which]
    for thread in process.threads():
        try:
            os.sched_setaffinity(thread.id, {processor})
        except ProcessLookupError:
            continue  # it has ended since


def can_pin() -> bool:
    """Return whether processes can be kept apart here."""
    return len(_ALL) > 1


def busy(which: int) -> float:
    """Return for how long a processor has been busy, s; 0 where processes are not pinned."""
    if not can_pin():
        return 0
    times = psutil.cpu_times(percpu=True)[_ALL[which]]
    return float(sum(times) - times.idle - times.iowait - times.guest - times.guest_nice)


_ALL = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []

"""What systemd and Perch tell each other: sockets that systemd has opened, and the state of the service.

Sources: sd_listen_fds(3) and sd_notify(3). Without systemd, nothing here has an effect.
"""

import contextlib
import os
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

FIRST_DESCRIPTOR = 3  # SD_LISTEN_FDS_START
_TELL_SECONDS = 1.0  # between two messages of a start
_EXTEND_SECONDS = 60  # for which systemd waits after each: longer than any pause between two tries to reach Redis
_NOTIFY, _LISTEN_PID, _LISTEN_COUNT = "NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS"


def tell(state: str) -> None:
    """Tell systemd a state, such as `READY=1`."""
    if not (path := os.environ.get(_NOTIFY)):
        return
    address = "\0" + path[1:] if path.startswith("@") else path  # @ stands for the abstract namespace
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifying:
        notifying.sendto(state.encode(), address)


@contextlib.contextmanager
def starting() -> Iterator[Callable[[Callable[[], str]], None]]:
    """Yield a function that tells systemd what the start waits for, so that it goes on waiting; at most once a second.

    The function gets another one that says it in words, called only when systemd is told.
    """
    told = 0.0

    def waits(says: Callable[[], str]) -> None:
        nonlocal told
        if os.environ.get(_NOTIFY) and (now := time.monotonic()) - told >= _TELL_SECONDS:
            told = now
            tell(f"EXTEND_TIMEOUT_USEC={_EXTEND_SECONDS * 1_000_000}\nSTATUS={says()}")

    yield waits
    if told:
        tell("STATUS=")


@contextlib.contextmanager
def reloading() -> Iterator[None]:
    """Tell systemd that the service reloads, and at the end that it is ready again."""
    tell(f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")
    try:
        yield
    finally:
        tell("READY=1")


def sockets() -> list[socket.socket]:
    """Return the listening sockets that systemd has opened for this process, none without socket activation."""
    if os.environ.get(_LISTEN_PID) != str(os.getpid()):
        return []
    count = int(os.environ.get(_LISTEN_COUNT, "0"))
    inherited = [socket.socket(fileno=FIRST_DESCRIPTOR + number) for number in range(count)]
    for each in inherited:
        os.set_inheritable(each.fileno(), False)  # children get theirs by name
    return inherited


def shared_out(shared: Sequence[socket.socket], count: int) -> Sequence[Sequence[socket.socket]]:
    """Deal sockets out to `count` processes, so that each process has one of each address or more.

    Several sockets of one address (`ReusePort=`) are dealt out in turn. The processes share a socket that is alone.
    """
    by_address: defaultdict[Any, list[socket.socket]] = defaultdict(list)
    for each in shared:
        by_address[each.getsockname()].append(each)
    dealt: list[list[socket.socket]] = [[] for _ in range(count)]
    for those in by_address.values():
        for turn in range(max(count, len(those))):
            dealt[turn % count].append(those[turn % len(those)])
    return dealt

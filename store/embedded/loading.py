"""How far a server has loaded its data."""

import contextlib
import re
import socket
import sys
from collections.abc import Callable

from store.embedded.launch import StoreLocation

if sys.platform != "win32":
    from store.embedded import supervisor

Waits = Callable[[Callable[[], str]], None]  # told again and again while a server loads; gets what says how far it is

_ANSWER_SECONDS = 1.0  # for the whole reply
_LOADED = re.compile(rb"\bloading_loaded_perc:(\d+)")


def nobody_waits(_: Callable[[], str]) -> None:
    """Tell nobody."""


def progress(place: StoreLocation) -> str:
    """Return what a server that does not serve yet is doing, in words, with how much of its data it has loaded."""
    name = place.data_dir.name
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_ANSWER_SECONDS)
        connection.connect(str(place.socket))
        if place.passwords:
            connection.sendall(f"AUTH {supervisor.password_in(str(place.passwords))}\r\n".encode())
        connection.sendall(b"INFO persistence\r\nPING\r\n")
        reply = b""
        while b"-LOADING" not in reply and b"+PONG" not in reply and (more := connection.recv(1 << 16)):
            reply += more
        if loaded := _LOADED.search(reply):
            return f"The store in {name} loads its data: {int(loaded[1])} %"
    return f"The store in {name} prepares its data"

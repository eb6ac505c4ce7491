"""Chooses TCP ports for the nodes of a cluster on this machine."""

import os
import socket

HOST = "127.0.0.1"
BUS_OFFSET = 10_000  # a node's cluster bus listens on its port plus this number, unless the server is told otherwise
MOST_NODES = 32

_FIRST, _COUNT = 10_000, 10_000  # ports and bus ports lie below those that Linux gives to outgoing connections


def free_port(node: int, previous: int = 0) -> int:
    """Return the port of a node: the previous one if it is free, else another one that is free.

    Nodes with different numbers get different ports, even before any of them listens. So do processes that choose at
    the same time, because each begins at another port.
    """
    begin = os.getpid() * MOST_NODES + node
    others = (_FIRST + (begin + step) % _COUNT for step in range(0, _COUNT, MOST_NODES))
    for port in (*([previous] if previous else []), *others):
        if _is_free(port) and _is_free(port + BUS_OFFSET):
            return port
    raise OSError(f"no port between {_FIRST} and {_FIRST + _COUNT} is free")


def _is_free(port: int) -> bool:
    with socket.socket() as listener:
        # As the server does: else the connections that a killed server has left would hold its port for a minute.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError:
            return False
    return True

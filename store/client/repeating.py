"""Repetition of what may run twice: after a lost connection, its commands are sent again at once.

The server may have executed them already. So this is for jobs, whose steps may run twice, and for reads. Everybody else
gets Unavailable, and a job that began so is handed over to a worker.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

TRIES = 8  # How often commands are sent at most.
REPEAT_SECONDS = 1.0  # For how long they are sent again. A server that hangs is not waited for twice.

_IS_REPEATABLE: ContextVar[bool] = ContextVar("repeatable", default=False)


@contextlib.contextmanager
def repeatable() -> Iterator[None]:
    """Have all commands inside the context sent again whenever their connection is lost."""
    token = _IS_REPEATABLE.set(True)
    try:
        yield
    finally:
        _IS_REPEATABLE.reset(token)


class Tries:
    """The tries to send some commands."""

    __slots__ = ("_began", "_left")

    def __init__(self) -> None:
        self._left = TRIES if _IS_REPEATABLE.get() else 1
        self._began = asyncio.get_running_loop().time()

    def go_on(self) -> bool:
        """Return whether to send the commands once more, after a try whose connection was lost."""
        self._left -= 1
        return self._left > 0 and asyncio.get_running_loop().time() < self._began + REPEAT_SECONDS

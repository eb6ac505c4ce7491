"""States in which the server refuses commands, and one line a minute in the log for each of them."""

from __future__ import annotations

import asyncio

import structlog

LOG_SECONDS = 60.0  # between two lines about the same outage

log = structlog.get_logger(__name__)


class Unavailable(Exception):
    """The database cannot be reached, or cannot answer now. Commands may or may not have been executed."""

    def __init__(self, message: str, state: str = "UNREACHABLE") -> None:
        super().__init__(message)
        self.state = state


class CommandRefused(Unavailable):
    """The server refuses this command in its present state and answers others. A refused write changes nothing.

    A script is refused at its first write, before it has changed anything. So a script whose first write removes
    something runs to its end even when memory is used up. NOPERM is the exception: the server checks each command of
    a script when the script runs it.
    """


class Redirected(Unavailable):
    """The node does not execute this command now: another one owns the slot, or the slot is moving. Nothing changed."""


class Lost(Unavailable):
    """The node could not be reached, or did not reply. The command may have been executed."""


# By the code of the error reply.
STATES: dict[str, type[Unavailable]] = {
    **dict.fromkeys(("LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN"), Unavailable),
    **dict.fromkeys(("MOVED", "ASK", "TRYAGAIN"), Redirected),
    **dict.fromkeys(("OOM", "MISCONF", "NOREPLICAS", "READONLY", "NOPERM"), CommandRefused),
}
OUTAGES = frozenset((*STATES.values(), Lost))  # types of replies that report an outage

# Errors of a command in a script that have no code of their own, by words of their text.
_IN_SCRIPTS = {
    "ACL failure in script": "NOPERM",  # Valkey, and Redis from 7.2 on
    "The user executing the script": "NOPERM",  # Redis 7.0
    "while the cluster is down": "CLUSTERDOWN",
}
_ONLY_READS = ("only accepts read commands", "is down and readonly")  # with cluster-allow-reads-when-down


def outage(code: str, text: str) -> Unavailable | None:
    """Return the outage that an error reply reports, None for an error of the command itself."""
    if code == "ERR":
        code = next((state for words, state in _IN_SCRIPTS.items() if words in text), code)
    kind = STATES.get(code)
    if code == "CLUSTERDOWN" and any(words in text for words in _ONLY_READS):
        kind = CommandRefused
    return kind(text, code) if kind else None


class OutageLog:
    """Logs an outage when it begins, then once a minute with the number of errors since, until a minute has none."""

    def __init__(self) -> None:
        self._errors: dict[tuple[str, str], int] = {}  # since the last line, by state and command
        self._timers: dict[tuple[str, str], asyncio.TimerHandle] = {}

    def note(self, error: Unavailable, command: str = "") -> None:
        """Count an error. Only the name of a command is logged: arguments may be secret, and NOPERM may quote them."""
        state = (error.state, command if error.state == "NOPERM" else "")
        if state in self._errors:
            self._errors[state] += 1
            return
        reason = {"command": command} if state[1] else {"reason": str(error)}
        log.warning("store_outage", state=error.state, errors=1, **reason)
        self._wait(state)

    @property
    def is_counting(self) -> bool:
        """Whether an outage is under way."""
        return bool(self._errors)

    def _wait(self, state: tuple[str, str]) -> None:
        self._errors[state] = 0
        self._timers[state] = asyncio.get_running_loop().call_later(LOG_SECONDS, self._report, state)

    def _report(self, state: tuple[str, str]) -> None:
        errors = self._errors.pop(state)
        if errors:
            command = {"command": state[1]} if state[1] else {}
            log.warning("store_outage", state=state[0], errors=errors, **command)
            self._wait(state)

    def close(self) -> None:
        """Stop logging."""
        for timer in self._timers.values():
            timer.cancel()

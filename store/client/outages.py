"""States in which a server refuses commands or cannot be reached, as errors."""

from store.client.breaker import TIMED_OUT, Silent


class Unavailable(Exception):
    """The database cannot be reached, or cannot answer now. Commands may or may not have been executed."""

    def __init__(self, message: str, state: str = "UNREACHABLE", server: str = "") -> None:
        super().__init__(message)
        self.state = state
        self.server = server  # its URL without a password, where it is known


class CommandRefused(Unavailable):
    """The server refuses this command in its present state and answers others. A refused write changes nothing.

    A script is refused at its first write, before it has changed anything. So a script whose first write removes
    something runs to its end even when memory is used up. NOPERM is the exception: the server checks each command of
    a script when the script runs it.
    """


class Redirected(Unavailable):
    """The node does not execute this command now: another one owns the slot, or the slot is moving. Nothing changed."""


class ConnectionLost(Unavailable):
    """The node could not be reached, or did not reply. The command may have been executed."""


# By the code of the error reply.
STATES: dict[str, type[Unavailable]] = {
    **dict.fromkeys(("LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN"), Unavailable),
    **dict.fromkeys(("MOVED", "ASK", "TRYAGAIN"), Redirected),
    **dict.fromkeys(("OOM", "MISCONF", "NOREPLICAS", "READONLY", "NOPERM"), CommandRefused),
}
OUTAGES = frozenset((*STATES.values(), ConnectionLost))  # types of replies that report an outage

# Errors of a command in a script that have no code of their own, by words of their text.
_IN_SCRIPTS = {
    "ACL failure in script": "NOPERM",  # Valkey, and Redis from 7.2 on
    "The user executing the script": "NOPERM",  # Redis 7.0
    "while the cluster is down": "CLUSTERDOWN",
}
_ONLY_READS = ("only accepts read commands", "is down and readonly")  # with cluster-allow-reads-when-down


def outage(code: str, text: str, server: str = "") -> Unavailable | None:
    """Return the outage that an error reply of a server reports, None for an error of the command itself."""
    if code == "ERR":
        code = next((state for words, state in _IN_SCRIPTS.items() if words in text), code)
    kind = STATES.get(code)
    if code == "CLUSTERDOWN" and any(words in text for words in _ONLY_READS):
        kind = CommandRefused
    return kind(text, code, server) if kind else None


def lost(error: BaseException, server: str) -> ConnectionLost:
    """Return the outage of a server that could not be reached, or did not reply in time."""
    return ConnectionLost(str(error), "SILENT" if isinstance(error, (Silent, *TIMED_OUT)) else "UNREACHABLE", server)

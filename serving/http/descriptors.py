"""Computes how many connections a process can hold, from its limit of open files."""

import resource
from contextlib import suppress

import structlog

from store.settings import Settings

OTHER_FILES = 64  # that a process opens apart from connections of clients: store, log, pipes, the event loop's own

log = structlog.get_logger(__name__)


def most_connections(settings: Settings, backlog: int) -> int:
    """Return how many clients may be connected: MAX_CONNECTIONS, or fewer where the limit of open files is lower.

    The process raises its own limit first, as far as allowed. `backlog` is the number of connections that the event
    loop can accept at once, before any of them is counted.
    """
    reserved = OTHER_FILES + settings.redis_connections + backlog
    limit = _raised(settings.max_connections + reserved)
    most = min(settings.max_connections, max(limit - reserved, limit // 4))
    if most < settings.max_connections:
        log.warning("connections_lowered", connections=most, wanted=settings.max_connections, open_files=limit)
    return most


def _raised(wanted: int) -> int:
    """Raise the soft limit of open files as far as wanted and allowed, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    with suppress(ValueError, OSError):  # macOS has a limit of its own below the hard one
        raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        return raised
    return soft

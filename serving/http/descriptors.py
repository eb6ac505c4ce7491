"""How many connections a process can hold: each takes one of the files that the process may open."""

from __future__ import annotations

import resource
from contextlib import suppress

import structlog

from store.settings import Settings

OTHER_FILES = 64  # that a process opens besides connections of clients: store, log, pipes, the event loop's own

log = structlog.get_logger(__name__)


def most_connections(settings: Settings, backlog: int) -> int:
    """Return how many clients may be connected: MAX_CONNECTIONS, or as many as the limit of open files leaves room for.

    The process raises its own limit first, as far as it may. `backlog` is how many connections the event loop can
    accept at once, before any of them is counted.
    """
    reserved = OTHER_FILES + settings.redis_connections + backlog
    limit = _raised(settings.max_connections + reserved)
    most = min(settings.max_connections, max(limit - reserved, limit // 4))
    if most < settings.max_connections:
        log.warning("connections_lowered", connections=most, wanted=settings.max_connections, open_files=limit)
    return most


def _raised(wanted: int) -> int:
    """Return how many files the process may open, once its soft limit is as high as wanted or allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    with suppress(ValueError, OSError):  # macOS has a limit of its own below the hard one
        raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        return raised
    return soft

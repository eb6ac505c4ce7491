"""What the first round trip of an operation proves: that the session stands, and that the limit on requests is kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from resolvers.operation.errors import RateLimited, RequestError, Unauthenticated
from resolvers.operation.tokens import Claims
from store import keys
from store.accounts import MINUTE_SECONDS
from store.client.cache import CachedValues, Changed, Reading
from store.client.counts import LocalCounts
from store.client.database import Command, CommandRefused
from store.records import Role, Session

ROLES = {role.value: role for role in Role}  # by name, without the cost of an enum's call


class SessionState(Struct, frozen=True):
    """How a session stands, and what its member may do."""

    expires: int = 0  # ms since 1970; 0 once it has ended, or its member is gone
    role: Role = Role.MEMBER
    is_suspended: bool = False


class SessionCheck:
    """Who asks, once proved; and the error that ends the operation, once there is one."""

    def __init__(
        self, claims: Claims | None, address: str, rate_limit: int, kept: CachedValues, counts: LocalCounts
    ) -> None:
        self.fatal: RequestError | None = None
        self.role = Role.MEMBER
        self.is_suspended = False
        self._claims = claims
        self._address = address
        self._rate_limit = rate_limit  # requests in a minute; 0 where they are not counted
        self._kept = kept  # of the member's sessions
        self._counts = counts  # of this process, while the database refuses to count
        self._key = ""  # that counts the request
        self._found: SessionState | Exception | None = None

    def counting(self) -> list[Command]:
        """Return the commands that count the request."""
        if not self._rate_limit:
            return []
        minute = int(time.time()) // MINUTE_SECONDS
        claims = self._claims
        self._key = keys.rate(claims.member, minute) if claims else keys.address_rate(self._address, minute)
        return [("INCR", self._key), ("EXPIRE", self._key, 2 * MINUTE_SECONDS)]

    def reading(self) -> Reading | None:
        """Return what has to be read of the session; None where there is none, or it is kept."""
        claims = self._claims
        if claims is None or self._found or self._kept.find([claims.session]):
            return None
        return _Reading(self, claims)

    def judge(self, counted: Sequence[Any]) -> bool:
        """Raise what was found: Unauthenticated, RateLimited; False where the session is still to be read.

        What is kept is current now.
        """
        if counted and self._count(counted) > self._rate_limit:
            wait = MINUTE_SECONDS - int(time.time()) % MINUTE_SECONDS
            raise RateLimited(f"more than {self._rate_limit} requests in a minute", wait)
        if self._claims is None:
            return True
        found = self._found or self._kept.find([self._claims.session]).get(self._claims.session)
        if found is None:
            return False
        if isinstance(found, Exception):
            raise found
        if found.expires <= _now():
            raise Unauthenticated("the session has ended: log in again")
        self.role, self.is_suspended = found.role, found.is_suspended
        return True

    def _count(self, counted: Sequence[Any]) -> int:
        """Return how many requests there are; a database that accepts no writes does not keep anybody from reading."""
        for reply in counted:
            if isinstance(reply, CommandRefused):
                return self._counts.add(self._key)
            if isinstance(reply, Exception):
                raise reply
        return int(counted[0])

    def take(self, claims: Claims, replies: list[Any], changed: Changed | None) -> None:
        """Take what the store has of the session; never raises."""
        try:
            self._found = _session_state(claims.session, *replies)
        except Exception as error:  # noqa: BLE001  `judge` raises it
            self._found = error
        else:
            if changed is not None:
                self._kept.keep({claims.session: self._found}, changed)

    def fail(self, error: RequestError) -> RequestError:
        """Note the error that ends the whole operation, and return the first one noted."""
        self.fatal = self.fatal or error
        return self.fatal


class _Reading:
    """The look-up of a session and its member."""

    def __init__(self, proof: SessionCheck, claims: Claims) -> None:
        self._session_check = proof
        self._claims = claims
        self.commands: list[Command] = [
            ("HGET", keys.sessions(claims.member), claims.session),
            ("HMGET", keys.credentials(claims.member), "role", "suspended"),
        ]

    def take(self, replies: list[Any], changed: Changed | None) -> None:
        self._session_check.take(self._claims, replies, changed)


def _session_state(session: str, text: Any, credentials: Any) -> SessionState:
    for reply in (text, credentials):
        if isinstance(reply, Exception):
            raise reply
    role, suspended = credentials
    if text is None or role is None:
        return SessionState()
    return SessionState(Session.read(session, text).expires, ROLES[role], suspended is not None)


def lives(session: str, text: str | None) -> bool:
    """Return whether a session as stored is still good."""
    return text is not None and Session.read(session, text).expires > _now()


def _now() -> int:
    return time.time_ns() // 1_000_000

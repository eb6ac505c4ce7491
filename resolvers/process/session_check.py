"""Session check of an operation's first round trip: the session is valid, and the rate limit is kept."""

import time
from collections.abc import Hashable
from typing import Any

from msgspec import Struct

from resolvers.process.errors import RateLimited, RequestError, Unauthenticated
from resolvers.process.tokens import Claims
from store.client.caching.values import CachedValues, Changed, Reading
from store.client.counts import LocalCounts
from store.client.database import Command, CommandRefused
from store.credentials.records import Role
from store.limits import windows
from store.limits.attempts import count_request_commands, request_count
from store.limits.windows import MINUTE_SECONDS
from store.sessions import Session, session_commands

ROLES = {role.value: role for role in Role}  # By name, without the cost of an enum's call.


class SessionState(Struct, frozen=True):
    """A session's expiry, its member's role and suspension, and whether their address is verified.

    Where moderators need a second factor, one without it has the role of a member, and `lacks_two_factor`.
    """

    expires: int = 0  # In ms since 1970, 0 if it has ended or the account was deleted.
    role: Role = Role.MEMBER
    is_suspended: bool = False
    lacks_two_factor: bool = False
    is_verified: bool = False


class SessionCheck:
    """The session check of one operation: it finds the viewer's role, or the error that ends the operation.

    It is the reading that counts the request and reads the session, too.
    """

    def __init__(
        self,
        claims: Claims | None,
        address: str,
        rate_limit: int,
        cached: CachedValues,
        counts: LocalCounts,
        *,
        needs_two_factor: bool = False,
    ) -> None:
        self.fatal: RequestError | None = None
        self.role = Role.MEMBER
        self.is_suspended = False
        self.lacks_two_factor = False
        self._needs_two_factor = needs_two_factor  # Whether more than a member's role needs a second factor.
        self.is_verified = False
        self._claims = claims
        self.commands: list[Command] = []  # Count the request, then read the session and its member's credentials.
        self._address = address
        self._rate_limit = rate_limit  # Requests in a minute, 0 if they are not counted.
        self._cached = cached  # The member's cached sessions.
        self._counts = counts  # Used while the database accepts no writes.
        self._counted = ""  # The name under which the request is counted.
        self._counting: list[Command] = []  # Those of the commands that count it.
        self._count: int | Exception | None = None  # Requests in this minute, None until the request was counted.
        self._found: SessionState | Exception | None = None

    @property
    def standing(self) -> Hashable:
        """What the check has found about the viewer that answers may depend on."""
        return self.role, self.is_suspended, self.lacks_two_factor, self.is_verified

    def reading(self) -> Reading | None:
        """Return what is still to be sent: the count of the request, and the reading of a session that is not cached.

        Returns None if there is nothing.
        """
        claims, self._counting, self.commands = self._claims, [], []
        if self._rate_limit and not isinstance(self._count, int):
            minute = windows.current(MINUTE_SECONDS)
            self._counted = request_count(claims.member if claims else None, self._address, minute)
            self._counting = count_request_commands(self._counted, 2 * MINUTE_SECONDS)
            self.commands += self._counting
        if claims is not None and not self._found and not self._cached.find([claims.session]):
            self.commands += session_commands(claims.member, claims.session)
        return self if self.commands else None

    def judge(self) -> bool:
        """Return whether the session is valid; False if it has to be read first.

        Raises Unauthenticated, RateLimited, or the error of counting or reading. Cached values must be current when
        this is called.
        """
        if isinstance(self._count, CommandRefused):  # the process counts, so that members can still read
            self._count = self._counts.add(self._counted)
        elif isinstance(self._count, Exception):
            raise self._count
        if self._count is not None and self._count > self._rate_limit:
            wait = windows.rest(MINUTE_SECONDS)
            raise RateLimited(f"more than {self._rate_limit} requests in a minute", wait, "rate_limit")
        if self._claims is None:
            return True
        found = self._found or self._cached.find([self._claims.session]).get(self._claims.session)
        if found is None:
            return False
        if isinstance(found, Exception):
            raise found
        if found.expires <= _now():
            raise Unauthenticated("the session has ended: log in again")
        self.role, self.is_suspended, self.is_verified = found.role, found.is_suspended, found.is_verified
        self.lacks_two_factor = found.lacks_two_factor
        return True

    def take(self, replies: list[Any], changed: Changed | None) -> None:
        """Take the replies, and cache the session; never raises."""
        if self._counting:
            counted, replies = replies[: len(self._counting)], replies[len(self._counting) :]
            self._count = next((reply for reply in counted if isinstance(reply, Exception)), counted[0])
        if not replies or not self._claims:
            return
        session = self._claims.session
        try:
            self._found = _session_state(session, *replies, needs_two_factor=self._needs_two_factor)
        except Exception as error:  # noqa: BLE001  `judge` raises it
            self._found = error
        else:
            if changed is not None:
                self._cached.keep({session: self._found}, changed)

    def fail(self, error: RequestError) -> RequestError:
        """Record the error that ends the whole operation, and return the first one recorded."""
        self.fatal = self.fatal or error
        return self.fatal


def _session_state(session: str, text: Any, credentials: Any, *, needs_two_factor: bool) -> SessionState:
    for reply in (text, credentials):
        if isinstance(reply, Exception):
            raise reply
    role, suspended, two_factor, verified = credentials
    if text is None or role is None:
        return SessionState()
    lacks = needs_two_factor and two_factor is None and role != Role.MEMBER.value
    return SessionState(
        expires=Session.read(session, text).expires,
        role=Role.MEMBER if lacks else ROLES[role],
        is_suspended=suspended is not None,
        lacks_two_factor=lacks,
        is_verified=verified is not None,
    )


def lives(session: str, text: str | None) -> bool:
    """Return whether a stored session, given as `text`, is still valid."""
    return text is not None and Session.read(session, text).expires > _now()


def _now() -> int:
    return time.time_ns() // 1_000_000

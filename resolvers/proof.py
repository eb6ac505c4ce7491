"""What the first round trip of an operation proves: that the session stands, and that the limit on requests is kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from resolvers.errors import RateLimited, RequestError, Unauthenticated
from resolvers.tokens import Claims
from store import keys
from store.accounts import MINUTE_SECONDS
from store.connection import Command
from store.records import Role, Session

ROLES = {role.value: role for role in Role}  # by name, without the cost of an enum's call


class Proof:
    """Who asks, once proved; and the error that ends the operation, once there is one."""

    def __init__(self, claims: Claims | None, address: str, rate_limit: int) -> None:
        self.fatal: RequestError | None = None
        self.role = Role.MEMBER
        self.is_suspended = False
        self._claims = claims
        self._address = address
        self._rate_limit = rate_limit  # requests in a minute; 0 where they are not counted

    def commands(self) -> list[Command]:
        """Return the commands whose replies prove it, and count the request."""
        commands: list[Command] = []
        claims = self._claims
        if claims:
            commands.append(("HGET", keys.sessions(claims.member), claims.session))
            commands.append(("HMGET", keys.credentials(claims.member), "role", "suspended"))
        if self._rate_limit:
            minute = int(time.time()) // MINUTE_SECONDS
            key = keys.rate(claims.member, minute) if claims else keys.address_rate(self._address, minute)
            commands += [("INCR", key), ("EXPIRE", key, 2 * MINUTE_SECONDS)]
        return commands

    def judge(self, replies: Sequence[Any]) -> None:
        """Raise what the replies have found: Unauthenticated, RateLimited."""
        left = list(replies)
        if self._claims:
            session, (role, suspended), *left = left
            if not lives(self._claims.session, session) or role is None:
                raise Unauthenticated("the session has ended: log in again")
            self.role, self.is_suspended = ROLES[role], suspended is not None
        if left and int(left[0]) > self._rate_limit:
            wait = MINUTE_SECONDS - int(time.time()) % MINUTE_SECONDS
            raise RateLimited(f"more than {self._rate_limit} requests in a minute", wait)

    def fail(self, error: RequestError) -> RequestError:
        """Note the error that ends the whole operation, and return the first one noted."""
        self.fatal = self.fatal or error
        return self.fatal


def lives(session: str, text: str | None) -> bool:
    """Return whether a session as stored is still good."""
    return text is not None and Session.read(session, text).expires > time.time_ns() // 1_000_000

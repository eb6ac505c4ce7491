"""Exports: the link to an export of the viewer's data, and sending what it leads to."""

import asyncio
import contextlib
import re
import secrets
import time
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

from resolvers import credentials
from resolvers.archives import archive
from resolvers.archives.viewing import Export
from resolvers.operation.context import Context
from resolvers.operation.payloads import ExportDataPayload
from resolvers.process.errors import RateLimited, Unauthenticated, over_limit, unavailable
from resolvers.process.services import Services
from resolvers.process.tokens import digest
from store import accounts
from store.client.outages import Unavailable
from store.client.tasks import stop
from store.exports import links
from store.exports.links import LEASE_SECONDS, ExportLink
from store.ids import LARGEST
from store.limits import windows
from store.limits.windows import DAY_SECONDS
from store.refusals import Refusal
from store.secret import Secret

PATH = "/export/"  # a link is this path and a token
RENEWALS = 3  # of a lease, in the time that it takes to run out
_RANDOM_BYTES = 32
# Member (the digits that 53 bits have), session, random text.
_TOKEN = re.compile(r"([0-9]{1,16})\.([\w-]{12})\.([\w-]{43})", re.ASCII)


async def export_data(context: Context, *, password: Secret) -> ExportDataPayload:
    """Return a link to the viewer's data. It ends with the session, and replaces the session's earlier link."""
    member = await context.member()
    assert context.claims
    await credentials.confirm(context, member, password, "password")
    settings, session = context.settings, context.claims.session
    token = f"{member}.{session}.{secrets.token_urlsafe(_RANDOM_BYTES)}"
    expires = time.time_ns() // 1_000_000 + settings.export_link_seconds * 1000
    link = ExportLink(member, session, digest(token))
    most = settings.exports_per_day if settings.rate_limit else 0
    match await links.prepare(context.db, link, expires, most):
        case Refusal.ENDED:
            raise Unauthenticated("the session has ended: log in again")
        case Refusal.FULL:
            message = f"at most {most} exports a day: try again in {windows.rest(DAY_SECONDS)} s"
            raise over_limit("exports_per_day", message)
        case None:
            url = Secret(settings.public_url.rstrip("/") + PATH + token)
            return ExportDataPayload(url=url, expires_at=datetime.fromtimestamp(expires / 1000, UTC))


class Sending:
    """An export that is being sent to the client who has its link."""

    def __init__(self, services: Services, link: ExportLink, request_id: str) -> None:
        self._services = services
        self._link = link
        self._export = Export(services, link.member, link.session, request_id)
        self._sender = secrets.token_urlsafe(_RANDOM_BYTES)
        self.login = ""

    async def begin(self) -> bool:
        """Take the member's lease; returns False without such a link.

        Raises RateLimited while another export is sent to the member.
        """
        match await links.begin(self._services.db, self._link, self._sender):
            case Refusal.BUSY:
                raise RateLimited("another export of yours is being sent: wait until it has ended", LEASE_SECONDS)
            case Refusal.GONE:
                return False
            case None:
                user = await accounts.user(self._services.db, self._link.member)
                self.login = user.login if user else ""
                return user is not None

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """Yield the archive, and renew the lease meanwhile. Raises Unauthenticated as soon as the session ends."""
        renewing = asyncio.create_task(self._renew())
        try:
            async with contextlib.aclosing(archive.stream(self._export, self.login)) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            await stop(renewing)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / RENEWALS)
            with contextlib.suppress(Unavailable):  # the next page fails, too, if that lasts
                await links.begin(self._services.db, self._link, self._sender)

    async def end(self, *, is_sent: bool) -> None:
        """Give up the lease. If the whole file was sent, its link is used up."""
        with contextlib.suppress(Unavailable):  # the lease runs out by itself
            await links.end(self._services.db, self._link, self._sender, is_sent=is_sent)


async def opened(services: Services, token: str, *, address: str, request_id: str) -> Sending | None:
    """Return the export that a link's token leads to, ready to be sent; None for any token without an export.

    Raises RateLimited, also while another export is sent to the same member. Every request is counted for its address.
    """
    anonymous = Context(services, None, address=address, user_agent="", request_id=request_id)
    await anonymous.authenticate()
    match = _TOKEN.fullmatch(token)
    if match is None or int(match[1]) > LARGEST:
        return None
    sending = Sending(services, ExportLink(int(match[1]), match[2], digest(token)), request_id)
    try:
        return sending if await sending.begin() else None
    except Unavailable as error:
        raise unavailable(error) from error

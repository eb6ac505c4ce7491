"""Serves exports: one GET of a link streams the archive, as fast as the client takes it."""

import asyncio
import contextlib
from typing import cast

import structlog
from aiohttp import hdrs, web

from resolvers import exports
from resolvers.exports import Sending
from resolvers.process.errors import RequestError, Unauthenticated
from resolvers.process.services import Services
from serving.http.middleware import REQUEST_ID
from serving.http.requests import Proxies, UnknownPath
from store.client.database import MemberGone

log = structlog.get_logger(__name__)


class Exports:
    """The handler of links to exports."""

    def __init__(self, services: object, proxies: Proxies) -> None:
        self._services = cast("Services", services)  # tests of other paths have no database
        self._proxies = proxies

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Send an archive. After an interruption its link still works; it is used up when the whole file was sent."""
        address = self._proxies.of_request(request)
        token, request_id = request.match_info["token"], request[REQUEST_ID]
        sending = await exports.opened(self._services, token, address=address, request_id=request_id)
        if sending is None:
            raise UnknownPath
        is_sent = False
        try:
            response = _response(sending)
            is_sent = await _send(sending, request, response)
        finally:
            # A client that is gone cancels this handler, but the lease has to end at once.
            await asyncio.shield(sending.end(is_sent=is_sent))
        return response


def _response(sending: Sending) -> web.StreamResponse:
    disposition = f'attachment; filename="perch-{sending.login}.zip"'  # a login has only letters, digits and _
    headers = {hdrs.CONTENT_TYPE: "application/zip", hdrs.CONTENT_DISPOSITION: disposition}
    return web.StreamResponse(headers=headers)


async def _send(sending: Sending, request: web.Request, response: web.StreamResponse) -> bool:
    """Return whether the whole archive was sent. If not, the connection is cut, so that the client notices."""
    try:
        await response.prepare(request)
        async with contextlib.aclosing(sending.pieces()) as pieces:
            async for piece in pieces:
                await response.write(piece)
        await response.write_eof()
    except ConnectionError:
        return False  # the client is gone
    except (MemberGone, Unauthenticated, RequestError) as error:
        log.info("export_ended", reason=str(error) or "the account was deleted")
    except Exception:
        log.exception("an export failed")
    else:
        return True
    if request.transport is not None:
        request.transport.abort()
    return False

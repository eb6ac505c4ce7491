"""Serves pictures: a GET of a signed link sends the file of a folder, or redirects to a bucket."""

import asyncio
import time
from typing import cast

from aiohttp import hdrs, web

from resolvers import images
from resolvers.process.services import Services
from resolvers.rules.links import PATH, PictureLink
from serving.http.requests import UnknownPath
from store.client.metering import METER

ROUTE = PATH + "{image}/{object}/{form}.webp"
CONTENT_TYPE = "image/webp"  # of every stored form, whatever was uploaded
REDIRECT = 302  # the status of an answer that names a bucket's link
PRESIGNED_SECONDS = 300  # life of a link to a bucket; a client follows it at once


class MediaHandler:
    """The handler of links to pictures."""

    def __init__(self, services: object) -> None:
        self._services = cast("Services", services)  # tests of other paths have no database

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Send a form of a picture. Any link that does not work has the same answer, 404."""
        try:
            response = await self._answer(request)
        except UnknownPath:
            METER.media["refused"] += 1
            raise
        METER.media["redirected" if response.status == REDIRECT else "sent"] += 1
        return response

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        link = self._services.picture_links.read(request.match_info, request.query)
        if link is None or not await images.is_there(self._services, link):
            raise UnknownPath
        media = self._services.db.media
        path = media.path(link.object, images.form(link))
        if path is None:
            return await self._redirect(link)
        if not await asyncio.to_thread(path.is_file):
            raise UnknownPath
        # The class answers conditional and range requests, and the kernel copies the file to the socket.
        return web.FileResponse(
            path, headers={hdrs.CONTENT_TYPE: CONTENT_TYPE, hdrs.CACHE_CONTROL: self._caching(link)}
        )

    async def _redirect(self, link: PictureLink) -> web.StreamResponse:
        media = self._services.db.media
        url = await media.presigned(link.object, images.form(link), PRESIGNED_SECONDS)
        assert url is not None
        return web.Response(status=REDIRECT, headers={hdrs.LOCATION: url})

    def _caching(self, link: PictureLink) -> str:
        """Return how long the answer may be cached: as long as the link works. A CDN may share it."""
        who = "public" if self._services.settings.media_url else "private"
        return f"{who}, max-age={max(link.expires - int(time.time()), 0)}, immutable"

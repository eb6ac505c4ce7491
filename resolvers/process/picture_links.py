"""Links to pictures, signed by this site."""

import re
import time
from collections.abc import Mapping

from resolvers.rules import links
from resolvers.rules.links import ImageSize, PictureLink
from store.records.pictures import Image
from store.settings import Settings

_NUMBER = re.compile(r"[0-9]{1,16}", re.ASCII)


class PictureLinks:
    """Makes and checks links to pictures."""

    def __init__(self, settings: Settings, secret: str) -> None:
        self._base = (settings.media_url or settings.public_url).rstrip("/")
        self._secret = secret
        self._made: dict[tuple[str, int, int, bool], str] = {}  # links that are the same until the grid goes on
        self._expires = 0
        self._most = settings.records_kept

    def url(self, image: Image, size: ImageSize) -> str:
        """Return the link to a form of a picture, for 12 to 24 hours. Only those who see the picture may get it."""
        expires = links.expiry(time.time())
        if expires != self._expires or len(self._made) > self._most:
            self._made.clear()
            self._expires = expires
        key = (image.object, image.version, image.message, size is ImageSize.LARGE)
        url = self._made.get(key)
        if url is None:
            link = PictureLink(image.id, image.object, size.value, image.version, image.message, expires)
            url = self._made[key] = links.url(self._secret, self._base, link)
        return url

    def read(self, path: Mapping[str, str], query: Mapping[str, str]) -> PictureLink | None:
        """Return what a link says, from its parts; None for one that is malformed, forged, changed or expired."""
        image, expires, version = path["image"], query.get("expires", ""), query.get("version", "")
        message = query.get("message", "0")
        if not all(map(_NUMBER.fullmatch, (image, expires, version, message))):
            return None
        link = PictureLink(int(image), path["object"], path["form"], int(version), int(message), int(expires))
        return link if links.is_valid(self._secret, link, query.get("signature", ""), time.time()) else None

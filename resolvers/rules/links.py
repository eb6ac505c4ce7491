"""Links to pictures: what they say, how they are signed, and for how long."""

import hashlib
import hmac
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

PATH = "/media/"
GRID = 12 * 3_600  # s: links made within one part of the grid are the same
KEYS_KEPT = 4  # keys that are cached: one signs, three verify


class ImageSize(Enum):
    """A stored form of a picture."""

    SMALL = "small"
    LARGE = "large"


class PictureLink(NamedTuple):
    """What a link to one form of a picture says. `message` is the message that the picture belongs to, 0 for none."""

    image: int
    object: str
    form: str
    version: int
    message: int
    expires: int  # s since 1970


def expiry(now: float) -> int:
    """Return when a link made now ends, in s since 1970: 12 to 24 hours later, on the grid."""
    return (int(now) // GRID + 2) * GRID


def url(secret: str, base: str, link: PictureLink) -> str:
    """Return the URL of a link, which begins with `base`."""
    about = f"&message={link.message}" if link.message else ""
    place = f"{base}{PATH}{link.image}/{link.object}/{link.form}.webp"
    return f"{place}?version={link.version}{about}&expires={link.expires}&signature={signature(secret, link)}"


def is_valid(secret: str, link: PictureLink, signed: str, now: float) -> bool:
    """Return whether a link was signed here and has not ended. The comparison takes the same time for any signature."""
    return hmac.compare_digest(signature(secret, link).encode(), signed.encode()) and now < link.expires <= expiry(now)


def signature(secret: str, link: PictureLink) -> str:
    """Return the signature of a link, 32 hexadecimal digits."""
    text = f"{link.image}/{link.object}/{link.form}/{link.version}/{link.message}/{link.expires}"
    return hmac.digest(_key(secret, link.expires // GRID), text.encode(), "sha256")[:16].hex()


@lru_cache(KEYS_KEPT)
def _key(secret: str, part: int) -> bytes:
    """Return the key of one part of the grid, so that a key that leaks signs no link of another half day."""
    return hmac.digest(hashlib.sha256(secret.encode()).digest(), f"links to pictures:{part}".encode(), "sha256")

"""Home pages of posts with pictures, beside the same pages without."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from benchmarks.versus import queries
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Reader, Stage
from resolvers.operation.inputs import batches
from store import keys
from store.keys.fields import StatusField
from store.records.pictures import Image, write_images

BATCH = 1_000  # posts that get or lose their picture in one round trip
BLURHASH = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
ALT = "a landscape with three hills, a lake and the sun behind a cloud"
_IMAGES = " images { id alt blurhash width height focus { x y } url small: url(size: SMALL) }"


def plain(readers: Sequence[Reader]) -> list[Request]:
    """Return the requests for homes that ask for no pictures."""
    return [queries.home(reader.token) for reader in readers]


def with_images(readers: Sequence[Reader]) -> list[Request]:
    """Return the requests for the same homes with the pictures of each post."""
    return [replace(one, document=_with_images(one.document)) for one in plain(readers)]


def _with_images(document: str) -> str:
    return document.replace(" } } }", f" }}{_IMAGES} }} }}", 1)


@asynccontextmanager
async def pictures(stage: Stage) -> AsyncIterator[int]:
    """Give each public post one picture inside the context; yields how many posts these are.

    Only the posts' copies are written. No page reads more, and nobody follows the links.
    """
    posts = [int(post) for post in await stage.db.one("ZRANGE", keys.public(), 0, -1)]
    for some in batches(posts, BATCH):
        await stage.db.ask(*(("HSET", keys.status(post), StatusField.IMAGES, _picture(post)) for post in some))
    yield len(posts)
    for some in batches(posts, BATCH):
        await stage.db.ask(*(("HDEL", keys.status(post), StatusField.IMAGES) for post in some))


def _picture(post: int) -> str:
    return write_images([Image(post, f"{post:014x}{secrets.token_hex(16)}", 1, 2_048, 1_536, BLURHASH, ALT)])

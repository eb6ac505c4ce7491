"""Stored pictures. What a picture belongs to has a copy of it, so that a page with pictures reads nothing more."""

from collections.abc import Mapping, Sequence
from enum import Enum

import msgspec
from msgspec import Struct

from store.keys.fields import ImageField

EVIDENCE = 0  # version of a picture in moderators' links, which outlive the message while a report of it is open

_PACKED = msgspec.json.Decoder(list[tuple[int, str, int, int, int, str, str, float | None, float | None]])


class UploadPurpose(Enum):
    """What a picture is uploaded for."""

    POST = "POST"
    MESSAGE = "MESSAGE"
    AVATAR = "AVATAR"
    HEADER = "HEADER"


class UploadState(Enum):
    """How far an upload has come."""

    WAITING = "WAITING"
    PROCESSING = "PROCESSING"
    READY = "READY"
    FAILED = "FAILED"


class Image(Struct, frozen=True):
    """A picture as what it belongs to stores it. A message's picture knows its message, which its links name."""

    id: int
    object: str  # random name of its stored forms
    version: int  # part of each link: a higher one ends the links made before
    width: int  # pixels of the large form
    height: int
    blurhash: str
    alt: str = ""
    focus_x: float | None = None  # -1 to 1; None without a focus
    focus_y: float | None = None
    message: int = 0

    @classmethod
    def of_upload(cls, image: int, fields: Mapping[str, str]) -> "Image | None":
        """Return the picture that an upload has become, from its hash; None before that."""
        if fields.get(ImageField.STATE) != UploadState.READY.value:
            return None
        return cls(
            image,
            fields[ImageField.OBJECT],
            int(fields[ImageField.VERSION]),
            int(fields[ImageField.WIDTH]),
            int(fields[ImageField.HEIGHT]),
            fields[ImageField.BLURHASH],
        )


def read_images(text: str | None, message: int = 0) -> tuple[Image, ...]:
    """Return the pictures that a post, message or profile has stored."""
    if not text:
        return ()
    return tuple([Image(*one, message) for one in _PACKED.decode(text)])


def write_images(images: Sequence[Image]) -> str:
    """Return pictures as `read_images` takes them, "" for none."""
    if not images:
        return ""
    rows = [[i.id, i.object, i.version, i.width, i.height, i.blurhash, i.alt, i.focus_x, i.focus_y] for i in images]
    return msgspec.json.encode(rows).decode()

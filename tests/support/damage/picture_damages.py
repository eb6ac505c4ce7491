"""A site with pictures, and damages to their records, copies and lists."""

from collections.abc import Callable
from dataclasses import dataclass

from store import keys
from store.client.database import Command
from store.ids import partition
from store.keys.fields import EvidenceField, ImageField, MessageField, StatusField, UserField
from store.records.pictures import Image, write_images
from tests.support.damage.site import GHOST


@dataclass(frozen=True)
class Gallery:
    """Ann has an avatar, a post with two pictures, a message to ben with one, and one that is attached to nothing.

    Ben has reported the message.
    """

    ann: int
    post: int
    message: int
    avatar: int
    first: int  # picture of the post
    second: int
    sent: int  # picture of the message
    loose: int
    report: int


@dataclass(frozen=True)
class PictureDamage:
    """A change done to the store by hand, and the key that the finding must name."""

    name: str
    key: Callable[[Gallery], str]
    commands: Callable[[Gallery], list[Command]]


def _set(image: int, field: str, value: object) -> list[Command]:
    return [("HSET", keys.image(image), field, value)]


PICTURES = [
    PictureDamage(
        "record of a post's picture gone", lambda g: keys.status(g.post), lambda g: [("DEL", keys.image(g.first))]
    ),
    PictureDamage("record of an avatar gone", lambda g: keys.user(g.ann), lambda g: [("DEL", keys.image(g.avatar))]),
    PictureDamage(
        "record of a message's picture gone", lambda g: keys.message(g.message), lambda g: [("DEL", keys.image(g.sent))]
    ),
    PictureDamage(
        "older version in a copy", lambda g: keys.status(g.post), lambda g: _set(g.first, ImageField.VERSION, 9)
    ),
    PictureDamage(
        "other object in a copy",
        lambda g: keys.user(g.ann),
        lambda g: [
            ("HSET", keys.user(g.ann), UserField.AVATAR, write_images([Image(g.avatar, "ab" * 23, 1, 1, 1, "")]))
        ],
    ),
    PictureDamage(
        "copy of another's picture",
        lambda g: keys.status(g.post),
        lambda g: _set(g.first, ImageField.SUBJECT, f"user:{g.ann}"),
    ),
    PictureDamage(
        "picture that does not say what it is attached to",
        lambda g: keys.status(g.post),
        lambda g: [("HDEL", keys.image(g.second), ImageField.SUBJECT)],
    ),
    PictureDamage(
        "picture of a post that has lost it",
        lambda g: keys.image(g.second),
        lambda g: [("HDEL", keys.status(g.post), StatusField.IMAGES)],
    ),
    PictureDamage(
        "avatar that the profile has lost",
        lambda g: keys.image(g.avatar),
        lambda g: [("HDEL", keys.user(g.ann), UserField.AVATAR)],
    ),
    PictureDamage(
        "picture of a message that has lost it",
        lambda g: keys.image(g.sent),
        lambda g: [("HDEL", keys.message(g.message), MessageField.IMAGES)],
    ),
    PictureDamage(
        "picture whose owner does not exist",
        lambda g: keys.image(g.loose),
        lambda g: _set(g.loose, ImageField.OWNER, GHOST),
    ),
    PictureDamage(
        "picture not among its owner's",
        lambda g: keys.image(g.first),
        lambda g: [("ZREM", keys.images(g.ann), g.first)],
    ),
    PictureDamage(
        "unattached picture that is never removed",
        lambda g: keys.image(g.loose),
        lambda g: [("ZREM", keys.uploads(partition(g.ann)), g.loose)],
    ),
    PictureDamage(
        "attached picture that waits",
        lambda g: keys.image(g.first),
        lambda g: [("ZADD", keys.uploads(partition(g.ann)), g.first, g.first)],
    ),
    PictureDamage(
        "entry of a member's pictures without a record",
        lambda g: keys.images(g.ann),
        lambda g: [("ZADD", keys.images(g.ann), GHOST, GHOST)],
    ),
    PictureDamage(
        "reported picture that is not evidence",
        lambda g: keys.report_messages(g.report),
        lambda g: [("DEL", keys.evidence(g.message))],
    ),
    PictureDamage(
        "evidence for a case that is gone",
        lambda g: keys.evidence(g.message),
        lambda g: [("HSET", keys.evidence(g.message), GHOST, "")],
    ),
    PictureDamage(
        "evidence of a message that nobody reported",
        lambda _: keys.evidence(GHOST),
        lambda _: [("HSET", keys.evidence(GHOST), EvidenceField.PICTURES, "[]")],
    ),
    PictureDamage(
        "waiting picture without a record",
        lambda g: keys.uploads(partition(g.ann)),
        lambda g: [("ZADD", keys.uploads(partition(g.ann)), GHOST, GHOST)],
    ),
    PictureDamage(
        "pictures of a member who does not exist",
        lambda _: keys.images(GHOST),
        lambda _: [("ZADD", keys.images(GHOST), GHOST, GHOST)],
    ),
]

"""Attached pictures: scripts that attach, reserve, change and remove them, and checks of links to them."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from store import keys
from store.client.database import Command, Database, script
from store.ids import partition
from store.keys.fields import EvidenceField, MessageField, StatusField, UserField
from store.pictures.uploads import Upload
from store.records.job_bodies import PictureReservation
from store.records.jobs import Job, read_job
from store.records.pictures import Image, read_images, write_images
from store.refusals import PartRefused, Refusal, refused

STATUS, USER, MESSAGE, RESERVED = "status", "user", "message", "reserved"  # kinds of subjects
_FIELDS = {"avatar": UserField.AVATAR, "header": UserField.HEADER}


class WantedImage(NamedTuple):
    """A picture to be attached, and what the member says of it."""

    image: int
    alt: str = ""
    focus_x: float | None = None
    focus_y: float | None = None


# Why a picture cannot be attached. Its place is its index in the input, or `avatar` or `header`.
ImageRefusal = Literal[Refusal.GONE, Refusal.PURPOSE, Refusal.ATTACHED, Refusal.UNREADY]


class Reservation(NamedTuple):
    """Pictures that only one message can take, packed as it stores them, and the job that ends that."""

    job: Job
    packed: str

    @property
    def id(self) -> int:
        return self.job.id


def subject_of(upload: Upload) -> tuple[str, int] | None:
    """Return the kind and the id of what a picture is attached to, None for nothing."""
    kind, _, number = upload.subject.partition(":")
    return (kind, int(number)) if kind else None


def write_wanted(wanted: Sequence[WantedImage]) -> str:
    """Return pictures to be attached as scripts take them, "" for none."""
    return json.dumps(_pairs(wanted)) if wanted else ""


def write_profile(pictures: Mapping[str, WantedImage | None]) -> str:
    """Return changes of a profile's pictures as `update_member` takes them, "" for none. None removes one."""
    if not pictures:
        return ""
    return json.dumps({_FIELDS[name]: _pairs([one] if one else []) for name, one in pictures.items()})


def _pairs(wanted: Sequence[WantedImage]) -> list[tuple[str, str]]:
    return [(str(one.image), _said(one)) for one in wanted]


def _said(one: WantedImage) -> str:
    """Return what a member says of a picture, written as `write_images` does."""
    return msgspec.json.encode([one.alt, one.focus_x, one.focus_y]).decode()[1:-1]


async def reserve(
    db: Database, owner: int, conversation: int, wanted: Sequence[WantedImage]
) -> Reservation | PartRefused[ImageRefusal]:
    """Reserve pictures for a message to a conversation."""
    reply = await db.call(
        "reserve_images",
        owner,
        owner=owner,
        conversation=conversation,
        images=write_wanted(wanted),
    )
    return refused(reply) or Reservation(read_job(PictureReservation, reply[0], reply[1]), reply[2])


async def settle(db: Database, conversation: int, reservation: int) -> int | None:
    """Return the message that took the pictures of a reservation. If there is none, no message can take them now."""
    taken = keys.taken(conversation, reservation)
    message = await db.call("settle_reservation", taken=taken, ttl=keys.DAY)
    return int(message) if message else None


async def end_reservation(
    db: Database, owner: int, reservation: int, images: Sequence[int], message: int | None
) -> list[str]:
    """Attach reserved pictures to a message, or give them back; returns objects that go with a deleted account."""
    gone: list[str] = await db.call(
        "end_reservation",
        owner,
        reservation=reservation,
        message=message or "",
        ids=images,
    )
    return gone


async def forget_taken(db: Database, conversation: int, reservation: int) -> None:
    """Forget in a day which message took the pictures of a reservation, now that they are attached to it.

    Until then, another worker at the same job still finds the message.
    """
    await db.one("EXPIRE", keys.taken(conversation, reservation), keys.DAY)


async def drop_messaged(db: Database, packed: str) -> list[str]:
    """Remove the records of a deleted message's pictures, which one member sent; returns their objects."""
    images = read_images(packed)
    p = partition(images[0].id)
    await db.call("drop_messaged", partition=p, first=keys.image(images[0].id), ids=[one.id for one in images])
    return [one.object for one in images]


async def drop_unattached(db: Database, member: int, after: int, count: int) -> tuple[int, list[str]]:
    """Remove those of a member's pictures after an id that are attached to nothing.

    Returns the last id of so many that were looked at, 0 at the end, and the objects of those removed.
    """
    bounds = (f"({after}", "+inf", "BYSCORE", "LIMIT", 0, count)
    ids = await db.one("ZRANGE", keys.images(member), *bounds)
    if not ids:
        return 0, []
    objects: list[str] = await db.call("drop_unattached", member, ids=ids)
    return int(ids[-1]), objects


async def replace(db: Database, holder: tuple[str, int, str], old: Sequence[Image], new: Sequence[Image]) -> bool:
    """Replace the pictures of a post, message or profile; False when they have changed since they were read.

    The holder is a kind of subject, its id, and for a profile `avatar` or `header`.
    """
    kind, number, name = holder
    key, field = {
        STATUS: (keys.status, StatusField.IMAGES),
        USER: (keys.user, _FIELDS.get(name, "")),
        MESSAGE: (keys.message, MessageField.IMAGES),
    }[kind]
    old_text, new_text = write_images(old), write_images(new)
    return bool(await db.call("replace_field", record=key(number), field=field, old=old_text, new=new_text))


async def link_works(db: Database, image: int, name: str, version: int) -> bool:
    """Return whether a link to a picture of a post or profile still works; one round trip."""
    return bool(await db.call("open_link", image, version=version, object=name))


async def message_link_works(db: Database, message: int, image: int, name: str, *, is_evidence: bool) -> bool:
    """Return whether a link to a picture of a message still works; one round trip.

    A moderator's link also works while the picture of a deleted message is kept as evidence.
    """
    commands: list[Command] = [script("open_message_link", message)]
    if is_evidence:
        commands.append(("HGET", keys.evidence(message), EvidenceField.PICTURES))
    replies = await db.ask(*commands)
    return any(one.id == image and one.object == name for text in replies for one in read_images(text))

"""Pictures: what a mutation attaches, why it may not, and pictures and uploads by their ids as the viewer sees them."""

from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import Any, Protocol

from resolvers.operation.context import Context
from resolvers.operation.inputs import checked_text
from resolvers.process.errors import Refused, UserError, UserErrorCode, refuse, refuse_all
from resolvers.reading import global_ids, hydrate, messaging
from resolvers.rules import places
from store.conversations.records import Message
from store.pictures import images as stored
from store.pictures.images import ImageRefusal, WantedImage
from store.pictures.uploads import Upload, read_command, read_uploads
from store.records.members import User
from store.records.pictures import Image
from store.records.posts import Post
from store.refusals import Refusal

IMAGES_MOST = 4  # pictures of one post or message


class Keep(Enum):
    """Says that a picture of the profile was not named in the input, and stays as it is."""

    KEEP = "KEEP"


class FocalPoint(Protocol):
    """A point of a picture as a client sends it."""

    x: float
    y: float


class Picture(Protocol):
    """A picture to be attached as a client sends it."""

    upload_id: str
    alt: str | None
    focus: FocalPoint | None


def named(context: Context, images: Sequence[Picture] | None) -> tuple[WantedImage, ...]:
    """Return the pictures that a post or message is to have; raises Refused, which names each broken rule."""
    given = images or []
    if len(given) > IMAGES_MOST:
        message = f"images: at most {IMAGES_MOST} pictures, here are {len(given)}"
        raise refuse(UserErrorCode.LIMIT_REACHED, message, "images")
    wanted: list[WantedImage] = []
    errors: list[UserError] = []
    for place, picture in enumerate(given):
        try:
            one = checked(context, picture, "images", str(place))
            if one.image in [before.image for before in wanted]:
                raise refusal(Refusal.ATTACHED, str(place))
            if context.settings.require_alt and not one.alt:
                raise _error(UserErrorCode.BLANK, "say what the picture shows", "images", str(place), "alt")
            wanted.append(one)
        except Refused as refused:
            errors += refused.errors
    refuse_all(errors)
    return tuple(wanted)


def checked(context: Context, picture: Picture, *path: str) -> WantedImage:
    """Return a picture to be attached; raises Refused if its id, its alt text or its focus breaks a rule."""
    number = global_ids.expect(picture.upload_id, ("upload",), *path, "uploadId")
    return WantedImage(number, checked_alt(context, picture.alt, *path), *checked_focus(picture.focus, *path))


def of_profile(context: Context, **given: Picture | Keep | None) -> dict[str, WantedImage | None]:
    """Return the new pictures of a profile by field, None for one to remove; raises Refused."""
    named = {field: picture for field, picture in given.items() if not isinstance(picture, Keep)}
    return {field: checked(context, one, field) if one else None for field, one in named.items()}


def checked_alt(context: Context, alt: str | None, *path: str) -> str:
    """Return an alt text in normal form; raises Refused."""
    return checked_text(alt or "", context.settings.max_alt, *path, "alt", may_be_empty=True)


def checked_focus(focus: FocalPoint | None, *path: str) -> tuple[float | None, float | None]:
    """Return a focus, None twice for the middle; raises Refused if it lies outside the picture."""
    if focus is None or (focus.x == 0 and focus.y == 0):
        return None, None
    for name, number in (("x", focus.x), ("y", focus.y)):
        if places.flaw(number, 1):
            raise _error(UserErrorCode.INVALID, "must be from -1 to 1", *path, "focus", name)
    return focus.x, focus.y


def refusal(why: ImageRefusal, place: str) -> Refused:
    """Return the refusal of a picture that cannot be attached. `place` is its index, or that it is avatar or header."""
    path = (*(["images"] if place.isdigit() else []), place, "uploadId")
    match why:
        case Refusal.GONE:
            return _error(UserErrorCode.NOT_FOUND, "there is no such upload", *path)
        case Refusal.PURPOSE:
            return _error(UserErrorCode.INVALID, "this picture was uploaded for another purpose", *path)
        case Refusal.ATTACHED:
            message = "this picture belongs to something already: upload it again"
            return _error(UserErrorCode.NOT_ALLOWED, message, *path)
        case Refusal.UNREADY:
            return _error(UserErrorCode.NOT_ALLOWED, "this picture is not ready", *path)


def _error(code: UserErrorCode, rule: str, *path: str) -> Refused:
    return refuse(code, f"{'.'.join(path)}: {rule}", *path)


def digest_of(wanted: Sequence[WantedImage]) -> list[list[object]]:
    """Return pictures as the digest of a mutation's input takes them."""
    return [list(one) for one in wanted]


def shown_by(holder: Post | Message | User) -> tuple[Image, ...]:
    """Return the pictures of a post, message or profile."""
    if isinstance(holder, User):
        return tuple([one for one in (holder.avatar, holder.header) if one])
    return holder.images


async def images(context: Context, ids: Sequence[int]) -> list[Image | None]:
    """Return pictures by their ids, None for those whose post, message or profile the viewer does not see.

    One round trip, and those that it takes to see what they belong to.
    """
    stored_uploads = read_uploads(ids, await context.batcher.run([read_command(image) for image in ids]))
    seen = await attached(context, [one for one in stored_uploads if one])
    return [seen.get(image) for image in ids]


async def uploads(context: Context, ids: Sequence[int]) -> list[Upload | None]:
    """Return those of some uploads that are the viewer's own, None for the others; one round trip."""
    if context.viewer is None:
        return [None] * len(ids)
    kept = read_uploads(ids, await context.batcher.run([read_command(upload) for upload in ids]))
    return [upload if upload and upload.owner == context.viewer else None for upload in kept]


async def attached(context: Context, uploads: Sequence[Upload]) -> dict[int, Image]:
    """Return those of some pictures that the viewer sees, by id. A picture that belongs to nothing is its owner's."""
    seen: dict[int, Image] = {}
    subjects = {one.id: stored.subject_of(one) or (stored.RESERVED, 0) for one in uploads}
    for one in uploads:
        if one.image and one.owner == context.viewer and subjects[one.id][0] == stored.RESERVED:
            seen[one.id] = one.image
    for kind, load in _HOLDERS.items():
        ids = list(dict.fromkeys(number for of, number in subjects.values() if of == kind))
        if ids:
            holders = await load(context, ids)
            seen |= {image.id: image for holder in holders if holder for image in shown_by(holder)}
    return {image: seen[image] for image in subjects if image in seen}


_HOLDERS: dict[str, Callable[[Context, Sequence[int]], Awaitable[list[Any]]]] = {
    stored.STATUS: hydrate.posts,
    stored.USER: hydrate.users,
    stored.MESSAGE: messaging.messages,
}


async def holder(context: Context, kind: str, number: int) -> Post | Message | User | None:
    """Return the post, message or profile that has a picture, None where the viewer does not see it."""
    holders: list[Post | Message | User | None] = await _HOLDERS[kind](context, [number])
    return holders[0]

"""Pictures: their links, and changes of what is said of them."""

from collections.abc import Mapping

from msgspec.structs import replace

from resolvers.operation.context import Context
from resolvers.operation.payloads import ImagePayload
from resolvers.process.errors import UserErrorCode, no_such, not_allowed, refuse, unavailable
from resolvers.process.services import Services
from resolvers.reading import global_ids, pictures
from resolvers.reading.pictures import FocalPoint
from resolvers.rules.links import ImageSize, PictureLink
from store.client.database import Unavailable
from store.media.objects import PictureForm
from store.pictures import images as stored
from store.records.members import User
from store.records.pictures import EVIDENCE, Image

_FORMS = {ImageSize.SMALL.value: PictureForm.SMALL, ImageSize.LARGE.value: PictureForm.LARGE}
ATTEMPTS = 5  # changes of one post's pictures at the same moment that are told apart


def url(context: Context, image: Image, size: ImageSize) -> str:
    """Return a link to a form of a picture. Whoever gets the record of a picture sees it."""
    return context.services.picture_links.url(image, size)


async def update_image(
    context: Context, *, image_id: str, alt: str | None = None, focus: FocalPoint | None = None
) -> ImagePayload:
    """Change the alt text and the focus of a picture of the viewer's own; what is left out stays."""
    await context.member()
    number = global_ids.expect(image_id, ("image",), "imageId")
    said = {} if alt is None else {"alt": pictures.checked_alt(context, alt)}
    place = pictures.checked_focus(focus)
    about: dict[str, object] = {**said} if focus is None else {**said, "focus_x": place[0], "focus_y": place[1]}
    (kept,) = await pictures.uploads(context, [number])
    if kept is None or kept.image is None:
        raise no_such("picture", "imageId")
    subject = stored.subject_of(kept)
    if subject is None or subject[0] == stored.RESERVED:
        raise not_allowed("this picture belongs to nothing yet: say it where you attach it", "imageId")
    for _ in range(ATTEMPTS):
        context.forget()
        image = await _change(context, number, subject, about)
        if image:
            context.forget()
            return ImagePayload(image=image)
    raise refuse(UserErrorCode.CONFLICT, "imageId: it is being changed at this moment: try again", "imageId")


async def _change(context: Context, image: int, subject: tuple[str, int], about: Mapping[str, object]) -> Image | None:
    """Return the changed picture, None if another change of its post, message or profile came first."""
    kind, number = subject
    holder = await pictures.holder(context, kind, number)
    if holder is None:
        raise no_such("picture", "imageId")
    shown, name = pictures.shown_by(holder), ""
    if isinstance(holder, User):
        name = "avatar" if holder.avatar and holder.avatar.id == image else "header"
        shown = tuple([one for one in shown if one.id == image])
    changed = tuple([replace(one, **about) if one.id == image else one for one in shown])
    own = next((one for one in changed if one.id == image), None)
    if own is None:
        raise no_such("picture", "imageId")
    return own if await stored.replace(context.db, (kind, number, name), shown, changed) else None


async def is_there(services: Services, link: PictureLink) -> bool:
    """Return whether the picture of a valid link still exists, and is not hidden since; one round trip."""
    try:
        if link.message:
            return await stored.message_link_works(
                services.db, link.message, link.image, link.object, is_evidence=link.version == EVIDENCE
            )
        return await stored.link_works(services.db, link.image, link.object, link.version)
    except Unavailable as error:
        raise unavailable(error) from error


def form(link: PictureLink) -> PictureForm:
    """Return the stored form that a link names."""
    return _FORMS[link.form]

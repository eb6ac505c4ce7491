"""The pictures of the demo: avatars of its best known members, pictures of posts, and one in a conversation."""

import asyncio
from collections.abc import Mapping, Sequence

from resolvers.jobs import dispatch
from resolvers.upkeep.demo import drawing
from store import accounts
from store.client.database import Database
from store.conversations import messages
from store.conversations.messages import MessageDraft
from store.pictures import images
from store.pictures.images import WantedImage
from store.records.pictures import UploadPurpose
from store.refusals import accepted


async def portray(db: Database, ids: Mapping[str, int], guide: str) -> None:
    """Give members an avatar, and the guide a header."""

    async def give(login: str, member: int) -> None:
        portrait = await drawing.drawing(login, square=True)
        avatar = await drawing.add(db, member, UploadPurpose.AVATAR, portrait)
        pictures = {"avatar": WantedImage(avatar, f"A portrait of {login}")}
        if login == guide:
            view = await drawing.drawing("header")
            pictures["header"] = WantedImage(await drawing.add(db, member, UploadPurpose.HEADER, view), "Hills at dawn")
        await accounts.update(db, member, pictures=pictures)

    await asyncio.gather(*(give(login, member) for login, member in ids.items()))


async def wanted(db: Database, author: int, alts: Sequence[str]) -> tuple[WantedImage, ...]:
    """Return a new picture of an author's for each alt text, ready to be attached to a post."""
    drawn = [await drawing.drawing(alt) for alt in alts]
    return tuple(
        [
            WantedImage(await drawing.add(db, author, UploadPurpose.POST, one), alt)
            for one, alt in zip(drawn, alts, strict=True)
        ]
    )


async def send(db: Database, ids: Mapping[str, int], people: Sequence[str], alt: str) -> None:
    """Have the first of some people send the others a picture, in the conversation that they have."""
    members = [ids[login] for login in people]
    (talk,) = await db.ask(messages.of_members_command(members))
    image = await drawing.add(db, members[0], UploadPurpose.MESSAGE, await drawing.drawing(alt))
    reservation = accepted(await images.reserve(db, members[0], int(talk), [WantedImage(image, alt)]))
    sent = accepted(
        await messages.send(db, int(talk), MessageDraft(members[0], "", members[1:], reservation=reservation))
    )
    for job in (sent.job, reservation.job):
        await dispatch.finish(db, job)

"""A small site whose store is damaged by hand, and what a damage is."""

from collections.abc import Callable
from dataclasses import dataclass

from resolvers.upkeep import verify
from resolvers.upkeep.verify import VerifyReport
from store.client.database import Command, Database

GHOST = 4_242 << 12  # an id that nobody and nothing has


@dataclass(frozen=True)
class Site:
    """Ann follows ben, who reposts cat's post; dan quotes it, and nobody follows him. Ann, ben and cat have a talk.

    Fay is private, has a request from ben, and blocks dan.
    """

    ann: int
    ben: int
    cat: int
    dan: int
    fay: int
    post: int  # by cat; ann has liked, favourited and commented on it
    repost: int  # ben's repost of it
    quote: int  # dan's quote of it
    comment: int
    word: int  # by ben
    reply: int  # dan's reply to the post
    answer: int  # ben's reply to the reply
    secret: int  # by fay
    talk: int
    message: int  # ben's message there, between two by ann, the first of which ben has read
    last: int
    group: int  # by ann; ben is in it
    note: int  # ben's post there
    echo: int  # cat's repost of it
    club: int  # a private group of ben's; cat asks to join it, and dan is invited
    report: int  # ann's of ben
    case: int  # its case
    settled: int  # the case of cat's report of ann, which dan has dismissed; he is a moderator
    act: int  # that
    removal: int  # dan's act of deleting a post of ben's


@dataclass(frozen=True)
class Damage:
    """A change done to the store by hand, and the key that the finding must name."""

    name: str
    key: Callable[[Site], str]
    commands: Callable[[Site], list[Command]]


async def look(db: Database) -> VerifyReport:
    """Return verify's report, with every home compared."""
    return await verify.verify(db, homes=None, seed=1, progress=lambda _: None)

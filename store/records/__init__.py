"""Stored records and their parsers: frozen msgspec structs, made some twenty times as fast as frozen dataclasses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum

import msgspec
from msgspec import Struct

from store.ids import instant
from store.keys.fields import CommentField, StatusField, UserField
from store.records.pictures import Image, read_images

Fields = Mapping[str, str]


class MessageAudience(Enum):
    """Who may begin a conversation with a member, and write to them in one of two."""

    EVERYONE = "EVERYONE"
    FOLLOWED = "FOLLOWED"  # members whom they follow
    NOBODY = "NOBODY"


class User(Struct, frozen=True):
    """A member's public record."""

    id: int
    login: str
    name: str
    bio: str
    follower_count: int
    following_count: int
    post_count: int
    is_private: bool = False
    is_suspended: bool = False
    pinned: int | None = None  # a status or quote of their own
    messages_from: MessageAudience = MessageAudience.EVERYONE
    avatar: Image | None = None
    header: Image | None = None

    @property
    def created_at(self) -> datetime:
        return instant(self.id)

    @classmethod
    def read(cls, member: int, fields: Fields) -> User | None:
        if not fields:
            return None
        return cls(
            id=member,
            login=fields[UserField.LOGIN],
            name=fields[UserField.NAME],
            bio=fields[UserField.BIO],
            follower_count=int(fields[UserField.FOLLOWERS]),
            following_count=int(fields[UserField.FOLLOWING]),
            post_count=int(fields[UserField.POSTS]),
            is_private=UserField.PRIVATE in fields,
            is_suspended=UserField.SUSPENDED in fields,
            pinned=int(fields[UserField.PINNED]) if UserField.PINNED in fields else None,
            messages_from=MessageAudience(fields.get(UserField.MESSAGES_FROM, "EVERYONE")),
            avatar=_first_image(fields.get(UserField.AVATAR)),
            header=_first_image(fields.get(UserField.HEADER)),
        )


def _first_image(text: str | None) -> Image | None:
    return read_images(text)[0] if text else None


class Relationship(Struct, frozen=True):
    """The viewer's relationship to another member."""

    follows: bool = False
    blocks: bool = False
    is_blocked: bool = False  # by the other member
    mutes: bool = False


NO_RELATIONSHIP = Relationship()


class Location(Struct, frozen=True):
    """A location on earth, in degrees: latitude from -90 to 90, longitude from -180 to 180."""

    latitude: float
    longitude: float

    @classmethod
    def read(cls, latitude: str | None, longitude: str | None) -> Location | None:
        """Return a location from its stored texts, without rounding; None if one is missing or empty."""
        return cls(float(latitude), float(longitude)) if latitude and longitude else None


class Status(Struct, frozen=True):
    """A post with a member's own text."""

    id: int
    author: int
    text: str
    mentioned: tuple[int, ...]
    hashtags: tuple[str, ...]
    like_count: int
    repost_count: int
    quote_count: int
    comment_count: int
    reply_count: int
    is_hidden: bool
    reply_to: int | None  # the post it answers, which may be gone
    root: int | None  # the post that began the conversation, None where this one answers none
    location: Location | None
    group: int | None = None  # the group it was posted in
    reply_to_author: int | None = None  # who wrote the post it answers
    images: tuple[Image, ...] = ()

    @property
    def created_at(self) -> datetime:
        return instant(self.id)

    @property
    def home_author(self) -> int:
        """The member whose followers have it at home without a repost: its author, 0 for a post in a group."""
        return 0 if self.group else self.author


class Repost(Status, frozen=True):
    """A repost of an original. With text it is a quote, a post of its own; without text it is a plain repost."""

    original_id: int = 0
    original_author: int = 0
    original_group: int | None = None  # the group that the original was posted in

    @property
    def is_plain(self) -> bool:
        return not self.text


Post = Status | Repost


def read_post(post: int, fields: Fields) -> Post | None:
    """Return a status or repost from its hash, None when there is none."""
    if not fields:
        return None
    found = fields.get
    mentioned, hashtags = found(StatusField.MENTIONS), found(StatusField.HASHTAGS)
    images = found(StatusField.IMAGES)
    shared = (
        post,
        int(fields[StatusField.AUTHOR]),
        fields[StatusField.TEXT],
        tuple(map(int, mentioned.split())) if mentioned else (),
        read_hashtags(hashtags) if hashtags else (),
        int(found(StatusField.LIKES, 0)),
        int(found(StatusField.REPOSTS, 0)),
        int(found(StatusField.QUOTES, 0)),
        int(found(StatusField.COMMENTS, 0)),
        int(found(StatusField.REPLIES, 0)),
        StatusField.HIDDEN in fields,
        _number(found(StatusField.REPLY_TO)),
        _number(found(StatusField.ROOT)),
        Location.read(found(StatusField.LATITUDE), found(StatusField.LONGITUDE)),
        _number(found(StatusField.GROUP)),
        _number(found(StatusField.REPLY_TO_AUTHOR)),
        read_images(images) if images else (),
    )
    if StatusField.ORIGINAL not in fields:
        return Status(*shared)
    original, author = int(fields[StatusField.ORIGINAL]), int(fields[StatusField.ORIGINAL_AUTHOR])
    return Repost(*shared, original, author, _number(found(StatusField.ORIGINAL_GROUP)))


def read_hashtags(text: str) -> tuple[str, ...]:
    """Return hashtags from their stored text: a `#` before each, or in layout 2 and before, spaces between them."""
    return tuple(text.split("#")[1:] if text.startswith("#") else text.split())


def write_hashtags(hashtags: Iterable[str]) -> str:
    """Return the stored text of hashtags. Those between two signs may contain spaces, so each follows a `#`."""
    return "".join(f"#{tag}" for tag in hashtags)


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def is_plain_repost(post: Post | None) -> bool:
    """Return whether a post is a repost without text."""
    return isinstance(post, Repost) and post.is_plain


class Comment(Struct, frozen=True):
    """A comment on a post."""

    id: int
    author: int
    text: str
    post_id: int
    reply_to_id: int | None
    mentioned: tuple[int, ...] = ()

    @property
    def created_at(self) -> datetime:
        return instant(self.id)

    @classmethod
    def read(cls, comment: int, fields: Fields) -> Comment | None:
        if not fields:
            return None
        reply_to = fields.get(CommentField.REPLY_TO)
        return cls(
            id=comment,
            author=int(fields[CommentField.AUTHOR]),
            text=fields[CommentField.TEXT],
            post_id=int(fields[CommentField.POST]),
            reply_to_id=int(reply_to) if reply_to else None,
            mentioned=tuple(int(member) for member in fields.get(CommentField.MENTIONS, "").split()),
        )


class Source(Struct, frozen=True):
    """A plain repost that added a post to a home, and its author."""

    repost: int
    author: int

    @property
    def reposted_at(self) -> datetime:
        return instant(self.repost)


def read_pairs(reply: Sequence[str]) -> dict[str, str]:
    """Return the fields of a hash or stream entry from Redis's flat list."""
    parts = iter(reply)
    return dict(zip(parts, parts, strict=True))


def read_entries(reply: Sequence[str]) -> list[Entry]:
    """Return the entries of a sorted set from a reply WITHSCORES."""
    parts = iter(reply)
    return [Entry(int(entity.partition(":")[0]), int(place)) for entity, place in zip(parts, parts, strict=True)]


NOBODY = 0  # The author of the source that says that the post itself was delivered.


def read_sources(text: str | None) -> tuple[Source, ...]:
    """Return the plain reposts among the sources of a home entry, oldest first."""
    if not text:
        return ()
    sources = [Source(*map(int, pair.split(":"))) for pair in text.split()]
    return tuple(sources if sources[0].author != NOBODY else sources[1:])


def write_sources(sources: Iterable[Source]) -> str:
    """Return the text of sources, as a home stores it."""
    return " ".join(f"{source.repost}:{source.author}" for source in sources)


class Published(Struct, frozen=True):
    """An entry of a profile. A plain repost has its original and the original's author.

    The author is 0 for an original in a group, which no follow of an author adds to a home.
    """

    id: int
    original: int | None = None
    original_author: int | None = None
    group: int | None = None  # the group that the post is in


class Entry(Struct, frozen=True):
    """An entry of a sorted list: the id that is listed, and the id it is sorted by."""

    entity: int
    place: int


class Job(Struct, frozen=True):
    """A durable job: committed work that is unfinished. Its id names what began it."""

    id: int
    kind: str
    body: dict[str, object]
    cursor: str = ""
    trace: str = ""  # of the operation that committed it, as `traceparent` has it; known to workers only


def read_job(job: str, kind: str, body: str, cursor: str | None = None, trace: str = "") -> Job:
    """Return a job from its committed id, kind and JSON body."""
    return Job(int(job), kind, msgspec.json.decode(body), cursor or "", trace)

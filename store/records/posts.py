"""Posts and comments as records."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from msgspec import Struct, json

from store.ids import instant
from store.keys.fields import CommentField, StatusField
from store.records.lists import Fields
from store.records.pictures import Image, read_images


class Location(Struct, frozen=True):
    """A location on earth, in degrees: latitude from -90 to 90, longitude from -180 to 180."""

    latitude: float
    longitude: float

    @classmethod
    def read(cls, latitude: str | None, longitude: str | None) -> "Location | None":
        """Return a location from its stored texts, without rounding; None if one is missing or empty."""
        return cls(float(latitude), float(longitude)) if latitude and longitude else None


class PostContent(Struct, frozen=True):
    """What a post is when it is made. A plain repost has an original and no text. `FIELDS` are written from it."""

    author: int
    text: str
    mentions: tuple[int, ...] = ()
    hashtags: tuple[str, ...] = ()
    original: int | None = None
    original_author: int | None = None
    of_quote: bool = False  # whether the original is a quote; its global id says so even when the original is gone
    reply_to: int | None = None
    reply_to_author: int | None = None
    root: int | None = None  # the post that began the conversation; set where the post answers one
    location: Location | None = None
    group: int | None = None  # the group that it is posted in
    original_group: int | None = None  # the group that the original was posted in

    @property
    def is_plain(self) -> bool:
        """Whether it is a plain repost."""
        return bool(self.original) and not self.text


class PostField(Struct, frozen=True):
    """A field of a post's record that is written when the post is made, and what else has it."""

    write: Callable[[PostContent], object]  # returns its value; the field is absent where that is falsy
    exported: str = ""  # the name that an export gives to it; "" where another one says the same
    is_logged: bool = False  # whether the moderation log keeps it when a moderator deletes the post


# `create_post` and `restore_post` write these, and nothing else names them all. The author has an argument of its own.
FIELDS: Mapping[str, PostField] = {
    StatusField.TEXT: PostField(lambda post: post.text, "text", is_logged=True),
    StatusField.MENTIONS: PostField(lambda post: " ".join(map(str, post.mentions)), "mentions"),
    StatusField.HASHTAGS: PostField(lambda post: write_hashtags(post.hashtags), "hashtags"),
    StatusField.ORIGINAL: PostField(lambda post: post.original, "original"),
    StatusField.ORIGINAL_AUTHOR: PostField(lambda post: post.original_author),
    StatusField.OF_QUOTE: PostField(lambda post: "1" if post.of_quote else ""),
    StatusField.REPLY_TO: PostField(lambda post: post.reply_to, "inReplyTo"),
    StatusField.REPLY_TO_AUTHOR: PostField(lambda post: post.reply_to_author),
    StatusField.ROOT: PostField(lambda post: post.root, "conversationId"),
    # repr() has enough digits to restore exactly the same number.
    StatusField.LATITUDE: PostField(lambda post: post.location and repr(post.location.latitude), "location"),
    StatusField.LONGITUDE: PostField(lambda post: post.location and repr(post.location.longitude), "location"),
    StatusField.GROUP: PostField(lambda post: post.group, "group"),
    StatusField.ORIGINAL_GROUP: PostField(lambda post: post.original_group),
}
LOGGED = tuple(name for name, field in FIELDS.items() if field.is_logged)


def write_content(post: PostContent) -> str:
    """Return what a post is, as JSON of its `FIELDS` without absent ones, for the scripts that write its record."""
    return json.encode({name: str(value) for name, field in FIELDS.items() if (value := field.write(post))}).decode()


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


def new_status(post: int, content: PostContent) -> Status:
    """Return a status as it is when it is made, which neither names nor answers anybody, nor has pictures."""
    tags = content.hashtags
    return Status(post, content.author, content.text, (), tags, 0, 0, 0, 0, 0, False, None, None, content.location)


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
    def read(cls, comment: int, fields: Fields) -> "Comment | None":
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

"""Members as records, and what the viewer is to them."""

from datetime import datetime
from enum import Enum

from msgspec import Struct

from store.ids import instant
from store.keys.fields import UserField
from store.records.lists import Fields
from store.records.pictures import Image, read_images


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
    def read(cls, member: int, fields: Fields) -> "User | None":
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

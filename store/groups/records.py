"""The records of groups: kinds, roles and the group itself."""

from datetime import datetime
from enum import Enum

from msgspec import Struct

from store.ids import instant
from store.keys.fields import GroupField
from store.records.lists import Fields


class GroupKind(Enum):
    """Who may join, read and post in a group."""

    PUBLIC = "PUBLIC"
    PRIVATE = "PRIVATE"
    ANNOUNCEMENT = "ANNOUNCEMENT"


class GroupRole(Enum):
    """A member's role in a group. Later roles are higher."""

    MEMBER = "MEMBER"
    MODERATOR = "MODERATOR"
    OWNER = "OWNER"

    @property
    def moderates(self) -> bool:
        """Whether the role may do what the group's moderators may."""
        return self is not GroupRole.MEMBER

    def outranks(self, other: "GroupRole") -> bool:
        """Return whether the role is higher than another one."""
        roles = list(GroupRole)
        return roles.index(self) > roles.index(other)


class Group(Struct, frozen=True):
    """A group."""

    id: int
    name: str
    description: str
    kind: GroupKind
    is_hidden: bool = False  # by moderators of the site

    @property
    def created_at(self) -> datetime:
        return instant(self.id)

    @classmethod
    def read(cls, group: int, fields: Fields) -> "Group | None":
        if not fields:
            return None
        name, description, kind = (fields[f] for f in (GroupField.NAME, GroupField.DESCRIPTION, GroupField.KIND))
        return cls(group, name, description, GroupKind(kind), GroupField.HIDDEN in fields)

"""What an event of the whole site looks like, rendered once for all who would get the same.

A selection can be shared where nothing in it depends on who looks but whether they see it: then somebody looks who has
nothing to do with anybody, and what they get is right for all who neither block, mute nor are blocked by any member
whom the rendering has looked at, where none of these is private. For the others it is rendered for them alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from strawberry.types import ExecutionResult

from schema.execution.encoding import dumps

# Leaf fields and what leads to them; none of them takes an argument, so that variables make no difference.
SHARED_FIELDS = frozenset(
    {
        "__typename",
        "at",
        "author",
        "authorId",
        "bio",
        "commentCount",
        "createdAt",
        "cursor",
        "followed",
        "follower",
        "followerCount",
        "followingCount",
        "hashtags",
        "id",
        "isHidden",
        "isPrivate",
        "isSuspended",
        "latitude",
        "likeCount",
        "location",
        "login",
        "longitude",
        "mentions",
        "name",
        "original",
        "post",
        "postCount",
        "postId",
        "quoteCount",
        "replyCount",
        "repostCount",
        "sample",
        "stream",
        "text",
        "unfollowed",
    }
)


class SharedResult(ExecutionResult):
    """A result that many get alike, and the JSON that all of them are sent, written once."""

    def __init__(self, data: dict[str, Any] | None) -> None:
        super().__init__(data, None)
        self.json = dumps({"data": data})


@dataclass(frozen=True, slots=True)
class Rendering:
    """A result and the members it was made of; `selection` keeps alive what it is known by."""

    result: SharedResult
    members: frozenset[int]
    selection: object

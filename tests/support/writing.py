"""Writes that are limited per hour: each kind made once more, and what the store counts of them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from store.client.database import Database
from tests.support.people import Member
from tests.support.stored import find

SETTINGS = ("posts_per_hour", "comments_per_hour", "likes_per_hour", "follows_per_hour", "messages_per_hour")
SPAM = "Buy the very best tea of the whole world, only today!"


@dataclass
class Scene:
    """Alice, who writes; posts that she has not liked; members whom she does not follow; and a conversation of hers."""

    alice: Member
    posts: list[str]
    others: list[Member]
    talk: str


Write = Callable[[Scene, int], Awaitable[Any]]  # makes the write of a number, and returns the payload


async def _post(scene: Scene, number: int) -> Any:
    return await scene.alice.do("post", "status { id }", text=f"post {number}")


async def _repost(scene: Scene, number: int) -> Any:
    return await scene.alice.do("repost", "repost { id }", postId=scene.posts[number])


async def _comment(scene: Scene, number: int) -> Any:
    return await scene.alice.do("comment", "comment { id }", postId=scene.posts[0], text=f"comment {number}")


async def _like(scene: Scene, number: int) -> Any:
    return await scene.alice.do("like", "post { id viewerHasLiked }", postId=scene.posts[number])


async def _follow(scene: Scene, number: int) -> Any:
    return await scene.alice.do("follow", "users { id }", userIds=[scene.others[number].id])


async def _message(scene: Scene, number: int) -> Any:
    return await scene.alice.do("sendMessage", "message { id }", conversationId=scene.talk, text=f"message {number}")


async def _start(scene: Scene, number: int) -> Any:
    ids = [scene.others[number].id]
    return await scene.alice.do("startConversation", "message { id }", userIds=ids, text=f"message {number}")


WRITES: dict[str, Write] = {
    "post": _post,
    "repost": _repost,
    "comment": _comment,
    "like": _like,
    "follow": _follow,
    "sendMessage": _message,
    "startConversation": _start,
}


async def counts(db: Database) -> dict[str, int]:
    """Return how many writes of each kind the store counts, of all members and hours together."""
    found: dict[str, int] = {}
    for key in await find(db, "writes:*"):
        fields = await db.one("HGETALL", key)
        for kind, count in zip(fields[::2], fields[1::2], strict=True):
            found[kind] = found.get(kind, 0) + int(count)
    return found


async def forget(db: Database) -> None:
    """Let the hour and the day pass."""
    for key in [*await find(db, "writes:*"), *await find(db, "texts:*")]:
        await db.one("DEL", key)

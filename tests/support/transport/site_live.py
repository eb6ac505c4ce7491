"""Subscriptions to the whole site, and the parts of their events that tests compare."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from resolvers.process.services import Services
from tests.support.people import Member
from tests.support.transport.live import Stream, now, subscribed, until

_STREAM = """subscription($filter: StreamFilter, $kinds: [StreamEventKind!], $after: String) {
  stream(filter: $filter, kinds: $kinds, after: $after) {
    __typename ... on StreamEvent { cursor at }
    ... on PostCreated { post { %s author { id login } ... on Repost { original { id author { id } } } } }
    ... on PostDeleted { postId authorId }
    ... on UserFollowed { follower { id login } followed { id login } }
    ... on UserUnfollowed { follower { id login } unfollowed { id login } } } }"""
STREAM = _STREAM % "id text"
OWN_STREAM = _STREAM % "id text viewerHasLiked"  # has a viewer's field, so it is rendered for each viewer alone
SAMPLE = """subscription($percent: Int!, $after: String) { sample(percent: $percent, after: $after) {
  __typename ... on StreamEvent { cursor } ... on PostCreated { post { id } } ... on PostDeleted { postId } } }"""


@asynccontextmanager
async def listening(services: Services, member: Member, query: str = STREAM, **asked: Any) -> AsyncIterator[Stream]:
    """Subscribe to the site, and wait until the server delivers every event from now on."""
    before = len(services.listeners)
    asked.setdefault("after", await now(services.db))
    async with subscribed(member, query, **asked) as stream:
        await until(lambda: len(services.listeners) > before)
        yield stream


async def next_event(stream: Stream) -> tuple[Any, ...]:
    """Return the parts of the next event that tests compare."""
    event = await stream.next()
    match event["__typename"]:
        case "PostCreated":
            return "created", event["post"]["id"]
        case "PostDeleted":
            return "deleted", event["postId"], event["authorId"]
        case "UserFollowed":
            return "followed", event["follower"]["login"], event["followed"]["login"]
        case "UserUnfollowed":
            return "unfollowed", event["follower"]["login"], event["unfollowed"]["login"]
        case other:
            return (other,)

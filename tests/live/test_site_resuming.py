"""Resuming the site stream: past events are sent again only as they are visible now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from resolvers import accounts
from resolvers.operation.services import Services
from tests.support.people import PASSWORD, Member, make_private
from tests.support.transport.site_live import OWN_STREAM, SAMPLE, STREAM, listening
from tests.support.transport.transports import TRANSPORTS, line

Change = Callable[[Services, Member, str], Awaitable[Any]]
QUERIES: dict[str, dict[str, Any]] = {STREAM: {"kinds": ["POST_CREATED"]}, OWN_STREAM: {}, SAMPLE: {"percent": 100}}


async def _delete(_: Services, author: Member, post: str) -> None:
    await author.do("deletePost", postId=post)


async def _hide(_: Services, author: Member, post: str) -> None:
    await author.do("hidePost", postId=post)


async def _go_private(_: Services, author: Member, __: str) -> None:
    await make_private(author)


async def _suspend(services: Services, author: Member, _: str) -> None:
    assert await accounts.set_suspension(services.db, author.login, suspended=True)


async def _delete_account(_: Services, author: Member, __: str) -> None:
    assert not (await author.do("deleteAccount", password=PASSWORD))["userErrors"]


@pytest.mark.parametrize("change", [_delete, _hide, _go_private, _suspend, _delete_account])
@pytest.mark.parametrize(("query", "asked"), QUERIES.items(), ids=["stream", "own stream", "sample"])
async def test_what_is_gone_meanwhile(
    services: Services,
    alice: Member,
    bob: Member,
    carol: Member,
    query: str,
    asked: dict[str, Any],
    change: Change,
) -> None:
    """A post sent live that is deleted, hidden or not public by now is not sent to a client that resumes before it."""
    async with listening(services, alice, query, **asked) as stream:
        await carol.post("to go on from")
        await stream.next()
        cursor = stream.cursor
        gone = await bob.post("delivered, and gone")
        assert (await stream.next())["post"]["id"] == gone
    await change(services, bob, gone)
    last = await carol.post("the end")
    for transport in TRANSPORTS:
        async with line(transport, alice, query, **asked, after=cursor) as resumed:
            delivered: list[tuple[str, str]] = []
            while ("PostCreated", last) not in delivered:
                event = await resumed.next()
                delivered.append((event["__typename"], event.get("postId") or event["post"]["id"]))
        assert set(delivered) <= {("PostDeleted", gone), ("PostCreated", last)}, transport

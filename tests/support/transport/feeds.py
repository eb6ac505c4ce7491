"""Clients of event streams: a subscription, or any operation, requested as Server-Sent Events."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientResponse

from tests.support.people import Member
from tests.support.transport.clients import EVENT_STREAM, EVENTS, PATIENCE, Client, token

COMMENT = ":"


class Feed:
    """One event stream as a client reads it."""

    def __init__(self, response: ClientResponse) -> None:
        self.response = response

    async def block(self) -> str:
        """Return the next event or comment as it was sent, without the line that ends it."""
        async with asyncio.timeout(PATIENCE):
            return (await self.response.content.readuntil(b"\n\n")).decode().removesuffix("\n\n")

    async def receive(self) -> Any:
        """Return the data of the next `next` event; None for `complete`."""
        while (block := await self.block()) == COMMENT:
            pass
        if block == "event: complete\ndata:":
            return None
        first, data = block.split("\n")
        assert first == "event: next"
        return json.loads(data.removeprefix("data: "))

    async def opened(self) -> "Feed":
        """Wait for the comment that opens a subscription."""
        assert (self.response.status, self.response.content_type) == (200, EVENT_STREAM)
        assert await self.block() == COMMENT
        return self

    async def completed(self) -> None:
        """Wait for `complete`, after which nothing may arrive."""
        assert await self.receive() is None
        async with asyncio.timeout(PATIENCE):
            assert await self.response.content.read() == b""

    async def refused(self) -> str:
        """Return the code of the one error that ends a stream; nothing else may arrive."""
        answer = await self.receive()
        assert set(answer) == {"errors"}, answer
        await self.completed()
        return str(answer["errors"][0]["extensions"]["code"])


def wanting(authorization: str | None = None, **headers: str) -> dict[str, str]:
    """Return the request headers of an event stream."""
    return {"Accept": EVENT_STREAM, **(token(authorization) if authorization else {}), **headers}


async def ask(client: Client, query: str, who: str | None = None, **rest: Any) -> Feed:
    """Request an operation as an event stream, with a token or without."""
    headers = wanting(who, **rest.pop("headers", {}))
    return Feed(await client.post("/graphql", json={"query": query, **rest}, headers=headers))


async def subscribe(client: Client, query: str = EVENTS, who: str | None = None) -> Feed:
    """Subscribe, and wait until the server has begun its response."""
    return await (await ask(client, query, who)).opened()


@asynccontextmanager
async def following(member: Member, query: str, session: Any = None, **variables: Any) -> AsyncIterator[Feed]:
    """Subscribe as a member of the real schema, and vanish at the end."""
    body = {"query": query, "variables": variables}
    client = session or member.client
    address = member.client.make_url("/graphql") if session else "/graphql"
    async with client.post(address, json=body, headers=wanting(member.token)) as response:
        yield await Feed(response).opened()
        response.close()

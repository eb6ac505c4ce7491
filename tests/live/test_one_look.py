"""Each subscription message comes from one consistent read, so a change before it is sent causes no error."""

import asyncio

import pytest

from resolvers.process.services import Services
from schema.execution.operations import Schema
from store.client.database import Database
from tests.support.people import Member
from tests.support.transport.live import now
from tests.support.transport.site_live import OWN_STREAM, STREAM
from tests.support.transport.slow_readers import slow_reader
from tests.support.transport.transports import BODIES, listening

AUTHORS = """subscription($after: String) { homeTimeline(after: $after) { __typename
  ... on StreamEvent { cursor }
  ... on TimelineEntryPut { edge { cursor node { ... on Post { id author { login } } } repostedBy { user { id } } } }
  ... on TimelineEntryRemoved { nodeId } } }"""
POSTS = 10


async def test_a_block_between_two_messages(services: Services, built: Schema, alice: Member, bob: Member) -> None:
    """Posts added by a follow that are still unsent when their author blocks the subscriber are not sent."""
    posts = [await alice.post(f"{i}") for i in range(POSTS)]
    async with slow_reader(services, built, bob, AUTHORS) as reader:
        await bob.follow(alice)
        await reader.read(2)
        await alice.do("block", userIds=[bob.id])
        await reader.catch_up()
        kinds = [message["__typename"] for message in reader.messages]
        # One more than was read: the third was waiting to be sent when the block was made.
        assert kinds.count("TimelineEntryPut") == 3
        assert {message["nodeId"] for message in reader.messages[3:]} == set(posts)


@pytest.mark.parametrize("transport", BODIES)
async def test_blocks_while_a_home_is_told(
    db: Database, services: Services, alice: Member, bob: Member, transport: str
) -> None:
    """Repeated follows of a member who blocks and unblocks the subscriber meanwhile cause no error."""
    for i in range(POSTS):
        await alice.post(f"{i}")
    async with listening(services, transport, bob, AUTHORS, after=await now(db)) as line:
        for _ in range(8):
            await bob.follow(alice)
            await asyncio.gather(alice.do("block", userIds=[bob.id]), line.next())
            await alice.do("unblock", userIds=[bob.id])
        last = await bob.post("the end")
        while (await line.next()).get("edge", {}).get("node", {}).get("id") != last:
            pass


@pytest.mark.parametrize(
    ("query", "is_deleted"),
    [(OWN_STREAM, False), (OWN_STREAM, True), (STREAM, True)],
    ids=["blocks", "leaves", "leaves-shared"],
)
async def test_an_author_gone_before_a_post_is_told(
    services: Services, built: Schema, alice: Member, bob: Member, query: str, is_deleted: bool
) -> None:
    """A post waiting for a slow site subscriber is not sent once its author blocks them or deletes the account."""
    async with slow_reader(services, built, bob, query) as reader:
        own = await bob.post("what the client has not read")
        await alice.post("what waits")
        if is_deleted:
            await alice.do("deleteAccount", password="correct horse battery")
        else:
            await alice.do("block", userIds=[bob.id])
        last = await bob.post("the end")
        await reader.catch_up()
        delivered = [message["post"]["id"] for message in reader.messages if message["__typename"] == "PostCreated"]
        assert delivered == [own, last]

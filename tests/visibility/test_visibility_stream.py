"""Visibility in the stream of the whole site: posts not public reach nobody, blocks and mutes are respected."""

from contextlib import AsyncExitStack

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from tests.support.people import Member
from tests.support.transport.live import Stream
from tests.support.transport.site_live import OWN_STREAM, STREAM, listening
from tests.support.visibility.audience import LIVELY, OPEN, PRIVATE, Audience, Entities, audience
from tests.support.visibility.sightings import ids_in
from tests.support.visibility.sights import TIMELINE, WANTED, Cell


async def act(site: Audience) -> tuple[dict[object, Entities], str]:
    """Have a public and a private member post, delete and follow; returns their posts, and the last post."""
    made: dict[object, Entities] = {}
    for state in (OPEN, PRIVATE):
        member = site.subjects[state]
        gone = await member.post("short-lived")
        made[state] = {"post": await member.post("live"), "gone": gone, "passed on": site.entities[state]["late"]}
        await member.do("deletePost", postId=gone)
        if state == OPEN:
            await site.pals[state].repost(made[state]["passed on"])
        await member.unfollow(site.pals[state])
        await member.follow(site.pals[state])
        made[state]["member"] = member.id
    return made, await site.friend.post("the end")


async def delivered_ids(stream: Stream, last: str) -> tuple[set[str], set[str]]:
    """Return the ids of all posts delivered to a subscriber, up to the last one, and who follows somebody."""
    found, followers = set[str](), set[str]()
    while last not in found:
        event = await stream.next()
        assert event["__typename"] != "StreamGap"
        found |= {event["postId"]} if "postId" in event else set(ids_in(event))
        if "follower" in event:
            followers.add(event["follower"]["id"])
    return found, followers


def expected(cell: Cell) -> dict[str, bool]:
    """Return the events of a member that a viewer in a cell must get."""
    is_open = cell.state == OPEN
    post = TIMELINE.is_seen(cell) and is_open
    return {"post": post, "gone": post, "passed on": post, "member": WANTED.is_seen(cell) and is_open}


@pytest.mark.parametrize("query", [STREAM, OWN_STREAM], ids=["rendered for all", "rendered for each"])
async def test_stream(services: Services, db: Database, anonymous: Member, query: str) -> None:
    """Public acts of a member are delivered to those who see and want them, acts of a private one to nobody."""
    site = await audience(db, anonymous)
    viewers = {id(viewer): viewer for viewer in map(site.viewer, LIVELY)}
    async with AsyncExitStack() as stack:
        streams = {
            key: await stack.enter_async_context(listening(services, viewer, query)) for key, viewer in viewers.items()
        }
        made, last = await act(site)
        found = {key: await delivered_ids(stream, last) for key, stream in streams.items()}
    for cell in LIVELY:
        posts, followers = found[id(site.viewer(cell))]
        came = {name: entity in posts for name, entity in made[cell.state].items()}
        came["member"] = made[cell.state]["member"] in followers
        assert came == expected(cell), cell

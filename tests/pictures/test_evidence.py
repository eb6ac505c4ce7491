"""Pictures of reported messages, which moderators see until they have decided."""

import asyncio
from typing import Any

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from tests.support.conversations import start, write
from tests.support.damage.site import look
from tests.support.moderation.acts import appoint, report, resolve
from tests.support.people import Member
from tests.support.pictures import objects, pictures, status_of

ROUNDS = 6  # each race is run so often
REPORTED = """{ reports(first: 10) { nodes { messages { id images { id url small: url(size: SMALL) } } } } }"""
IMAGES = "query($id: ID!) { node(id: $id) { ... on Message { images { url } } } }"


@pytest.fixture
async def mona(services: Services, anonymous: Member) -> Member:
    """A moderator."""
    return await appoint(services.db, anonymous, "mona")


async def pictured(db: Database, sender: Member, talk: str, text: str = "") -> str:
    """Return a new message with a picture."""
    return await write(sender, talk, text, images=await pictures(db, sender, 1, "MESSAGE"))


async def shown(moderator: Member) -> list[list[str]]:
    """Return the links of the pictures that each open report has."""
    found: list[dict[str, Any]] = (await moderator.ask(REPORTED))["nodes"]
    return [[image["url"] for message in one["messages"] for image in message["images"]] for one in found]


async def test_kept_until_decided(db: Database, alice: Member, bob: Member, mona: Member) -> None:
    """A sender who deletes a reported message takes its picture from everybody but moderators, until they decide."""
    talk = await start(alice, bob)
    message = await pictured(db, alice, talk)
    (seen,) = (await bob.ask(IMAGES, id=message))["images"]
    identity = await report(bob, message)
    await alice.do("deleteMessage", messageId=message)
    ((link,),) = await shown(mona)
    assert link != seen["url"]
    assert (await status_of(mona, link), await status_of(bob, seen["url"])) == (200, 404)
    assert (await look(db)).findings == []
    assert len(await objects(db)) == 1
    await resolve(mona, identity, "DISMISS")
    assert await status_of(mona, link) == 404
    assert await objects(db) == set()
    assert (await look(db)).clean


@pytest.mark.parametrize("action", ["DISMISS", "DELETE_CONTENT"])
async def test_a_message_that_is_there(db: Database, alice: Member, bob: Member, mona: Member, action: str) -> None:
    """A decision removes the pictures of a message only with the message."""
    message = await pictured(db, alice, await start(alice, bob))
    identity = await report(bob, message)
    ((link,),) = await shown(mona)
    await resolve(mona, identity, action)
    stays = action == "DISMISS"
    assert await status_of(mona, link) == (200 if stays else 404)
    assert bool(await objects(db)) == stays
    assert (await look(db)).clean


async def test_two_cases(db: Database, alice: Member, bob: Member, mona: Member) -> None:
    """A picture that two cases have is kept until both are decided."""
    talk = await start(alice, bob)
    first, second = [await pictured(db, alice, talk, text) for text in ("one", "two")]
    reports = [await report(bob, message) for message in (first, second)]
    await alice.do("deleteMessage", messageId=first)
    links = await shown(mona)
    assert sorted(map(len, links)) == [1, 2]
    both = {link for some in links for link in some}
    await resolve(mona, reports[0], "DISMISS")
    assert [await status_of(mona, link) for link in both] == [200, 200]
    await resolve(mona, reports[1], "DISMISS")
    assert sorted([await status_of(mona, link) for link in both]) == [200, 404]
    assert len(await objects(db)) == 1
    assert (await look(db)).clean


async def test_the_end_of_a_conversation(db: Database, alice: Member, bob: Member, mona: Member) -> None:
    """Moderators also see the pictures of a conversation that everybody has left."""
    talk = await start(alice, bob)
    identity = await report(bob, await pictured(db, alice, talk))
    for member in (alice, bob):
        await member.do("leaveConversation", conversationId=talk)
    ((link,),) = await shown(mona)
    assert await status_of(mona, link) == 200
    await resolve(mona, identity, "DISMISS")
    assert await objects(db) == set()
    assert (await look(db)).clean


async def test_deleted_while_it_is_decided(db: Database, alice: Member, bob: Member, mona: Member) -> None:
    """A message that is deleted while its report is filed or resolved leaves no picture after the decision."""
    talk = await start(alice, bob)
    for round_number in range(ROUNDS):
        message = await pictured(db, alice, talk)
        deletion = alice.do("deleteMessage", messageId=message)
        if round_number % 2:
            identity = await report(bob, message)
            await asyncio.gather(deletion, resolve(mona, identity, "DISMISS"))
        else:
            filed, _ = await asyncio.gather(
                bob.do("report", "report { id }", subjectId=message, reason="SPAM"), deletion
            )
            if filed["report"]:
                await resolve(mona, filed["report"]["id"], "DISMISS")
        assert await objects(db) == set()
    assert (await look(db)).clean

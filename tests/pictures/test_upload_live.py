"""The subscription `upload`: each state of an upload of one's own, until its end."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from store import keys
from store.client.database import Database
from store.pictures import uploads
from tests.support.people import Member
from tests.support.transport.live import Stream, subscribed
from tests.support.uploads import announce, drawn, put, sent
from tests.support.work import number

LIVE = "subscription($id: ID!) { upload(id: $id) { id state url error image { width url } } }"
COMPLETE = {"id": "1", "type": "complete"}


async def state(stream: Stream) -> tuple[Any, ...]:
    """Return the state of the next event, whether it has a link, its error, and the width of its picture."""
    event = await stream.next()
    image = event["image"]
    return event["state"], event["url"] is not None, event["error"], image and image["width"]


async def test_until_the_picture_is_ready(alice: Member, worker: Worker) -> None:
    """The present state comes first, then each other one. READY has the picture, and is the last."""
    data = drawn()
    upload = await announce(alice, data)
    async with subscribed(alice, LIVE, id=upload["id"]) as stream:
        assert await state(stream) == ("WAITING", True, None, None)
        assert await put(alice, upload["url"], data) == 204
        assert await state(stream) == ("PROCESSING", False, None, None)
        await worker.run_once()
        assert await state(stream) == ("READY", False, None, 64)
        assert await stream.receive() == COMPLETE
    async with subscribed(alice, LIVE, id=upload["id"]) as stream:
        assert await state(stream) == ("READY", False, None, 64)
        assert await stream.receive() == COMPLETE


async def test_what_is_no_picture(alice: Member, worker: Worker) -> None:
    """FAILED says why, and is the last state."""
    identity = await sent(alice, b"no picture")
    async with subscribed(alice, LIVE, id=identity) as stream:
        assert await state(stream) == ("PROCESSING", False, None, None)
        await worker.run_once()
        assert await state(stream) == ("FAILED", False, "INVALID", None)
        assert await stream.receive() == COMPLETE


async def test_an_upload_that_is_removed(db: Database, alice: Member) -> None:
    """The subscription ends with NOT_FOUND when the upload is removed."""
    upload = await announce(alice, drawn())
    async with subscribed(alice, LIVE, id=upload["id"]) as stream:
        assert await state(stream) == ("WAITING", True, None, None)
        assert await db.ask(uploads.remove_command(db, number(upload["id"]), number(alice.id))) == [1]
        assert await code(stream) == "NOT_FOUND"
    assert await db.one("EXISTS", keys.image(number(upload["id"]))) == 0


@pytest.mark.parametrize("whose", ["of another member", "of nobody", "a member", "no id"])
async def test_what_is_not_ones_own(alice: Member, bob: Member, whose: str) -> None:
    """Another member's upload and none at all look the same."""
    ids = {
        "of another member": (await announce(bob, drawn()))["id"],
        "of nobody": f"upload_{int((datetime.now(UTC) - timedelta(days=1)).timestamp()):014x}",
        "a member": bob.id,
        "no id": "upload",
    }
    async with subscribed(alice, LIVE, id=ids[whose]) as stream:
        assert await code(stream) == "BAD_USER_INPUT"


async def test_without_a_token(anonymous: Member, alice: Member) -> None:
    """Strangers are told to log in."""
    upload = await announce(alice, drawn())
    async with subscribed(anonymous, LIVE, id=upload["id"]) as stream:
        assert await code(stream) == "UNAUTHENTICATED"


async def code(stream: Stream) -> str:
    """Return the code of the error that ends a subscription."""
    message = await stream.receive()
    errors = message["payload"] if message["type"] == "error" else message["payload"]["errors"]
    found: str = errors[0]["extensions"]["code"]
    return found

"""Two requests for the same picture at the same moment, and a reservation that ends before its message is sent."""

import asyncio

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from store import keys
from store.client.database import Database
from store.conversations import messages as stored
from store.conversations.messages import MessageDraft
from store.pictures import images
from store.pictures.images import WantedImage
from store.refusals import Refusal, accepted
from tests.support.conversations import start
from tests.support.damage.site import look
from tests.support.people import Member
from tests.support.pictures import pictures, ready_picture
from tests.support.work import Turns, number, work_off

ORDERS = 4


async def test_one_picture_for_two_posts(db: Database, alice: Member) -> None:
    """Of two posts with the same picture at the same moment, one has it, and the other is refused."""
    inputs = await pictures(db, alice, 1)
    payloads = await asyncio.gather(*(alice.do("post", "status { id }", text=text, images=inputs) for text in "ab"))
    assert sorted(len(payload["userErrors"]) for payload in payloads) == [0, 1]
    assert (await look(db)).findings == []


async def test_one_picture_for_two_messages(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Of two messages with the same picture at the same moment, one has it, and the other is refused."""
    talks = [await start(alice, bob), await start(alice, carol)]
    inputs = await pictures(db, alice, 1, "MESSAGE")
    sent = [alice.do("sendMessage", "message { id }", conversationId=one, text="x", images=inputs) for one in talks]
    payloads = await asyncio.gather(*sent)
    assert sorted(len(payload["userErrors"]) for payload in payloads) == [0, 1]
    assert (await look(db)).findings == []


async def test_a_message_that_comes_too_late(db: Database, alice: Member, bob: Member) -> None:
    """Pictures that were given back cannot be taken by the message for which they were reserved."""
    talk, picture = number(await start(alice, bob)), number(await ready_picture(db, alice, "MESSAGE"))
    me = number(alice.id)
    reservation = accepted(await images.reserve(db, me, talk, [WantedImage(picture)]))
    await dispatch.finish(db, reservation.job)
    draft = MessageDraft(me, "", [number(bob.id)], reservation=reservation)
    assert await stored.send(db, talk, draft) is Refusal.LATE
    again = accepted(await images.reserve(db, me, talk, [WantedImage(picture)]))
    sent = accepted(await stored.send(db, talk, MessageDraft(me, "", [number(bob.id)], reservation=again)))
    for job in (sent.job, again.job):
        assert job
        await dispatch.finish(db, job)
    assert (await look(db)).findings == []


async def test_a_message_beside_the_end_of_its_reservation(
    db: Database, worker: Worker, alice: Member, bob: Member
) -> None:
    """However sending and ending interleave, a message has its pictures and they say so, or they are free."""
    talk, me = number(await start(alice, bob)), number(alice.id)
    for order in range(ORDERS):
        picture = number(await ready_picture(db, alice, "MESSAGE"))
        reservation = accepted(await images.reserve(db, me, talk, [WantedImage(picture)]))
        turns = Turns(db.settings, order)
        draft = MessageDraft(me, "", [number(bob.id)], reservation=reservation)
        await turns.together(stored.send(turns, talk, draft), dispatch.finish(turns.elsewhere(), reservation.job))
        await work_off(db, worker)
        subject = await db.one("HGET", keys.image(picture), "subject")
        assert subject is None or subject.startswith("message:")
        assert (await look(db)).findings == []


async def test_a_change_beside_another(db: Database, alice: Member) -> None:
    """Changes of two pictures of one post at the same moment are both there afterwards."""
    inputs = await pictures(db, alice, 2)
    post = await alice.post("", images=inputs)
    ids = [one["uploadId"].replace("upload", "image") for one in inputs]
    changes = [alice.do("updateImage", imageId=image, alt=alt) for image, alt in zip(ids, ("a", "b"), strict=True)]
    assert [payload["userErrors"] for payload in await asyncio.gather(*changes)] == [[], []]
    shown = await alice.ask("query($id: ID!) { node(id: $id) { ... on Post { images { alt } } } }", id=post)
    assert shown == {"images": [{"alt": "a"}, {"alt": "b"}]}


async def test_a_change_of_a_post_that_is_deleted(db: Database, alice: Member) -> None:
    """A change does not bring the pictures of a deleted post back."""
    inputs = await pictures(db, alice, 1)
    post = await alice.post("", images=inputs)
    image = inputs[0]["uploadId"].replace("upload", "image")
    await asyncio.gather(alice.do("updateImage", imageId=image, alt="a"), alice.do("deletePost", postId=post))
    assert not await db.one("EXISTS", keys.status(number(post)))
    assert (await look(db)).findings == []

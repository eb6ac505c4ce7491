"""`verify` finds pictures whose records, copies and lists disagree, and `repair` makes them agree."""

import pytest

from resolvers.jobs.worker import Worker
from resolvers.upkeep import verify
from store.client.database import Database
from tests.support import conversations
from tests.support.damage.picture_damages import PICTURES, Gallery, PictureDamage
from tests.support.damage.site import look
from tests.support.moderation.acts import report
from tests.support.people import Member
from tests.support.pictures import pictures, ready_picture
from tests.support.work import number, work_off

ROUNDS = 4  # of repair: one may reveal another finding


@pytest.fixture
async def gallery(db: Database, alice: Member, bob: Member) -> Gallery:
    """A picture of each kind."""
    avatar, loose = await ready_picture(db, alice, "AVATAR"), await ready_picture(db, alice)
    await alice.do("updateProfile", avatar={"uploadId": avatar})
    images = await pictures(db, alice, 2)
    post = await alice.post("", images=images)
    talk = await conversations.start(alice, bob)
    (sent,) = await pictures(db, alice, 1, "MESSAGE")
    message = await conversations.write(alice, talk, "", images=[sent])
    reported = await report(bob, message)
    uploads = [avatar, images[0]["uploadId"], images[1]["uploadId"], sent["uploadId"], loose]
    return Gallery(number(alice.id), number(post), number(message), *map(number, [*uploads, reported]))


async def test_a_healthy_gallery(db: Database, gallery: Gallery) -> None:
    """Nothing is found where nothing is damaged."""
    assert (await look(db)).findings == []


@pytest.mark.parametrize("damage", PICTURES, ids=lambda damage: damage.name)
async def test_damaged_pictures(db: Database, worker: Worker, gallery: Gallery, damage: PictureDamage) -> None:
    """A finding names the damaged key, and after the repair nothing is found."""
    await db.ask(*damage.commands(gallery))
    found = await look(db)
    assert damage.key(gallery) in {finding.key for finding in found.findings}
    for _ in range(ROUNDS):
        if not await verify.repair(db, found.findings):
            break
        await work_off(db, worker)
        found = await look(db)
    assert found.findings == []

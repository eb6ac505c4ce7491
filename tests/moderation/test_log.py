"""The moderation log: nobody changes it unnoticed, and it keeps deleted texts for a while only."""

import pytest

from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.keys.fields import LogHeadField
from tests.support.damage.site import look
from tests.support.moderation.acts import appoint, logged
from tests.support.people import Member
from tests.support.work import number


@pytest.fixture
async def acts(services: Services, anonymous: Member, bob: Member) -> list[int]:
    """The acts of a moderator who deletes three posts, oldest first."""
    mona = await appoint(services.db, anonymous, "mona")
    for text in ("one", "two", "three"):
        assert not (await mona.do("deletePost", postId=await bob.post(text)))["userErrors"]
    return [number(act["id"]) for act in await logged(mona)]


async def test_untouched(db: Database, acts: list[int]) -> None:
    """Nothing is found in a log that nobody touched."""
    assert (await look(db)).clean


@pytest.mark.parametrize("place", range(3))
async def test_act_taken_out(db: Database, acts: list[int], place: int) -> None:
    """An act that is taken out with all its traces is noticed, wherever it is in the log."""
    act = acts[place]
    await db.ask(
        ("ZREMRANGEBYSCORE", keys.moderation_log(), act, act),
        ("DEL", keys.moderation_act(act), keys.removed_text(act)),
        ("HINCRBY", keys.log_head(), LogHeadField.COUNT, -1),
    )
    follower = keys.log_head() if act == acts[-1] else keys.moderation_act(acts[place + 1])
    assert follower in {finding.key for finding in (await look(db)).findings}


async def test_texts_expire(db: Database, services: Services, anonymous: Member, acts: list[int]) -> None:
    """A deleted text lives as long as the setting says; afterwards the act is still there, and still right."""
    lives = await db.ask(*(("TTL", keys.removed_text(act)) for act in acts))
    most = services.settings.moderation_log_days * keys.DAY
    assert all(most - 60 < life <= most for life in lives)
    await db.ask(*(("PEXPIRE", keys.removed_text(act), 0) for act in acts))
    found = await logged(await appoint(db, anonymous, "max"))
    assert [act["removedText"] for act in found] == [None] * 3
    assert (await look(db)).clean

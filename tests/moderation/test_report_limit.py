"""How many reports one member files."""

import pytest

from store.client.database import Database
from store.settings import Settings
from tests.support.moderation.acts import appoint, listed, report
from tests.support.people import Member, shrunk


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Two reports in an hour."""
    return shrunk(settings, rate_limit=10_000, reports_per_hour=2)


async def test_the_limit(db: Database, anonymous: Member, alice: Member, bob: Member) -> None:
    """A member beyond the limit is refused with the seconds until it ends, and others are not."""
    mona = await appoint(db, anonymous, "mona")
    posts = [await bob.post(f"post {i}") for i in range(3)]
    for post in posts[:2]:
        await report(alice, post)
    payload = await alice.do("report", subjectId=posts[2], reason="SPAM")
    (error,) = payload["userErrors"]
    assert error["code"] == "LIMIT_REACHED"
    assert error["message"].startswith("a member files at most 2 reports in an hour: try again in ")
    assert len(await listed(mona)) == 2
    await report(mona, posts[2])

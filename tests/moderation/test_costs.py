"""Round trips of the moderators' lists: the same for one report as for many."""

import pytest

from resolvers.process.services import Services
from store.settings import Settings
from tests.support.moderation.acts import LOG, REPORTS, appoint, report
from tests.support.people import Member, crowd, shrunk


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """No cached records, which would hide round trips."""
    return shrunk(settings, records_kept=0)


async def test_round_trips(services: Services, anonymous: Member, alice: Member, bob: Member) -> None:
    """A page of reports of every kind, and one of the log, takes as many round trips with one of each as with five."""
    mona = await appoint(services.db, anonymous, "mona")
    costs: list[list[int]] = []
    for reporters in ([alice], await crowd(anonymous, 4)):
        for reporter in reporters:
            post = await bob.post("a post")
            comment = (await bob.do("comment", "comment { id }", postId=post, text="so"))["comment"]["id"]
            said = await bob.do("startConversation", "message { id }", userIds=[reporter.id], text="psst")
            group = (await bob.do("createGroup", "group { id }", name="Tea", kind="PUBLIC"))["group"]["id"]
            for subject in (bob.id, post, comment, said["message"]["id"], group):
                await report(reporter, subject)
        found = []
        for query in (REPORTS, LOG):
            before = services.db.round_trips
            await mona.ask(query, first=100)
            found.append(services.db.round_trips - before)
        costs.append(found)
    assert costs[0] == costs[1]
    assert max(costs[0]) <= 14

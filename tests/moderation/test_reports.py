"""Reports: who files them about what, how moderators find them, and who sees them."""

import pytest

from resolvers import accounts
from resolvers.process.services import Services
from store.credentials.records import Role
from tests.support.moderation.acts import LOG, NODE, REPORTS, RESOLVE, appoint, listed, notified, report, resolve
from tests.support.people import Member, crowd, log_in


@pytest.fixture
async def mona(services: Services, anonymous: Member) -> Member:
    """A moderator."""
    return await appoint(services.db, anonymous, "mona")


async def test_of_every_kind(alice: Member, bob: Member, carol: Member, mona: Member) -> None:
    """A member reports a member, a post, a quote, a comment, a message and a group; moderators see them."""
    post = await bob.post("buy my tea")
    quote = await bob.repost(await alice.post("a post"), "buy it")
    made = await bob.do("comment", "comment { id }", postId=post, text="really")
    comment = made["comment"]["id"]
    said = await bob.do("startConversation", "message { id }", userIds=[alice.id], text="psst")
    group = (await bob.do("createGroup", "group { id }", name="Tea", kind="PUBLIC"))["group"]["id"]
    for subject in (bob.id, post, quote, comment, said["message"]["id"], group):
        await report(alice, subject, "ABUSE", note="see")
    found = await listed(mona)
    assert [one["subject"]["__typename"] for one in found] == [
        "Group",
        "Message",
        "Comment",
        "Repost",
        "Status",
        "User",
    ]
    assert all(
        (one["reporter"], one["reason"], one["note"], one["state"], one["reportCount"], one["resolvedBy"])
        == ({"login": "alice"}, "ABUSE", "see", "OPEN", 1, None)
        for one in found
    )
    assert found[1]["messages"] == [{"id": said["message"]["id"], "text": "psst", "sender": {"login": "bob"}}]
    assert [one["messages"] for one in found if one["subject"]["__typename"] != "Message"] == [[]] * 5


async def test_most_reported_first(anonymous: Member, alice: Member, bob: Member, mona: Member) -> None:
    """Reports of the most reported subject come first, the newest of each first; pages agree with the whole list."""
    posts = [await bob.post(f"post {i}") for i in range(3)]
    members = [alice, mona, *await crowd(anonymous, 1)]
    for post, count in zip(posts, (1, 3, 2), strict=True):
        for reporter in members[:count]:
            await report(reporter, post)
    found = await listed(mona)
    assert [one["subject"]["id"] for one in found] == [posts[1]] * 3 + [posts[2]] * 2 + [posts[0]]
    assert [one["reportCount"] for one in found] == [3, 3, 3, 2, 2, 1]
    paged: list[str] = []
    after = None
    while True:
        page = await mona.ask(REPORTS, first=2, after=after)
        paged += [one["id"] for one in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert paged == [one["id"] for one in found]


async def test_refusals(alice: Member, bob: Member, carol: Member) -> None:
    """Nobody reports themselves or what is theirs, what they cannot see, or the same subject twice."""
    post, own = await bob.post("a post"), await alice.post("mine")
    group = (await alice.do("createGroup", "group { id }", name="Tea", kind="PUBLIC"))["group"]["id"]
    for subject in (alice.id, own, group):
        assert await alice.refused("report", subjectId=subject, reason="SPAM") == ("SELF", ["subjectId"])
    await bob.do("block", userIds=[alice.id])
    for subject in (bob.id, post, "status_00000000000001", "report_00000000000001", post.replace("status", "repost")):
        assert await alice.refused("report", subjectId=subject, reason="SPAM") == ("NOT_FOUND", ["subjectId"])
    assert await alice.refused("report", subjectId="nonsense", reason="SPAM") == ("INVALID", ["subjectId"])
    assert await carol.refused("report", subjectId=post, reason="SPAM", note="x" * 1001) == ("TOO_LONG", ["note"])
    await report(carol, post)
    assert await carol.refused("report", subjectId=post, reason="ABUSE") == ("CONFLICT", ["subjectId"])
    assert await carol.fail('mutation { report(input: {subjectId: "x", reason: DULL}) { report { id } } }')


async def test_anonymous(anonymous: Member, alice: Member) -> None:
    """Without a token, a report and the lists are refused with UNAUTHENTICATED."""
    one = f'mutation {{ report(input: {{subjectId: "{alice.id}", reason: SPAM}}) {{ report {{ id }} }} }}'
    for query in (one, REPORTS, LOG):
        assert await anonymous.fail(query) == "UNAUTHENTICATED"


async def test_members_see_none(alice: Member, bob: Member, carol: Member, mona: Member) -> None:
    """Members get FORBIDDEN for the lists and decisions, for real and made-up ids, and null for another's report."""
    mine = await report(alice, bob.id)
    for member in (alice, carol):
        assert await member.fail(REPORTS) == "FORBIDDEN"
        assert await member.fail(LOG) == "FORBIDDEN"
        for identity in (mine, "report_00000000000001", "nonsense"):
            assert await member.fail(RESOLVE, input={"reportId": identity, "action": "DISMISS"}) == "FORBIDDEN"
    assert await alice.ask(NODE, id=mine) == {"__typename": "Report", "id": mine}
    for member in (bob, carol):
        assert await member.ask(NODE, id=mine) is None
    await resolve(mona, mine, "DISMISS")
    assert await alice.ask(NODE, id=mine) is None
    assert await mona.ask(NODE, id=mine) == {"__typename": "Report", "id": mine}
    assert await notified(alice) == ["REPORT_RESOLVED"]
    assert await notified(bob) == []


async def test_plain_repost(alice: Member, bob: Member, carol: Member, mona: Member) -> None:
    """A report of a plain repost is one of its original."""
    post = await bob.post("a post")
    await report(alice, await carol.repost(post))
    assert [one["subject"]["id"] for one in await listed(mona)] == [post]


async def test_again_after_the_decision(alice: Member, bob: Member, mona: Member) -> None:
    """Once a report is resolved, the same member can report the same subject again."""
    first = await report(alice, bob.id)
    await resolve(mona, first, "DISMISS")
    second = await report(alice, bob.id)
    assert [one["id"] for one in await listed(mona)] == [second]
    assert [one["id"] for one in await listed(mona, "DISMISSED")] == [first]


@pytest.mark.parametrize("role", [Role.MODERATOR, Role.ADMIN])
async def test_suspended_moderator(services: Services, anonymous: Member, alice: Member, role: Role) -> None:
    """A suspended moderator or administrator sees no reports and decides nothing."""
    await appoint(services.db, anonymous, "max", role)
    mine = await report(alice, (await log_in(anonymous, "max")).id)
    await accounts.set_suspension(services.db, "max", suspended=True)
    again = await log_in(anonymous, "max")
    assert await again.fail(REPORTS) == "FORBIDDEN"
    assert await again.ask(NODE, id=mine) is None
    assert await again.refused("resolveReport", reportId=mine, action="DISMISS") == ("NOT_ALLOWED", None)


async def test_counts_for_moderators(alice: Member, bob: Member, carol: Member, mona: Member) -> None:
    """Only moderators see how many members reported a subject; a reporter reads 1, and does not learn of others."""
    one, two = await report(alice, bob.id), await report(carol, bob.id)
    query = "query($id: ID!) { node(id: $id) { ... on Report { reportCount } } }"
    for reporter, own in ((alice, one), (carol, two)):
        assert await reporter.ask(query, id=own) == {"reportCount": 1}
        assert await mona.ask(query, id=own) == {"reportCount": 2}
    payload = await mona.do("report", "report { reportCount }", subjectId=bob.id, reason="SPAM")
    assert payload["report"] == {"reportCount": 3}

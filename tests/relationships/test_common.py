"""Members in common: those whom both follow, and those who follow both."""

from typing import Any

import pytest

from resolvers.process.services import Services
from resolvers.relationships import COMMON_COUNTED, COMMON_SCANNED
from store import follows, keys
from store.keys.fields import UserField
from store.settings import Settings
from tests.support.people import Member, crowd, shrunk
from tests.support.work import number

COMMON = """
query($login: String!, $with: ID!, $first: Int, $after: String) { user(login: $login) {
  commonFollowerCount(withUser: $with)
  commonFollowing(withUser: $with, first: $first, after: $after) {
    edges { cursor node { login } } nodes { login } pageInfo { hasNextPage hasPreviousPage endCursor } }
  commonFollowers(withUser: $with, first: $first, after: $after) {
    edges { cursor node { login } } nodes { login } pageInfo { hasNextPage hasPreviousPage endCursor } } } }
"""
PAGE = """
query($login: String!, $with: ID!, $first: Int, $after: String) {{ user(login: $login) {{
  {}(withUser: $with, first: $first, after: $after) {{
    nodes {{ login }} pageInfo {{ hasNextPage hasPreviousPage endCursor }} }} }} }}
"""
MOST_SCANS = 3  # for one page
BATCH = 5


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Small batches, so that a scan has gaps."""
    return shrunk(settings, max_page=BATCH)


async def common(viewer: Member, one: Member, other: Member, field: str) -> list[str]:
    """Return the logins of one list of what two members have in common."""
    answer = await viewer.ask(COMMON, **{"login": one.login, "with": other.id, "first": BATCH})
    return [node["login"] for node in answer[field]["nodes"]]


async def pages(viewer: Member, one: Member, other: Member, field: str, first: int) -> list[list[str]]:
    """Return all pages of one list."""
    found: list[list[str]] = []
    after = None
    while True:
        variables = {"login": one.login, "with": other.id, "first": first, "after": after}
        answer = (await viewer.ask(PAGE.format(field), **variables))[field]
        found.append([node["login"] for node in answer["nodes"]])
        assert answer["pageInfo"]["hasPreviousPage"] == (after is not None)
        if not answer["pageInfo"]["hasNextPage"]:
            return found
        assert answer["pageInfo"]["endCursor"]
        after = answer["pageInfo"]["endCursor"]


async def test_whom_both_follow(anonymous: Member, alice: Member, bob: Member, carol: Member) -> None:
    """The list has members whom both follow, in the order of the first one's follows, newest first."""
    dave, erin = await crowd(anonymous, 2)
    await alice.follow(carol)
    await alice.follow(dave)
    await alice.follow(erin)
    await bob.follow(erin)
    await bob.follow(carol)
    assert await common(anonymous, alice, bob, "commonFollowing") == [erin.login, "carol"]
    assert await common(anonymous, bob, alice, "commonFollowing") == ["carol", erin.login]
    await bob.unfollow(carol)
    assert await common(anonymous, alice, bob, "commonFollowing") == [erin.login]
    assert await common(anonymous, alice, carol, "commonFollowing") == []


async def test_who_follows_both(anonymous: Member, alice: Member, bob: Member) -> None:
    """List and count have the members who follow both, in order of their follow of the first one, newest first."""
    many = await crowd(anonymous, 4)
    for member in many:
        await member.follow(alice)
    for member in many[::-1][1:]:
        await member.follow(bob)
    names = [member.login for member in many]
    assert await common(anonymous, alice, bob, "commonFollowers") == names[2::-1]
    assert await common(anonymous, bob, alice, "commonFollowers") == names[:3]
    answer = await anonymous.ask(COMMON, **{"login": "alice", "with": bob.id, "first": 1})
    assert answer["commonFollowerCount"] == 3
    await many[0].unfollow(alice)
    answer = await anonymous.ask(COMMON, **{"login": "bob", "with": alice.id, "first": 1})
    assert answer["commonFollowerCount"] == 2


@pytest.mark.parametrize("first", [1, 2, 3, 5])
@pytest.mark.parametrize("field", ["commonFollowing", "commonFollowers"])
async def test_pages_over_gaps(anonymous: Member, alice: Member, bob: Member, field: str, first: int) -> None:
    """Pages are full, however far apart the common entries are, and all pages together are the whole list."""
    many = await crowd(anonymous, 23)
    shared = many[2:4] + many[11:14] + many[20:22]
    for member in many:
        await (alice.follow(member) if field == "commonFollowing" else member.follow(alice))
    for member in shared:
        await (bob.follow(member) if field == "commonFollowing" else member.follow(bob))
    found = await pages(anonymous, alice, bob, field, first)
    assert [login for page in found for login in page] == [member.login for member in reversed(shared)]
    assert all(len(page) == first for page in found[:-1])
    assert found[-1]


async def test_a_gap_wider_than_what_one_page_scans(
    services: Services, anonymous: Member, alice: Member, bob: Member, carol: Member
) -> None:
    """A page whose scan reaches its bound is short or empty, and has a cursor; no entry is missed."""
    dave, erin = await crowd(anonymous, 2)
    await alice.follow(carol)
    wide = range(MOST_SCANS * COMMON_SCANNED + BATCH)  # follows that need no job
    services.db.settings = shrunk(services.settings, max_following=len(wide) + BATCH)
    await follows.follow(services.db, number(alice.id), list(wide))
    await alice.follow(dave)
    await alice.follow(erin)
    await bob.follow(carol, dave, erin)
    found = await pages(anonymous, alice, bob, "commonFollowing", 2)
    assert found == [[erin.login, dave.login], [], ["carol"]]
    assert await pages(anonymous, alice, bob, "commonFollowing", 3) == [[erin.login, dave.login], ["carol"]]


async def test_more_followers_than_are_counted(
    services: Services, anonymous: Member, alice: Member, bob: Member
) -> None:
    """The count is null when even the smaller set of followers is too large to scan."""
    for member in (alice, bob):
        await services.db.one("HSET", keys.user(number(member.id)), UserField.FOLLOWERS, COMMON_COUNTED + 1)
    answer = await anonymous.ask(COMMON, **{"login": "alice", "with": bob.id, "first": 1})
    assert answer["commonFollowerCount"] is None
    await services.db.one("HSET", keys.user(number(bob.id)), UserField.FOLLOWERS, 0)
    answer = await anonymous.ask(COMMON, **{"login": "alice", "with": bob.id, "first": 1})
    assert answer["commonFollowerCount"] == 0


NOTHING: dict[str, Any] = {
    "edges": [],
    "nodes": [],
    "pageInfo": {"hasNextPage": False, "hasPreviousPage": False, "endCursor": None},
}


@pytest.mark.parametrize("kind", ["nobody", "post"])
async def test_with_nobody(anonymous: Member, alice: Member, bob: Member, kind: str) -> None:
    """Nobody has anything in common with a member who does not exist, or with an entity that is no member."""
    await alice.follow(bob)
    other = "user_00000000000001" if kind == "nobody" else await alice.post("a post")
    answer = await anonymous.ask(COMMON, **{"login": "alice", "with": other, "first": BATCH})
    assert answer == {"commonFollowerCount": 0, "commonFollowing": NOTHING, "commonFollowers": NOTHING}


async def test_with_oneself(anonymous: Member, alice: Member, bob: Member) -> None:
    """Everybody is in common with oneself."""
    await alice.follow(bob)
    await bob.follow(alice)
    answer = await anonymous.ask(COMMON, **{"login": "alice", "with": alice.id, "first": BATCH})
    assert answer["commonFollowerCount"] == 1
    assert answer["commonFollowing"]["nodes"] == answer["commonFollowers"]["nodes"] == [{"login": "bob"}]


async def test_what_cannot_be_read(anonymous: Member, alice: Member) -> None:
    """A malformed id, a cursor of another list, and a page too large are BAD_USER_INPUT."""
    following = PAGE.format("commonFollowing")
    assert await anonymous.fail(following, **{"login": "alice", "with": "bob"}) == "BAD_USER_INPUT"
    for span in ({"first": 0}, {"first": BATCH + 1}, {"after": "following.00000000000001"}, {"after": "x"}):
        assert await anonymous.fail(following, **{"login": "alice", "with": alice.id, **span}) == "BAD_USER_INPUT"

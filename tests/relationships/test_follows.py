"""Following, unfollowing and removing followers: one and many, refusals, counts and lists."""

import asyncio
from datetime import datetime
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store.settings import Settings
from tests.support.people import Member, crowd, shrunk
from tests.support.work import dump, work_off

NOBODY = "user_00000000000001"
MOST_FOLLOWED = 120

FOLLOWS = """
query($login: String!) { user(login: $login) {
  followerCount followingCount viewerIsFollowing isFollowingViewer isMutual
  followers(first: 100) { edges { followedAt cursor node { login } } nodes { login } }
  following(first: 100) { edges { followedAt cursor node { login } } nodes { login } } } }
"""
PAYLOAD = "users { login followerCount viewerIsFollowing } viewer { user { followingCount followerCount } }"
MUTATIONS = ("follow", "unfollow", "removeFollowers")
NAMING = (*MUTATIONS, "approveFollowRequests", "rejectFollowRequests", "block", "unblock", "mute", "unmute")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """A limit on follows that tests reach."""
    return shrunk(settings, max_following=MOST_FOLLOWED)


async def follows_of(who: Member, viewer: Member) -> Any:
    """Return a member's follows as somebody sees them."""
    return await viewer.ask(FOLLOWS, login=who.login)


def logins(connection: Any) -> list[str]:
    """Return the members of a list."""
    return [node["login"] for node in connection["nodes"]]


def refusals(payload: Any) -> list[tuple[str, str]]:
    """Return place in the input and code of each refusal, all of which must have a message."""
    assert all(error["message"] and error["field"][0] == "userIds" for error in payload["userErrors"])
    return [(error["field"][1], error["code"]) for error in payload["userErrors"]]


async def test_follow_and_unfollow(alice: Member, bob: Member) -> None:
    """A follow and its end show on both sides and in the payload at once."""
    payload = await alice.do("follow", PAYLOAD, userIds=[bob.id])
    assert payload["users"] == [{"login": "bob", "followerCount": 1, "viewerIsFollowing": True}]
    assert payload["viewer"] == {"user": {"followingCount": 1, "followerCount": 0}}
    assert logins((await follows_of(bob, alice))["followers"]) == ["alice"]
    assert logins((await follows_of(alice, bob))["following"]) == ["bob"]
    payload = await alice.do("unfollow", PAYLOAD, userIds=[bob.id])
    assert payload["users"] == [{"login": "bob", "followerCount": 0, "viewerIsFollowing": False}]
    assert payload["viewer"] == {"user": {"followingCount": 0, "followerCount": 0}}
    assert (
        logins((await follows_of(bob, alice))["followers"]) == logins((await follows_of(alice, bob))["following"]) == []
    )


async def test_a_follower_removed(alice: Member, bob: Member) -> None:
    """A member can remove a follower; their own follow of that member stays."""
    await alice.follow(bob)
    await bob.follow(alice)
    payload = await alice.do("removeFollowers", PAYLOAD, userIds=[bob.id])
    assert payload["users"] == [{"login": "bob", "followerCount": 1, "viewerIsFollowing": True}]
    assert payload["viewer"] == {"user": {"followingCount": 1, "followerCount": 0}}
    seen = await follows_of(bob, alice)
    assert (logins(seen["followers"]), logins(seen["following"])) == (["alice"], [])


async def test_a_hundred_at_once(anonymous: Member, alice: Member) -> None:
    """A hundred members are followed, unfollowed or removed as followers in one call, exactly those named."""
    many = await crowd(anonymous, 100)
    ids = [member.id for member in many]
    payload = await alice.do("follow", PAYLOAD, userIds=ids)
    assert [user["login"] for user in payload["users"]] == [member.login for member in many]
    assert all(user["followerCount"] == 1 and user["viewerIsFollowing"] for user in payload["users"])
    assert payload["viewer"]["user"]["followingCount"] == 100
    assert logins((await follows_of(alice, alice))["following"]) == [member.login for member in reversed(many)]
    payload = await alice.do("unfollow", PAYLOAD, userIds=ids[10:])
    assert payload["viewer"]["user"]["followingCount"] == 10
    assert not any(user["followerCount"] or user["viewerIsFollowing"] for user in payload["users"])
    assert set(logins((await follows_of(alice, alice))["following"])) == {member.login for member in many[:10]}
    await asyncio.gather(*(member.follow(alice) for member in many))
    payload = await alice.do("removeFollowers", PAYLOAD, userIds=ids[:-1])
    assert payload["viewer"]["user"]["followerCount"] == 1
    assert logins((await follows_of(alice, alice))["followers"]) == [many[-1].login]
    assert (await follows_of(many[0], many[0]))["followingCount"] == 0


@pytest.mark.parametrize("mutation", MUTATIONS)
async def test_what_can_be_done_is_done(alice: Member, bob: Member, carol: Member, mutation: str) -> None:
    """Each refusal is named by its place in the input; valid follows happen once, however often named."""
    post = await bob.post("a post")
    if mutation == "unfollow":
        await alice.follow(bob, carol)
    if mutation == "removeFollowers":
        await asyncio.gather(bob.follow(alice), carol.follow(alice))
    ids = ["bob", bob.id, NOBODY, bob.id, post, alice.id, bob.id.upper(), carol.id, "", bob.id + "0", NOBODY]
    payload = await alice.do(mutation, PAYLOAD, userIds=ids)
    wanted = {0: "INVALID", 2: "NOT_FOUND", 4: "NOT_FOUND", 5: "SELF", 6: "INVALID", 8: "INVALID", 9: "INVALID"}
    assert refusals(payload) == [(str(place), code) for place, code in wanted.items()]
    assert [user["login"] for user in payload["users"]] == ["bob", "carol"]
    follows = mutation == "follow"
    assert payload["viewer"]["user"] == {"followingCount": 2 * follows, "followerCount": 0}
    assert (await follows_of(bob, alice))["viewerIsFollowing"] == follows


async def test_the_limit_on_follows(anonymous: Member, alice: Member, bob: Member) -> None:
    """Follows stop at MAX_FOLLOWING; each further one is refused by its place, and an unfollow makes room again."""
    many = await crowd(anonymous, MOST_FOLLOWED)
    await alice.follow(*many[:100])
    ids = [member.id for member in many[95:]] + [bob.id]
    payload = await alice.do("follow", PAYLOAD, userIds=ids)
    assert refusals(payload) == [("25", "LIMIT_REACHED")]
    assert [user["login"] for user in payload["users"]] == [member.login for member in many[95:]]
    assert payload["viewer"]["user"]["followingCount"] == MOST_FOLLOWED
    await alice.follow(many[0])  # a member followed already takes no room
    await alice.unfollow(many[0])
    await alice.follow(bob)
    assert (await follows_of(alice, alice))["followingCount"] == MOST_FOLLOWED


async def test_the_limit_on_follows_in_a_race(anonymous: Member, alice: Member) -> None:
    """Follows at the same moment do not pass MAX_FOLLOWING together."""
    many = await crowd(anonymous, MOST_FOLLOWED + 5)
    await alice.follow(*many[:100])
    await alice.follow(*many[100:118])
    payloads = await asyncio.gather(*(alice.do("follow", userIds=[member.id]) for member in many[118:]))
    assert sum(not payload["userErrors"] for payload in payloads) == 2
    assert (await follows_of(alice, alice))["followingCount"] == MOST_FOLLOWED


@pytest.mark.parametrize("mutation", MUTATIONS)
async def test_too_many_ids(services: Services, alice: Member, bob: Member, mutation: str) -> None:
    """A hundred and one ids are BAD_USER_INPUT and nothing is written, even if they name one member."""
    await alice.follow(bob)
    before = await dump(services.db)
    query = f"mutation($input: UsersInput!) {{ {mutation}(input: $input) {{ users {{ id }} }} }}"
    assert await alice.fail(query, input={"userIds": [bob.id] * 101}) == "BAD_USER_INPUT"
    assert await dump(services.db) == before


@pytest.mark.parametrize("mutation", NAMING)
async def test_nobody_named(services: Services, alice: Member, mutation: str) -> None:
    """An empty list is refused, naming the field, and does nothing."""
    before = await dump(services.db)
    assert await alice.refused(mutation, userIds=[]) == ("BLANK", ["userIds"])
    assert await dump(services.db) == before


@pytest.mark.parametrize("mutation", MUTATIONS)
async def test_an_anonymous_request(services: Services, anonymous: Member, bob: Member, mutation: str) -> None:
    """Without a token nobody is followed, unfollowed or removed: UNAUTHENTICATED, and nothing is written."""
    before = await dump(services.db)
    query = f"mutation($input: UsersInput!) {{ {mutation}(input: $input) {{ users {{ id }} }} }}"
    assert await anonymous.fail(query, input={"userIds": [bob.id]}) == "UNAUTHENTICATED"
    assert await dump(services.db) == before


@pytest.mark.parametrize("mutation", MUTATIONS)
async def test_twice(services: Services, alice: Member, bob: Member, worker: Worker, mutation: str) -> None:
    """Repeating a follow or unfollow changes nothing, not even its time, is no error, and commits no job."""
    await alice.follow(bob)
    await bob.follow(alice)
    await alice.do(mutation, userIds=[bob.id])
    await work_off(services.db, worker)
    before = await dump(services.db)
    payload = await alice.do(mutation, PAYLOAD, userIds=[bob.id])
    assert not payload["userErrors"]
    assert [user["login"] for user in payload["users"]] == ["bob"]
    assert await worker.run_once() == 0
    assert await dump(services.db) == before


async def test_counts_when_many_act_at_once(anonymous: Member, alice: Member, bob: Member) -> None:
    """Counts equal the sizes of their lists after any number of simultaneous follows and unfollows."""
    many = await crowd(anonymous, 12)
    for turn in range(4):
        await asyncio.gather(
            *(member.follow(alice, bob) for member in many[turn:]),
            *(member.follow(alice) for member in many[turn:]),
            *(member.unfollow(alice) for member in many[:turn]),
            alice.do("removeFollowers", userIds=[member.id for member in many[turn : turn + 2]]),
        )
        everybody = (alice, bob, *many)
        seen = {who.login: await follows_of(who, anonymous) for who in everybody}
        for login, sides in seen.items():
            followers, following = logins(sides["followers"]), logins(sides["following"])
            assert (sides["followerCount"], sides["followingCount"]) == (len(followers), len(following))
            assert set(followers) == {other for other in seen if login in logins(seen[other]["following"])}
        assert seen["bob"]["followerCount"] == len(many)


async def test_order_of_followers_and_following(alice: Member, bob: Member, carol: Member) -> None:
    """Both lists have the newest follow first, and both give the same time for one follow."""
    before = (await alice.ask("{ viewer { user { createdAt } } }"))["user"]["createdAt"]
    await alice.follow(bob)
    await alice.follow(carol)
    await carol.follow(bob)
    mine, theirs = await follows_of(alice, alice), await follows_of(bob, alice)
    assert logins(mine["following"]) == ["carol", "bob"]
    assert logins(theirs["followers"]) == ["carol", "alice"]
    assert mine["following"]["edges"][1]["followedAt"] == theirs["followers"]["edges"][1]["followedAt"]
    times = [datetime.fromisoformat(edge["followedAt"]) for edge in mine["following"]["edges"]]
    assert times[0] >= times[1] >= datetime.fromisoformat(before)
    await alice.unfollow(bob)
    await alice.follow(bob)
    assert logins((await follows_of(alice, alice))["following"]) == ["bob", "carol"]
    assert logins((await follows_of(bob, alice))["followers"]) == ["alice", "carol"]


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("there", [False, True])
async def test_flags(anonymous: Member, alice: Member, bob: Member, *, there: bool, back: bool) -> None:
    """The flags say who follows whom, mutual is both, and a member has none towards themselves or without a token."""
    if there:
        await alice.follow(bob)
    if back:
        await bob.follow(alice)
    flags = ("viewerIsFollowing", "isFollowingViewer", "isMutual")
    seen = await follows_of(bob, alice)
    assert [seen[flag] for flag in flags] == [there, back, there and back]
    for viewer in (anonymous, bob):
        seen = await follows_of(bob, viewer)
        assert not any(seen[flag] for flag in flags)

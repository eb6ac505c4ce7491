"""Private members: who asks, who is approved, and what only followers see."""

from resolvers.process.services import Services
from tests.support.people import Member, make_private

FOLLOW_STATE = "query($login: String!) { user(login: $login) { isPrivate viewerIsFollowing viewerHasRequestedFollow } }"
REQUESTS = "{ viewer { followRequests { nodes { login } } } }"


async def follow_state(viewer: Member, who: Member) -> tuple[bool, bool]:
    """Return whether a viewer follows a member, and whether they have asked to."""
    found = await viewer.ask(FOLLOW_STATE, login=who.login)
    return found["viewerIsFollowing"], found["viewerHasRequestedFollow"]


async def requests(member: Member) -> list[str]:
    """Return who asks to follow a member."""
    return [node["login"] for node in (await member.ask(REQUESTS))["followRequests"]["nodes"]]


async def test_asking(alice: Member, bob: Member, carol: Member) -> None:
    """A new follower of a private member asks, sees nothing, and is approved or refused by that member alone."""
    await make_private(bob)
    secret = await bob.post("for friends")
    await alice.follow(bob)
    await carol.follow(bob)
    assert await follow_state(alice, bob) == (False, True)
    assert await requests(bob) == ["carol", "alice"]
    assert await alice.home() == []
    assert await alice.ask("query($id: ID!) { node(id: $id) { id } }", id=secret) is None
    payload = await bob.do("approveFollowRequests", "users { login followingCount }", userIds=[alice.id])
    assert payload == {"users": [{"login": "alice", "followingCount": 1}], "userErrors": []}
    assert await follow_state(alice, bob) == (True, False)
    assert await alice.home() == [secret]
    payload = await bob.do("rejectFollowRequests", userIds=[carol.id])
    assert await follow_state(carol, bob) == (False, False)
    assert await requests(bob) == []
    assert await carol.home() == []


async def test_going_public(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """Going private removes posts from tags and public and keeps followers; going public approves all requests."""
    old = await bob.post("before #tea")
    await alice.follow(bob)
    await make_private(bob)
    new = await bob.post("after #tea")
    public = "{ publicTimeline { nodes { ... on Node { id } } } }"
    tagged = '{ hashtag(name: "tea") { timeline { nodes { ... on Node { id } } } } }'
    assert await carol.ask(public) == {"nodes": []}
    assert await bob.ask(public) == {"nodes": []}
    assert await carol.ask(tagged) is None
    assert await alice.home() == [new, old]
    await carol.follow(bob)
    assert await follow_state(carol, bob) == (False, True)
    await make_private(bob, private=False)
    assert await follow_state(carol, bob) == (True, False)
    assert await carol.home() == [new, old]
    assert await carol.ask(public) == {"nodes": [{"id": new}, {"id": old}]}
    assert await carol.ask(tagged) == {"timeline": {"nodes": [{"id": new}, {"id": old}]}}


async def test_passing_on(alice: Member, bob: Member) -> None:
    """Only private members themselves can repost their posts."""
    await make_private(bob)
    await alice.follow(bob)
    await bob.do("approveFollowRequests", userIds=[alice.id])
    secret = await bob.post("for friends")
    for text in ("", "look"):
        assert await alice.refused("repost", postId=secret, text=text) == ("NOT_ALLOWED", ["postId"])
        await bob.repost(secret, text)
    assert len(await alice.home()) == 2

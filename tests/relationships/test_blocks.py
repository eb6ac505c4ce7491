"""Blocking and muting: who disappears for whom, and what returns."""

from resolvers import accounts
from store.client.database import Database
from tests.support.people import PASSWORD, Member

SEEN = "query($login: String!) { user(login: $login) { viewerHasBlocked timeline { nodes { ... on Node { id } } } } }"
LISTS = "{ viewer { blocked { nodes { login } } muted { nodes { login } } } }"


async def test_blocking(alice: Member, bob: Member) -> None:
    """A block ends follows both ways; the blocked sees nobody, the blocker no posts; unblocking restores nothing."""
    await alice.follow(bob)
    await bob.follow(alice)
    a, b = await alice.post("by alice"), await bob.post("by bob")
    payload = await alice.do("block", "users { login viewerHasBlocked viewerIsFollowing }", userIds=[bob.id])
    assert payload["users"] == [{"login": "bob", "viewerHasBlocked": True, "viewerIsFollowing": False}]
    assert (await alice.home(), await bob.home()) == ([a], [b])
    assert await bob.ask(SEEN, login="alice") is None
    assert (await alice.ask(SEEN, login="bob"))["timeline"] == {"nodes": []}
    assert await bob.refused("follow", userIds=[alice.id]) == ("NOT_FOUND", ["userIds", "0"])
    assert await alice.refused("follow", userIds=[bob.id]) == ("NOT_ALLOWED", ["userIds", "0"])
    assert (await alice.ask(LISTS))["blocked"]["nodes"] == [{"login": "bob"}]
    assert not (await alice.do("unblock", userIds=[bob.id]))["userErrors"]
    assert (await alice.home(), await bob.home()) == ([a], [b])
    seen = await bob.ask(SEEN, login="alice")
    assert seen["timeline"] == {"nodes": [{"id": a}]}


WHOLE = """{ viewer { blocked { nodes {
  id login name bio avatar { id } header { id } isPrivate isSuspended pinnedPost { id }
  followerCount followingCount postCount viewerHasBlocked viewerIsFollowing isFollowingViewer isMutual
  followers { nodes { id } } following { nodes { id } } timeline { nodes { ... on Node { id } } } } } } }"""


async def test_blocking_back(alice: Member, bob: Member, carol: Member) -> None:
    """A blocked member can block back and end that; both stay out of each other's sight, and nothing else is let in."""
    await carol.follow(alice)
    await alice.do("updateProfile", bio="a secret", isPrivate=True)
    await alice.do("pinPost", postId=await alice.post("for friends"))
    await alice.do("block", userIds=[bob.id])
    payload = await bob.do("block", "users { id login name bio postCount viewerHasBlocked }", userIds=[alice.id])
    veiled = {"id": alice.id, "login": "alice", "name": "alice", "bio": "", "postCount": 0, "viewerHasBlocked": True}
    assert payload == {"users": [veiled], "userErrors": []}
    (listed,) = (await bob.ask(WHOLE))["blocked"]["nodes"]
    assert {field: listed.pop(field) for field in veiled} == veiled
    assert not any(part["nodes"] for part in (listed.pop(field) for field in ("followers", "following", "timeline")))
    assert not any(listed.values()), listed
    assert await bob.do("block", "users { id }", userIds=[alice.id]) == {"users": [{"id": alice.id}], "userErrors": []}
    for member, other in ((alice, bob), (bob, alice)):
        assert await member.ask(SEEN, login=other.login) is None
        for mutation in ("follow", "mute"):
            assert (await member.refused(mutation, userIds=[other.id]))[0] == "NOT_FOUND"
    assert await bob.do("unblock", "users { id }", userIds=[alice.id]) == {"users": [], "userErrors": []}
    assert (await bob.ask(LISTS))["blocked"]["nodes"] == []
    assert await bob.refused("unblock", userIds=[alice.id]) == ("NOT_FOUND", ["userIds", "0"])
    assert (await alice.ask(LISTS))["blocked"]["nodes"] == [{"login": "bob"}]


async def test_blocks_of_the_unseen(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A suspended member who blocks the viewer cannot be blocked back, exactly like a missing one."""
    await alice.do("block", userIds=[bob.id])
    assert await accounts.set_suspension(db, "alice", suspended=True)
    await carol.do("deleteAccount", password=PASSWORD)
    missing = [await bob.do("block", "users { id }", userIds=[other.id]) for other in (alice, carol)]
    assert missing[0] == missing[1]
    assert [error["code"] for error in missing[0]["userErrors"]] == ["NOT_FOUND"]


async def test_muting(alice: Member, bob: Member, carol: Member) -> None:
    """A muted member's posts and reposts leave timelines, not their profile, and return after the mute."""
    await alice.follow(bob, carol)
    theirs = await carol.post("by carol")
    await bob.repost(theirs)
    word = await bob.post("by bob")
    assert await alice.home() == [word, theirs]
    await alice.do("mute", userIds=[bob.id])
    assert await alice.home() == [theirs]
    assert (await alice.ask("{ homeTimeline { edges { repostedByCount } } }"))["edges"] == [{"repostedByCount": 0}]
    assert len((await alice.ask(SEEN, login="bob"))["timeline"]["nodes"]) == 2
    assert (await alice.ask(LISTS))["muted"]["nodes"] == [{"login": "bob"}]
    await alice.do("unmute", userIds=[bob.id])
    assert await alice.home() == [word, theirs]


async def test_answering_the_unseen(alice: Member, bob: Member, carol: Member) -> None:
    """An unseen comment cannot be answered, exactly like a missing one; a retry gets the first result."""
    post = await carol.post("talk below")
    remark = (await alice.do("comment", "comment { id }", postId=post, text="mine"))["comment"]["id"]
    answer = {"postId": post, "text": "so?", "replyToId": remark, "idempotencyKey": "1"}
    first = await bob.do("comment", "comment { id }", **answer)
    await alice.do("block", userIds=[bob.id])
    answer_anew = {**answer, "idempotencyKey": "2"}
    assert await bob.refused("comment", **answer_anew) == ("NOT_FOUND", ["replyToId"])
    assert await bob.do("comment", "comment { id }", **answer) == first
    count = await carol.ask("query($id: ID!) { node(id: $id) { ... on Post { commentCount } } }", id=post)
    assert count == {"commentCount": 2}

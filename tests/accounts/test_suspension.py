"""Suspension: hidden from all but moderators, signed out, and limited to their own account."""

from pathlib import Path

import pytest

import server
from resolvers import accounts
from resolvers.process.services import Services
from resolvers.process.tokens import NO_PASSWORD
from store.credentials.records import Role
from store.secret import Secret
from tests.support.people import PASSWORD, Member
from tests.support.probes.sessions import log_in, suspend
from tests.support.servers.processes import opened, run

USER = "query($login: String!) { user(login: $login) { isSuspended postCount } }"
PUBLIC = "{ publicTimeline { nodes { ... on Node { id } } } }"


async def test_out_of_sight(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """Only moderators see a suspended member, until the suspension ends; counts stay."""
    await alice.follow(bob)
    post = await bob.post("a post #tea")
    await alice.do("like", postId=post)
    await suspend(services, bob)
    await accounts.set_role(services.db, "carol", Role.MODERATOR)
    assert await alice.ask(USER, login="bob") is None
    assert await alice.home() == []
    assert await alice.ask('{ hashtag(name: "tea") { name } }') is None
    assert await alice.ask("{ viewer { user { followingCount following { nodes { login } } } } }") == {
        "user": {"followingCount": 1, "following": {"nodes": []}}
    }
    assert await alice.refused("like", postId=post) == ("NOT_FOUND", ["postId"])
    assert await carol.ask(USER, login="bob") == {"isSuspended": True, "postCount": 1}
    assert await carol.ask("query($id: ID!) { node(id: $id) { id } }", id=post) == {"id": post}
    await suspend(services, bob, end=True)
    assert await alice.home() == [post]
    assert await alice.ask(PUBLIC) == {"nodes": [{"id": post}]}
    assert await alice.ask('{ hashtag(name: "tea") { postCount } }') == {"postCount": 1}


async def test_signed_out(services: Services, anonymous: Member, alice: Member, bob: Member) -> None:
    """Sessions end at once; after a new log-in members see their own data, and can only leave or change passwords."""
    post = await bob.post("a post")
    await suspend(services, bob)
    assert await bob.fail("{ viewer { email } }") == "UNAUTHENTICATED"
    again = await log_in(anonymous, "bob")
    assert await again.ask("{ viewer { user { isSuspended } } }") == {"user": {"isSuspended": True}}
    assert await again.ask("query($id: ID!) { node(id: $id) { id } }", id=post) == {"id": post}
    assert await again.ask(PUBLIC) == {"nodes": []}
    for mutation, fields in (
        ("post", {"text": "still here"}),
        ("like", {"postId": post}),
        ("follow", {"userIds": [alice.id]}),
        ("deletePost", {"postId": post}),
        ("updateProfile", {"bio": "unjust"}),
    ):
        assert await again.refused(mutation, **fields) == ("NOT_ALLOWED", None)
    for mutation, fields in (
        ("changePassword", {"currentPassword": PASSWORD, "newPassword": "a much longer secret"}),
        ("logOut", {}),
    ):
        assert not (await again.do(mutation, **fields))["userErrors"]


async def test_following_the_suspended(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """Nobody can follow a suspended member; their followers can unfollow them, and blockers can unblock them."""
    await alice.follow(bob)
    await carol.do("block", userIds=[bob.id])
    await suspend(services, bob)
    assert await carol.refused("mute", userIds=[bob.id]) == ("NOT_FOUND", ["userIds", "0"])
    assert await carol.refused("follow", userIds=[bob.id]) == ("NOT_FOUND", ["userIds", "0"])
    payload = await alice.do("unfollow", "users { login } viewer { user { followingCount } }", userIds=[bob.id])
    assert payload == {"users": [], "viewer": {"user": {"followingCount": 0}}, "userErrors": []}
    assert not (await carol.do("unblock", userIds=[bob.id]))["userErrors"]
    assert await alice.refused("unfollow", userIds=[bob.id]) == ("NOT_FOUND", ["userIds", "0"])


async def test_on_the_command_line(tmp_path: Path) -> None:
    """An operator suspends and ends it, repeatedly; an unknown login gives one clear line and status 1."""
    async with opened(tmp_path) as db:
        await accounts.create_member(db, login="Bob", name="Bob", email="bob@example.org", password_hash=_no_password)
        for words, said in (
            (("bob",), "bob is suspended"),
            (("BOB",), "BOB is suspended"),
            (("bob", "--end"), "bob is no longer suspended"),
        ):
            assert await run(tmp_path, "suspend", *words, log_level="ERROR") == (0, said, "")
        status, out, err = await run(tmp_path, "suspend", "nobody", log_level="ERROR")
        assert (status, out, err) == (1, "", "perch: no member has the login 'nobody'")


async def _no_password() -> Secret:
    return NO_PASSWORD


def test_no_login(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a login the command prints its usage."""
    with pytest.raises(SystemExit) as ended:
        server.main(["suspend"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: server.py suspend")

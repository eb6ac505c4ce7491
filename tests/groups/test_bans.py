"""Bans from a group: who bans whom, what a ban ends, and what a banned member sees of the group."""

from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.groups import membership
from store.refusals import Refusal
from store.settings import Settings
from tests.support.groups import (
    KINDS,
    NODE,
    act,
    create,
    directory,
    give,
    groups_of,
    join,
    let_in,
    members_of,
    profile,
    show,
    timeline,
)
from tests.support.notifications import named, say
from tests.support.people import PASSWORD, Member, contents, shrunk, sign_up
from tests.support.probes.accounts import traces
from tests.support.threads import assert_clean
from tests.support.work import number, work_off

NOTIFIED = "{ viewer { unreadNotificationCount notifications { nodes { kind } } } }"
NOTHING = {"unreadNotificationCount": 0, "notifications": {"nodes": []}}
BANNED = """query($id: ID!, $after: String) { node(id: $id) { ... on Group { banned(first: 1, after: $after) {
  edges { node { login } } pageInfo { hasNextPage endCursor } } } } }"""


async def banned(viewer: Member, group: str) -> list[str] | None:
    """Return the logins of those whom a group bans, newest ban first; None where the viewer may not see them."""
    found: list[str] = []
    after = None
    while True:
        page = (await viewer.ask(BANNED, id=group, after=after))["banned"]
        if page is None:
            return None
        found += [edge["node"]["login"] for edge in page["edges"]]
        if not page["pageInfo"]["hasNextPage"]:
            return found
        after = page["pageInfo"]["endCursor"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_ban(db: Database, alice: Member, bob: Member, carol: Member, anonymous: Member, kind: str) -> None:
    """A ban removes a member, who sees of the group what a stranger sees of a private one, and cannot come back."""
    group = await create(alice, kind, description="All about birds")
    await let_in(alice, group, bob, carol)
    post = await alice.post("hello", groupId=group)
    own = await bob.post("mine", groupId=group) if kind != "ANNOUNCEMENT" else None
    assert (await act(alice, "banGroupMembers", group, bob))["memberCount"] == 2
    closed = {"id": group, "name": "Birds", "description": "", "kind": kind, "memberCount": 0, "viewerRole": None}
    lists = {"viewerHasRequestedToJoin": False, "members": None, "joinRequests": None}
    assert await show(bob, group) == {**closed, **lists}
    assert await timeline(bob, group) is None
    assert await bob.ask(NODE, id=post) is None
    assert await profile(bob, alice) == []
    assert await groups_of(bob) == []
    assert await directory(bob) == []
    assert await directory(carol) == ([("Birds", 2)] if kind != "PRIVATE" else [])
    before = await contents(db)
    assert await bob.refused("joinGroup", groupId=group) == ("NOT_ALLOWED", ["groupId"])
    assert await bob.refused("post", text="so", groupId=group) == ("NOT_ALLOWED", ["groupId"])
    for mutation in ("like", "repost", "favourite"):
        assert await bob.refused(mutation, postId=post) == ("NOT_FOUND", ["postId"])
    assert await bob.refused("comment", postId=post, text="so") == ("NOT_FOUND", ["postId"])
    refused = await alice.refused("inviteToGroup", groupId=group, userIds=[bob.id])
    assert refused == ("NOT_ALLOWED", ["userIds", "0"])
    refused = await alice.refused("approveGroupMembers", groupId=group, userIds=[bob.id])
    assert refused == ("NOT_FOUND", ["userIds", "0"])
    await act(bob, "leaveGroup", group)
    await act(alice, "banGroupMembers", group, bob)
    await act(alice, "removeGroupMembers", group, bob)
    assert await contents(db) == before
    if own:
        assert (await bob.do("deletePost", postId=own))["userErrors"] == []
    await assert_clean(db)


@pytest.mark.parametrize("kind", KINDS)
async def test_the_end_of_a_ban(db: Database, alice: Member, bob: Member, kind: str) -> None:
    """After a ban, a member is a stranger, who may join or ask again; ending a ban twice changes nothing."""
    group = await create(alice, kind)
    await let_in(alice, group, bob)
    await act(alice, "banGroupMembers", group, bob)
    await act(alice, "unbanGroupMembers", group, bob)
    assert await banned(alice, group) == []
    assert await members_of(alice, group) == {"alice": "OWNER"}
    before = await contents(db)
    await act(alice, "unbanGroupMembers", group, bob)
    assert await contents(db) == before
    found = await act(bob, "joinGroup", group)
    asked = (None, True) if kind == "PRIVATE" else ("MEMBER", False)
    assert (found["viewerRole"], found["viewerHasRequestedToJoin"]) == asked
    await act(alice, "inviteToGroup", group, bob) if kind == "PRIVATE" else None
    assert await members_of(bob, group) == {"bob": "MEMBER", "alice": "OWNER"}
    await assert_clean(db)


async def test_what_a_ban_ends(db: Database, alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """It ends requests, invitations, roles, and the invitations that a member sent, with their notifications."""
    dora = await sign_up(anonymous, "dora")
    private, public = await create(alice, "PRIVATE"), await create(alice, name="Fish")
    await join(private, bob)
    await act(alice, "inviteToGroup", private, carol)
    await join(public, bob)
    await give(alice, public, bob, "MODERATOR")
    await act(bob, "inviteToGroup", public, dora)
    await act(alice, "banGroupMembers", private, bob, carol)
    await act(alice, "banGroupMembers", public, bob)
    assert (await show(alice, private) or {})["joinRequests"] == {"nodes": []}
    assert not (await show(bob, private) or {})["viewerHasRequestedToJoin"]
    for member in (carol, dora):
        assert await member.ask(NOTIFIED) == NOTHING
    for member in (bob, carol):
        assert await member.refused("joinGroup", groupId=private) == ("NOT_ALLOWED", ["groupId"])
    await act(alice, "updateGroup", private, kind="PUBLIC")
    assert await members_of(alice, private) == {"alice": "OWNER"}
    await act(alice, "unbanGroupMembers", public, bob)
    await join(public, bob)
    assert await members_of(alice, public) == {"bob": "MEMBER", "alice": "OWNER"}
    await assert_clean(db)


async def test_who_bans_whom(db: Database, alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """Moderators ban those with a lower role and strangers, whom they see or not; a refusal changes nothing."""
    dora, eve = [await sign_up(anonymous, name) for name in ("dora", "eve")]
    group = await create(alice)
    await join(group, bob, carol, dora)
    for member in (bob, carol):
        await give(alice, group, member, "MODERATOR")
    await act(alice, "banGroupMembers", group, eve)
    before = await contents(db)
    for other in (alice, carol):
        refused = await bob.refused("banGroupMembers", groupId=group, userIds=[other.id])
        assert refused == ("NOT_ALLOWED", ["userIds", "0"])
    for mutation in ("banGroupMembers", "unbanGroupMembers"):
        for stranger in (dora, eve):
            refused = await stranger.refused(mutation, groupId=group, userIds=[bob.id])
            assert refused == ("NOT_ALLOWED", ["groupId"])
        missing = f"group_{1:014x}"
        assert await bob.refused(mutation, groupId=missing, userIds=[eve.id]) == ("NOT_FOUND", ["groupId"])
        assert await bob.refused(mutation, groupId=group, userIds=[bob.id]) == ("SELF", ["userIds", "0"])
    for viewer in (dora, eve, anonymous):
        assert await banned(viewer, group) is None
    assert await contents(db) == before
    assert await banned(bob, group) == ["eve"]
    for member in (dora, eve):
        await member.do("block", userIds=[bob.id])
    await act(bob, "banGroupMembers", group, dora)
    assert await banned(alice, group) == ["dora", "eve"]
    assert await banned(bob, group) == []
    await act(bob, "unbanGroupMembers", group, dora, eve)
    assert await banned(alice, group) == []
    await assert_clean(db)


async def test_reposts_of_its_posts(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A post of the group leaves the home of a banned member, and is there again once the ban has ended."""
    group = await create(alice)
    await join(group, bob)
    await carol.follow(bob)
    post = await alice.post("hello @carol", groupId=group)
    remark = await say(bob, post, "see @carol")
    plain, quote = await bob.repost(post), await bob.repost(post, "see")
    assert await carol.home() == [quote, post]
    await act(alice, "banGroupMembers", group, carol)
    assert await carol.home() == [quote]
    assert await profile(carol, bob) == [quote]
    assert await named(carol) == []
    original = "query($id: ID!) { node(id: $id) { ... on Repost { original { id } } } }"
    assert await carol.ask(original, id=quote) == {"original": None}
    for hidden in (plain, post, remark):
        assert await carol.ask("query($id: ID!) { node(id: $id) { id } }", id=hidden) is None
    assert (await carol.ask(NOTIFIED))["notifications"] == NOTHING["notifications"]
    await act(alice, "unbanGroupMembers", group, carol)
    assert await carol.home() == [quote, post]
    await assert_clean(db)


async def test_mentions_of_a_banned_member(db: Database, alice: Member, bob: Member) -> None:
    """Posts and comments in the group do not notify a banned member whom they name, nor are they listed for them."""
    group = await create(alice)
    await act(alice, "banGroupMembers", group, bob)
    post = await alice.post("hello @bob", groupId=group)
    await say(alice, post, "well @bob")
    for kind in ("notifications", "mentions"):
        assert not await db.one("EXISTS", f"{kind}:{keys.tag(number(bob.id))}")
    await assert_clean(db)


async def test_a_join_that_a_ban_overtakes(db: Database, alice: Member, bob: Member) -> None:
    """A member whose index has been written when a ban comes first is neither a member nor has the group listed."""
    group = await create(alice)
    await db.one(*membership.index_command(db, number(group), number(bob.id)))
    await act(alice, "banGroupMembers", group, bob)
    assert await membership.join(db, number(group), number(bob.id)) is Refusal.BANNED
    assert not await db.one("EXISTS", keys.memberships(number(bob.id)))
    assert await members_of(alice, group) == {"alice": "OWNER"}
    await assert_clean(db)


async def test_the_end_of_accounts_and_groups(
    services: Services, worker: Worker, alice: Member, bob: Member, carol: Member
) -> None:
    """A deleted account leaves no ban behind, neither does a deleted group."""
    one, two = await create(alice), await create(alice, "PRIVATE")
    for group in (one, two):
        await act(alice, "banGroupMembers", group, bob, carol)
    assert (await bob.do("deleteAccount", password=PASSWORD))["userErrors"] == []
    await work_off(services.db, worker)
    assert await traces(services.db, bob) == set()
    assert await banned(alice, one) == ["carol"]
    await alice.do("deleteGroup", groupId=one)
    await work_off(services.db, worker)
    assert await services.db.one("ZRANGE", keys.banned_from(number(carol.id)), 0, -1) == [str(number(two))]
    await assert_clean(services.db)


class TestFew:
    """A group that may ban few members."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, max_blocked=1)

    async def test_the_limit(self, db: Database, alice: Member, bob: Member, carol: Member) -> None:
        """Those above the limit are refused one by one, and stay in the group."""
        group = await create(alice)
        await join(group, bob, carol)
        payload = await alice.do("banGroupMembers", "group { id }", groupId=group, userIds=[bob.id, carol.id])
        errors: list[dict[str, Any]] = payload["userErrors"]
        assert [(error["code"], error["field"]) for error in errors] == [("LIMIT_REACHED", ["userIds", "1"])]
        assert await members_of(alice, group) == {"carol": "MEMBER", "alice": "OWNER"}
        await assert_clean(db)

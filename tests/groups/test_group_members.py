"""Who is in a group: joining, leaving, invitations, requests, removal and roles."""

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import accounts
from store.client.database import Database
from store.keys.fields import UserField
from tests.support.groups import KINDS, act, create, directory, give, groups_of, join, let_in, members_of, show
from tests.support.people import PASSWORD, Member, contents, sign_up
from tests.support.probes.accounts import traces
from tests.support.threads import assert_clean
from tests.support.work import number, work_off

INVITATIONS = """{ viewer { unreadNotificationCount
  notifications { nodes { kind actor { login } post { id } group { name kind memberCount } } } } }"""


@pytest.mark.parametrize("kind", ["PUBLIC", "ANNOUNCEMENT"])
async def test_joining(db: Database, alice: Member, bob: Member, kind: str) -> None:
    """Anyone joins an open group at once; joining and leaving twice change nothing."""
    group = await create(alice, kind)
    assert (await act(bob, "joinGroup", group))["viewerRole"] == "MEMBER"
    assert await members_of(alice, group) == {"bob": "MEMBER", "alice": "OWNER"}
    assert await directory(alice) == [("Birds", 2)]
    before = await contents(db)
    await act(bob, "joinGroup", group)
    assert await contents(db) == before
    assert (await act(bob, "leaveGroup", group))["viewerRole"] is None
    assert await groups_of(bob) == []
    assert await directory(alice) == [("Birds", 1)]
    before = await contents(db)
    await act(bob, "leaveGroup", group)
    assert await contents(db) == before
    await assert_clean(db)


async def test_asking_to_join(db: Database, alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """A private group is asked; its moderators let members in or turn them away, and both can be repeated."""
    dora = await sign_up(anonymous, "dora")
    group = await create(alice, "PRIVATE")
    for member in (bob, carol, dora):
        found = await act(member, "joinGroup", group)
        assert (found["viewerRole"], found["viewerHasRequestedToJoin"]) == (None, True)
        assert await groups_of(member) == []
    before = await contents(db)
    await act(bob, "joinGroup", group)
    assert await contents(db) == before
    found = await show(alice, group) or {}
    assert [node["login"] for node in found["joinRequests"]["nodes"]] == ["dora", "carol", "bob"]
    await act(alice, "approveGroupMembers", group, bob)
    await act(alice, "rejectGroupMembers", group, carol)
    await act(dora, "leaveGroup", group)
    assert await members_of(bob, group) == {"bob": "MEMBER", "alice": "OWNER"}
    assert await groups_of(bob) == ["Birds"]
    assert (await show(alice, group) or {})["joinRequests"] == {"nodes": []}
    assert not (await show(carol, group) or {})["viewerHasRequestedToJoin"]
    before = await contents(db)
    await act(alice, "approveGroupMembers", group, bob)
    await act(alice, "rejectGroupMembers", group, carol)
    assert await contents(db) == before
    refused = await alice.refused("approveGroupMembers", groupId=group, userIds=[carol.id])
    assert refused == ("NOT_FOUND", ["userIds", "0"])
    assert await contents(db) == before
    await assert_clean(db)


@pytest.mark.parametrize("kind", KINDS)
async def test_invitations(db: Database, alice: Member, bob: Member, carol: Member, kind: str) -> None:
    """An invited member is notified once, and joins at once."""
    group = await create(alice, kind)
    await act(alice, "inviteToGroup", group, bob)
    before = await contents(db)
    await act(alice, "inviteToGroup", group, bob)
    assert await contents(db) == before
    notified = await bob.ask(INVITATIONS)
    assert notified["unreadNotificationCount"] == 1
    shown = {"name": "Birds", "kind": kind, "memberCount": 0 if kind == "PRIVATE" else 1}
    invitation = {"kind": "GROUP_INVITE", "actor": {"login": "alice"}, "post": None, "group": shown}
    assert notified["notifications"]["nodes"] == [invitation]
    assert await members_of(alice, group) == {"alice": "OWNER"}
    assert (await act(bob, "joinGroup", group))["viewerRole"] == "MEMBER"
    refused = await alice.refused("inviteToGroup", groupId=group, userIds=[bob.id])
    assert refused == ("NOT_ALLOWED", ["userIds", "0"])
    await assert_clean(db)


async def test_who_invites(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Any member invites to an open group, only moderators to a private one, and strangers to none."""
    public, private = await create(alice), await create(alice, "PRIVATE")
    for group in (public, private):
        assert await bob.refused("inviteToGroup", groupId=group, userIds=[carol.id]) == ("NOT_ALLOWED", ["groupId"])
        await let_in(alice, group, bob)
    await act(bob, "inviteToGroup", public, carol)
    assert await bob.refused("inviteToGroup", groupId=private, userIds=[carol.id]) == ("NOT_ALLOWED", ["groupId"])
    await give(alice, private, bob, "MODERATOR")
    await act(bob, "inviteToGroup", private, carol)
    await act(carol, "joinGroup", private)
    await assert_clean(db)


async def test_an_invitation_and_a_request(db: Database, alice: Member, bob: Member) -> None:
    """Inviting a member who asks to join lets them in, without a notification."""
    group = await create(alice, "PRIVATE")
    await join(group, bob)
    await act(alice, "inviteToGroup", group, bob)
    assert await members_of(bob, group) == {"bob": "MEMBER", "alice": "OWNER"}
    assert (await bob.ask(INVITATIONS))["notifications"]["nodes"] == []
    await assert_clean(db)


async def test_the_end_of_an_invitation(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """An invitation that is declined, or taken back by a moderator, disappears with its notification."""
    group = await create(alice, "PRIVATE")
    await act(alice, "inviteToGroup", group, bob, carol)
    await act(bob, "leaveGroup", group)
    await act(alice, "removeGroupMembers", group, carol)
    for member in (bob, carol):
        assert await member.ask(INVITATIONS) == {"unreadNotificationCount": 0, "notifications": {"nodes": []}}
        assert (await act(member, "joinGroup", group))["viewerHasRequestedToJoin"]
    await assert_clean(db)


@pytest.mark.parametrize(
    "mutation", ["inviteToGroup", "approveGroupMembers", "rejectGroupMembers", "removeGroupMembers"]
)
async def test_bad_members(db: Database, alice: Member, bob: Member, carol: Member, mutation: str) -> None:
    """Each member who cannot be named is refused by themselves: oneself, unknown ones, and those who block."""
    group = await create(alice)
    await carol.do("block", userIds=[alice.id])
    before = await contents(db)
    ids = [alice.id, f"user_{1:014x}", "nonsense", carol.id, group]
    payload = await alice.do(mutation, "group { id }", groupId=group, userIds=ids)
    assert payload["group"] == {"id": group}
    assert [(error["code"], error["field"][1]) for error in payload["userErrors"]] == [
        ("SELF", "0"),
        ("NOT_FOUND", "1"),
        ("INVALID", "2"),
        ("NOT_FOUND", "3"),
        ("NOT_FOUND", "4"),
    ]
    assert await alice.refused(mutation, groupId=group, userIds=[]) == ("BLANK", ["userIds"])
    assert await contents(db) == before


async def test_who_removes_whom(db: Database, alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """Moderators remove those with a lower role, and nobody else; removing twice is no error."""
    dora, eve = [await sign_up(anonymous, name) for name in ("dora", "eve")]
    group = await create(alice)
    await join(group, bob, carol, dora, eve)
    for member in (bob, carol):
        await give(alice, group, member, "MODERATOR")
    before = await contents(db)
    for other in (alice, carol):
        refused = await bob.refused("removeGroupMembers", groupId=group, userIds=[other.id])
        assert refused == ("NOT_ALLOWED", ["userIds", "0"])
    for mutation in ("removeGroupMembers", "approveGroupMembers", "rejectGroupMembers"):
        assert await dora.refused(mutation, groupId=group, userIds=[eve.id]) == ("NOT_ALLOWED", ["groupId"])
    assert await contents(db) == before
    await act(bob, "removeGroupMembers", group, dora)
    await act(bob, "removeGroupMembers", group, dora)
    await act(alice, "removeGroupMembers", group, carol)
    assert await members_of(alice, group) == {"eve": "MEMBER", "bob": "MODERATOR", "alice": "OWNER"}
    assert await groups_of(dora) == []
    await join(group, carol)
    assert (await members_of(alice, group) or {})["carol"] == "MEMBER"
    await give(alice, group, eve, "OWNER")
    refused = await alice.refused("removeGroupMembers", groupId=group, userIds=[eve.id])
    assert refused == ("NOT_ALLOWED", ["userIds", "0"])
    await assert_clean(db)


async def test_a_member_who_blocks_the_moderator(db: Database, alice: Member, bob: Member) -> None:
    """A moderator removes a member whom they do not see."""
    group = await create(alice)
    await join(group, bob)
    await bob.do("block", userIds=[alice.id])
    assert await members_of(alice, group) == {"alice": "OWNER"}
    await act(alice, "removeGroupMembers", group, bob)
    assert await groups_of(bob) == []


async def test_roles(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Owners give roles to all but other owners, everybody may give up a role, and the last owner stays."""
    group = await create(alice)
    role = {"groupId": group, "role": "OWNER"}
    assert await alice.refused("setGroupRole", userId=bob.id, **role) == ("NOT_FOUND", ["userId"])
    await join(group, bob, carol)
    lower = {"groupId": group, "userId": alice.id, "role": "MEMBER"}
    assert await alice.refused("setGroupRole", **lower) == ("NOT_ALLOWED", ["userId"])
    assert await alice.refused("leaveGroup", groupId=group) == ("NOT_ALLOWED", ["groupId"])
    await give(alice, group, bob, "MODERATOR")
    before = await contents(db)
    await give(alice, group, bob, "MODERATOR")
    assert await contents(db) == before
    for other in (alice, carol, bob):
        assert await bob.refused("setGroupRole", userId=other.id, **role) == ("NOT_ALLOWED", ["userId"])
    await give(bob, group, bob, "MEMBER")
    await give(alice, group, carol, "OWNER")
    assert await alice.refused("setGroupRole", **{**lower, "userId": carol.id}) == ("NOT_ALLOWED", ["userId"])
    await act(alice, "leaveGroup", group)
    assert await members_of(bob, group) == {"carol": "OWNER", "bob": "MEMBER"}
    await assert_clean(db)


async def test_a_list_of_members(alice: Member, bob: Member, carol: Member) -> None:
    """It pages newest first, with roles and times, and leaves out whom the viewer does not see."""
    group = await create(alice)
    await join(group, bob, carol)
    query = """query($id: ID!, $after: String) { node(id: $id) { ... on Group { members(first: 1, after: $after) {
      edges { cursor role joinedAt node { login } } pageInfo { hasNextPage } } } } }"""
    found, after = [], None
    for _ in range(3):
        page = (await alice.ask(query, id=group, after=after))["members"]
        (edge,) = page["edges"]
        assert edge["joinedAt"]
        found.append((edge["node"]["login"], edge["role"], page["pageInfo"]["hasNextPage"]))
        after = edge["cursor"]
    assert found == [("carol", "MEMBER", True), ("bob", "MEMBER", True), ("alice", "OWNER", False)]
    await carol.do("block", userIds=[alice.id])
    assert await members_of(alice, group) == {"bob": "MEMBER", "alice": "OWNER"}
    assert (await show(alice, group) or {})["memberCount"] == 3


async def test_a_suspended_member(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A suspended member stays in the group and counts, is not shown, and cannot be invited to another."""
    group = await create(alice)
    await join(group, bob)
    await accounts.set_account_state(db, number(bob.id), UserField.SUSPENDED, holds=True)
    assert await members_of(carol, group) == {"alice": "OWNER"}
    assert (await show(carol, group) or {})["memberCount"] == 2
    other = await create(alice, name="Fish")
    refused = await alice.refused("inviteToGroup", groupId=other, userIds=[bob.id])
    assert refused == ("NOT_FOUND", ["userIds", "0"])


async def test_a_deleted_account(
    services: Services, worker: Worker, alice: Member, bob: Member, carol: Member, anonymous: Member
) -> None:
    """The oldest moderator becomes owner, else the oldest member; a group without members is deleted."""
    dora = await sign_up(anonymous, "dora")
    moderated, plain, alone, theirs, asked = [
        await create(owner, kind, name)
        for owner, kind, name in (
            (alice, "PUBLIC", "Moderated"),
            (alice, "PUBLIC", "Plain"),
            (alice, "PRIVATE", "Alone"),
            (bob, "PUBLIC", "Theirs"),
            (bob, "PRIVATE", "Asked"),
        )
    ]
    await join(moderated, bob, carol, dora)
    for member in (dora, carol):
        await give(alice, moderated, member, "MODERATOR")
    await join(plain, bob, carol)
    await join(theirs, alice)
    await join(asked, alice)
    await act(alice, "inviteToGroup", alone, bob)
    invited = await create(bob, "PRIVATE", "Invited")
    await act(bob, "inviteToGroup", invited, alice)
    assert (await alice.do("deleteAccount", password=PASSWORD))["userErrors"] == []
    await work_off(services.db, worker)
    assert await members_of(bob, moderated) == {"dora": "MODERATOR", "carol": "OWNER", "bob": "MEMBER"}
    assert await members_of(bob, plain) == {"carol": "MEMBER", "bob": "OWNER"}
    assert await show(bob, alone) is None
    assert await members_of(bob, theirs) == {"bob": "OWNER"}
    assert (await show(bob, asked) or {})["joinRequests"] == {"nodes": []}
    assert await traces(services.db, alice) == set()
    await assert_clean(services.db)

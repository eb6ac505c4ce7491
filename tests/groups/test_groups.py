"""Groups themselves: creating, changing and deleting them, the directory, and what strangers see."""

from typing import Any

import pytest

from store.client.database import Database
from store.settings import Settings
from tests.support.groups import KINDS, act, create, directory, give, groups_of, join, let_in, members_of, show
from tests.support.people import Member, contents, shrunk
from tests.support.threads import assert_clean

MADE_UP = f"group_{1:014x}"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for three groups per member, and short texts."""
    return shrunk(settings, max_groups=3, group_name=10, group_description=20)


async def test_a_new_group(db: Database, alice: Member, bob: Member) -> None:
    """Its creator is its only member and owner; others see it in the directory, unless it is private."""
    for kind in KINDS:
        found = await show(alice, await create(alice, kind, kind[:9], description="feathers"))
        assert found
        assert (found["name"], found["description"]) == (kind[:9], "feathers")
        assert (found["kind"], found["memberCount"], found["viewerRole"]) == (kind, 1, "OWNER")
        assert found["members"]["edges"] == [{"node": {"login": "alice"}, "role": "OWNER"}]
        assert found["joinRequests"] == {"nodes": []}
    assert await groups_of(alice) == ["ANNOUNCEM", "PRIVATE", "PUBLIC"]
    assert sorted(await directory(bob)) == [("ANNOUNCEM", 1), ("PUBLIC", 1)]
    assert await groups_of(bob) == []
    await assert_clean(db)


async def test_what_a_stranger_sees(alice: Member, bob: Member, anonymous: Member) -> None:
    """Of a private group strangers see name, kind and what they are to it; of others everything but the requests."""
    private, public = await create(alice, "PRIVATE", description="secret"), await create(alice, description="open")
    for viewer in (bob, anonymous):
        assert await show(viewer, private) == {
            "id": private,
            "name": "Birds",
            "description": "",
            "kind": "PRIVATE",
            "memberCount": 0,
            "members": None,
            "joinRequests": None,
            "viewerRole": None,
            "viewerHasRequestedToJoin": False,
        }
        found = await show(viewer, public)
        assert found
        assert (found["description"], found["memberCount"], found["joinRequests"]) == ("open", 1, None)
        assert await members_of(viewer, public) == {"alice": "OWNER"}


@pytest.mark.parametrize(
    ("fields", "refusals"),
    [
        ({"name": " \t"}, [("BLANK", "name")]),
        ({"name": "n" * 11}, [("TOO_LONG", "name")]),
        ({"name": "two\nlines"}, [("INVALID", "name")]),
        ({"description": "d" * 21}, [("TOO_LONG", "description")]),
        ({"description": "a\x00b"}, [("INVALID", "description")]),
        ({"name": "", "description": "d" * 21}, [("BLANK", "name"), ("TOO_LONG", "description")]),
    ],
)
async def test_bad_texts(db: Database, alice: Member, fields: dict[str, str], refusals: list[tuple[str, str]]) -> None:
    """Each text is refused with its own answer, all of them at once, and nothing is written."""
    group = await create(alice)
    before = await contents(db)
    for mutation, given in (("createGroup", {"name": "Fish", "kind": "PUBLIC"}), ("updateGroup", {"groupId": group})):
        payload = await alice.do(mutation, "group { id }", **{**given, **fields})
        assert payload["group"] is None
        assert [(error["code"], error["field"][0]) for error in payload["userErrors"]] == refusals
    assert await contents(db) == before


async def test_changing_a_group(db: Database, alice: Member, bob: Member) -> None:
    """An owner changes what they name and nothing else; saying it again changes nothing."""
    group = await create(alice, description="feathers")
    changed = await act(alice, "updateGroup", group, name="Big birds")
    assert (changed["name"], changed["description"], changed["kind"]) == ("Big birds", "feathers", "PUBLIC")
    changed = await act(alice, "updateGroup", group, description="", kind="ANNOUNCEMENT")
    assert (changed["name"], changed["description"], changed["kind"]) == ("Big birds", "", "ANNOUNCEMENT")
    before = await contents(db)
    await act(alice, "updateGroup", group, name="Big birds", kind="ANNOUNCEMENT")
    assert await contents(db) == before
    await join(group, bob)
    before = await contents(db)
    assert await bob.refused("updateGroup", groupId=group, name="Mine") == ("NOT_ALLOWED", ["groupId"])
    await give(alice, group, bob, "MODERATOR")
    assert await bob.refused("updateGroup", groupId=group, name="Mine") == ("NOT_ALLOWED", ["groupId"])
    assert await bob.refused("deleteGroup", groupId=group) == ("NOT_ALLOWED", ["groupId"])
    await give(alice, group, bob, "OWNER")
    assert (await act(bob, "updateGroup", group, name="Mine"))["name"] == "Mine"


async def test_changing_the_kind(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A group that goes private leaves the directory and hides its members; one that opens grants all requests."""
    group = await create(alice)
    await join(group, bob)
    await act(alice, "updateGroup", group, kind="PRIVATE")
    assert await directory(bob) == []
    assert await members_of(carol, group) is None
    assert await members_of(bob, group) == {"bob": "MEMBER", "alice": "OWNER"}
    await join(group, carol)
    assert (await show(carol, group) or {})["viewerHasRequestedToJoin"]
    await assert_clean(db)
    await act(alice, "updateGroup", group, kind="PUBLIC")
    assert await members_of(carol, group) == {"carol": "MEMBER", "bob": "MEMBER", "alice": "OWNER"}
    assert not (await show(carol, group) or {})["viewerHasRequestedToJoin"]
    assert await directory(bob) == [("Birds", 3)]
    assert await groups_of(carol) == ["Birds"]
    await assert_clean(db)


async def test_deleting_a_group(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A deleted group is gone for everybody, and nothing of it is left."""
    before = {key for key in await contents(db) if "group" in key}
    group, other = await create(alice, "PRIVATE"), await create(alice, name="Fish")
    await let_in(alice, group, bob)
    await act(alice, "inviteToGroup", group, carol)
    payload = await alice.do("deleteGroup", "deletedGroupId", groupId=group)
    assert payload == {"deletedGroupId": group, "userErrors": []}
    for viewer in (alice, bob, carol):
        assert await show(viewer, group) is None
    assert await groups_of(bob) == []
    assert await groups_of(alice) == ["Fish"]
    notifications = await carol.ask("{ viewer { unreadNotificationCount notifications { nodes { kind } } } }")
    assert notifications == {"unreadNotificationCount": 0, "notifications": {"nodes": []}}
    await alice.do("deleteGroup", "deletedGroupId", groupId=other)
    left = {key for key in await contents(db) if "group" in key or "memberships" in key or "invited" in key}
    assert left == before
    await assert_clean(db)


MUTATIONS: dict[str, dict[str, Any]] = {
    "updateGroup": {"name": "Fish"},
    "deleteGroup": {},
    "joinGroup": {},
    "leaveGroup": {},
    "inviteToGroup": {"userIds": []},
    "approveGroupMembers": {"userIds": []},
    "rejectGroupMembers": {"userIds": []},
    "removeGroupMembers": {"userIds": []},
    "setGroupRole": {"role": "OWNER"},
}


@pytest.mark.parametrize("mutation", MUTATIONS)
async def test_a_group_that_does_not_exist(db: Database, alice: Member, bob: Member, mutation: str) -> None:
    """A made-up id, a deleted group and the id of something else are all answered in the same way."""
    fields = {name: [bob.id] for name in MUTATIONS[mutation] if name == "userIds"} or MUTATIONS[mutation]
    if mutation == "setGroupRole":
        fields = {**fields, "userId": bob.id}
    deleted = await create(alice)
    await alice.do("deleteGroup", groupId=deleted)
    before = await contents(db)
    for group in (MADE_UP, deleted, bob.id):
        assert await alice.refused(mutation, groupId=group, **fields) == ("NOT_FOUND", ["groupId"])
    assert await alice.refused(mutation, groupId="nonsense", **fields) == ("INVALID", ["groupId"])
    assert await contents(db) == before
    assert await show(alice, MADE_UP) is None


async def test_how_many_groups(db: Database, alice: Member, bob: Member) -> None:
    """A member is in, or asks to join, at most MAX_GROUPS groups; leaving one makes room."""
    groups = [await create(alice, kind) for kind in KINDS]
    refusal = ("LIMIT_REACHED", None)
    assert await alice.refused("createGroup", name="Fish", kind="PUBLIC") == refusal
    mine = await create(bob)
    assert await alice.refused("joinGroup", groupId=mine) == ("LIMIT_REACHED", ["groupId"])
    await join(groups[1], bob)
    await join(groups[0], bob)
    assert await bob.refused("joinGroup", groupId=groups[2]) == ("LIMIT_REACHED", ["groupId"])
    await act(bob, "joinGroup", groups[0])
    await act(bob, "leaveGroup", groups[1])
    await join(groups[2], bob)
    await assert_clean(db)


async def test_an_idempotency_key(alice: Member, bob: Member) -> None:
    """A retry returns the first group; other input is a conflict, and another member's key is another key."""
    group = await create(alice, idempotencyKey="once")
    assert await create(alice, idempotencyKey="once") == group
    refused = await alice.refused("createGroup", name="Fish", kind="PUBLIC", idempotencyKey="once")
    assert refused == ("CONFLICT", ["idempotencyKey"])
    assert await create(bob, idempotencyKey="once") != group
    assert await groups_of(alice) == ["Birds"]


async def test_the_directory(anonymous: Member, alice: Member, bob: Member, carol: Member) -> None:
    """It lists the largest groups first, and pages through one snapshot."""
    small, large, middle = [await create(alice, name=name) for name in ("Small", "Large", "Middle")]
    await join(large, bob, carol)
    await join(middle, bob)
    assert await directory(anonymous) == [("Large", 3), ("Middle", 2), ("Small", 1)]
    query = "query($after: String) { groups(first: 1, after: $after) { nodes { name } pageInfo { endCursor } } }"
    names, after = [], None
    for _ in range(3):
        page = await anonymous.ask(query, after=after)
        names += [node["name"] for node in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
        await act(bob, "joinGroup", small)
    assert names == ["Large", "Middle", "Small"]
    assert await anonymous.fail(query, after="group-directory.nonsense") == "BAD_USER_INPUT"


async def test_nodes(alice: Member, bob: Member) -> None:
    """Groups are found by id among other things, null where there is none."""
    group = await create(alice)
    query = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }"
    assert await bob.ask(query, ids=[group, MADE_UP, alice.id]) == [
        {"__typename": "Group", "id": group},
        None,
        {"__typename": "User", "id": alice.id},
    ]

"""Tests of the viewer as a node: clients cache it by its id."""

import pytest

from tests.support.people import PASSWORD, Member

VIEWER = "{ viewer { __typename id user { id } } }"
NODE = "query($id: ID!) { node(id: $id) { __typename id ... on Viewer { email } } }"
NODES = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }"


async def viewer_id(member: Member) -> str:
    return str((await member.ask(VIEWER))["id"])


async def test_the_viewers_id_is_that_of_no_other_object(alice: Member, bob: Member) -> None:
    ids = [alice.id, bob.id, await viewer_id(alice), await viewer_id(bob)]
    assert len(set(ids)) == len(ids)


async def test_the_viewers_id_stays_the_same_in_another_session_and_under_another_login(alice: Member) -> None:
    before = await viewer_id(alice)
    renamed = await alice.do("updateProfile", "viewer { id }", login="alice_renamed")
    again = await alice.do("logIn", "viewer { id }", identifier="alice_renamed", password=PASSWORD)
    assert renamed["viewer"]["id"] == again["viewer"]["id"] == before


async def test_node_and_nodes_find_the_viewer_for_that_member(alice: Member) -> None:
    own = await viewer_id(alice)
    assert await alice.ask(NODE, id=own) == {"__typename": "Viewer", "id": own, "email": "alice@example.org"}
    assert await alice.ask(NODES, ids=[own, own]) == [{"__typename": "Viewer", "id": own}] * 2


@pytest.mark.parametrize("asks", ["bob", "anonymous"])
async def test_node_and_nodes_find_the_viewer_for_nobody_else(
    asks: str, alice: Member, bob: Member, anonymous: Member
) -> None:
    other = {"bob": bob, "anonymous": anonymous}[asks]
    own = await viewer_id(alice)
    assert await other.ask(NODE, id=own) is None
    assert await other.ask(NODES, ids=[own]) == [None]


async def test_node_finds_no_viewer_once_the_session_has_ended(alice: Member) -> None:
    own = await viewer_id(alice)
    await alice.ask("mutation { logOut { userErrors { code } } }")
    assert await alice.fail(NODE, id=own) == "UNAUTHENTICATED"


async def test_a_viewers_id_is_no_id_of_a_user(alice: Member, bob: Member) -> None:
    assert await bob.refused("follow", userIds=[await viewer_id(alice)]) == ("NOT_FOUND", ["userIds", "0"])

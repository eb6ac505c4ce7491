"""Ids: opaque, unique across all types, and how unknown ones are answered."""

from collections.abc import Callable
from typing import Any

import pytest

import schema
from store.client.database import Database
from store.settings import Settings
from tests.support.people import USER_ERRORS, Member, contents

NODE = "query($id: ID!) { node(id: $id) { __typename id } }"
NODES = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }"
ON_POSTS: dict[str, dict[str, str]] = {
    "repost": {},
    "unrepost": {},
    "deletePost": {},
    "pinPost": {},
    "unpinPost": {},
    "like": {},
    "unlike": {},
    "favourite": {},
    "unfavourite": {},
    "comment": {"text": "yes"},
}


async def one_of_each(alice: Member) -> dict[str, str]:
    """Return ids of one entity of each type, by name."""
    status = await alice.post("hello")
    comment = await alice.do("comment", "comment { id }", postId=status, text="yes")
    return {
        "Status": status,
        "Repost": await alice.repost(status),
        "quote": await alice.repost(status, "see"),
        "User": alice.id,
        "Comment": comment["comment"]["id"],
    }


async def test_node_gives_each_type(alice: Member, anonymous: Member) -> None:
    """Every id leads to its own entity, for anybody."""
    for kind, entity_id in (await one_of_each(alice)).items():
        typename = "Repost" if kind == "quote" else kind
        assert await anonymous.ask(NODE, id=entity_id) == {"__typename": typename, "id": entity_id}


async def test_nodes_keep_the_order_of_their_ids(alice: Member, anonymous: Member) -> None:
    """`nodes` answers in the order asked, repeated ids repeatedly, with null for missing entities."""
    entities = list((await one_of_each(alice)).values())
    ids = [
        *entities[::-1],
        "status_00000000000001",
        *entities,
        entities[0],
        "user_00000000000001",
        "comment_00000000000001",
    ]
    found = await anonymous.ask(NODES, ids=ids)
    assert [node and node["id"] for node in found] == [
        entity_id if entity_id in entities else None for entity_id in ids
    ]


async def test_no_ids_are_no_nodes(anonymous: Member) -> None:
    """An empty list of ids is answered with an empty list."""
    assert await anonymous.ask(NODES, ids=[]) == []


async def test_ids_are_unique_across_types(alice: Member, bob: Member) -> None:
    """No two entities share an id, and the number of one under another type's name leads nowhere."""
    entities = [*(await one_of_each(alice)).values(), *(await one_of_each(bob)).values()]
    assert len(set(entities)) == len(entities)
    for entity_id in entities:
        kind, _, digits = entity_id.partition("_")
        others = [f"{other}_{digits}" for other in ("user", "status", "repost", "comment") if other != kind]
        assert await alice.ask(NODES, ids=others) == [None, None, None], entity_id
        for other in others:
            assert await alice.ask(NODE, id=other) is None


async def test_what_is_gone_is_null(alice: Member) -> None:
    """A deleted entity is answered exactly like one that never was."""
    entities = await one_of_each(alice)
    await alice.do("deleteComment", commentId=entities["Comment"])
    for kind in ("quote", "Repost", "Status"):
        await alice.do("deletePost", postId=entities[kind])
    del entities["User"]
    assert await alice.ask(NODES, ids=list(entities.values())) == [None] * 4
    assert [await alice.ask(NODE, id=entity_id) for entity_id in entities.values()] == [None] * 4


MALFORMED: dict[str, Callable[[str], str]] = {
    "empty": lambda _: "",
    "nonsense": lambda _: "nonsense",
    "a number": lambda _: "42",
    "another type's name": lambda entity_id: entity_id.replace("status", "post"),
    "no type": lambda entity_id: entity_id.partition("_")[2],
    "truncated": lambda entity_id: entity_id[:-1],
    "a type alone": lambda _: "status_",
    "too long": lambda entity_id: entity_id + "0",
    "upper case": lambda entity_id: entity_id.upper(),
    "space before": lambda entity_id: " " + entity_id,
    "line feed after": lambda entity_id: entity_id + "\n",
    "negative": lambda _: "status_-0000000000001",
    "too large": lambda _: "status_ffffffffffffff",
    "other digits": lambda entity_id: entity_id[:-1] + "\u0661",
    "NUL": lambda entity_id: entity_id[:-1] + "\0",
    "very long": lambda entity_id: entity_id * 1000,
}


@pytest.mark.parametrize("spoil", MALFORMED.values(), ids=MALFORMED)
async def test_a_malformed_id_in_a_query_is_bad_input(alice: Member, spoil: Callable[[str], str]) -> None:
    """An id of another form is an error of the request that names the argument."""
    post = await alice.post("hello")
    for query, variables in ((NODE, {"id": spoil(post)}), (NODES, {"ids": [post, spoil(post)]})):
        answer = await alice.send(query, **variables)
        (error,) = answer["errors"]
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
        assert error["message"].startswith(next(iter(variables)) + ":")


async def test_nodes_take_100_ids(alice: Member) -> None:
    """A hundred ids are answered; one more is bad input, whether or not they exist."""
    post = await alice.post("hello")
    assert await alice.ask(NODES, ids=[post] * 100) == [{"__typename": "Status", "id": post}] * 100
    for ids in ([post] * 101, ["nonsense"] * 101):
        answer = await alice.send(NODES, ids=ids)
        assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
        assert answer["errors"][0]["message"].startswith("ids:")


# ---- ids in mutations


@pytest.mark.parametrize("spoil", MALFORMED.values(), ids=MALFORMED)
async def test_a_malformed_id_in_a_mutation_is_invalid(
    db: Database, alice: Member, spoil: Callable[[str], str]
) -> None:
    """An id of another form is refused as INVALID, the field is named, and nothing is written."""
    post = await alice.post("hello")
    before = await contents(db)
    for mutation, fields in ON_POSTS.items():
        assert await alice.refused(mutation, postId=spoil(post), **fields) == ("INVALID", ["postId"]), mutation
    assert await alice.refused("deleteComment", commentId=spoil(post)) == ("INVALID", ["commentId"])
    assert await contents(db) == before


FOREIGN: dict[str, Callable[[dict[str, str]], str]] = {
    "never made": lambda _: "status_00000000000001",
    "zero": lambda _: "status_00000000000000",
    "the largest": lambda _: "repost_1fffffffffffff",
    "a member": lambda entities: entities["User"],
    "a comment": lambda entities: entities["Comment"],
    "a status named a repost": lambda entities: entities["Status"].replace("status", "repost"),
    "a repost named a status": lambda entities: entities["Repost"].replace("repost", "status"),
    "a quote named a status": lambda entities: entities["quote"].replace("repost", "status"),
    "a member named a status": lambda entities: entities["User"].replace("user", "status"),
}


@pytest.mark.parametrize("choose", FOREIGN.values(), ids=FOREIGN)
async def test_an_id_of_no_post_is_not_found(
    db: Database, alice: Member, choose: Callable[[dict[str, str]], str]
) -> None:
    """An id that names no post is refused as NOT_FOUND, the field is named, and nothing is written."""
    entity_id = choose(await one_of_each(alice))
    before = await contents(db)
    for mutation, fields in ON_POSTS.items():
        assert await alice.refused(mutation, postId=entity_id, **fields) == ("NOT_FOUND", ["postId"]), mutation
    assert await contents(db) == before


@pytest.mark.parametrize("kind", ["Status", "Repost", "quote", "User", "never made"])
async def test_an_id_of_no_comment_is_not_found(db: Database, alice: Member, kind: str) -> None:
    """Only a comment's id can be deleted as a comment."""
    entities = await one_of_each(alice) | {"never made": "comment_00000000000001"}
    before = await contents(db)
    assert await alice.refused("deleteComment", commentId=entities[kind]) == ("NOT_FOUND", ["commentId"])
    assert await contents(db) == before


# ---- who must sign in

OPEN_TO_ALL = {"signUp", "logIn", "refreshSession", "verifyEmail", "requestPasswordReset", "resetPassword"}
INPUT = """
{ __schema { mutationType { fields { name args { name type { ...T } } } }
    types { name isOneOf enumValues { name } inputFields { name type { ...T } } } } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }
"""
SOUND = {"String": "words", "Boolean": True, "Int": 1, "Float": 1.0, "DateTime": "2026-11-21T03:31:00.123Z"}
UNSOUND = {"String": "", "Boolean": False, "Int": -1, "Float": -1000.0, "DateTime": "2001-01-01T00:00:00.000Z"}


def example(kind: dict[str, Any], types: dict[str, Any], leaves: dict[str, Any]) -> Any:
    """Return a value of an input type as introspection describes it, with all required fields."""
    if kind["kind"] == "NON_NULL":
        return example(kind["ofType"], types, leaves)
    if kind["kind"] == "LIST":
        return [example(kind["ofType"], types, leaves)]
    if kind["kind"] == "ENUM":
        return types[kind["name"]]["enumValues"][0]["name"]
    if kind["kind"] == "INPUT_OBJECT":
        declared = types[kind["name"]]
        fields = declared["inputFields"]
        needed = fields[:1] if declared["isOneOf"] else [f for f in fields if f["type"]["kind"] == "NON_NULL"]
        return {f["name"]: example(f["type"], types, leaves) for f in needed}
    return leaves[kind["name"]]


@pytest.mark.parametrize("sound", [True, False], ids=["sound input", "input that would be refused"])
async def test_mutations_need_a_token(
    db: Database, settings: Settings, alice: Member, anonymous: Member, sound: bool
) -> None:
    """Without a token all mutations but signing in are UNAUTHENTICATED, for any input, and write nothing."""
    post = await alice.post("hello")
    found = schema.build(settings).execute_sync(INPUT)
    assert found.data
    types = {kind["name"]: kind for kind in found.data["__schema"]["types"]}
    leaves = {"ID": post, **SOUND} if sound else {"ID": "", **UNSOUND}
    before = await contents(db)
    names = []
    for field in found.data["__schema"]["mutationType"]["fields"]:
        if (name := field["name"]) in OPEN_TO_ALL:
            continue
        query, given = f"mutation {{ {name} {{ {USER_ERRORS} }} }}", {}
        for argument in field["args"]:
            given = {"input": example(argument["type"], types, leaves)}
            declared = argument["type"]["name"] or argument["type"]["ofType"]["name"] + "!"
            query = f"mutation($input: {declared}) {{ {name}(input: $input) {{ {USER_ERRORS} }} }}"
        assert await anonymous.fail(query, **given) == "UNAUTHENTICATED", name
        names.append(name)
    assert {*ON_POSTS, "post", "deleteComment", "follow", "updateProfile", "logOut"} <= set(names)
    assert await contents(db) == before

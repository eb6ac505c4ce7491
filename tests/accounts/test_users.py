"""Looking members up, and which fields nobody else may see."""

from typing import Any

import pytest

from store import keys
from store.client.database import Database
from tests.support.people import Member
from tests.support.probes.members import number

# ------------------------------------------------------------ looking members up


@pytest.mark.parametrize(
    ("login", "expected"),
    [
        ("dora", True),
        ("DORA", True),
        ("d" * 20, True),
        ("alice", False),
        ("ALICE", False),
        ("aLiCe", False),
        ("", False),
        ("do ra", False),
        ("d" * 21, False),
        ("@dora", False),
        ("дора", False),
        ("{dora}", False),
    ],
)
@pytest.mark.usefixtures("alice")
async def test_is_login_available(anonymous: Member, login: str, *, expected: bool) -> None:
    """A login is available when a new member could take it: it is valid, and nobody has it in any case."""
    assert await anonymous.ask("query($l: String!) { isLoginAvailable(login: $l) }", l=login) is expected


@pytest.mark.parametrize("login", ["alice", "ALICE", "aLiCe"])
async def test_user_by_login(anonymous: Member, alice: Member, login: str) -> None:
    """Anybody finds a member by login in any case."""
    found = await anonymous.ask("query($l: String!) { user(login: $l) { id login } }", l=login)
    assert found == {"id": alice.id, "login": "alice"}


@pytest.mark.parametrize("login", ["dora", "", "@alice", "alice ", "alice@example.org", "al*", "{alice}", "a" * 5000])
@pytest.mark.usefixtures("alice")
async def test_user_by_a_login_of_nobody(anonymous: Member, login: str) -> None:
    """An unknown or invalid login leads to nobody, and is no error."""
    assert await anonymous.ask("query($l: String!) { user(login: $l) { id } }", l=login) is None


async def test_viewer_of_nobody(anonymous: Member) -> None:
    """An anonymous request has no viewer."""
    assert await anonymous.ask("{ viewer { email user { id } sessions { id } } }") is None


async def test_viewer_is_who_asks(alice: Member, bob: Member) -> None:
    """Each member is their own viewer."""
    for member in (alice, bob):
        viewer = await member.ask("{ viewer { email role user { id } } }")
        assert viewer == {"email": f"{member.login}@example.org", "role": "MEMBER", "user": {"id": member.id}}


# ------------------------------------------------------------ what nobody else may see


@pytest.mark.parametrize(
    "query",
    [
        '{ user(login: "bob") { email } }',
        '{ user(login: "bob") { password } }',
        '{ user(login: "bob") { role } }',
        '{ user(login: "bob") { sessions { id } } }',
        '{ user(login: "bob") { ... on Viewer { email } } }',
        '{ node(id: "user_00000000000001") { ... on Session { id } } }',
        '{ viewer(login: "bob") { email } }',
        "{ viewer { password } }",
        "{ viewer { sessions { token } } }",
        "{ viewer { user { followers { nodes { email } } } } }",
        "{ publicTimeline(first: 1) { nodes { ... on Post { author { email } } } } }",
    ],
)
@pytest.mark.usefixtures("bob")
async def test_no_query_reaches_secrets(alice: Member, query: str) -> None:
    """E-mail, password and sessions are not in the schema of other members."""
    assert await alice.fail(query) == "GRAPHQL_VALIDATION_FAILED"


async def test_the_schema_shows_secrets_to_their_owner_alone(anonymous: Member) -> None:
    """Every field that names a secret belongs to the viewer, and only fields called `viewer` lead there."""
    query = "{ __schema { types { name fields { name args { name } type { name ofType { name ofType { name }}}}}}}"
    types = (await anonymous.ask(query))["types"]
    fields = [(kind["name"], field) for kind in types if kind["name"] != "Mutation" for field in kind["fields"] or []]
    words = ("mail", "password", "session", "token", "role", "credential")
    secret = {f"{kind}.{field['name']}" for kind, field in fields if any(w in field["name"].lower() for w in words)}
    secret -= {"Group.viewerRole", "GroupMemberEdge.role"}  # roles in a group, visible to its members
    own = {"Viewer.email", "Viewer.isEmailVerified", "Viewer.role", "Viewer.sessions"}
    assert secret == own | {f"SessionPayload.{name}Token" for name in ("access", "refresh", "device")}
    leading = [(kind, field) for kind, field in fields if _named(field["type"]) == "Viewer"]
    assert ("Query", "viewer") in {(kind, field["name"]) for kind, field in leading}
    assert all(field["name"] == "viewer" and not field["args"] for _, field in leading)


def _named(kind: dict[str, Any] | None) -> str | None:
    while kind and kind.get("ofType"):
        kind = kind["ofType"]
    return kind["name"] if kind else None


async def test_public_records_hold_no_secrets(alice: Member, db: Database) -> None:
    """The record that everybody's queries read holds neither e-mail nor password."""
    record = await db.one("HGETALL", keys.user(number(alice)))
    assert "alice@example.org" not in str(record)
    assert "argon2" not in str(record)

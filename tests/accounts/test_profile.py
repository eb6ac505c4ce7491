"""Profiles: what changes, and what is refused."""

from typing import Any

import pytest

from store.client.database import Database
from tests.support.people import Member, contents
from tests.support.probes.accounts import BAD_LOGINS, BAD_NAMES, VIEWER, rows, samples
from tests.support.probes.members import refusals


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"name": "  Ali\u0301 "}, {"name": "Al\u00ed"}, id="name"),
        pytest.param({"bio": "One\r\nTwo\rThree"}, {"bio": "One\nTwo\nThree"}, id="bio of several lines"),
        pytest.param({"bio": "e\u0301" * 200}, {"bio": "\u00e9" * 200}, id="bio counted in NFC"),
        pytest.param({"login": "Alicia"}, {"login": "Alicia"}, id="login"),
        pytest.param({"login": "a", "name": "A", "bio": "B"}, {"login": "a", "name": "A", "bio": "B"}, id="all"),
        pytest.param({"login": "alice"}, {}, id="the login they have"),
        pytest.param({"login": None, "name": None, "bio": None}, {}, id="nulls"),
        pytest.param({}, {}, id="nothing"),
    ],
)
async def test_update_profile(anonymous: Member, alice: Member, fields: dict[str, Any], expected: Any) -> None:
    """Given fields change, in normal form and for everybody; omitted or null fields stay."""
    profile = {"login": "alice", "name": "Alice", "bio": "", **expected}
    payload = await alice.do("updateProfile", VIEWER, **fields)
    assert payload == {"viewer": {"email": "alice@example.org", "user": profile}, "userErrors": []}
    found = await anonymous.ask("query($l: String!) { user(login: $l) { id login name bio } }", l=profile["login"])
    assert found == {"id": alice.id, **profile}


@pytest.mark.parametrize("blank", ["", "  \n", "\u200b"])
async def test_a_bio_can_be_blank_again(alice: Member, blank: str) -> None:
    """A bio can be emptied."""
    await alice.do("updateProfile", bio="I was here.")
    assert (await alice.do("updateProfile", VIEWER, bio=blank))["viewer"]["user"]["bio"] == ""


BAD_BIOS = [
    ("b" * 201, "TOO_LONG"),
    ("e\u0301" * 201, "TOO_LONG"),
    ("b\x00", "INVALID"),
    ("b\x07b", "INVALID"),
    ("b\x85b", "INVALID"),
]


@pytest.mark.parametrize(
    ("field", "text", "code"), [*samples("login", BAD_LOGINS), *samples("name", BAD_NAMES), *rows("bio", BAD_BIOS)]
)
async def test_update_profile_refuses(alice: Member, db: Database, field: str, text: str, code: str) -> None:
    """A field that breaks a rule is named, and nothing changes, not even the valid fields."""
    before = await contents(db)
    right = {"login": "alicia", "name": "Alicia", "bio": "Hello."}
    payload = await alice.do("updateProfile", VIEWER, **{**right, field: text})
    assert refusals(payload) == [(field, code)]
    assert await contents(db) == before


async def test_update_profile_names_all_that_is_wrong(alice: Member) -> None:
    """Several wrong fields are all named in one answer."""
    payload = await alice.do("updateProfile", VIEWER, login="", name="", bio="\x00")
    assert sorted(refusals(payload)) == [("bio", "INVALID"), ("login", "BLANK"), ("name", "BLANK")]


@pytest.mark.parametrize("login", ["bob", "BOB"])
@pytest.mark.usefixtures("bob")
async def test_update_profile_refuses_a_taken_login(alice: Member, db: Database, login: str) -> None:
    """Another member's login is TAKEN in any case, and the other fields stay too."""
    before = await contents(db)
    payload = await alice.do("updateProfile", VIEWER, login=login, name="Bob", bio="I am Bob.")
    assert refusals(payload) == [("login", "TAKEN")]
    assert await contents(db) == before

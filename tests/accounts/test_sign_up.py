"""Sign-up: what succeeds, what is refused, and how often."""

import time
from datetime import datetime

import jwt
import pytest

from store import keys
from store.client.database import Database
from store.keys.fields import CredentialsField
from store.settings import Settings
from tests.support.people import PASSWORD, SECRET, Member, contents, shrunk, sign_up
from tests.support.probes.accounts import (
    BAD_EMAILS,
    BAD_LOGINS,
    BAD_NAMES,
    LONGEST_EMAIL,
    MEMBER,
    VIEWER,
    form,
    rows,
    users,
)
from tests.support.probes.members import expire, life, number, refusals
from tests.support.stored import find

SESSION = """
accessToken refreshToken expiresAt
viewer { email role user { id login name bio createdAt followerCount followingCount postCount } sessions { isCurrent } }
"""


# ------------------------------------------------------------ signUp: what succeeds


async def test_sign_up_makes_a_member_and_signs_them_in(anonymous: Member, settings: Settings) -> None:
    """A sign-up answers with a working pair of tokens and a plain member without any activity."""
    started = time.time()
    payload = await anonymous.do("signUp", SESSION, **form())
    assert payload["userErrors"] == []
    viewer = payload["viewer"]
    user = viewer.pop("user")
    assert viewer == {"email": "Dora@example.org", "role": "MEMBER", "sessions": [{"isCurrent": True}]}
    created = datetime.fromisoformat(user.pop("createdAt")).timestamp()
    assert started - 1 <= created <= time.time() + 1
    dora = Member(anonymous.client, payload["accessToken"], user.pop("id"), refresh_token=payload["refreshToken"])
    nothing = {"bio": "", "followerCount": 0, "followingCount": 0, "postCount": 0}
    assert user == {"login": "Dora", "name": "Dora", **nothing}
    expires = jwt.decode(payload["accessToken"], SECRET, algorithms=["HS256"])["exp"]
    assert datetime.fromisoformat(payload["expiresAt"]).timestamp() == expires
    assert started - 1 <= expires - settings.access_token_seconds <= time.time()
    assert await dora.ask("{ viewer { user { id login } } }") == {"user": {"id": dora.id, "login": "Dora"}}
    refreshed = await anonymous.do("refreshSession", MEMBER, refreshToken=dora.refresh_token)
    assert refreshed["viewer"]["user"]["id"] == dora.id


@pytest.mark.parametrize(
    ("field", "given", "kept"),
    [
        pytest.param("login", "d", "d", id="shortest login"),
        pytest.param("login", "Dora_0123456789_DORA", "Dora_0123456789_DORA", id="longest login"),
        pytest.param("login", "_", "_", id="underscore"),
        pytest.param("login", "0", "0", id="digit"),
        pytest.param("name", " Zoe\u0308\u3000", "Zo\u00eb", id="name in NFC and trimmed"),
        pytest.param("name", "e\u0301" * 50, "\u00e9" * 50, id="name counted in NFC"),
        pytest.param("name", "👩‍🚀 דורה 多拉", "👩‍🚀 דורה 多拉", id="name in any script"),
        pytest.param("email", " Dora@EXAMPLE.org ", "Dora@example.org", id="e-mail trimmed, its domain in lower case"),
        pytest.param("email", "do.ra+perch@mail.example.org", "do.ra+perch@mail.example.org", id="e-mail with tag"),
        pytest.param("email", "de\u0301a@example.org", "d\u00e9a@example.org", id="e-mail in NFC"),
        pytest.param("email", "dora@xn--bcher-kva.example", "dora@b\u00fccher.example", id="e-mail in Unicode"),
        pytest.param("email", LONGEST_EMAIL, LONGEST_EMAIL, id="longest e-mail"),
        pytest.param("password", "bird 71 ok", None, id="shortest password"),
        pytest.param("password", "01" * 500, None, id="longest password"),
        pytest.param("password", "  Пароль 🔑\t\x00  ", None, id="password of anything"),
    ],
)
async def test_sign_up_accepts(anonymous: Member, field: str, given: str, kept: str | None) -> None:
    """Valid input is stored in its normal form, and the member can log in with what they typed."""
    fields = form(**{field: given})
    payload = await anonymous.do("signUp", VIEWER, **fields)
    assert payload["userErrors"] == []
    shown = {**payload["viewer"]["user"], "email": payload["viewer"]["email"]}
    assert kept is None or shown[field] == kept
    for identifier in (fields["login"], fields["email"], shown["email"]):
        again = await anonymous.do("logIn", VIEWER, identifier=identifier, password=fields["password"])
        assert again == payload


async def test_passwords_are_kept_as_argon2id_and_nowhere_else(anonymous: Member, db: Database) -> None:
    """Only a salted argon2id hash of the password is stored, and only among the member's credentials."""
    alice, bob = await sign_up(anonymous, "alice"), await sign_up(anonymous, "bob")
    held = await contents(db)
    hashes = [
        await db.one("HGET", keys.credentials(number(member)), CredentialsField.PASSWORD) for member in (alice, bob)
    ]
    assert all(text.startswith("$argon2id$v=19$") for text in hashes)
    assert hashes[0] != hashes[1]
    own = {keys.credentials(number(member)) for member in (alice, bob)}
    assert {key for key, value in held.items() if "argon2" in str(value)} == own
    assert PASSWORD not in str(held)


async def test_tokens_are_not_stored(alice: Member, db: Database) -> None:
    """Neither access token nor refresh token can be read from the store."""
    held = str(await contents(db))
    assert alice.token
    assert alice.token not in held
    assert alice.refresh_token.rpartition(".")[2] not in held


# ------------------------------------------------------------ signUp: what is refused

BAD_PASSWORDS = [
    ("", "WEAK_PASSWORD"),
    ("123456789", "WEAK_PASSWORD"),
    ("🔑" * 9, "WEAK_PASSWORD"),
    ("aaaaaaaaaaaa", "WEAK_PASSWORD"),
    ("1q2w3e4r5t", "WEAK_PASSWORD"),
    ("Password123", "WEAK_PASSWORD"),
    ("qWeRtYuIoP123", "WEAK_PASSWORD"),
    ("correcthorsebatterystaple", "WEAK_PASSWORD"),
    ("01" * 500 + "0", "TOO_LONG"),
]
PASSWORDS_LIKE_NAMES = [
    pytest.param({"login": "dora_explores", "password": "dora_explores"}, id="login"),
    pytest.param({"login": "dora_explores", "password": "DORA_Explores"}, id="login in another case"),
    pytest.param({"password": "Dora@example.org"}, id="e-mail"),
    pytest.param({"password": "DORA@EXAMPLE.ORG"}, id="e-mail in another case"),
    pytest.param({"email": " dora@example.org ", "password": "dora@example.org"}, id="e-mail without white space"),
    pytest.param({"name": "Dora the Explorer", "password": "DORA the Explorer"}, id="name in another case"),
    pytest.param({"name": " Dora the Explorer ", "password": "Dora the Explorer"}, id="name without white space"),
    pytest.param({"email": "dora.explorer@example.org", "password": "Dora.Explorer"}, id="e-mail before the sign"),
]


@pytest.mark.parametrize(
    ("field", "text", "code"),
    [
        *rows("login", BAD_LOGINS),
        *rows("name", BAD_NAMES),
        *rows("email", BAD_EMAILS),
        *rows("password", BAD_PASSWORDS),
    ],
)
async def test_sign_up_refuses(anonymous: Member, db: Database, field: str, text: str, code: str) -> None:
    """A field that breaks a rule is named alone, with its code, and nothing is written."""
    payload = await anonymous.do("signUp", SESSION, **form(**{field: text}))
    assert refusals(payload) == [(field, code)]
    assert await contents(db) == {}


@pytest.mark.parametrize("fields", PASSWORDS_LIKE_NAMES)
async def test_sign_up_refuses_a_password_that_is_a_name(
    anonymous: Member, db: Database, fields: dict[str, str]
) -> None:
    """The login, the name and the e-mail address, in any case, are refused as passwords."""
    payload = await anonymous.do("signUp", SESSION, **form(**fields))
    assert refusals(payload) == [("password", "WEAK_PASSWORD")]
    assert await contents(db) == {}


async def test_sign_up_names_all_that_is_wrong(anonymous: Member, db: Database) -> None:
    """Several wrong fields are all named in one answer, and nothing is written."""
    payload = await anonymous.do("signUp", SESSION, login="do ra", name="", email="x" * 300, password="short")
    expected = [("login", "INVALID"), ("name", "BLANK"), ("email", "TOO_LONG"), ("password", "WEAK_PASSWORD")]
    assert refusals(payload) == expected
    assert await contents(db) == {}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"login": "alice"}, ["login"]),
        ({"login": "ALICE"}, ["login"]),
        ({"login": "aLiCe"}, ["login"]),
        ({"email": "alice@example.org"}, ["email"]),
        ({"email": "ALICE@EXAMPLE.ORG"}, ["email"]),
        ({"email": "aLiCe@Example.Org "}, ["email"]),
        ({"login": "Alice", "email": "Alice@example.org"}, ["login", "email"]),
    ],
)
async def test_sign_up_refuses_taken_names(
    anonymous: Member, alice: Member, db: Database, fields: dict[str, str], expected: list[str]
) -> None:
    """A login or e-mail of another member is TAKEN in any case, and the name that was free stays free."""
    before = await contents(db)
    payload = await anonymous.do("signUp", SESSION, **form(**fields))
    assert refusals(payload) == [(field, "TAKEN") for field in expected]
    after = await contents(db)
    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert all(key.startswith("minted:") for key in changed)  # an id has been used up
    free = form(**{field: form()[field] for field in fields})
    assert (await anonymous.do("signUp", MEMBER, **free))["viewer"]["user"]["id"] != alice.id


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("d\u00e9a@example.org", "de\u0301a@example.org"),
        ("dora@b\u00fccher.example", "dora@XN--BCHER-KVA.example"),
    ],
)
async def test_an_address_written_in_another_way_is_the_same(anonymous: Member, first: str, second: str) -> None:
    """An address belongs to one member, composed or not, and with its domain encoded or not."""
    await anonymous.do("signUp", MEMBER, **form(email=first))
    payload = await anonymous.do("signUp", MEMBER, **form(login="eve", email=second))
    assert refusals(payload) == [("email", "TAKEN")]


# ------------------------------------------------------------ signUp: how often


class TestSignUpLimit:
    """Two sign-ups per hour and address, behind a proxy that names the client's address."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, rate_limit=10_000, sign_ups_per_hour=2, trusted_proxies=("127.0.0.0/8", "::1/128"))

    async def test_sign_ups_of_an_address_are_limited(self, anonymous: Member, db: Database) -> None:
        """The third sign-up in an hour is RATE_LIMITED and creates nobody; from another address it succeeds."""
        anonymous.headers["X-Forwarded-For"] = "192.0.2.1"
        await sign_up(anonymous, "alice")
        await sign_up(anonymous, "bob")
        query = "mutation($input: SignUpInput!) { signUp(input: $input) { accessToken } }"
        answer = await anonymous.send(query, input=form())
        assert answer["data"] == {"signUp": None}
        assert answer["errors"][0]["extensions"]["code"] == "RATE_LIMITED"
        assert len(await users(db)) == 2
        assert await anonymous.ask('{ isLoginAvailable(login: "dora") }') is True
        anonymous.headers["X-Forwarded-For"] = "192.0.2.2"
        assert (await anonymous.do("signUp", MEMBER, **form()))["viewer"]

    async def test_wrong_input_does_not_count(self, anonymous: Member) -> None:
        """Wrong input is refused with its reason and may be tried again; only sign-ups with right input are counted."""
        for _ in range(5):
            assert refusals(await anonymous.do("signUp", MEMBER, **form(login="do ra"))) == [("login", "INVALID")]
        await sign_up(anonymous, "alice")

    async def test_taken_names_count(self, anonymous: Member) -> None:
        """An answer TAKEN counts as a sign-up, so an address learns of few accounts in an hour."""
        await sign_up(anonymous, "alice")
        taken = await anonymous.do("signUp", MEMBER, **form(email="alice@example.org"))
        assert refusals(taken) == [("email", "TAKEN")]
        query = "mutation($input: SignUpInput!) { signUp(input: $input) { accessToken } }"
        assert await anonymous.fail(query, input=form(email="alice@example.org")) == "RATE_LIMITED"

    async def test_the_count_ends_with_its_hour(self, anonymous: Member, db: Database) -> None:
        """An address's count expires, and sign-ups then succeed again."""
        await sign_up(anonymous, "alice")
        await sign_up(anonymous, "bob")
        (count,) = await find(db, "attempts:*")
        assert 0 < await life(db, count) <= 3_600_000
        await expire(db, count)
        await sign_up(anonymous, "carol")


class TestSignUpLimitOff:
    """RATE_LIMIT=0 turns every limit on requests and attempts off."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, rate_limit=0, sign_ups_per_hour=1)

    async def test_any_number_of_sign_ups(self, anonymous: Member, db: Database) -> None:
        """Without a limit an address can sign up many members, and nothing is counted."""
        for login in ("alice", "bob", "carol"):
            await sign_up(anonymous, login)
        assert await find(db, "attempts:*") == []

"""Members: sign-up, names and who holds them, profiles, e-mail addresses, and what nobody else may see."""

from __future__ import annotations

import asyncio
import itertools
import time
from datetime import datetime
from typing import Any

import jwt
import pytest

from resolvers.accounts import create_member
from resolvers.context import Services
from resolvers.errors import Refused
from resolvers.fanout import Worker
from store import accounts, jobs, keys
from store.connection import Database
from store.ids import partition
from store.records import Job
from store.settings import Settings
from tests.conftest import PASSWORD, SECRET, Member, contents, shrunk, sign_up
from tests.probes import ABSENT, LASTING, expire, life, number, refusals

SESSION = """
accessToken refreshToken expiresAt
viewer { email role user { id login name bio createdAt followerCount followingCount postCount } sessions { isCurrent } }
"""
VIEWER = "viewer { email user { login name bio } }"
MEMBER = "viewer { user { id } }"
DAY = 86_400_000  # ms

LONGEST_EMAIL = f"{'d' * 64}@{'e' * 63}.{'f' * 63}.{'g' * 57}.org"  # 254 characters


def form(**changed: str) -> dict[str, str]:
    """Return the input of a sign-up that succeeds, but for what is changed."""
    return {"login": "Dora", "name": "Dora", "email": "Dora@example.org", "password": PASSWORD, **changed}


async def users(db: Database) -> list[str]:
    """Return the keys of all members."""
    found: list[str] = await db.one("KEYS", "user:*")
    return found


# ------------------------------------------------------------ signUp: what succeeds


async def test_sign_up_makes_a_member_and_signs_them_in(anonymous: Member, settings: Settings) -> None:
    """A sign-up answers with a working pair of tokens and a plain member who has done nothing yet."""
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
        pytest.param("password", "0123456789", None, id="shortest password"),
        pytest.param("password", "01" * 500, None, id="longest password"),
        pytest.param("password", "  Пароль 🔑\t\x00  ", None, id="password of anything"),
    ],
)
async def test_sign_up_accepts(anonymous: Member, field: str, given: str, kept: str | None) -> None:
    """What is allowed is kept in its normal form, and the member can log in with what they typed."""
    fields = form(**{field: given})
    payload = await anonymous.do("signUp", VIEWER, **fields)
    assert payload["userErrors"] == []
    shown = {**payload["viewer"]["user"], "email": payload["viewer"]["email"]}
    assert kept is None or shown[field] == kept
    for identifier in (fields["login"], fields["email"], shown["email"]):
        again = await anonymous.do("logIn", VIEWER, identifier=identifier, password=fields["password"])
        assert again == payload


async def test_passwords_are_kept_as_argon2id_and_nowhere_else(anonymous: Member, db: Database) -> None:
    """Of a password nothing but a salted argon2id hash is stored, and that only among the member's credentials."""
    alice, bob = await sign_up(anonymous, "alice"), await sign_up(anonymous, "bob")
    held = await contents(db)
    hashes = [await db.one("HGET", keys.credentials(number(member)), "password") for member in (alice, bob)]
    assert all(text.startswith("$argon2id$v=19$") for text in hashes)
    assert hashes[0] != hashes[1]
    own = {keys.credentials(number(member)) for member in (alice, bob)}
    assert {key for key, value in held.items() if "argon2" in str(value)} == own
    assert PASSWORD not in str(held)


async def test_tokens_are_not_stored(alice: Member, db: Database) -> None:
    """Neither access token nor refresh token can be read off the store."""
    held = str(await contents(db))
    assert alice.token
    assert alice.token not in held
    assert alice.refresh_token.rpartition(".")[2] not in held


# ------------------------------------------------------------ signUp: what is refused

BAD_LOGINS = [
    ("", "BLANK"),
    (" \t", "BLANK"),
    ("d" * 21, "TOO_LONG"),
    ("do ra", "INVALID"),
    (" dora", "INVALID"),
    ("dora\n", "INVALID"),
    ("do\x00ra", "INVALID"),
    ("@dora", "INVALID"),
    ("do-ra", "INVALID"),
    ("do.ra", "INVALID"),
    ("dor\u00e1", "INVALID"),
    ("дора", "INVALID"),
    ("\uff44\uff4f\uff52\uff41", "INVALID"),
    ("dora\u0661", "INVALID"),
    ("{dora}", "INVALID"),
]
BAD_NAMES = [
    ("", "BLANK"),
    (" \t\n", "BLANK"),
    ("\u200b\u3000\u2060", "BLANK"),
    ("n" * 51, "TOO_LONG"),
    ("e\u0301" * 51, "TOO_LONG"),
    ("n" * 100_000, "TOO_LONG"),
    ("Do\x00ra", "INVALID"),
    ("Do\nra", "INVALID"),
    ("Do\tra", "INVALID"),
    ("Do\x1b[31mra", "INVALID"),
    ("Do\x7fra", "INVALID"),
    ("Do\x85ra", "INVALID"),
    ("Do\u2028ra", "INVALID"),
    ("Do\u202era", "INVALID"),
    ("Do\uffffra", "INVALID"),
]
BAD_EMAILS = [
    ("", "BLANK"),
    (" \t", "BLANK"),
    (f"d{LONGEST_EMAIL}", "TOO_LONG"),
    ("d" * 100_000, "TOO_LONG"),
    ("dora", "INVALID"),
    ("dora@", "INVALID"),
    ("@example.org", "INVALID"),
    ("dora@example", "INVALID"),
    ("dora@example..org", "INVALID"),
    ("dora@-example.org", "INVALID"),
    (".dora@example.org", "INVALID"),
    ("dora@@example.org", "INVALID"),
    ("dora@example@example.org", "INVALID"),
    ("do ra@example.org", "INVALID"),
    ("dora@exam ple.org", "INVALID"),
    ("dora\n@example.org", "INVALID"),
    ("do\x00ra@example.org", "INVALID"),
    ('"do ra"@example.org', "INVALID"),
    ("Dora <dora@example.org>", "INVALID"),
    ("dora@[192.0.2.1]", "INVALID"),
    ("dora@example.org, eve@example.org", "INVALID"),
]
BAD_PASSWORDS = [
    ("", "WEAK_PASSWORD"),
    ("123456789", "WEAK_PASSWORD"),
    ("🔑" * 9, "WEAK_PASSWORD"),
    ("aaaaaaaaaaaa", "WEAK_PASSWORD"),
    ("01" * 500 + "0", "TOO_LONG"),
]
PASSWORDS_LIKE_NAMES = [
    pytest.param({"login": "dora_explores", "password": "dora_explores"}, id="login"),
    pytest.param({"login": "dora_explores", "password": "DORA_Explores"}, id="login in another case"),
    pytest.param({"password": "Dora@example.org"}, id="e-mail"),
    pytest.param({"password": "DORA@EXAMPLE.ORG"}, id="e-mail in another case"),
    pytest.param({"email": " dora@example.org ", "password": "dora@example.org"}, id="e-mail without white space"),
]


def rows(field: str, table: list[tuple[str, str]]) -> list[Any]:
    """Return the rows of a table of refusals for one field, named so that they can be told apart."""
    return [pytest.param(field, text, code, id=f"{field} {ascii(text)[:24]}") for text, code in table]


def samples(field: str, table: list[tuple[str, str]]) -> list[Any]:
    """Return the last row of each kind of refusal: where a rule is used again, the table need not be."""
    return rows(field, [(text, code) for code, text in {code: text for text, code in table}.items()])


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
    """A field that breaks a rule is named, alone, with its code, and nothing is written."""
    payload = await anonymous.do("signUp", SESSION, **form(**{field: text}))
    assert refusals(payload) == [(field, code)]
    assert await contents(db) == {}


@pytest.mark.parametrize("fields", PASSWORDS_LIKE_NAMES)
async def test_sign_up_refuses_a_password_that_is_a_name(
    anonymous: Member, db: Database, fields: dict[str, str]
) -> None:
    """The login and the e-mail address, in any case, are no passwords."""
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
    """A login or e-mail that a member has is TAKEN in any case, and what was free stays free."""
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
    """Composed or not, and with its domain encoded or not, an address belongs to one member."""
    await anonymous.do("signUp", MEMBER, **form(email=first))
    payload = await anonymous.do("signUp", MEMBER, **form(login="eve", email=second))
    assert refusals(payload) == [("email", "TAKEN")]


# ------------------------------------------------------------ signUp: races


async def test_200_sign_ups_for_one_login_make_one_member(anonymous: Member, db: Database) -> None:
    """Of 200 simultaneous sign-ups for one login in mixed case exactly one succeeds, and no other leaves a trace."""
    spellings = ["".join(letters) for letters in itertools.product("dD", "oO", "rR", "aA")]
    wanted = [form(login=spellings[i % 16], email=f"dora{i}@example.org") for i in range(200)]
    payloads = await asyncio.gather(*(anonymous.do("signUp", VIEWER, **fields) for fields in wanted))
    made = [payload["viewer"] for payload in payloads if payload["viewer"]]
    assert len(made) == 1
    assert all(refusals(payload) == [("login", "TAKEN")] for payload in payloads if not payload["viewer"])
    assert len(await users(db)) == 1
    assert await db.one("KEYS", "login:*") == [keys.login("dora")]
    assert await db.one("KEYS", "email:*") == [keys.email(made[0]["email"])]
    assert (await anonymous.ask('{ user(login: "dora") { login } }'))["login"] == made[0]["user"]["login"]


async def test_50_sign_ups_for_one_email_make_one_member(anonymous: Member, db: Database) -> None:
    """Of 50 simultaneous sign-ups for one e-mail address exactly one succeeds, and the other logins stay free."""
    spellings = ["dora@example.org", "Dora@example.org", "DORA@EXAMPLE.ORG"]
    wanted = [form(login=f"dora{i}", email=spellings[i % 3]) for i in range(50)]
    payloads = await asyncio.gather(*(anonymous.do("signUp", VIEWER, **fields) for fields in wanted))
    made = [payload["viewer"] for payload in payloads if payload["viewer"]]
    assert len(made) == 1
    assert all(refusals(payload) == [("email", "TAKEN")] for payload in payloads if not payload["viewer"])
    assert len(await users(db)) == 1
    assert await db.one("KEYS", "login:*") == [keys.login(made[0]["user"]["login"])]


async def test_equal_sign_ups_at_once_make_one_member(anonymous: Member, db: Database) -> None:
    """When one form is sent many times at once, one of them succeeds: none takes a name that it cannot use."""
    for i in range(10):
        fields = form(login=f"dora{i}", email=f"dora{i}@example.org")
        payloads = await asyncio.gather(*(anonymous.do("signUp", MEMBER, **fields) for _ in range(10)))
        assert sum(payload["viewer"] is not None for payload in payloads) == 1
    assert len(await users(db)) == 10


# ------------------------------------------------------------ signUp: crashes


async def reserve(db: Database, login: str, email: str) -> int:
    """Do what a sign-up does first, and no more."""
    member = await accounts.mint(db)
    for key in (keys.login(login), keys.email(email)):
        assert await accounts.reserve(db, key, member)
    return member


async def create(db: Database, services: Services, login: str = "dora") -> tuple[int, Job]:
    """Do what a sign-up does up to the member's existence, and no more."""
    member = await reserve(db, login, f"{login}@example.org")
    hashed = await services.passwords.hash(PASSWORD)
    job = await accounts.create(db, member, login=login, name="Dora", email=f"{login}@example.org", password=hashed)
    assert job
    return member, job


async def test_a_crash_before_the_member_exists_frees_the_names_in_time(
    anonymous: Member, db: Database, settings: Settings
) -> None:
    """What a sign-up that died has reserved is taken for a limited time, and free afterwards."""
    await reserve(db, "dora", "dora@example.org")
    reserved = [keys.login("dora"), keys.email("dora@example.org")]
    for key in reserved:
        assert 0 < await life(db, key) <= settings.reservation_seconds * 1000
    assert await anonymous.ask('{ isLoginAvailable(login: "dora") }') is False
    assert refusals(await anonymous.do("signUp", MEMBER, **form())) == [("login", "TAKEN"), ("email", "TAKEN")]
    assert refusals(await anonymous.do("logIn", MEMBER, identifier="dora", password=PASSWORD))
    for key in reserved:
        await expire(db, key)
    assert (await anonymous.do("signUp", VIEWER, **form()))["viewer"]["user"]["login"] == "Dora"
    assert [await life(db, key) for key in reserved] == [LASTING, LASTING]


@pytest.mark.parametrize("too_late", [False, True], ids=["reserved", "expired"])
async def test_a_crash_before_the_names_last_is_finished(
    anonymous: Member, db: Database, services: Services, worker: Worker, *, too_late: bool
) -> None:
    """Once a member exists, the worker makes their names lasting, also names that have expired meanwhile."""
    member, job = await create(db, services)
    names = [keys.login("dora"), keys.email("dora@example.org")]
    for key in names:
        assert await life(db, key) > 0
        if too_late:
            await expire(db, key)
    assert await worker.run_once() == 0  # as long as the lease runs, the sign-up itself may still be at it
    await jobs.hand_over(db, job)
    assert await worker.run_once() == 1
    assert [await life(db, key) for key in names] == [LASTING, LASTING]
    assert await db.ask(*(("GET", key) for key in names)) == [str(member)] * 2
    assert await jobs.backlog(db) == (0, 0)
    for identifier in ("dora", "dora@example.org"):
        payload = await anonymous.do("logIn", VIEWER, identifier=identifier, password=PASSWORD)
        assert payload["viewer"]["user"]["login"] == "dora"


async def test_a_finished_sign_up_leaves_no_work(anonymous: Member, db: Database, worker: Worker) -> None:
    """When a sign-up is answered, its names last and nothing is left to do."""
    await anonymous.do("signUp", MEMBER, **form())
    names = [keys.login("dora"), keys.email("dora@example.org")]
    assert [await life(db, key) for key in names] == [LASTING, LASTING]
    assert await jobs.backlog(db) == (0, 0)
    assert await worker.run_once() == 0


async def test_a_sign_up_in_a_busy_partition(db: Database, services: Services, alice: Member) -> None:
    """A member whose id was made before other work of the partition was committed can still be created."""
    p = partition(number(alice))
    member = int(await db.call("mint", [keys.minted(p)], p))
    other = await accounts.update(db, number(alice), names={"login": "alice"})
    job = await accounts.create(db, member, login="dora", name="Dora", email="dora@example.org", password="!")
    assert other
    assert job
    assert job.id > other.id > member
    assert await accounts.create(db, member, login="dora", name="Dora", email="x", password="!") is None


async def test_a_name_that_another_took_while_the_password_was_hashed(anonymous: Member, db: Database) -> None:
    """Where hashing takes longer than the reservation lasts, the names are not taken from who has them now."""

    async def slow_hash() -> str:
        for key in (keys.login("dora"), keys.email("dora@example.org")):
            await expire(db, key)
        await anonymous.do("signUp", MEMBER, **form())
        return "!"

    with pytest.raises(Refused) as refused:
        await create_member(db, login="dora", name="D", email="dora@example.org", password_hash=slow_hash)
    assert [(error.field, error.code.value) for error in refused.value.errors] == [
        (["login"], "TAKEN"),
        (["email"], "TAKEN"),
    ]
    assert len(await users(db)) == 1
    assert (await anonymous.do("logIn", VIEWER, identifier="dora", password=PASSWORD))["viewer"]


# ------------------------------------------------------------ signUp: how often


class TestSignUpLimit:
    """Two sign-ups per hour and address, and a proxy that says which address."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, rate_limit=10_000, sign_ups_per_hour=2, trusted_proxies=("127.0.0.0/8", "::1/128"))

    async def test_sign_ups_of_an_address_are_limited(self, anonymous: Member, db: Database) -> None:
        """The third sign-up in an hour is RATE_LIMITED and makes nobody; from another address it succeeds."""
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
        """Who mistypes is told so and may try again; only sign-ups with right input are counted."""
        for _ in range(5):
            assert refusals(await anonymous.do("signUp", MEMBER, **form(login="do ra"))) == [("login", "INVALID")]
        await sign_up(anonymous, "alice")

    async def test_the_count_ends_with_its_hour(self, anonymous: Member, db: Database) -> None:
        """The count of an address has a time limit, and with it gone sign-ups succeed again."""
        await sign_up(anonymous, "alice")
        await sign_up(anonymous, "bob")
        (count,) = await db.one("KEYS", "attempts:*")
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
        assert await db.one("KEYS", "attempts:*") == []


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
    """A login is available when a new member could take it: it is allowed, and nobody's in any case."""
    assert await anonymous.ask("query($l: String!) { isLoginAvailable(login: $l) }", l=login) is expected


@pytest.mark.parametrize("login", ["alice", "ALICE", "aLiCe"])
async def test_user_by_login(anonymous: Member, alice: Member, login: str) -> None:
    """Anybody finds a member by login in any case."""
    found = await anonymous.ask("query($l: String!) { user(login: $l) { id login } }", l=login)
    assert found == {"id": alice.id, "login": "alice"}


@pytest.mark.parametrize("login", ["dora", "", "@alice", "alice ", "alice@example.org", "al*", "{alice}", "a" * 5000])
@pytest.mark.usefixtures("alice")
async def test_user_by_a_login_of_nobody(anonymous: Member, login: str) -> None:
    """What is nobody's login leads to nobody, and is no error."""
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
        '{ node(id: "user_00000000000001") { ... on Viewer { email } } }',
        '{ node(id: "user_00000000000001") { ... on Session { id } } }',
        '{ nodes(ids: ["user_00000000000001"]) { ... on Viewer { sessions { id } } } }',
        '{ viewer(login: "bob") { email } }',
        "{ viewer { password } }",
        "{ viewer { sessions { token } } }",
        "{ viewer { user { followers { nodes { email } } } } }",
        "{ publicTimeline(first: 1) { nodes { ... on Post { author { email } } } } }",
    ],
)
@pytest.mark.usefixtures("bob")
async def test_no_query_reaches_secrets(alice: Member, query: str) -> None:
    """E-mail, password and sessions of others are no part of the schema where others can be reached."""
    assert await alice.fail(query) == "GRAPHQL_VALIDATION_FAILED"


async def test_the_schema_shows_secrets_to_their_owner_alone(anonymous: Member) -> None:
    """Every field that names something secret belongs to the viewer, and only fields called `viewer` lead there."""
    query = "{ __schema { types { name fields { name args { name } type { name ofType { name ofType { name }}}}}}}"
    types = (await anonymous.ask(query))["types"]
    fields = [(kind["name"], field) for kind in types if kind["name"] != "Mutation" for field in kind["fields"] or []]
    words = ("mail", "password", "session", "token", "role", "credential")
    secret = {f"{kind}.{field['name']}" for kind, field in fields if any(w in field["name"].lower() for w in words)}
    secret -= {"Group.viewerRole", "GroupMemberEdge.role"}  # roles in a group, which its members see
    own = {"Viewer.email", "Viewer.role", "Viewer.sessions"}
    assert secret == own | {"SessionPayload.accessToken", "SessionPayload.refreshToken"}
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


# ------------------------------------------------------------ updateProfile


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
    """What is given changes, in its normal form and for everybody; what is left out or null stays."""
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
    """A field that breaks a rule is named, and nothing changes, of the right fields neither."""
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
    """Another member's login is TAKEN in any case, and the other fields do not change either."""
    before = await contents(db)
    payload = await alice.do("updateProfile", VIEWER, login=login, name="Bob", bio="I am Bob.")
    assert refusals(payload) == [("login", "TAKEN")]
    assert await contents(db) == before


# ------------------------------------------------------------ a login given up


async def test_a_login_given_up_is_reserved(anonymous: Member, alice: Member, bob: Member, db: Database) -> None:
    """For 30 days nobody else can take a login given up, and it leads to nobody; then anybody can."""
    await alice.do("updateProfile", login="alicia")
    assert await anonymous.ask('{ isLoginAvailable(login: "Alice") }') is False
    assert await anonymous.ask('{ user(login: "alice") { id } }') is None
    assert (await anonymous.ask('{ user(login: "ALICIA") { id } }'))["id"] == alice.id
    assert refusals(await bob.do("updateProfile", MEMBER, login="Alice")) == [("login", "TAKEN")]
    assert refusals(await anonymous.do("signUp", MEMBER, **form(login="ALICE"))) == [("login", "TAKEN")]
    await expire(db, keys.login("alice"))
    assert (await bob.do("updateProfile", VIEWER, login="Alice"))["viewer"]["user"]["login"] == "Alice"
    assert (await anonymous.ask('{ user(login: "alice") { id } }'))["id"] == bob.id
    assert refusals(await alice.do("updateProfile", MEMBER, login="alice")) == [("login", "TAKEN")]


async def test_how_long_logins_are_kept(alice: Member, db: Database) -> None:
    """The login of a member lasts; one given up lives 30 days, and lasts again once it is taken back."""
    await alice.do("updateProfile", login="alicia")
    assert 29 * DAY < await life(db, keys.login("alice")) <= 30 * DAY
    assert await life(db, keys.login("alicia")) == LASTING
    assert (await alice.do("updateProfile", VIEWER, login="Alice"))["viewer"]["user"]["login"] == "Alice"
    assert await life(db, keys.login("alice")) == LASTING
    assert 29 * DAY < await life(db, keys.login("alicia")) <= 30 * DAY


async def test_log_in_with_a_login_given_up(anonymous: Member, alice: Member) -> None:
    """Who has another login now logs in with that one, not with the old one, and stays signed in meanwhile."""
    await alice.do("updateProfile", login="alicia")
    old = await anonymous.do("logIn", MEMBER, identifier="alice", password=PASSWORD)
    assert refusals(old) == [(None, "WRONG_CREDENTIALS")]
    new = await anonymous.do("logIn", MEMBER, identifier="Alicia", password=PASSWORD)
    assert new["viewer"]["user"]["id"] == alice.id
    assert (await alice.ask("{ viewer { user { login } } }"))["user"]["login"] == "alicia"


async def test_a_login_in_another_case(anonymous: Member, alice: Member, db: Database) -> None:
    """Changing nothing but the case of a login gives nothing up."""
    assert (await alice.do("updateProfile", VIEWER, login="ALICE"))["viewer"]["user"]["login"] == "ALICE"
    assert await life(db, keys.login("alice")) == LASTING
    assert await db.one("KEYS", "login:*") == [keys.login("alice")]
    assert await anonymous.ask('{ user(login: "alice") { login } }') == {"login": "ALICE"}
    assert (await anonymous.do("logIn", MEMBER, identifier="alice", password=PASSWORD))["viewer"]


async def test_a_crash_while_a_login_changes_is_finished(alice: Member, db: Database, worker: Worker) -> None:
    """When the change is committed, the worker makes the new login lasting and limits the old one's time."""
    assert await accounts.reserve(db, keys.login("alicia"), number(alice))
    job = await accounts.update(db, number(alice), profile={"login": "alicia"}, names={"login": "alicia"})
    assert job
    assert await life(db, keys.login("alicia")) > 0
    await jobs.hand_over(db, job)
    assert await worker.run_once() == 1
    assert await life(db, keys.login("alicia")) == LASTING
    assert 29 * DAY < await life(db, keys.login("alice")) <= 30 * DAY


async def test_work_done_late_gives_nothing_back(alice: Member, db: Database, worker: Worker) -> None:
    """A change whose rest is done after the login was taken back leaves the login with its member, lasting."""
    assert await accounts.reserve(db, keys.login("alicia"), number(alice))
    late = await accounts.update(db, number(alice), profile={"login": "alicia"}, names={"login": "alicia"})
    assert late
    await alice.do("updateProfile", login="alice")
    await jobs.hand_over(db, late)
    assert await worker.run_once() == 1
    assert await life(db, keys.login("alice")) == LASTING
    assert 29 * DAY < await life(db, keys.login("alicia")) <= 30 * DAY


async def test_logins_changed_at_once(anonymous: Member, alice: Member, db: Database) -> None:
    """Of many changes at once one is the last: its login alone lasts, and all others are given up."""
    wanted = ["alice", *(f"alice{i}" for i in range(12))]
    for _ in range(5):
        await asyncio.gather(*(alice.do("updateProfile", login=login) for login in wanted * 2))
        current = (await alice.ask("{ viewer { user { login } } }"))["user"]["login"]
        lives = {login: await life(db, keys.login(login)) for login in wanted}
        assert {login for login, left in lives.items() if left == LASTING} == {current}
        assert ABSENT not in lives.values()
        assert (await anonymous.do("logIn", MEMBER, identifier=current, password=PASSWORD))["viewer"]


async def test_members_who_want_one_login_at_once(
    alice: Member, bob: Member, carol: Member, anonymous: Member, db: Database
) -> None:
    """Of several members who want one login at once exactly one gets it, and the others keep theirs."""
    members = [alice, bob, carol]
    payloads = await asyncio.gather(*(member.do("updateProfile", VIEWER, login="Robin") for member in members))
    winners = [m for m, payload in zip(members, payloads, strict=True) if payload["viewer"]]
    assert [refusals(p) for p in payloads if not p["viewer"]] == [[("login", "TAKEN")]] * 2
    (winner,) = winners
    assert (await anonymous.ask('{ user(login: "robin") { id } }'))["id"] == winner.id
    for member in members:
        if member is not winner:
            assert await life(db, keys.login(member.login)) == LASTING


class TestLoginsReleasedAtOnce:
    """LOGIN_RELEASE_DAYS=0 reserves nothing."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, login_release_days=0)

    async def test_a_login_given_up_is_free(self, alice: Member, bob: Member) -> None:
        """A login given up can be taken by anybody in the next moment."""
        await alice.do("updateProfile", login="alicia")
        assert (await bob.do("updateProfile", VIEWER, login="alice"))["viewer"]["user"]["login"] == "alice"


# ------------------------------------------------------------ changeEmail


async def test_change_email(anonymous: Member, alice: Member, db: Database) -> None:
    """With the password the address changes for good: the new one logs in, the old one no longer does."""
    payload = await alice.do("changeEmail", VIEWER, email=" Alicia@EXAMPLE.net ", currentPassword=PASSWORD)
    assert payload["userErrors"] == []
    assert payload["viewer"]["email"] == "Alicia@example.net"
    assert (await alice.ask("{ viewer { email } }"))["email"] == "Alicia@example.net"
    assert await life(db, keys.email("alicia@example.net")) == LASTING
    assert await life(db, keys.email("alice@example.org")) == ABSENT
    new = await anonymous.do("logIn", MEMBER, identifier="alicia@example.NET", password=PASSWORD)
    assert new["viewer"]["user"]["id"] == alice.id
    old = await anonymous.do("logIn", MEMBER, identifier="alice@example.org", password=PASSWORD)
    assert refusals(old) == [(None, "WRONG_CREDENTIALS")]


async def test_an_address_given_up_is_free(anonymous: Member, alice: Member, bob: Member) -> None:
    """An address given up can be taken by anybody in the next moment, and by its former holder after them."""
    await alice.do("changeEmail", email="alicia@example.org", currentPassword=PASSWORD)
    taken = await bob.do("changeEmail", VIEWER, email="alice@example.org", currentPassword=PASSWORD)
    assert taken["viewer"]["email"] == "alice@example.org"
    assert (await anonymous.do("signUp", MEMBER, **form(email="bob@example.org")))["viewer"]
    await bob.do("changeEmail", email="robert@example.org", currentPassword=PASSWORD)
    back = await alice.do("changeEmail", VIEWER, email="alice@example.org", currentPassword=PASSWORD)
    assert back["viewer"]["email"] == "alice@example.org"


@pytest.mark.parametrize(
    ("field", "text", "code"),
    [
        *samples("email", BAD_EMAILS),
        *rows("email", [("bob@example.org", "TAKEN"), ("BOB@Example.org", "TAKEN")]),
        *rows("currentPassword", [(text, "WRONG_CREDENTIALS") for text in ("", "wrong password", PASSWORD.upper())]),
        *rows("currentPassword", [("01" * 600, "WRONG_CREDENTIALS")]),
    ],
)
@pytest.mark.usefixtures("bob")
async def test_change_email_refuses(alice: Member, db: Database, field: str, text: str, code: str) -> None:
    """A wrong password, and an address that is malformed or another member's, change nothing."""
    before = await contents(db)
    right = {"email": "alicia@example.org", "currentPassword": PASSWORD}
    payload = await alice.do("changeEmail", VIEWER, **{**right, field: text})
    assert refusals(payload) == [(field, code)]
    assert await contents(db) == before


async def test_an_address_in_another_case(anonymous: Member, alice: Member, db: Database) -> None:
    """Changing nothing but the case of an address gives nothing up."""
    payload = await alice.do("changeEmail", VIEWER, email="ALICE@example.org", currentPassword=PASSWORD)
    assert payload["viewer"]["email"] == "ALICE@example.org"
    assert await life(db, keys.email("alice@example.org")) == LASTING
    assert await db.one("KEYS", "email:*") == [keys.email("alice@example.org")]
    assert refusals(await anonymous.do("signUp", MEMBER, **form(email="alice@example.org"))) == [("email", "TAKEN")]
    assert (await anonymous.do("logIn", MEMBER, identifier="alice@example.org", password=PASSWORD))["viewer"]


async def test_the_address_they_have(alice: Member, db: Database) -> None:
    """Asking for the address one has changes nothing and is no error."""
    before = await contents(db)
    payload = await alice.do("changeEmail", VIEWER, email="alice@example.org", currentPassword=PASSWORD)
    assert payload["viewer"]["email"] == "alice@example.org"
    assert await contents(db) == before


async def test_a_crash_while_an_address_changes_is_finished(alice: Member, db: Database, worker: Worker) -> None:
    """When the change is committed, the worker makes the new address lasting and frees the old one."""
    new, old = "alicia@example.org", "alice@example.org"
    assert await accounts.reserve(db, keys.email(new), number(alice))
    job = await accounts.update(db, number(alice), credentials={"email": new}, names={"email": new})
    assert job
    await jobs.hand_over(db, job)
    assert await worker.run_once() == 1
    assert [await life(db, keys.email(address)) for address in (new, old)] == [LASTING, ABSENT]


async def test_addresses_changed_at_once(alice: Member, db: Database) -> None:
    """Of many changes at once one is the last: its address alone is held, and all others are free."""
    wanted = ["alice@example.org", *(f"alice{i}@example.org" for i in range(12))]
    for _ in range(5):
        await asyncio.gather(*(alice.do("changeEmail", email=a, currentPassword=PASSWORD) for a in wanted * 2))
        current = (await alice.ask("{ viewer { email } }"))["email"]
        assert await db.one("KEYS", "email:*") == [keys.email(current)]
        assert await life(db, keys.email(current)) == LASTING


@pytest.mark.parametrize(
    ("mutation", "fields"),
    [
        ("updateProfile", {"name": "Nobody"}),
        ("changeEmail", {"email": "nobody@example.org", "currentPassword": PASSWORD}),
        ("changePassword", {"currentPassword": PASSWORD, "newPassword": "another password"}),
        ("logOut", {"everywhere": True}),
    ],
)
@pytest.mark.usefixtures("alice")
async def test_what_takes_a_member(anonymous: Member, db: Database, mutation: str, fields: dict[str, Any]) -> None:
    """What changes a member is UNAUTHENTICATED without a token, and writes nothing."""
    before = await contents(db)
    kind = mutation[0].upper() + mutation[1:] + "Input"
    query = f"mutation($input: {kind}!) {{ {mutation}(input: $input) {{ userErrors {{ code }} }} }}"
    assert await anonymous.fail(query, input=fields) == "UNAUTHENTICATED"
    assert await contents(db) == before

"""Sessions: logging in and how often, access tokens, refresh tokens, and everything that ends a session."""

from __future__ import annotations

import asyncio
import base64
import hmac
import itertools
import json
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import jwt
import pytest

from resolvers.tokens import _DUMMY
from store import keys
from store.connection import Database
from store.settings import Settings
from tests.conftest import INPUTS, PASSWORD, SECRET, SIGN_UP, USER_ERRORS, Member, contents, shrunk, sign_up
from tests.probes import expire, life, number, refusals

SESSION = "accessToken refreshToken expiresAt viewer { user { id } sessions { id isCurrent } }"
VIEWER = "viewer { user { id } }"
NEW_PASSWORD = "another good password"
WRONG_LOG_IN = [(None, "WRONG_CREDENTIALS")]
WRONG_TOKEN = [("refreshToken", "WRONG_CREDENTIALS")]


async def log_in(anonymous: Member, identifier: str, password: str = PASSWORD, user_agent: str = "") -> Member:
    """Return a member signed in once more, from another device."""
    headers = {"User-Agent": user_agent} if user_agent else {}
    device = Member(anonymous.client, headers=headers)
    payload = await device.do("logIn", SIGN_UP, identifier=identifier, password=password)
    assert not payload["userErrors"], payload
    device.token, device.refresh_token = payload["accessToken"], payload["refreshToken"]
    device.id, device.login = payload["viewer"]["user"]["id"], payload["viewer"]["user"]["login"]
    return device


async def refresh(anonymous: Member, token: str) -> Any:
    """Return the payload of a refresh."""
    return await anonymous.do("refreshSession", SESSION, refreshToken=token)


async def raw(member: Member, query: str, **variables: Any) -> tuple[int, dict[str, Any]]:
    """Return the HTTP status and the whole answer."""
    headers = {"Authorization": f"Bearer {member.token}"} if member.token else {}
    body = {"query": query, "variables": variables}
    async with member.client.post("/graphql", json=body, headers=headers) as response:
        return response.status, await response.json()


async def is_signed_in(member: Member) -> bool:
    """Return whether the access token is accepted; where it is not, the answer must be a plain 401."""
    status, answer = await raw(member, "{ viewer { user { id } } }")
    if status == 200:
        assert answer == {"data": {"viewer": {"user": {"id": member.id}}}}
        return True
    assert_unauthenticated(status, answer)
    return False


def assert_unauthenticated(status: int, answer: dict[str, Any]) -> None:
    """Check an answer that holds nothing but UNAUTHENTICATED."""
    assert status == 401
    assert list(answer) == ["errors"]
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAUTHENTICATED"]


def session_of(member: Member) -> str:
    """Return the id of the session that a token belongs to."""
    assert member.token
    return str(jwt.decode(member.token, SECRET, algorithms=["HS256"])["sid"])


async def edit_session(db: Database, member: Member, **changes: int) -> None:
    """Add to numbers of the session as it is stored: this is how time passes."""
    key, session = keys.sessions(number(member)), session_of(member)
    record = json.loads(await db.one("HGET", key, session))
    record.update({field: record[field] + change for field, change in changes.items()})
    await db.one("HSET", key, session, json.dumps(record))


async def end_by_time(db: Database, member: Member, settings: Settings) -> None:
    """Let the life of a session that is never refreshed run out."""
    await edit_session(db, member, expires=-settings.session_days * 86_400_000)


# ------------------------------------------------------------ logIn


@pytest.mark.parametrize(
    "identifier",
    [
        "alice",
        "ALICE",
        "aLiCe",
        " alice\n",
        "alice@example.org",
        "ALICE@EXAMPLE.ORG",
        "aLiCe@eXample.org",
        " alice@example.org ",
    ],
)
async def test_log_in(anonymous: Member, alice: Member, identifier: str) -> None:
    """Login or e-mail in any case, and the password, open one more session with a working pair of tokens."""
    started = time.time()
    payload = await anonymous.do("logIn", SESSION, identifier=identifier, password=PASSWORD)
    assert payload["userErrors"] == []
    viewer = payload["viewer"]
    assert viewer["user"]["id"] == alice.id
    assert [session["isCurrent"] for session in viewer["sessions"]] == [True, False]
    expires = datetime.fromisoformat(payload["expiresAt"]).timestamp()
    assert started < expires <= time.time() + 900
    assert await is_signed_in(Member(alice.client, payload["accessToken"], alice.id))
    assert (await refresh(anonymous, payload["refreshToken"]))["viewer"]["user"]["id"] == alice.id
    assert await is_signed_in(alice)


@pytest.mark.parametrize(
    ("identifier", "password"),
    [
        pytest.param("alice", "wrong password", id="wrong password"),
        pytest.param("alice", "", id="no password"),
        pytest.param("alice", PASSWORD.upper(), id="password in another case"),
        pytest.param("alice", f" {PASSWORD}", id="password with white space"),
        pytest.param("alice", PASSWORD * 100, id="over-long password"),
        pytest.param("alice@example.org", "wrong password", id="wrong password by e-mail"),
        pytest.param("dora", PASSWORD, id="unknown login"),
        pytest.param("dora", _DUMMY, id="unknown login, password of the dummy"),
        pytest.param("dora@example.org", PASSWORD, id="unknown e-mail"),
        pytest.param("", PASSWORD, id="no identifier"),
        pytest.param("@", PASSWORD, id="sign alone"),
        pytest.param("alice@", PASSWORD, id="half an e-mail"),
        pytest.param("al*ce", PASSWORD, id="pattern"),
        pytest.param("{alice}", PASSWORD, id="part of a key"),
        pytest.param("alice\x00", PASSWORD, id="control character"),
        pytest.param("a" * 100_000, PASSWORD, id="over-long login"),
        pytest.param(f"{'a' * 100_000}@example.org", PASSWORD, id="over-long e-mail"),
    ],
)
async def test_log_in_refuses(anonymous: Member, alice: Member, db: Database, identifier: str, password: str) -> None:
    """A wrong password and an unknown member get the same answer to the letter, and nothing is written."""
    before = await contents(db)
    usual = await anonymous.do("logIn", SESSION, identifier=alice.login, password="never the password")
    payload = await anonymous.do("logIn", SESSION, identifier=identifier, password=password)
    assert refusals(payload) == WRONG_LOG_IN
    assert payload == usual
    assert await contents(db) == before


async def test_a_member_without_a_password_cannot_log_in(anonymous: Member, alice: Member, db: Database) -> None:
    """Whose password is disabled logs in with nothing, not even with what is stored."""
    await db.one("HSET", keys.credentials(number(alice)), "password", "!")
    for password in ("!", "", PASSWORD, _DUMMY):
        assert refusals(await anonymous.do("logIn", VIEWER, identifier="alice", password=password)) == WRONG_LOG_IN


class TestLogInLimits:
    """Three attempts per identifier, eight per address, and a proxy that says which address."""

    LOG_IN = "mutation($input: LogInInput!) { logIn(input: $input) { accessToken userErrors { code } } }"

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        limits = {"rate_limit": 10_000, "log_in_attempts": 3, "log_in_attempts_per_address": 8}
        return shrunk(settings, **limits, trusted_proxies=("127.0.0.0/8", "::1/128"))

    async def attempt(self, member: Member, identifier: str, password: str) -> str:
        """Return the code of the refusal, or OK."""
        answer = await member.send(self.LOG_IN, input={"identifier": identifier, "password": password})
        if "errors" in answer:
            assert answer["data"] == {"logIn": None}
            return str(answer["errors"][0]["extensions"]["code"])
        payload = answer["data"]["logIn"]
        return "OK" if payload["accessToken"] else str(payload["userErrors"][0]["code"])

    @pytest.mark.parametrize("identifier", ["alice", "alice@example.org", "dora", "dora@example.org", "no name"])
    @pytest.mark.usefixtures("alice")
    async def test_attempts_per_identifier(self, anonymous: Member, db: Database, identifier: str) -> None:
        """After three wrong attempts an identifier, existing or not, is RATE_LIMITED from everywhere, also if right."""
        before = await db.one("HLEN", (await db.one("KEYS", "sessions:*"))[0])
        spellings = [identifier, identifier.upper(), f" {identifier.title()} "]
        for spelling in spellings:
            assert await self.attempt(anonymous, spelling, "wrong password") == "WRONG_CREDENTIALS"
        anonymous.headers["X-Forwarded-For"] = "192.0.2.2"
        for spelling in spellings:
            assert await self.attempt(anonymous, spelling, PASSWORD) == "RATE_LIMITED"
        assert await self.attempt(anonymous, "eve", "wrong password") == "WRONG_CREDENTIALS"
        assert await db.one("HLEN", (await db.one("KEYS", "sessions:*"))[0]) == before

    @pytest.mark.usefixtures("alice")
    async def test_attempts_per_address(self, anonymous: Member) -> None:
        """After eight attempts on whomever an address is RATE_LIMITED, and other addresses are not."""
        anonymous.headers["X-Forwarded-For"] = "192.0.2.1"
        for i in range(8):
            assert await self.attempt(anonymous, f"dora{i}", "wrong password") == "WRONG_CREDENTIALS"
        assert await self.attempt(anonymous, "alice", PASSWORD) == "RATE_LIMITED"
        anonymous.headers["X-Forwarded-For"] = "192.0.2.2"
        assert await self.attempt(anonymous, "alice", PASSWORD) == "OK"

    @pytest.mark.usefixtures("alice")
    async def test_success_forgets_the_attempts_of_its_identifier(self, anonymous: Member) -> None:
        """A log-in that succeeds gives its identifier all attempts back."""
        for password in ("wrong", "wrong", PASSWORD, "wrong", "wrong", PASSWORD):
            expected = "OK" if password == PASSWORD else "WRONG_CREDENTIALS"
            assert await self.attempt(anonymous, "Alice", password) == expected

    @pytest.mark.usefixtures("alice")
    async def test_success_does_not_forget_the_attempts_of_its_address(self, anonymous: Member) -> None:
        """Logging in oneself now and then gives no more attempts on others."""
        for i in range(4):
            assert await self.attempt(anonymous, "alice", PASSWORD) == "OK"
            assert await self.attempt(anonymous, f"dora{i}", "wrong password") == "WRONG_CREDENTIALS"
        assert await self.attempt(anonymous, "dora", "wrong password") == "RATE_LIMITED"

    @pytest.mark.usefixtures("alice")
    async def test_attempts_are_forgotten_in_time(self, anonymous: Member, db: Database) -> None:
        """The counts have a time limit, and with them gone log-ins succeed again."""
        for _ in range(4):
            await self.attempt(anonymous, "alice", "wrong password")
        counts = await db.one("KEYS", "attempts:i*")
        assert len(counts) == 1
        for key in [*counts, *await db.one("KEYS", "attempts:a*")]:
            assert 0 < await life(db, key) <= 900_000
            await expire(db, key)
        assert await self.attempt(anonymous, "alice", PASSWORD) == "OK"

    @pytest.mark.parametrize(
        ("mutation", "fields"),
        [
            ("changePassword", {"newPassword": NEW_PASSWORD}),
            ("changeEmail", {"email": "alicia@example.org"}),
        ],
    )
    async def test_attempts_on_the_current_password(
        self, alice: Member, bob: Member, mutation: str, fields: dict[str, str]
    ) -> None:
        """Who has somebody's access token cannot try passwords without end: the fourth attempt is RATE_LIMITED."""
        for _ in range(3):
            payload = await alice.do(mutation, currentPassword="wrong password", **fields)
            assert refusals(payload) == [("currentPassword", "WRONG_CREDENTIALS")]
        query = f"mutation($input: {INPUTS[mutation]}!) {{ {mutation}(input: $input) {{ {USER_ERRORS} }} }}"
        assert await alice.fail(query, input={"currentPassword": PASSWORD, **fields}) == "RATE_LIMITED"
        assert await self.attempt(Member(alice.client), "alice", PASSWORD) == "OK"
        payload = await bob.do(mutation, currentPassword=PASSWORD, **fields)
        assert payload["userErrors"] == []

    async def test_an_identifier_is_not_stored(self, anonymous: Member, db: Database) -> None:
        """What strangers type as an identifier, perhaps a password, is counted without being kept."""
        await self.attempt(anonymous, "my secret password", "x")
        assert "secret" not in str(await contents(db))


class TestLogInLimitsOff:
    """RATE_LIMIT=0 turns every limit on requests and attempts off."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, rate_limit=0, log_in_attempts=1, log_in_attempts_per_address=1)

    @pytest.mark.usefixtures("alice")
    async def test_any_number_of_attempts(self, anonymous: Member, db: Database) -> None:
        """Without limits wrong attempts are refused one like the other, and nothing is counted."""
        for _ in range(3):
            assert refusals(await anonymous.do("logIn", VIEWER, identifier="alice", password="wrong")) == WRONG_LOG_IN
        assert (await anonymous.do("logIn", VIEWER, identifier="alice", password=PASSWORD))["viewer"]
        assert await db.one("KEYS", "attempts:*") == []


# ------------------------------------------------------------ access tokens

Claims = dict[str, Any]


def signed(claims: Claims, secret: str = SECRET) -> str:
    return jwt.encode(claims, secret, algorithm="HS256")


def without(claims: Claims, name: str) -> str:
    return signed({key: value for key, value in claims.items() if key != name})


def by_hand(claims: Claims, header: dict[str, str], digest: str = "sha256") -> str:
    """Return a token with any header, signed with the server's secret, or not at all where no digest is named."""
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)]
    mac = hmac.digest(SECRET.encode(), b".".join(parts), digest) if digest else b""
    return b".".join([*parts, base64.urlsafe_b64encode(mac).rstrip(b"=")]).decode()


def with_other_payload(claims: Claims) -> str:
    """Return a token whose payload was changed after it had been signed."""
    header, _, signature = signed(claims).split(".")
    payload = signed({**claims, "exp": claims["exp"] + 1}).split(".")[1]
    return f"{header}.{payload}.{signature}"


Forge = Callable[[Claims], str]
FORGED: list[tuple[str, Forge]] = [
    ("expired", lambda claims: signed({**claims, "exp": int(time.time()) - 1})),
    ("expires this second", lambda claims: signed({**claims, "exp": int(time.time())})),
    ("long expired", lambda claims: signed({**claims, "exp": 1})),
    ("another key", lambda claims: signed(claims, "another secret that is long enough to sign")),
    ("another payload", with_other_payload),
    ("no signature", lambda claims: signed(claims).rpartition(".")[0] + "."),
    ("half a signature", lambda claims: signed(claims)[:-20]),
    ("two parts", lambda claims: signed(claims).rpartition(".")[0]),
    ("alg none", lambda claims: by_hand(claims, {"alg": "none", "typ": "JWT"}, digest="")),
    ("alg None, signed", lambda claims: by_hand(claims, {"alg": "None", "typ": "JWT"})),
    ("no alg", lambda claims: by_hand(claims, {"typ": "JWT"})),
    ("HS512", lambda claims: by_hand(claims, {"alg": "HS512"}, digest="sha512")),
    ("HS384", lambda claims: by_hand(claims, {"alg": "HS384"}, digest="sha384")),
    ("RS256 with the secret as key", lambda claims: by_hand(claims, {"alg": "RS256"})),
    ("ES256 with the secret as key", lambda claims: by_hand(claims, {"alg": "ES256"})),
    ("without issuer", lambda claims: without(claims, "iss")),
    ("without member", lambda claims: without(claims, "sub")),
    ("without session", lambda claims: without(claims, "sid")),
    ("without expiry", lambda claims: without(claims, "exp")),
    ("another issuer", lambda claims: signed({**claims, "iss": "magpie"})),
    ("not valid yet", lambda claims: signed({**claims, "nbf": int(time.time()) + 3600})),
    ("expiry is a word", lambda claims: signed({**claims, "exp": "never"})),
    ("member is a word", lambda claims: signed({**claims, "sub": "alice"})),
    ("member is empty", lambda claims: signed({**claims, "sub": ""})),
    ("another member", lambda claims: signed({**claims, "sub": str(int(claims["sub"]) + 1)})),
    ("another session", lambda claims: signed({**claims, "sid": "AAAAAAAAAAAA"})),
    ("session is null", lambda claims: signed({**claims, "sid": None})),
    ("session is empty", lambda claims: signed({**claims, "sid": ""})),
    ("garbage", lambda _: "garbage"),
    ("garbage in three parts", lambda _: "e30.e30.e30"),
    ("dots", lambda _: "..."),
    ("long garbage", lambda _: "x" * 5000),
]
NOTHING_READ = "{ __typename }"
QUERIES = [
    NOTHING_READ,
    "{ viewer { email } }",
    '{ user(login: "bob") { login } }',
    "{ homeTimeline { nodes { __typename } } }",
]


@pytest.mark.parametrize("forge", [forge for _, forge in FORGED], ids=[name for name, _ in FORGED])
async def test_tokens_that_are_not_accepted(alice: Member, forge: Forge) -> None:
    """A token that is expired, forged or malformed is refused, also by a query that reads nothing."""
    assert alice.token
    token = forge(jwt.decode(alice.token, SECRET, algorithms=["HS256"]))
    for query in (NOTHING_READ, "{ viewer { email } }"):
        assert_unauthenticated(*await raw(Member(alice.client, token), query))
    assert await is_signed_in(alice)


async def test_a_token_signed_here_is_accepted(alice: Member) -> None:
    """The claims that the forged tokens begin with make a good token when nothing is wrong with them."""
    assert alice.token
    claims = jwt.decode(alice.token, SECRET, algorithms=["HS256"])
    assert await is_signed_in(Member(alice.client, signed(claims), alice.id))
    assert await is_signed_in(Member(alice.client, by_hand(claims, {"alg": "HS256"}), alice.id))


async def test_a_session_of_somebody_else(alice: Member, bob: Member) -> None:
    """A token that names one member and another's session is not accepted."""
    assert alice.token
    claims = jwt.decode(alice.token, SECRET, algorithms=["HS256"])
    for mixed in ({"sid": session_of(bob)}, {"sub": str(number(bob))}):
        assert_unauthenticated(*await raw(Member(alice.client, signed({**claims, **mixed})), NOTHING_READ))


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.usefixtures("bob")
async def test_a_token_of_an_ended_session_reads_nothing(alice: Member, db: Database, query: str) -> None:
    """Once its session has ended, a token gets no data, whatever is asked."""
    await db.one("HDEL", keys.sessions(number(alice)), session_of(alice))
    assert_unauthenticated(*await raw(alice, query))


MUTATIONS: dict[str, dict[str, Any]] = {
    "signUp": {"login": "dora", "name": "Dora", "email": "dora@example.org", "password": PASSWORD},
    "logIn": {"identifier": "bob", "password": PASSWORD},
    "refreshSession": {"refreshToken": "BOB"},
    "logOut": {"everywhere": True},
    "changePassword": {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD},
    "updateProfile": {"login": "alicia", "name": "Alicia", "bio": "Hello."},
    "changeEmail": {"email": "alicia@example.org", "currentPassword": PASSWORD},
    "follow": {"userIds": ["BOB'S ID"]},
    "unfollow": {"userIds": ["BOB'S ID"]},
    "post": {"text": "hello"},
}


@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("ended", ["ended", "expired", "forged"])
async def test_mutations_write_nothing_before_the_check(
    alice: Member, bob: Member, db: Database, settings: Settings, mutation: str, ended: str
) -> None:
    """With a token that is not accepted no mutation writes anything, those that need no token neither."""
    stand_ins = {"BOB": bob.refresh_token, "BOB'S ID": bob.id}
    fields = json.loads(json.dumps(MUTATIONS[mutation]))
    for name, value in fields.items():
        fields[name] = [stand_ins[v] for v in value] if isinstance(value, list) else stand_ins.get(value, value)
    if ended == "ended":
        await db.one("HDEL", keys.sessions(number(alice)), session_of(alice))
    elif ended == "expired":
        await end_by_time(db, alice, settings)
    else:
        alice.token = signed(jwt.decode(alice.token or "", options={"verify_signature": False}), "x" * 40)
    before = await contents(db)
    query = f"mutation($input: {INPUTS[mutation]}!) {{ {mutation}(input: $input) {{ {USER_ERRORS} }} }}"
    assert_unauthenticated(*await raw(alice, query, input=fields))
    assert await contents(db) == before


async def test_wrong_input_under_a_token_that_is_not_accepted(alice: Member, db: Database) -> None:
    """The session counts first: with an ended one even wrong input is answered with UNAUTHENTICATED alone."""
    await db.one("HDEL", keys.sessions(number(alice)), session_of(alice))
    query = 'mutation { signUp(input: {login: "", name: "", email: "", password: ""}) { userErrors { code } } }'
    assert_unauthenticated(*await raw(alice, query))


# ------------------------------------------------------------ refreshSession


async def test_refresh(anonymous: Member, alice: Member) -> None:
    """A refresh token is traded for a new pair that belongs to the same session."""
    payload = await refresh(anonymous, alice.refresh_token)
    assert payload["userErrors"] == []
    assert payload["refreshToken"] != alice.refresh_token
    assert payload["viewer"] == {
        "user": {"id": alice.id},
        "sessions": [{"id": session_of(alice), "isCurrent": True}],
    }
    renewed = Member(alice.client, payload["accessToken"], alice.id)
    assert await is_signed_in(renewed)
    assert session_of(renewed) == session_of(alice)
    assert await is_signed_in(alice)


async def test_refresh_again_and_again(anonymous: Member, alice: Member) -> None:
    """Each refresh gives a token that was never given before, and the session goes on."""
    tokens = [alice.refresh_token]
    for _ in range(5):
        tokens.append((await refresh(anonymous, tokens[-1]))["refreshToken"])
    assert len(set(tokens)) == 6
    assert await is_signed_in(alice)


async def test_refresh_after_a_lost_reply(anonymous: Member, alice: Member, db: Database, settings: Settings) -> None:
    """Until the grace is over, the token before gives the same successor, which goes on working."""
    first = await refresh(anonymous, alice.refresh_token)
    await edit_session(db, alice, rotated=-(settings.refresh_grace_seconds - 5) * 1000)
    again = await refresh(anonymous, alice.refresh_token)
    assert again["refreshToken"] == first["refreshToken"]
    assert await is_signed_in(Member(alice.client, again["accessToken"], alice.id))
    assert (await refresh(anonymous, again["refreshToken"]))["userErrors"] == []


async def test_refreshes_at_once(anonymous: Member, alice: Member) -> None:
    """A client that sends one refresh several times at once gets one successor, and stays signed in."""
    payloads = await asyncio.gather(*(refresh(anonymous, alice.refresh_token) for _ in range(10)))
    (successor,) = {payload["refreshToken"] for payload in payloads}
    assert successor != alice.refresh_token
    assert await is_signed_in(alice)
    assert (await refresh(anonymous, successor))["userErrors"] == []


async def test_refresh_after_the_grace(anonymous: Member, alice: Member, db: Database, settings: Settings) -> None:
    """Once the grace is over, the token before is stolen goods: it ends the session for whoever has it."""
    first = await refresh(anonymous, alice.refresh_token)
    await edit_session(db, alice, rotated=-(settings.refresh_grace_seconds + 1) * 1000)
    assert refusals(await refresh(anonymous, alice.refresh_token)) == WRONG_TOKEN
    assert not await is_signed_in(alice)
    assert not await is_signed_in(Member(alice.client, first["accessToken"]))
    assert refusals(await refresh(anonymous, first["refreshToken"])) == WRONG_TOKEN


async def test_refresh_with_an_older_token(anonymous: Member, alice: Member) -> None:
    """A token older than the one before ends the session, also within the grace, and no other session."""
    phone = await log_in(anonymous, "alice")
    second = await refresh(anonymous, alice.refresh_token)
    third = await refresh(anonymous, second["refreshToken"])
    assert refusals(await refresh(anonymous, alice.refresh_token)) == WRONG_TOKEN
    assert not await is_signed_in(alice)
    for token in (second["refreshToken"], third["refreshToken"]):
        assert refusals(await refresh(anonymous, token)) == WRONG_TOKEN
    assert await is_signed_in(phone)
    assert (await refresh(anonymous, phone.refresh_token))["userErrors"] == []


@pytest.mark.parametrize(
    "token",
    [
        "",
        "garbage",
        "..",
        "a.b.c",
        "1.2",
        "1.2.3",
        "1.2.3.4",
        "-1.session.token",
        "\u0661.session.token",
        "1.\x00.token",
        "99999999999999999999.session.token",
        f"{'9' * 5000}.session.token",
        "1..token",
        ".session.token",
        "x" * 100_000,
        "{member}.AAAAAAAAAAAA.{random}",
        "{other}.{session}.{random}",
        "{member}.{session}.",
        "{member}.{session}",
        "{access}",
    ],
    ids=lambda token: ascii(token)[:40],
)
async def test_refresh_refuses(anonymous: Member, alice: Member, bob: Member, db: Database, token: str) -> None:
    """What is no refresh token of a living session is refused, and writes and ends nothing."""
    member, session, random = alice.refresh_token.split(".")
    stand_ins = {"member": member, "session": session, "random": random, "access": str(alice.token)}
    for name, value in {**stand_ins, "other": str(number(bob))}.items():
        token = token.replace(f"{{{name}}}", value)
    before = await contents(db)
    assert refusals(await refresh(anonymous, token)) == WRONG_TOKEN
    assert await contents(db) == before
    assert await is_signed_in(alice)


async def test_a_refresh_token_is_no_access_token(alice: Member) -> None:
    """A refresh token in the place of an access token is not accepted."""
    assert_unauthenticated(*await raw(Member(alice.client, alice.refresh_token), NOTHING_READ))


async def test_refresh_of_an_ended_session(anonymous: Member, alice: Member) -> None:
    """The refresh token of a session that was logged out is worth nothing."""
    await alice.do("logOut")
    assert refusals(await refresh(anonymous, alice.refresh_token)) == WRONG_TOKEN


async def test_a_session_never_refreshed_expires(
    anonymous: Member, alice: Member, db: Database, settings: Settings
) -> None:
    """A session ends when its time is over: neither token works, and it is listed no more."""
    phone = await log_in(anonymous, "alice")
    await end_by_time(db, alice, settings)
    assert not await is_signed_in(alice)
    assert refusals(await refresh(anonymous, alice.refresh_token)) == WRONG_TOKEN
    listed = (await phone.ask("{ viewer { sessions { id } } }"))["sessions"]
    assert listed == [{"id": session_of(phone)}]


async def test_a_refresh_prolongs_the_session(
    anonymous: Member, alice: Member, db: Database, settings: Settings
) -> None:
    """Each refresh gives the session its full life again."""
    whole = settings.session_days * 86_400
    await edit_session(db, alice, expires=-(whole - 60) * 1000)
    (before,) = (await alice.ask("{ viewer { sessions { expiresAt } } }"))["sessions"]
    assert datetime.fromisoformat(before["expiresAt"]).timestamp() <= time.time() + 60
    await refresh(anonymous, alice.refresh_token)
    (after,) = (await alice.ask("{ viewer { sessions { expiresAt } } }"))["sessions"]
    left = datetime.fromisoformat(after["expiresAt"]).timestamp() - time.time()
    assert whole - 60 < left <= whole + 1


async def test_refresh_tokens_are_stored_hashed(anonymous: Member, alice: Member, db: Database) -> None:
    """Neither the refresh token in use nor the one before can be read off the store."""
    payload = await refresh(anonymous, alice.refresh_token)
    held = str(await contents(db))
    for token in (alice.refresh_token, payload["refreshToken"]):
        assert token.rpartition(".")[2] not in held


# ------------------------------------------------------------ logOut


@pytest.mark.parametrize(
    "call", ["logOut", "logOut(input: null)", "logOut(input: {})", "logOut(input: {everywhere: null})"]
)
async def test_log_out(anonymous: Member, alice: Member, call: str) -> None:
    """Logging out ends the session that asks, at once, and no other."""
    phone = await log_in(anonymous, "alice")
    assert await phone.ask(f"mutation {{ {call} {{ userErrors {{ code }} }} }}") == {"userErrors": []}
    assert not await is_signed_in(phone)
    assert await is_signed_in(alice)
    assert (await alice.ask("{ viewer { sessions { id } } }"))["sessions"] == [{"id": session_of(alice)}]
    assert (await refresh(anonymous, alice.refresh_token))["userErrors"] == []


async def test_log_out_everywhere(anonymous: Member, alice: Member, bob: Member) -> None:
    """Logging out everywhere ends every session of the member, and nobody else's."""
    devices = [alice, await log_in(anonymous, "alice"), await log_in(anonymous, "alice")]
    assert await devices[1].do("logOut", everywhere=True) == {"userErrors": []}
    for device in devices:
        assert not await is_signed_in(device)
        assert refusals(await refresh(anonymous, device.refresh_token)) == WRONG_TOKEN
    assert await is_signed_in(bob)
    assert await is_signed_in(await log_in(anonymous, "alice"))


async def test_log_out_twice(alice: Member) -> None:
    """A token that has logged out is no token any more."""
    await alice.do("logOut")
    assert_unauthenticated(*await raw(alice, "mutation { logOut { userErrors { code } } }"))


# ------------------------------------------------------------ changePassword


async def test_change_password(anonymous: Member, alice: Member, bob: Member, db: Database) -> None:
    """A new password ends every other session, answers with a working pair, and is the only one that logs in."""
    phone = await log_in(anonymous, "alice")
    payload = await alice.do("changePassword", SESSION, currentPassword=PASSWORD, newPassword=NEW_PASSWORD)
    assert payload["userErrors"] == []
    assert [session["isCurrent"] for session in payload["viewer"]["sessions"]] == [True]
    renewed = Member(alice.client, payload["accessToken"], alice.id)
    assert await is_signed_in(renewed)
    assert (await refresh(anonymous, payload["refreshToken"]))["userErrors"] == []
    assert not await is_signed_in(phone)
    assert refusals(await refresh(anonymous, phone.refresh_token)) == WRONG_TOKEN
    assert await is_signed_in(bob)
    assert refusals(await anonymous.do("logIn", VIEWER, identifier="alice", password=PASSWORD)) == WRONG_LOG_IN
    assert await is_signed_in(await log_in(anonymous, "alice", NEW_PASSWORD))
    assert NEW_PASSWORD not in str(await contents(db))
    assert (await db.one("HGET", keys.credentials(number(alice)), "password")).startswith("$argon2id$")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"currentPassword": "wrong password"}, ("currentPassword", "WRONG_CREDENTIALS")),
        ({"currentPassword": ""}, ("currentPassword", "WRONG_CREDENTIALS")),
        ({"currentPassword": PASSWORD * 100}, ("currentPassword", "WRONG_CREDENTIALS")),
        ({"newPassword": ""}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "123456789"}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "aaaaaaaaaaaa"}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "ALICE_explores"}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "Alice@example.org"}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "01" * 600}, ("newPassword", "TOO_LONG")),
    ],
)
async def test_change_password_refuses(
    anonymous: Member, alice: Member, db: Database, fields: dict[str, str], expected: tuple[str, str]
) -> None:
    """A wrong current password and a weak new one change nothing and end no session."""
    phone = await log_in(anonymous, "alice")
    await alice.do("updateProfile", login="alice_explores")
    before = await contents(db)
    right = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    payload = await alice.do("changePassword", SESSION, **{**right, **fields})
    assert refusals(payload) == [expected]
    assert await contents(db) == before
    assert await is_signed_in(phone)


class TestSlowHashes:
    """Passwords that take long enough to hash for something to happen meanwhile."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, password_memory_kib=4096)

    async def test_log_ins_while_the_password_changes(self, anonymous: Member, alice: Member) -> None:
        """Whoever logs in with the old password while it changes has no session once the change is answered."""

        async def keep_logging_in(password: str) -> list[str]:
            tokens = []
            while not changing.done():
                payload = await anonymous.do("logIn", SIGN_UP, identifier="alice", password=password)
                tokens += [payload["accessToken"]] if payload["accessToken"] else []
            return tokens

        for old, new in ((PASSWORD, NEW_PASSWORD), (NEW_PASSWORD, PASSWORD)):
            changing = asyncio.create_task(alice.do("changePassword", SIGN_UP, currentPassword=old, newPassword=new))
            entered = await asyncio.gather(*(keep_logging_in(old) for _ in range(8)))
            alice.token = (await changing)["accessToken"]
            assert await is_signed_in(alice)
            for token in itertools.chain(*entered):
                assert not await is_signed_in(Member(alice.client, token, alice.id))


# ------------------------------------------------------------ the list of sessions


async def test_sessions_are_listed(anonymous: Member, alice: Member, settings: Settings) -> None:
    """A member sees where they are signed in, newest first, with what each device calls itself."""
    started = time.time()
    phone = await log_in(anonymous, "alice", user_agent="Perch for Phones/1.0")
    tablet = await log_in(anonymous, "alice@example.org", user_agent="Täblet " + "x" * 500)
    devices = [tablet, phone, alice]
    query = "{ viewer { sessions { id createdAt expiresAt userAgent isCurrent } } }"
    for asking in devices:
        listed = (await asking.ask(query))["sessions"]
        assert [session["id"] for session in listed] == [session_of(device) for device in devices]
        assert [session["isCurrent"] for session in listed] == [device is asking for device in devices]
    assert listed[1]["userAgent"] == "Perch for Phones/1.0"
    assert listed[0]["userAgent"] == "Täblet " + "x" * 193
    created = [datetime.fromisoformat(session["createdAt"]).timestamp() for session in listed]
    assert created == sorted(created, reverse=True)
    assert started - 1 <= created[1] <= time.time() + 1
    expires = [datetime.fromisoformat(session["expiresAt"]).timestamp() for session in listed]
    assert [round(b - a) for a, b in zip(created, expires, strict=True)] == [settings.session_days * 86_400] * 3


async def test_sessions_of_others_are_not_listed(alice: Member, bob: Member) -> None:
    """Each member sees their own sessions alone."""
    for member in (alice, bob):
        assert (await member.ask("{ viewer { sessions { id } } }"))["sessions"] == [{"id": session_of(member)}]


class TestFewSessions:
    """Three sessions per member."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, sessions_per_member=3)

    async def test_the_oldest_session_makes_room(self, anonymous: Member, alice: Member, bob: Member) -> None:
        """Whoever logs in once too often loses the session that was opened first, and nobody else does."""
        devices = [alice]
        for _ in range(4):
            devices.append(await log_in(anonymous, "alice"))
            assert [await is_signed_in(device) for device in devices] == [False] * (len(devices) - 3) + [True] * min(
                3, len(devices)
            )
        listed = (await devices[-1].ask("{ viewer { sessions { id } } }"))["sessions"]
        assert [session["id"] for session in listed] == [session_of(device) for device in reversed(devices[2:])]
        assert refusals(await refresh(anonymous, alice.refresh_token)) == WRONG_TOKEN
        assert await is_signed_in(bob)

    async def test_a_refresh_takes_no_room(self, anonymous: Member, alice: Member) -> None:
        """Refreshing opens no session, so it ends none."""
        devices = [alice, await log_in(anonymous, "alice"), await log_in(anonymous, "alice")]
        for _ in range(3):
            devices[1].refresh_token = (await refresh(anonymous, devices[1].refresh_token))["refreshToken"]
        assert [await is_signed_in(device) for device in devices] == [True] * 3

    async def test_a_new_password_takes_no_room(self, anonymous: Member) -> None:
        """A member with every session in use can change their password."""
        alice = await sign_up(anonymous, "alice")
        for _ in range(2):
            await log_in(anonymous, "alice")
        payload = await alice.do("changePassword", SESSION, currentPassword=PASSWORD, newPassword=NEW_PASSWORD)
        assert [session["isCurrent"] for session in payload["viewer"]["sessions"]] == [True]
        assert await is_signed_in(Member(alice.client, payload["accessToken"], alice.id))

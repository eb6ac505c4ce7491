"""Access tokens: which are accepted, and what none may read or write without one."""

import base64
import hmac
import json
import string
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest

from resolvers.process import tokens
from store import keys
from store.client.database import Database
from store.settings import Settings
from tests.support.people import PASSWORD, SECRET, USER_ERRORS, Member, contents, mutation_text
from tests.support.probes.members import number
from tests.support.probes.sessions import (
    NEW_PASSWORD,
    NOTHING_READ,
    assert_unauthenticated,
    end_by_time,
    is_signed_in,
    raw,
    session_of,
)

Claims = dict[str, Any]


def signed(claims: Claims, secret: str = SECRET) -> str:
    return jwt.encode(claims, secret, algorithm="HS256")


def without(claims: Claims, name: str) -> str:
    return signed({key: value for key, value in claims.items() if key != name})


def by_hand(claims: Claims, header: dict[str, Any], digest: str = "sha256") -> str:
    """Return a token with any header, signed with the server's secret, or unsigned when no digest is named."""
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)]
    mac = hmac.digest(SECRET.encode(), b".".join(parts), digest) if digest else b""
    return b".".join([*parts, base64.urlsafe_b64encode(mac).rstrip(b"=")]).decode()


def with_other_payload(claims: Claims) -> str:
    """Return a token whose payload was changed after it had been signed."""
    header, _, signature = signed(claims).split(".")
    payload = signed({**claims, "exp": claims["exp"] + 1}).split(".")[1]
    return f"{header}.{payload}.{signature}"


def with_other_last_bits(token: str) -> str:
    """Return a token whose signature is written with other bits after its last byte."""
    letters = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
    return token[:-1] + letters[letters.index(token[-1]) ^ 1]


Forge = Callable[[Claims], str]
FORGED: list[tuple[str, Forge]] = [
    ("expired", lambda claims: signed({**claims, "exp": int(time.time()) - 1})),
    ("expires this second", lambda claims: signed({**claims, "exp": int(time.time())})),
    ("long expired", lambda claims: signed({**claims, "exp": 1})),
    ("another key", lambda claims: signed(claims, "another secret that is long enough to sign")),
    ("another payload", with_other_payload),
    ("no signature", lambda claims: signed(claims).rpartition(".")[0] + "."),
    ("half a signature", lambda claims: signed(claims)[:-20]),
    ("a signature with other last bits", lambda claims: with_other_last_bits(signed(claims))),
    ("an extension", lambda claims: by_hand(claims, {"alg": "HS256", "crit": ["b64"], "b64": False})),
    ("for another audience", lambda claims: signed({**claims, "aud": "magpie"})),
    ("issued later", lambda claims: signed({**claims, "iat": int(time.time()) + 3600})),
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
QUERIES = [
    NOTHING_READ,
    "{ viewer { email } }",
    '{ user(login: "bob") { login } }',
    "{ homeTimeline { nodes { __typename } } }",
]


@pytest.mark.parametrize("forge", [forge for _, forge in FORGED], ids=[name for name, _ in FORGED])
async def test_tokens_that_are_not_accepted(alice: Member, forge: Forge) -> None:
    """An expired, forged or malformed token is refused, even for a query that reads nothing."""
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
    """Once its session has ended, a token gets no data from any query."""
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
    """With a token that is not accepted, no mutation writes anything, not even one that needs no token."""
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
    query = mutation_text(mutation, USER_ERRORS)
    assert_unauthenticated(*await raw(alice, query, input=fields))
    assert await contents(db) == before


async def test_wrong_input_under_a_token_that_is_not_accepted(alice: Member, db: Database) -> None:
    """The session is checked first: with an ended one, even wrong input gets UNAUTHENTICATED alone."""
    await db.one("HDEL", keys.sessions(number(alice)), session_of(alice))
    query = 'mutation { signUp(input: {login: "", name: "", email: "", password: ""}) { userErrors { code } } }'
    assert_unauthenticated(*await raw(alice, query))


def test_oldest_token_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where as many tokens are cached as may be, a new one takes the place of the oldest, and the others stay."""
    monkeypatch.setattr(tokens, "TOKENS_KEPT", 2)
    reader = tokens.Tokens(Settings(), SECRET)
    signed = [reader.sign(member, "session")[0].reveal() for member in range(3)]
    oldest, *others = [reader.read(token) for token in signed]
    assert all(reader.read(token) is claims for token, claims in zip(signed[1:], others, strict=True))
    again = reader.read(signed[0])
    assert again == oldest
    assert again is not oldest

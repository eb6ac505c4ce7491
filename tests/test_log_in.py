"""Logging in: with what, what is refused, and how often."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from resolvers.tokens import _DUMMY
from store import keys
from store.connection import Database
from store.settings import Settings
from tests.conftest import INPUTS, PASSWORD, USER_ERRORS, Member, contents, shrunk
from tests.probes import expire, life, number, refusals
from tests.session_probes import NEW_PASSWORD, SESSION, VIEWER, WRONG_LOG_IN, is_signed_in, refresh


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

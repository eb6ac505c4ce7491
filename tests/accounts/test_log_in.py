"""Logging in: with which credentials, and what is refused."""

import asyncio
import time
from datetime import datetime

import pytest

from resolvers.process.services import Services
from resolvers.process.tokens import _DUMMY
from store import keys
from store.client.database import Database
from store.keys.fields import CredentialsField
from store.settings import Settings
from tests.support.people import PASSWORD, Member, contents, shrunk
from tests.support.probes.members import number, refusals
from tests.support.probes.sessions import SESSION, VIEWER, WRONG_LOG_IN, is_signed_in, log_in, refresh


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
async def test_log_in(settings: Settings, anonymous: Member, alice: Member, identifier: str) -> None:
    """Login or e-mail in any case, and the password, open one more session with a working pair of tokens."""
    started = time.time()
    payload = await anonymous.do("logIn", SESSION, identifier=identifier, password=PASSWORD)
    assert payload["userErrors"] == []
    viewer = payload["viewer"]
    assert viewer["user"]["id"] == alice.id
    assert [session["isCurrent"] for session in viewer["sessions"]] == [True, False]
    expires = datetime.fromisoformat(payload["expiresAt"]).timestamp()
    assert started < expires <= time.time() + settings.access_token_seconds
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
    """A wrong password and an unknown member get exactly the same answer, and nothing is written."""
    before = await contents(db)
    usual = await anonymous.do("logIn", SESSION, identifier=alice.login, password="never the password")
    payload = await anonymous.do("logIn", SESSION, identifier=identifier, password=password)
    assert refusals(payload) == WRONG_LOG_IN
    assert payload == usual
    assert await contents(db) == before


@pytest.mark.usefixtures("alice")
async def test_a_refused_log_in_takes_the_same_round_trips(services: Services, anonymous: Member) -> None:
    """The time of the answer does not reveal whether a member has the identifier."""
    await anonymous.do("logIn", VIEWER, identifier="dora", password="a guess")  # connections are open from now on
    round_trips = set()
    for identifier in ("alice", "alice@example.org", "dora", "dora@example.org", "no name"):
        before = services.db.round_trips
        await anonymous.do("logIn", VIEWER, identifier=identifier, password="a guess")
        round_trips.add(services.db.round_trips - before)
    assert len(round_trips) == 1


class TestSlowHashes:
    """Password hashing slow enough to delay others, behind a proxy that names the client's address."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(
            settings, password_memory_kib=65_536, password_passes=3, trusted_proxies=("127.0.0.0/8", "::1/128")
        )

    @pytest.mark.usefixtures("alice")
    async def test_passwords_of_one_address_hold_up_nobody_else(self, anonymous: Member) -> None:
        """While many passwords from one address are checked, a log-in from another address waits for few of them."""
        bot = Member(anonymous.client, headers={"X-Forwarded-For": "198.51.100.1"})
        fields = {"identifier": "alice", "password": "a guess"}
        guesses = [asyncio.create_task(bot.do("logIn", VIEWER, **fields)) for _ in range(12)]
        await asyncio.wait(guesses, return_when=asyncio.FIRST_COMPLETED)
        await log_in(anonymous, "alice")
        assert sum(guess.done() for guess in guesses) < 9
        await asyncio.gather(*guesses)


async def test_a_member_without_a_password_cannot_log_in(anonymous: Member, alice: Member, db: Database) -> None:
    """A member whose password is disabled cannot log in, not even with the stored value."""
    await db.one("HSET", keys.credentials(number(alice)), CredentialsField.PASSWORD, "!")
    for password in ("!", "", PASSWORD, _DUMMY):
        assert refusals(await anonymous.do("logIn", VIEWER, identifier="alice", password=password)) == WRONG_LOG_IN

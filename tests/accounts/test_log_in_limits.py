"""Limits on log-in attempts."""

import pytest

from store.client.database import Database
from store.settings import Settings
from tests.support.people import PASSWORD, USER_ERRORS, Member, contents, mutation_text, shrunk
from tests.support.probes.log_ins import LIMITS, attempt, stranger
from tests.support.probes.members import expire, life, refusals
from tests.support.probes.sessions import NEW_PASSWORD, VIEWER, WRONG_LOG_IN, log_in
from tests.support.stored import find


class TestLogInLimits:
    """Three attempts per identifier, eight per address, behind a proxy that names the client's address."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, **LIMITS)

    @pytest.mark.parametrize("identifier", ["alice", "alice@example.org", "dora", "dora@example.org", "no name"])
    @pytest.mark.usefixtures("alice")
    async def test_attempts_per_identifier(self, anonymous: Member, db: Database, identifier: str) -> None:
        """After three wrong attempts an identifier, existing or not, is RATE_LIMITED for strangers, even if right."""
        before = await db.one("HLEN", (await find(db, "sessions:*"))[0])
        spellings = [identifier, identifier.upper(), f" {identifier.title()} "]
        for spelling in spellings:
            assert await attempt(anonymous, spelling, "wrong password") == "WRONG_CREDENTIALS"
        for spelling in spellings:
            assert await attempt(stranger(anonymous, 2), spelling, PASSWORD) == "RATE_LIMITED"
        assert await attempt(anonymous, "eve", "wrong password") == "WRONG_CREDENTIALS"
        assert await db.one("HLEN", (await find(db, "sessions:*"))[0]) == before

    @pytest.mark.usefixtures("alice")
    async def test_attempts_per_address(self, anonymous: Member) -> None:
        """After eight attempts, on any identifiers, an address is RATE_LIMITED, and other addresses are not."""
        anonymous.headers["X-Forwarded-For"] = "192.0.2.1"
        for i in range(8):
            assert await attempt(anonymous, f"dora{i}", "wrong password") == "WRONG_CREDENTIALS"
        assert await attempt(anonymous, "alice", PASSWORD) == "RATE_LIMITED"
        anonymous.headers["X-Forwarded-For"] = "192.0.2.2"
        assert await attempt(anonymous, "alice", PASSWORD) == "OK"

    @pytest.mark.usefixtures("alice")
    async def test_success_forgets_the_attempts_of_its_identifier(self, anonymous: Member) -> None:
        """A log-in that succeeds gives its identifier all attempts back."""
        for password in ("wrong", "wrong", PASSWORD, "wrong", "wrong", PASSWORD):
            expected = "OK" if password == PASSWORD else "WRONG_CREDENTIALS"
            assert await attempt(anonymous, "Alice", password) == expected

    @pytest.mark.usefixtures("alice")
    async def test_success_does_not_forget_the_attempts_of_its_address(self, anonymous: Member) -> None:
        """Logging in oneself in between gives no more attempts on others."""
        for i in range(4):
            assert await attempt(anonymous, "alice", PASSWORD) == "OK"
            assert await attempt(anonymous, f"dora{i}", "wrong password") == "WRONG_CREDENTIALS"
        assert await attempt(anonymous, "dora", "wrong password") == "RATE_LIMITED"

    @pytest.mark.usefixtures("alice")
    async def test_attempts_are_forgotten_in_time(self, anonymous: Member, db: Database) -> None:
        """The counts expire, and log-ins then succeed again."""
        for _ in range(4):
            await attempt(stranger(anonymous, 1), "alice", "wrong password")
        counts = await find(db, "attempts:i*")
        assert len(counts) == 1
        for key in [*counts, *await find(db, "attempts:a*"), *await find(db, "attempts:p*")]:
            assert 0 < await life(db, key) <= 900_000
            await expire(db, key)
        assert await attempt(stranger(anonymous, 1), "alice", PASSWORD) == "OK"

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
        """A holder of somebody's access token cannot try passwords without end: the fourth attempt is RATE_LIMITED."""
        for _ in range(3):
            payload = await alice.do(mutation, currentPassword="wrong password", **fields)
            assert refusals(payload) == [("currentPassword", "WRONG_CREDENTIALS")]
        query = mutation_text(mutation, USER_ERRORS)
        assert await alice.fail(query, input={"currentPassword": PASSWORD, **fields}) == "RATE_LIMITED"
        assert await attempt(Member(alice.client), "alice", PASSWORD) == "OK"
        phone = await log_in(Member(alice.client), "alice")
        payload = await phone.do(mutation, currentPassword="wrong password", **fields)
        assert refusals(payload) == [("currentPassword", "WRONG_CREDENTIALS")]  # each session has its own attempts
        payload = await bob.do(mutation, currentPassword=PASSWORD, **fields)
        assert payload["userErrors"] == []

    async def test_an_identifier_is_not_stored(self, anonymous: Member, db: Database) -> None:
        """Identifiers that strangers type, perhaps passwords, are counted without being stored."""
        await attempt(anonymous, "my secret password", "x")
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
        assert await find(db, "attempts:*") == []

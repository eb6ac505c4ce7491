"""Logging in while somebody guesses: guessing is slow, and nobody can lock a member out."""

import itertools
import re
import time

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from store.limits.attempts import TURNS_KEPT
from store.settings import Settings
from tests.support.people import PASSWORD, Member, shrunk
from tests.support.probes.log_ins import LIMITS, answer, at, attempt, pass_time, stranger, wait_of
from tests.support.probes.members import life
from tests.support.probes.sessions import log_in
from tests.support.stored import find

DAY_MS = 86_400_000


class TestStrangers:
    """An attacker guesses from many addresses while members want to log in: three attempts per identifier."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        limits = {**LIMITS, "log_in_attempts_per_address": 30, "log_in_turns_per_minute": 1}
        return shrunk(settings, **limits, known_addresses=2)

    async def guess(self, anonymous: Member, identifier: str = "alice") -> None:
        """Use up the attempts of an identifier, from an address that no member has."""
        for _ in range(3):
            assert await attempt(stranger(anonymous, 66), identifier, "a guess") == "WRONG_CREDENTIALS"
        assert await attempt(stranger(anonymous, 66), identifier, "a guess") == "RATE_LIMITED"

    @pytest.mark.parametrize("identifier", ["alice", "alice@example.org"])
    @pytest.mark.usefixtures("alice")
    async def test_a_known_address_is_let_in_at_once(self, anonymous: Member, identifier: str) -> None:
        """However much others guess, the right password logs in from an address where the member logged in before."""
        home = stranger(anonymous, 1)
        assert await attempt(home, "alice", PASSWORD) == "OK"
        await self.guess(anonymous, identifier)
        for _ in range(4):
            assert await attempt(anonymous, identifier, PASSWORD) == "OK"  # where alice signed up
            assert await attempt(home, identifier, PASSWORD) == "OK"
            await self.guess(anonymous, identifier)

    async def test_guesses_at_a_known_address_are_limited(self, anonymous: Member, alice: Member) -> None:
        """A stranger at a member's address has as many attempts again, and then waits as strangers do."""
        await self.guess(anonymous)
        for _ in range(3):
            assert await attempt(anonymous, "alice", "a guess") == "RATE_LIMITED"
        assert await attempt(anonymous, "alice", PASSWORD) == "RATE_LIMITED"
        assert await attempt(stranger(anonymous, 1), "alice", PASSWORD, alice.device_token) == "OK"

    @pytest.mark.usefixtures("alice", "bob")
    async def test_a_wrong_password_never_shows_who_is_known(self, services: Services, anonymous: Member) -> None:
        """A wrong password at a known address gets the same answers, at the same cost, as anywhere else."""
        here = stranger(anonymous, 1)
        assert await attempt(here, "bob", PASSWORD) == "OK"
        for sender in (stranger(anonymous, 66), here):
            for _ in range(5):
                before = services.db.round_trips
                known = await answer(sender, "bob", "a guess")
                between = services.db.round_trips
                unknown = await answer(sender, "dora", "a guess")
                assert services.db.round_trips - between == between - before
                assert re.sub(r"\d+", "", str(known)) == re.sub(r"\d+", "", str(unknown))  # except for the seconds

    @pytest.mark.usefixtures("alice")
    async def test_a_stranger_is_let_in_after_a_short_wait(self, anonymous: Member, db: Database) -> None:
        """From anywhere else the right password logs in once the wait is over, even if others keep guessing."""
        cafe = stranger(anonymous, 1)
        await self.guess(anonymous)
        assert 30 < await wait_of(cafe, "alice") <= 90  # the attacker comes first
        await pass_time(db, 60)
        for number in range(67, 70):
            assert await attempt(stranger(anonymous, number), "alice", "a guess") == "RATE_LIMITED"
        assert 0 < await wait_of(cafe, "alice") <= 30
        await pass_time(db, 30)
        assert await attempt(cafe, "alice", PASSWORD) == "OK"

    @pytest.mark.parametrize("identifier", ["alice", "dora"])
    @pytest.mark.usefixtures("alice")
    async def test_a_turn_is_for_one_attempt(self, anonymous: Member, db: Database, identifier: str) -> None:
        """A wrong password uses up the turn: the address waits for the next one, for any identifier."""
        await self.guess(anonymous, identifier)
        for _ in range(2):
            await pass_time(db, 30)
            assert await attempt(stranger(anonymous, 66), identifier, "a guess") == "WRONG_CREDENTIALS"
            assert 0 < await wait_of(stranger(anonymous, 66), identifier) <= 30

    @pytest.mark.usefixtures("alice")
    async def test_many_networks_share_the_turns(self, anonymous: Member, db: Database) -> None:
        """With one turn a minute, turns are a minute apart: more networks cannot make more guesses."""
        await self.guess(anonymous)
        waits = [await wait_of(stranger(anonymous, number), "alice") for number in range(1, 6)]
        assert waits == sorted(waits)
        (key,) = await find(db, "log-in-turns:*")
        turns = [int(at) for at in (await db.one("ZRANGE", key, 0, -1, "WITHSCORES"))[1::2]]
        assert [b - a for a, b in itertools.pairwise(turns)] == [60_000] * 5
        await pass_time(db, 160)
        answers = [await attempt(stranger(anonymous, number), "alice", "a guess") for number in range(1, 6)]
        assert answers == ["WRONG_CREDENTIALS"] * 2 + ["RATE_LIMITED"] * 3

    @pytest.mark.parametrize(
        ("first", "near", "far"),
        [("203.0.113.7", "203.0.113.200", "203.0.112.7"), ("2001:db8:1:2::3", "2001:db8:1:ffff::", "2001:db8:2:2::3")],
    )
    @pytest.mark.usefixtures("alice")
    async def test_a_network_has_one_turn(
        self, anonymous: Member, db: Database, first: str, near: str, far: str
    ) -> None:
        """Addresses of an IPv4 network of 24 bits, or an IPv6 network of 48, share one turn."""
        await self.guess(anonymous)
        await pass_time(db, 60)
        waits = [await wait_of(at(anonymous, address), "alice") for address in (first, near, far)]
        assert waits[1] <= waits[0] < waits[2]
        await pass_time(db, 30)
        assert await attempt(at(anonymous, near), "alice", "a guess") == "WRONG_CREDENTIALS"
        assert await attempt(at(anonymous, first), "alice", PASSWORD) == "RATE_LIMITED"

    @pytest.mark.usefixtures("alice")
    async def test_turns_are_bounded(self, anonymous: Member, db: Database) -> None:
        """A thousand turns are given out; the next address learns when to come back, and nothing of it is stored."""
        await self.guess(anonymous)
        (key,) = await find(db, "log-in-turns:*")
        await db.one("ZADD", key, *(x for i in range(999) for x in (int(time.time() * 1000) + 3000 * i, f"bot {i}")))
        assert await wait_of(stranger(anonymous, 1), "alice") > 2900
        assert await db.one("ZCARD", key) == TURNS_KEPT
        assert await life(db, key) > 0
        await pass_time(db, 4000)
        assert await wait_of(stranger(anonymous, 1), "alice") <= 30  # turns that nobody used in time are gone
        assert await db.one("ZCARD", key) == 1

    async def test_a_known_device_is_let_in_at_once(self, anonymous: Member, alice: Member) -> None:
        """The device token lets the member in from anywhere, also after log-out and from an address that is refused."""
        await alice.do("logOut", everywhere=True)
        await self.guess(anonymous)
        for i in range(30):
            await attempt(stranger(anonymous, 1), f"dora{i}", "a guess")
        assert await attempt(stranger(anonymous, 1), "alice", PASSWORD) == "RATE_LIMITED"
        assert await attempt(stranger(anonymous, 1), "alice", PASSWORD, alice.device_token) == "OK"

    async def test_guesses_on_a_known_device_are_limited(self, anonymous: Member, alice: Member) -> None:
        """A device has three attempts of its own, independent of others; then it counts as a stranger."""
        await self.guess(anonymous)
        thief = stranger(anonymous, 1)
        for _ in range(3):
            assert await attempt(thief, "alice", "a guess", alice.device_token) == "WRONG_CREDENTIALS"
        assert await attempt(thief, "alice", PASSWORD, alice.device_token) == "RATE_LIMITED"
        tablet = await log_in(anonymous, "alice")
        assert await attempt(thief, "alice", PASSWORD, tablet.device_token) == "OK"

    async def test_a_device_token_of_somebody_else_is_none(self, anonymous: Member, alice: Member, bob: Member) -> None:
        """Another member's token, an altered one and any other text make no difference."""
        await self.guess(anonymous)
        member, session, signature = alice.device_token.split(".")
        altered = [
            f"{member}.{session}.{signature[:-1]}",
            f"{member}.{session}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}",
            f"{member}..{signature}",
            "é..",
        ]
        for token in ("", bob.device_token, alice.refresh_token, str(alice.token), *altered):
            assert await attempt(stranger(anonymous, 1), "alice", PASSWORD, token) == "RATE_LIMITED"

    @pytest.mark.usefixtures("alice")
    async def test_known_addresses_are_bounded(self, anonymous: Member, db: Database) -> None:
        """The addresses of the last two log-ins are remembered for ninety days, and cannot be read from the store."""
        for number in (1, 2, 1, 3):
            assert await attempt(stranger(anonymous, number), "alice", PASSWORD) == "OK"
        (key,) = await find(db, "known-addresses:*")
        assert "198.51" not in str(await db.one("ZRANGE", key, 0, -1))
        assert 0 < await life(db, key) <= 90 * DAY_MS
        await self.guess(anonymous)
        answers = [await attempt(stranger(anonymous, number), "alice", PASSWORD) for number in (2, 3, 1)]
        assert answers == ["RATE_LIMITED", "OK", "OK"]
        for address in await db.one("ZRANGE", key, 0, -1):
            await db.one("ZINCRBY", key, -90 * DAY_MS, address)
        await self.guess(anonymous)
        assert await attempt(stranger(anonymous, 3), "alice", PASSWORD) == "RATE_LIMITED"

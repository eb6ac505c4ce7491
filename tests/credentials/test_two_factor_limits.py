"""The second factor: guesses are limited, moderators may need it, and operators turn it off."""

import json
from pathlib import Path

import pytest

from resolvers import accounts
from store.client.database import Database
from store.credentials.records import Role
from store.settings import Settings
from tests.support.people import PASSWORD, Member, log_in, shrunk, sign_up
from tests.support.probes.log_ins import LIMITS, stranger
from tests.support.probes.members import expire
from tests.support.probes.two_factor import STATE, WRONG_CODE, begin, enabled, pass_steps
from tests.support.probes.two_factor import log_in as try_log_in
from tests.support.promoting import CREATE, instant
from tests.support.servers.processes import opened, perch, run, visiting
from tests.support.stored import find

OK = ("OK", None)
LIMITED = ("RATE_LIMITED", None)
WRONG = "abcdef"


class TestGuesses:
    """Three codes an hour, behind a proxy that names the client's address."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        limits = {**LIMITS, "log_in_attempts": 100, "log_in_attempts_per_address": 100}
        return shrunk(settings, **limits, code_attempts=3)

    async def test_guesses_at_log_in(self, anonymous: Member, alice: Member, db: Database) -> None:
        """After three wrong codes from anywhere, even the right one is RATE_LIMITED, until the hour has passed."""
        app = await enabled(alice, db)
        for place in range(3):
            assert await try_log_in(stranger(anonymous, place), WRONG) == WRONG_CODE
        for code in (app.code(), app.recovery_codes[0]):
            assert await try_log_in(stranger(anonymous, 9), code) == LIMITED
        (count,) = await find(db, "attempts:code:*")
        await expire(db, count)
        assert await try_log_in(anonymous, app.code()) == OK

    async def test_a_success_forgets_the_guesses(self, anonymous: Member, alice: Member, db: Database) -> None:
        """A right code gives all attempts back; a missing one, and one that is used again, take none or one."""
        app = await enabled(alice, db)
        for code in app.recovery_codes[:2]:
            assert await try_log_in(anonymous) == ("BLANK", ["code"])
            assert [await try_log_in(anonymous, WRONG) for _ in range(2)] == [WRONG_CODE] * 2
            assert await try_log_in(anonymous, code) == OK
        assert [await try_log_in(anonymous, app.recovery_codes[0]) for _ in range(4)] == [*[WRONG_CODE] * 3, LIMITED]

    async def test_a_known_device(self, anonymous: Member, alice: Member, db: Database) -> None:
        """Somebody who knows the password cannot keep the member from logging in on a known device."""
        app = await enabled(alice, db)
        for _ in range(4):
            await try_log_in(stranger(anonymous, 1), WRONG)
        device = alice.device_token
        assert await try_log_in(anonymous, app.code()) == LIMITED
        assert await try_log_in(anonymous, app.code(), deviceToken=device) == OK
        guesses = [await try_log_in(anonymous, WRONG, deviceToken=device) for _ in range(4)]
        assert guesses == [*[WRONG_CODE] * 3, LIMITED]

    async def test_guesses_in_a_session(self, alice: Member, db: Database) -> None:
        """Somebody with a stolen session and the password has three guesses to turn it off."""
        app = await enabled(alice, db)
        for _ in range(3):
            assert await alice.refused("disableTwoFactor", password=PASSWORD, code=WRONG) == WRONG_CODE
        query = "mutation($input: DisableTwoFactorInput!) { disableTwoFactor(input: $input) { userErrors { code } } }"
        assert await alice.fail(query, input={"password": PASSWORD, "code": app.code()}) == "RATE_LIMITED"

    async def test_guesses_of_a_confirmation(self, alice: Member) -> None:
        """Three wrong codes do not confirm a secret, and neither does the right one after them."""
        app = await begin(alice)
        for _ in range(3):
            assert await alice.refused("confirmTwoFactor", code=WRONG) == WRONG_CODE
        query = "mutation($input: ConfirmTwoFactorInput!) { confirmTwoFactor(input: $input) { userErrors { code } } }"
        assert await alice.fail(query, input={"code": app.code()}) == "RATE_LIMITED"


class TestModerators:
    """Moderators and administrators need a second factor."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, moderators_need_two_factor=True)

    @pytest.mark.parametrize("role", [Role.MODERATOR, Role.ADMIN])
    async def test_without_it(self, alice: Member, bob: Member, db: Database, role: Role) -> None:
        """Until they have one, they see what members see; then they see hidden posts, and no longer without it."""
        await accounts.set_role(db, "alice", role)
        post = await bob.post("a secret")
        await bob.do("hidePost", postId=post)
        see = "query($id: ID!) { node(id: $id) { id } }"
        assert await alice.ask(see, id=post) is None
        app = await enabled(alice, db)
        assert await alice.ask(see, id=post) == {"id": post}
        await alice.do("disableTwoFactor", password=PASSWORD, code=app.code())
        assert await alice.ask(see, id=post) is None

    async def test_the_refusal(self, alice: Member, db: Database) -> None:
        """An administrator without one is told that a second factor is what they lack; a member is not."""
        making = {"sponsorId": alice.id, "subject": {"userId": alice.id}, "endsAt": instant(days=1)}
        assert "administrator" in (await alice.send(CREATE, input=making))["errors"][0]["message"]
        await accounts.set_role(db, "alice", Role.ADMIN)
        (error,) = (await alice.send(CREATE, input=making))["errors"]
        assert error["extensions"]["code"] == "FORBIDDEN"
        assert "enableTwoFactor" in error["message"]
        await enabled(alice, db)
        assert (await alice.ask(CREATE, input=making))["promotion"]

    async def test_members_need_none(self, alice: Member) -> None:
        """Members do everything as before."""
        assert await alice.post("hello")


async def test_moderators_need_none_by_default(alice: Member, db: Database) -> None:
    """Without the setting, a role is enough."""
    await accounts.set_role(db, "alice", Role.ADMIN)
    making = {"sponsorId": alice.id, "subject": {"userId": alice.id}, "endsAt": instant(days=1)}
    assert (await alice.ask(CREATE, input=making))["promotion"]


# ------------------------------------------------------------ operators


async def test_the_command(tmp_path: Path) -> None:
    """An operator turns the second factor of a member off beside a running server, and can ask whether it is on."""
    async with opened(tmp_path) as db:
        async with perch(tmp_path, "serve") as running, visiting(await running.url()) as anonymous:
            alice = await sign_up(anonymous, "alice")
            await enabled(alice, db)
            asked = await run(tmp_path, "two-factor", "Alice", log_level="ERROR")
            assert asked == (0, "the second factor of Alice is on, with 10 recovery codes left", "")
            off = await run(tmp_path, "two-factor", "alice", "--off", log_level="ERROR")
            assert off == (0, "the second factor of alice is off", "")
            await log_in(anonymous, "alice")
            assert (await alice.ask(f"{{ {STATE} }}"))["isTwoFactorEnabled"] is False
            assert await running.stop() == 0
        status, out, _ = await run(tmp_path, "two-factor", "alice", "--off", "--json", log_level="ERROR")
        assert (status, json.loads(out)) == (0, {"login": "alice", "enabled": False, "recovery_codes_left": 0})
        nobody = await run(tmp_path, "two-factor", "nobody", "--off", log_level="ERROR")
        assert nobody == (1, "", "perch: no member has the login 'nobody'")


async def test_another_secret_key(tmp_path: Path) -> None:
    """After a change of SECRET_KEY the app's codes are wrong, and recovery codes still work."""
    async with opened(tmp_path) as db:
        keys = [letter * 32 for letter in "ab"]
        async with perch(tmp_path, "serve", secret_key=keys[0]) as running, visiting(await running.url()) as anonymous:
            alice = await sign_up(anonymous, "alice")
            app = await enabled(alice, db)
            assert await try_log_in(anonymous, app.code()) == OK
            assert await running.stop() == 0
        await pass_steps(db, alice)
        async with perch(tmp_path, "serve", secret_key=keys[1]) as running, visiting(await running.url()) as anonymous:
            assert await try_log_in(anonymous, app.code()) == WRONG_CODE
            assert await try_log_in(anonymous, app.recovery_codes[0]) == OK
            assert await running.stop() == 0

"""Logins that change: released, reserved, taken back, and wanted by many at once."""

import asyncio

import pytest

from resolvers.jobs.worker import Worker
from store import account_names, accounts, jobs, keys
from store.client.database import Database
from store.keys.fields import UserField
from store.refusals import accepted
from store.settings import Settings
from tests.support.people import PASSWORD, Member, contents, shrunk
from tests.support.probes.accounts import MEMBER, VIEWER, form
from tests.support.probes.members import ABSENT, LASTING, expire, life, number, refusals
from tests.support.stored import find

DAY = 86_400_000  # ms


async def test_a_login_given_up_is_reserved(anonymous: Member, alice: Member, bob: Member, db: Database) -> None:
    """For 30 days nobody else can take a former login, and it leads to nobody; then anybody can take it."""
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
    """A member's login is permanent; a former one lives 30 days, and is permanent again once it is taken back."""
    await alice.do("updateProfile", login="alicia")
    assert 29 * DAY < await life(db, keys.login("alice")) <= 30 * DAY
    assert await life(db, keys.login("alicia")) == LASTING
    assert (await alice.do("updateProfile", VIEWER, login="Alice"))["viewer"]["user"]["login"] == "Alice"
    assert await life(db, keys.login("alice")) == LASTING
    assert 29 * DAY < await life(db, keys.login("alicia")) <= 30 * DAY


async def test_log_in_with_a_login_given_up(anonymous: Member, alice: Member) -> None:
    """After a change of login, the new one logs in and the old one doesn't; the member stays signed in."""
    await alice.do("updateProfile", login="alicia")
    old = await anonymous.do("logIn", MEMBER, identifier="alice", password=PASSWORD)
    assert refusals(old) == [(None, "WRONG_CREDENTIALS")]
    new = await anonymous.do("logIn", MEMBER, identifier="Alicia", password=PASSWORD)
    assert new["viewer"]["user"]["id"] == alice.id
    assert (await alice.ask("{ viewer { user { login } } }"))["user"]["login"] == "alicia"


async def test_a_login_in_another_case(anonymous: Member, alice: Member, db: Database) -> None:
    """A change of case alone releases no login."""
    assert (await alice.do("updateProfile", VIEWER, login="ALICE"))["viewer"]["user"]["login"] == "ALICE"
    assert await life(db, keys.login("alice")) == LASTING
    assert await find(db, "login:*") == [keys.login("alice")]
    assert await anonymous.ask('{ user(login: "alice") { login } }') == {"login": "ALICE"}
    assert (await anonymous.do("logIn", MEMBER, identifier="alice", password=PASSWORD))["viewer"]


async def test_a_crash_while_a_login_changes_is_finished(alice: Member, db: Database, worker: Worker) -> None:
    """After the change is committed, the worker makes the new login permanent and limits the old one's life."""
    assert await account_names.reserve(db, keys.login("alicia"), number(alice))
    job = accepted(
        await accounts.update(db, number(alice), profile={UserField.LOGIN: "alicia"}, names={"login": "alicia"})
    )
    assert job
    assert await life(db, keys.login("alicia")) > 0
    await jobs.hand_over(db, job)
    assert await worker.run_once() == 1
    assert await life(db, keys.login("alicia")) == LASTING
    assert 29 * DAY < await life(db, keys.login("alice")) <= 30 * DAY


async def test_work_done_late_gives_nothing_back(alice: Member, db: Database, worker: Worker) -> None:
    """If a login is taken back before its change is completed, it stays with its member, permanently."""
    assert await account_names.reserve(db, keys.login("alicia"), number(alice))
    late = accepted(
        await accounts.update(db, number(alice), profile={UserField.LOGIN: "alicia"}, names={"login": "alicia"})
    )
    assert late
    await alice.do("updateProfile", login="alice")
    await jobs.hand_over(db, late)
    assert await worker.run_once() == 1
    assert await life(db, keys.login("alice")) == LASTING
    assert 29 * DAY < await life(db, keys.login("alicia")) <= 30 * DAY


async def test_logins_changed_at_once(anonymous: Member, alice: Member, db: Database) -> None:
    """Of many simultaneous changes one is the last: its login alone is permanent, and all others are former."""
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
    """Of several members who want one login at once, exactly one gets it, and the others keep theirs."""
    members = [alice, bob, carol]
    payloads = await asyncio.gather(*(member.do("updateProfile", VIEWER, login="Robin") for member in members))
    winners = [m for m, payload in zip(members, payloads, strict=True) if payload["viewer"]]
    assert [refusals(p) for p in payloads if not p["viewer"]] == [[("login", "TAKEN")]] * 2
    (winner,) = winners
    assert (await anonymous.ask('{ user(login: "robin") { id } }'))["id"] == winner.id
    for member in members:
        if member is not winner:
            assert await life(db, keys.login(member.login)) == LASTING


class TestFormerLogins:
    """Two former logins can be reserved for a member at a time."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, former_logins=2)

    async def test_nobody_can_reserve_many_logins(self, alice: Member, db: Database) -> None:
        """A change that would reserve one login too many is refused, changes nothing, and succeeds later."""
        for login in ("one", "two"):
            await alice.do("updateProfile", login=login)
        before = await contents(db)
        assert refusals(await alice.do("updateProfile", VIEWER, login="three", bio="new")) == [
            ("login", "LIMIT_REACHED")
        ]
        assert await contents(db) == before
        (former,) = await find(db, "former-logins:*")
        await db.one("ZINCRBY", former, -30 * 86_400, "alice")
        assert (await alice.do("updateProfile", VIEWER, login="three"))["viewer"]["user"]["login"] == "three"
        assert await db.one("ZCARD", former) == 2

    async def test_a_login_can_be_taken_back(self, alice: Member) -> None:
        """Taking a login back, or changing its case, reserves no more than before."""
        for login in ("one", "two", "alice", "one", "two", "Two", "TWO", "Alice"):
            payload = await alice.do("updateProfile", VIEWER, login=login)
            assert payload["viewer"]["user"]["login"] == login


class TestLoginsReleasedAtOnce:
    """LOGIN_RELEASE_DAYS=0 reserves nothing."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, login_release_days=0, former_logins=1)

    async def test_a_login_given_up_is_free(self, alice: Member, bob: Member) -> None:
        """Anybody can take a former login at once."""
        await alice.do("updateProfile", login="alicia")
        assert (await bob.do("updateProfile", VIEWER, login="alice"))["viewer"]["user"]["login"] == "alice"
        assert (await alice.do("updateProfile", VIEWER, login="alexa"))["viewer"]["user"]["login"] == "alexa"

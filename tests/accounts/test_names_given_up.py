"""Names that were given up, by a change or with an account: reserved for a while, and not readable in the store."""

import asyncio
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import account_names, accounts, jobs, keys
from store.client.database import Database
from store.keys.fields import CredentialsField
from store.records.job_bodies import Naming
from store.records.jobs import Job
from store.refusals import accepted
from store.settings import Settings
from tests.accounts.test_email import change
from tests.support.people import PASSWORD, Member, contents, shrunk, sign_up
from tests.support.probes.accounts import MEMBER, VIEWER, form
from tests.support.probes.members import number, refusals
from tests.support.probes.sessions import WRONG_LOG_IN, log_in
from tests.support.scene import assert_agreed
from tests.support.stored import delete, find
from tests.support.work import work_off

ALICES, NEW = "alice@example.org", "alicia@example.net"
AVAILABLE = "query($login: String!) { isLoginAvailable(login: $login) }"
DAY_MS = 24 * 3600 * 1000


async def leave(member: Member) -> None:
    """Delete a member's account."""
    assert (await member.do("deleteAccount", password=PASSWORD))["userErrors"] == []


async def lives(db: Database) -> list[int]:
    """Return for how long each name that was given up stays reserved, in ms, the shortest first."""
    return sorted(await db.ask(*(("PTTL", key) for key in await find(db, "given-up:*"))))


async def refused(anonymous: Member, **changed: str) -> list[tuple[str | None, str]]:
    """Return the refusals of a sign-up."""
    found: list[tuple[str | None, str]] = refusals(await anonymous.do("signUp", MEMBER, **form(**changed)))
    return found


async def test_a_deleted_account(
    anonymous: Member, alice: Member, services: Services, settings: Settings, db: Database, worker: Worker
) -> None:
    """For 30 days nobody takes the login, the former login or the verified address of a deleted account."""
    await change(alice, services, settings, NEW)
    await alice.do("updateProfile", login="alicia")
    await leave(alice)
    for finish in (False, True):
        if finish:
            await work_off(db, worker)
        for login in ("alice", "Alicia"):
            assert await anonymous.ask(AVAILABLE, login=login) is False
            assert await anonymous.ask("query($l: String!) { user(login: $l) { id } }", l=login) is None
            assert await refused(anonymous, login=login) == [("login", "TAKEN")]
        assert await refused(anonymous, email=NEW.upper()) == [("email", "TAKEN")]
        assert await refused(anonymous, login="alice", email=NEW) == [("login", "TAKEN"), ("email", "TAKEN")]
        for identifier in ("alice", "alicia", NEW):
            payload = await anonymous.do("logIn", MEMBER, identifier=identifier, password=PASSWORD)
            assert refusals(payload) == WRONG_LOG_IN
    assert all(29 * DAY_MS < life <= 30 * DAY_MS for life in (await lives(db))[1:])
    await delete(db, *await find(db, "given-up:*"))
    assert await anonymous.ask(AVAILABLE, login="alice") is True
    successor = await sign_up(anonymous, "alice", NEW)
    assert (await log_in(anonymous, NEW)).id == successor.id != alice.id
    await assert_agreed(db, [number(successor)])


async def test_members_take_none_either(
    anonymous: Member, alice: Member, bob: Member, services: Services, settings: Settings
) -> None:
    """Members, too, can't change to the login or the verified address of a deleted account."""
    await change(alice, services, settings, NEW)
    await leave(alice)
    assert await bob.refused("updateProfile", login="ALICE") == ("TAKEN", ["login"])
    assert await bob.refused("changeEmail", email=NEW, currentPassword=PASSWORD) == ("TAKEN", ["email"])


async def test_nothing_can_be_read(
    anonymous: Member, alice: Member, services: Services, settings: Settings, db: Database, worker: Worker
) -> None:
    """After its jobs, neither a key nor a value of the store has a login or an address of the deleted account."""
    await change(alice, services, settings, NEW)
    await alice.do("updateProfile", login="alicia")
    await alice.do("changeEmail", email="alice@waits.example", currentPassword=PASSWORD)
    assert "alicia" in str(await contents(db)).lower()
    await leave(alice)
    await work_off(db, worker)
    assert not [key for key, value in (await contents(db)).items() if "alic" in f"{key} {value}".lower()]


async def test_an_address_that_nobody_verified(
    anonymous: Member, alice: Member, settings: Settings, db: Database, worker: Worker
) -> None:
    """An address that nobody verified may be a stranger's: it is free VERIFICATION_HOURS after the sign-up."""
    await leave(alice)
    await work_off(db, worker)
    assert await refused(anonymous, email=ALICES) == [("email", "TAKEN")]
    shortest, longest = await lives(db)
    assert 0 < shortest <= settings.verification_hours * 3_600_000
    assert longest > 29 * DAY_MS


async def test_a_former_address(
    anonymous: Member, alice: Member, bob: Member, services: Services, settings: Settings, db: Database
) -> None:
    """A verified address that was changed stays reserved for its former owner, who can take it back."""
    for address in (NEW, "third@example.org"):
        await change(alice, services, settings, address)
    assert await refused(anonymous, email=NEW) == [("email", "TAKEN")]
    assert await bob.refused("changeEmail", email=NEW, currentPassword=PASSWORD) == ("TAKEN", ["email"])
    old = await anonymous.do("logIn", MEMBER, identifier=NEW, password=PASSWORD)
    assert refusals(old) == WRONG_LOG_IN
    assert set(await find(db, "email:*")) == {keys.email("third@example.org"), keys.email("bob@example.org")}
    await change(alice, services, settings, NEW)
    assert (await alice.ask("{ viewer { email } }"))["email"] == NEW
    assert (await log_in(anonymous, NEW)).id == alice.id


async def test_late_work(
    alice: Member, services: Services, settings: Settings, db: Database, worker: Worker, anonymous: Member
) -> None:
    """A change that is completed after the next one leaves every verified address reserved, and none twice."""
    await change(alice, services, settings, NEW)
    late = Job(await db.mint(), Naming(member=number(alice), email=NEW, old_email=ALICES))
    await change(alice, services, settings, "third@example.org")
    before = await lives(db)
    await account_names.apply_names(db, late)
    assert await find(db, "email:*") == [keys.email("third@example.org")]
    assert [round(life / DAY_MS) for life in await lives(db)] == [round(life / DAY_MS) for life in before] == [1, 30]


async def test_sign_ups_while_an_account_is_deleted(
    anonymous: Member, alice: Member, services: Services, settings: Settings
) -> None:
    """However sign-ups and the steps of a deletion overlap, nobody gets the login or the address."""
    await change(alice, services, settings, NEW)

    async def claim(turn: int) -> Any:
        for _ in range(turn):
            await anonymous.ask(AVAILABLE, login="alice")
        return await anonymous.do("signUp", VIEWER, **form(login="alice", email=NEW))

    payloads = await asyncio.gather(*(claim(turn) for turn in range(12)), leave(alice))
    assert [refusals(payload) for payload in payloads[:-1]] == [[("login", "TAKEN"), ("email", "TAKEN")]] * 12


async def test_a_deletion_that_died(
    anonymous: Member, alice: Member, db: Database, worker: Worker, services: Services, settings: Settings
) -> None:
    """When a process dies before the job of a deletion, names stay taken until the job, and reserved from then on."""
    await change(alice, services, settings, NEW)
    found = await accounts.credentials(db, number(alice))
    assert found
    job = accepted(await accounts.delete(db, number(alice), found.password))
    assert await refused(anonymous, login="alice", email=NEW) == [("login", "TAKEN"), ("email", "TAKEN")]
    await jobs.hand_over(db, job)
    await work_off(db, worker)
    assert await find(db, "login:*") == await find(db, "email:*") == []
    assert await refused(anonymous, login="alice", email=NEW) == [("login", "TAKEN"), ("email", "TAKEN")]


class TestNoReservation:
    """LOGIN_RELEASE_DAYS=0 frees names at once."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, login_release_days=0)

    async def test_free_at_once(self, anonymous: Member, alice: Member, db: Database) -> None:
        """Login and address of a deleted account are free as soon as the deletion is answered."""
        await db.one("HSET", keys.credentials(number(alice)), CredentialsField.VERIFIED, "1")
        await leave(alice)
        assert (await sign_up(anonymous, "alice")).id != alice.id
        assert await find(db, "given-up:*") == []

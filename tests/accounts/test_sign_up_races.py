"""Sign-up: many at once, and crashes on the way."""

import asyncio
import itertools

import pytest

from resolvers.accounts import create_member
from resolvers.jobs.worker import Worker
from resolvers.process.errors import Refused
from resolvers.process.services import Services
from resolvers.process.tokens import NO_PASSWORD
from store import account_names, accounts, jobs, keys
from store.accounts import AccountDraft
from store.client.database import Database
from store.ids import partition
from store.records.jobs import Job
from store.refusals import accepted
from store.secret import Secret
from store.settings import Settings
from tests.support.people import PASSWORD, Member
from tests.support.probes.accounts import MEMBER, VIEWER, form, users
from tests.support.probes.members import LASTING, expire, life, number, refusals
from tests.support.stored import find

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
    assert await find(db, "login:*") == [keys.login("dora")]
    assert await find(db, "email:*") == [keys.email(made[0]["email"])]
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
    assert await find(db, "login:*") == [keys.login(made[0]["user"]["login"])]


async def test_equal_sign_ups_at_once_make_one_member(anonymous: Member, db: Database) -> None:
    """When one form is sent many times at once, one succeeds: none reserves a name that it cannot use."""
    for i in range(10):
        fields = form(login=f"dora{i}", email=f"dora{i}@example.org")
        payloads = await asyncio.gather(*(anonymous.do("signUp", MEMBER, **fields) for _ in range(10)))
        assert sum(payload["viewer"] is not None for payload in payloads) == 1
    assert len(await users(db)) == 10


# ------------------------------------------------------------ signUp: crashes


async def reserve(db: Database, login: str, email: str) -> int:
    """Do the first step of a sign-up, and no more."""
    member = await db.mint()
    for key in (keys.login(login), keys.email(email)):
        assert await account_names.reserve(db, key, member)
    return member


async def create(db: Database, services: Services, login: str = "dora") -> tuple[int, Job]:
    """Do the steps of a sign-up until the member exists, and no more."""
    member = await reserve(db, login, f"{login}@example.org")
    hashed = await services.passwords.hash(Secret(PASSWORD))
    job = await accounts.create(db, member, AccountDraft(login, "Dora", f"{login}@example.org", hashed))
    assert job
    return member, job


async def test_a_crash_before_the_member_exists_frees_the_names_in_time(
    anonymous: Member, db: Database, settings: Settings
) -> None:
    """Names reserved by a sign-up that died stay taken for a limited time, and are free afterwards."""
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
    """Once a member exists, the worker makes their names permanent, even names that have expired meanwhile."""
    member, job = await create(db, services)
    names = [keys.login("dora"), keys.email("dora@example.org")]
    for key in names:
        assert await life(db, key) > 0
        if too_late:
            await expire(db, key)
    assert await worker.run_once() == 0  # until its lease expires, the sign-up itself may still be running
    await jobs.hand_over(db, job)
    assert await worker.run_once() == 1
    assert [await life(db, key) for key in names] == [LASTING, LASTING]
    assert await db.ask(*(("GET", key) for key in names)) == [str(member)] * 2
    assert await jobs.backlog(db) == (0, 0)
    for identifier in ("dora", "dora@example.org"):
        payload = await anonymous.do("logIn", VIEWER, identifier=identifier, password=PASSWORD)
        assert payload["viewer"]["user"]["login"] == "dora"


async def test_a_finished_sign_up_leaves_no_work(anonymous: Member, db: Database, worker: Worker) -> None:
    """When a sign-up is answered, its names are permanent and no work is left."""
    await anonymous.do("signUp", MEMBER, **form())
    names = [keys.login("dora"), keys.email("dora@example.org")]
    assert [await life(db, key) for key in names] == [LASTING, LASTING]
    assert await jobs.backlog(db) == (0, 0)
    assert await worker.run_once() == 0


async def test_a_sign_up_in_a_busy_partition(db: Database, services: Services, alice: Member) -> None:
    """A member whose id was minted before other work of the partition was committed can still be created."""
    p = partition(number(alice))
    member = await db.mint(p)
    other = accepted(await accounts.update(db, number(alice), names={"login": "alice"}))
    job = await accounts.create(db, member, AccountDraft("dora", "Dora", "dora@example.org", NO_PASSWORD))
    assert other
    assert job
    assert job.id > other.id > member
    assert await accounts.create(db, member, AccountDraft("dora", "Dora", "x", NO_PASSWORD)) is None


async def test_a_name_that_another_took_while_the_password_was_hashed(anonymous: Member, db: Database) -> None:
    """If hashing outlasts the reservation, the sign-up does not take the names from their new holder."""

    async def slow_hash() -> Secret:
        for key in (keys.login("dora"), keys.email("dora@example.org")):
            await expire(db, key)
        await anonymous.do("signUp", MEMBER, **form())
        return NO_PASSWORD

    with pytest.raises(Refused) as refused:
        await create_member(db, login="dora", name="D", email="dora@example.org", password_hash=slow_hash)
    assert [(error.field, error.code.value) for error in refused.value.errors] == [
        (["login"], "TAKEN"),
        (["email"], "TAKEN"),
    ]
    assert len(await users(db)) == 1
    assert (await anonymous.do("logIn", VIEWER, identifier="dora", password=PASSWORD))["viewer"]

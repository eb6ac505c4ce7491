"""Nobody keeps a stranger's address for good by signing up with it and never verifying it."""

import asyncio

import pytest

from resolvers.jobs.worker import Worker
from resolvers.mail import verification
from resolvers.process.services import Services
from store import account_names, accounts, jobs, keys
from store.client.database import Database
from store.keys.fields import CredentialsField
from store.mail import tokens
from store.settings import Settings
from tests.mail.test_password_resets import NEXT, request
from tests.mail.test_verification import STALE
from tests.support.mails import sent, to, token_in
from tests.support.people import PASSWORD, Member, sign_up
from tests.support.probes import two_factor
from tests.support.probes.accounts import MEMBER, form
from tests.support.probes.members import number, refusals
from tests.support.probes.sessions import WRONG_LOG_IN, is_signed_in, log_in
from tests.support.scene import assert_agreed
from tests.support.stored import find
from tests.support.work import work_off

ALICES, OWN = "alice@example.org", "squatter@example.net"
UNVERIFIED = ("NOT_ALLOWED", None)
EMAIL = "{ viewer { email isEmailVerified } }"


@pytest.fixture
def lapse(monkeypatch: pytest.MonkeyPatch) -> None:
    """VERIFICATION_HOURS have passed since all sign-ups."""
    monkeypatch.setattr(account_names, "unverified_until", lambda *_: 0)


# ------------------------------------------------------------ the second factor, and resets


async def test_a_second_factor_needs_a_verified_address(
    alice: Member, services: Services, settings: Settings, db: Database
) -> None:
    """A member whose address is not verified turns no second factor on, even with a secret from before that rule."""
    assert await alice.refused("enableTwoFactor", password=PASSWORD) == UNVERIFIED
    await db.one("HSET", keys.credentials(number(alice)), CredentialsField.TOTP_PENDING, "a salt")
    assert await alice.refused("confirmTwoFactor", code="000000") == UNVERIFIED
    assert (await alice.ask("{ viewer { isTwoFactorEnabled } }"))["isTwoFactorEnabled"] is False
    await alice.do("verifyEmail", token=token_in(await sent(services, settings), ALICES))
    app = await two_factor.begin(alice)
    assert (await alice.do("confirmTwoFactor", code=app.code()))["userErrors"] == []


async def test_a_reset_of_an_account_that_nobody_verified(
    anonymous: Member, alice: Member, services: Services, settings: Settings, db: Database
) -> None:
    """Its reset by mail needs no code, and ends the second factor, all sessions, and a new address that waits."""
    await two_factor.enabled(alice, db)
    await db.one("HDEL", keys.credentials(number(alice)), CredentialsField.VERIFIED)  # as older versions allowed it
    await alice.do("changeEmail", email=OWN, currentPassword=PASSWORD)
    planted = token_in(await sent(services, settings), OWN)
    token = await request(anonymous, services, settings)
    payload = await anonymous.do("resetPassword", "accessToken", token=token, newPassword=NEXT)
    assert payload["userErrors"] == []
    owner = Member(anonymous.client, payload["accessToken"])
    state = "{ viewer { email isEmailVerified isTwoFactorEnabled recoveryCodesLeft } }"
    mine = {"email": ALICES, "isEmailVerified": True, "isTwoFactorEnabled": False, "recoveryCodesLeft": 0}
    assert await owner.ask(state) == mine
    assert not await is_signed_in(alice)
    assert await anonymous.refused("verifyEmail", token=planted) == STALE
    assert await owner.ask(state) == mine
    assert await two_factor.log_in(anonymous, password=NEXT) == ("OK", None)
    await assert_agreed(db, [number(alice)])


async def test_a_reset_drops_an_address_that_waits(
    anonymous: Member, alice: Member, services: Services, settings: Settings
) -> None:
    """Who knew the password can't make the account theirs after a reset, by a link to an address of their own."""
    await alice.do("verifyEmail", token=token_in(await sent(services, settings), ALICES))
    await alice.do("changeEmail", email=OWN, currentPassword=PASSWORD)
    planted = token_in(await sent(services, settings), OWN)
    token = await request(anonymous, services, settings)
    assert (await anonymous.do("resetPassword", token=token, newPassword=NEXT))["userErrors"] == []
    assert await anonymous.refused("verifyEmail", token=planted) == STALE


# ------------------------------------------------------------ taking an address over


@pytest.mark.usefixtures("lapse")
async def test_a_sign_up_takes_it_over(
    anonymous: Member, alice: Member, services: Services, settings: Settings, db: Database
) -> None:
    """After VERIFICATION_HOURS the address is the newcomer's; the old account goes on by login, without an address."""
    planted = token_in(await sent(services, settings), ALICES)
    owner = await sign_up(anonymous, "owner", ALICES)
    assert await alice.ask(EMAIL) == {"email": "", "isEmailVerified": False}
    assert await anonymous.refused("verifyEmail", token=planted) == STALE
    assert (await log_in(anonymous, ALICES)).id == owner.id
    assert (await log_in(anonymous, "alice")).id == alice.id
    assert refusals(await anonymous.do("logIn", MEMBER, identifier="", password=PASSWORD)) == WRONG_LOG_IN
    await owner.do("verifyEmail", token=token_in(await sent(services, settings), ALICES))
    assert await owner.ask(EMAIL) == {"email": ALICES, "isEmailVerified": True}
    await assert_agreed(db, [number(alice), number(owner)])
    assert refusals(await anonymous.do("signUp", MEMBER, **form(email=ALICES))) == [("email", "TAKEN")]


@pytest.mark.usefixtures("lapse")
async def test_the_old_account_sets_another_address(
    anonymous: Member, alice: Member, services: Services, settings: Settings, db: Database
) -> None:
    """A member who lost an address gets no mail without one, can set and verify another, and can leave."""
    await sign_up(anonymous, "owner", ALICES)
    before = len(await sent(services, settings))
    assert (await alice.do("resendVerification"))["userErrors"] == []
    changed = await alice.do("changePassword", "accessToken", currentPassword=PASSWORD, newPassword=PASSWORD + "!")
    assert changed["userErrors"] == []
    alice.token = changed["accessToken"]
    assert len(await sent(services, settings)) == before
    assert await alice.refused("enableTwoFactor", password=PASSWORD + "!") == UNVERIFIED
    fields = {"email": "alice@example.net", "currentPassword": PASSWORD + "!"}
    assert (await alice.do("changeEmail", **fields))["userErrors"] == []
    await alice.do("verifyEmail", token=token_in(await sent(services, settings), "alice@example.net"))
    assert await alice.ask(EMAIL) == {"email": "alice@example.net", "isEmailVerified": True}
    await assert_agreed(db, [number(alice)])
    assert (await alice.do("deleteAccount", password=PASSWORD + "!"))["userErrors"] == []


async def test_not_before_its_time(anonymous: Member, alice: Member, services: Services, settings: Settings) -> None:
    """Within VERIFICATION_HOURS, and once it is verified, an address is taken."""
    assert refusals(await anonymous.do("signUp", MEMBER, **form(email=ALICES))) == [("email", "TAKEN")]
    assert (await alice.ask(EMAIL))["email"] == ALICES


@pytest.mark.usefixtures("lapse")
async def test_not_once_it_is_verified(
    anonymous: Member, alice: Member, bob: Member, services: Services, settings: Settings
) -> None:
    """A verified address is never taken over, nor is any address if the login of the sign-up is taken."""
    await alice.do("verifyEmail", token=token_in(await sent(services, settings), ALICES))
    assert refusals(await anonymous.do("signUp", MEMBER, **form(email=ALICES))) == [("email", "TAKEN")]
    assert await bob.refused("changeEmail", email=ALICES, currentPassword=PASSWORD) == ("TAKEN", ["email"])
    taken = await anonymous.do("signUp", MEMBER, **form(login="alice", email="bob@example.org"))
    assert refusals(taken) == [("login", "TAKEN"), ("email", "TAKEN")]
    assert (await bob.ask(EMAIL))["email"] == "bob@example.org"


@pytest.mark.usefixtures("lapse")
async def test_a_member_takes_it_over_by_the_link(
    alice: Member, bob: Member, services: Services, settings: Settings, db: Database
) -> None:
    """A member who changes to such an address gets it when they follow the link, and not before."""
    assert (await bob.do("changeEmail", email=ALICES, currentPassword=PASSWORD))["userErrors"] == []
    assert (await alice.ask(EMAIL))["email"] == ALICES
    await bob.do("verifyEmail", token=token_in(to(await sent(services, settings), ALICES), ALICES))
    assert await bob.ask(EMAIL) == {"email": ALICES, "isEmailVerified": True}
    assert (await alice.ask(EMAIL))["email"] == ""
    await assert_agreed(db, [number(alice), number(bob)])


# ------------------------------------------------------------ races, crashes, other ways to hold an address


@pytest.mark.usefixtures("lapse")
async def test_sign_ups_at_once(anonymous: Member, alice: Member, db: Database) -> None:
    """Of several sign-ups that want such an address at once, one gets it."""
    payloads = await asyncio.gather(
        *(anonymous.do("signUp", "viewer { user { login } }", **form(login=f"dora{i}", email=ALICES)) for i in range(6))
    )
    winners = [payload for payload in payloads if payload["viewer"]]
    assert len(winners) == 1
    assert [refusals(payload) for payload in payloads if not payload["viewer"]] == [[("email", "TAKEN")]] * 5
    assert (await log_in(anonymous, ALICES)).login == winners[0]["viewer"]["user"]["login"]
    assert (await alice.ask(EMAIL))["email"] == ""


@pytest.mark.usefixtures("lapse")
async def test_a_sign_up_while_it_is_verified(anonymous: Member, services: Services, settings: Settings) -> None:
    """Whether the old account verifies its address or a newcomer takes it over, exactly one has it."""
    for turn in range(8):
        address = f"old{turn}@example.org"
        old = await sign_up(anonymous, f"old{turn}", address)
        token = token_in(await sent(services, settings), address)
        verified, payload = await asyncio.gather(
            old.do("verifyEmail", token=token),
            anonymous.do("signUp", "viewer { user { id } }", **form(login=f"new{turn}", email=address)),
        )
        assert bool(verified["userErrors"]) != (payload["viewer"] is None)
        kept = (
            {"email": "", "isEmailVerified": False}
            if payload["viewer"]
            else {"email": address, "isEmailVerified": True}
        )
        assert await old.ask(EMAIL) == kept
        winner = payload["viewer"]["user"]["id"] if payload["viewer"] else old.id
        assert (await log_in(anonymous, address)).id == winner


@pytest.mark.usefixtures("lapse")
async def test_a_takeover_that_died(anonymous: Member, alice: Member, db: Database, worker: Worker) -> None:
    """A process that dies within a takeover leaves the address with nobody, once a worker has done the job."""
    job = await tokens.lose_address(db, number(alice), ALICES)
    assert job
    assert await tokens.lose_address(db, number(alice), ALICES) is None
    assert refusals(await anonymous.do("signUp", MEMBER, **form(email=ALICES))) == [("email", "TAKEN")]
    await jobs.hand_over(db, job)
    await work_off(db, worker)
    assert await find(db, "email:*") == await find(db, "given-up:*") == []
    assert (await sign_up(anonymous, "owner", ALICES)).id != alice.id
    await assert_agreed(db, [number(alice)])


async def test_when_it_lapses(alice: Member, services: Services, settings: Settings) -> None:
    """An address lapses VERIFICATION_HOURS after the sign-up, however often the link is sent again."""
    key = keys.email(ALICES)
    assert await verification.lapsed_holder(services.db, key) is None
    await alice.do("resendVerification")
    until = account_names.unverified_until(services.db, number(alice))
    user = await accounts.user(services.db, number(alice))
    assert user
    assert until == int(user.created_at.timestamp()) + settings.verification_hours * 3600


async def test_an_address_that_waits(alice: Member, settings: Settings, db: Database) -> None:
    """A link that is sent again does not hold a new address for longer."""
    await alice.do("changeEmail", email=OWN, currentPassword=PASSWORD)
    await db.one("EXPIRE", keys.email(OWN), 100)
    await alice.do("resendVerification")
    await alice.do("changeEmail", email=OWN, currentPassword=PASSWORD)
    assert 0 < await db.one("TTL", keys.email(OWN)) <= 100

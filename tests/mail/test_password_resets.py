"""Password resets: a link to the member's address, the same answer for every address, and the end of every session."""

import asyncio

import pytest

from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.settings import Settings
from tests.mail.test_verification import STALE, age
from tests.support.mails import sent, to, token_in
from tests.support.people import PASSWORD, Member, contents, log_in, shrunk
from tests.support.probes import two_factor
from tests.support.probes.members import number

NEXT = "quite another password"
ALICES = "alice@example.org"
SESSION = "accessToken viewer { user { login } isEmailVerified }"


async def request(anonymous: Member, services: Services, settings: Settings, address: str = ALICES) -> str:
    """Request a reset, and return the token in the mail."""
    await sent(services, settings)
    assert await anonymous.do("requestPasswordReset", email=address) == {"userErrors": []}
    return token_in(await sent(services, settings), ALICES)


async def test_a_reset(anonymous: Member, alice: Member, services: Services, settings: Settings) -> None:
    """The link sets a password, ends every session, begins a new one and verifies the address; a mail tells it."""
    other = await log_in(anonymous, "alice")
    payload = await anonymous.do(
        "resetPassword", SESSION, token=await request(anonymous, services, settings), newPassword=NEXT
    )
    assert payload["userErrors"] == []
    assert payload["viewer"] == {"user": {"login": "alice"}, "isEmailVerified": True}
    for session in (alice, other):
        assert await session.fail("{ viewer { email } }") == "UNAUTHENTICATED"
    new = Member(anonymous.client, payload["accessToken"])
    assert len((await new.ask("{ viewer { sessions { id } } }"))["sessions"]) == 1
    assert await anonymous.refused("logIn", identifier="alice", password=PASSWORD) == ("WRONG_CREDENTIALS", None)
    assert (await anonymous.do("logIn", identifier="alice", password=NEXT))["userErrors"] == []
    assert to(await sent(services, settings), ALICES)[-1]["Subject"] == "Your password was changed"


async def test_addresses_in_another_case(
    anonymous: Member, alice: Member, services: Services, settings: Settings
) -> None:
    """The mail goes to the address as the member has it."""
    assert await request(anonymous, services, settings, "ALICE@Example.org")


async def test_an_unknown_address(anonymous: Member, alice: Member, services: Services, db: Database) -> None:
    """An unknown address gets the same answer, and leaves no mail and no token."""
    before = await contents(db)
    assert await anonymous.do("requestPasswordReset", email="nobody@example.org") == {"userErrors": []}
    after = await contents(db)
    assert {key for key in after if after[key] != before.get(key)} <= {keys.minted(0)}


async def test_a_malformed_address(anonymous: Member) -> None:
    """A malformed address is refused, because that says nothing about an account."""
    assert await anonymous.refused("requestPasswordReset", email="nobody") == ("INVALID", ["email"])
    assert await anonymous.refused("requestPasswordReset", email=" ") == ("BLANK", ["email"])


async def test_a_link_works_once(anonymous: Member, alice: Member, services: Services, settings: Settings) -> None:
    """Of many simultaneous uses of one token, one succeeds."""
    token = await request(anonymous, services, settings)
    answers = await asyncio.gather(
        *(anonymous.do("resetPassword", token=token, newPassword=f"{NEXT} {i}") for i in range(6))
    )
    assert sorted(len(answer["userErrors"]) for answer in answers) == [0] + [1] * 5


async def test_tokens_that_are_not_valid(
    anonymous: Member, alice: Member, bob: Member, services: Services, settings: Settings, db: Database
) -> None:
    """An expired token, and one replaced by a newer, are refused; so is one of another purpose."""
    first = await request(anonymous, services, settings)
    second = await request(anonymous, services, settings)
    assert await anonymous.refused("resetPassword", token=first, newPassword=NEXT) == STALE
    assert await anonymous.refused("verifyEmail", token=second) == STALE
    swapped = f"{number(bob)}.{second.partition('.')[2]}"
    assert await anonymous.refused("resetPassword", token=swapped, newPassword=NEXT) == STALE
    await age(db, alice)
    assert await anonymous.refused("resetPassword", token=second, newPassword=NEXT) == STALE
    assert (await anonymous.do("logIn", identifier="alice", password=PASSWORD))["userErrors"] == []


async def test_a_weak_password(anonymous: Member, alice: Member, services: Services, settings: Settings) -> None:
    """A weak password is refused, and does not use the token up."""
    token = await request(anonymous, services, settings)
    for weak in ("short", "1234567890", ALICES):
        refused = await anonymous.refused("resetPassword", token=token, newPassword=weak)
        assert refused == ("WEAK_PASSWORD", ["newPassword"])
    assert (await anonymous.do("resetPassword", token=token, newPassword=NEXT))["userErrors"] == []


async def test_a_changed_password_ends_the_link(
    anonymous: Member, alice: Member, services: Services, settings: Settings
) -> None:
    """A member who changes the password makes an open link stop working."""
    token = await request(anonymous, services, settings)
    await alice.do("changePassword", currentPassword=PASSWORD, newPassword="yet another password")
    assert await anonymous.refused("resetPassword", token=token, newPassword=NEXT) == STALE


async def test_a_second_factor(
    anonymous: Member, alice: Member, services: Services, settings: Settings, db: Database
) -> None:
    """A member with a second factor needs a code, too; without a right one, the token works on."""
    app = await two_factor.enabled(alice, db)
    token = await request(anonymous, services, settings)
    fields = {"token": token, "newPassword": NEXT}
    assert await anonymous.refused("resetPassword", **fields) == two_factor.NO_CODE
    assert await anonymous.refused("resetPassword", **fields, code="000000") == two_factor.WRONG_CODE
    answers = await asyncio.gather(*(anonymous.do("resetPassword", **fields, code=app.code()) for _ in range(4)))
    assert sorted(len(answer["userErrors"]) for answer in answers) == [0, 1, 1, 1]
    assert await anonymous.refused("resetPassword", **fields, code=app.recovery_codes[0]) == STALE


class TestLimits:
    """Limits on requests."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, rate_limit=10_000, reset_requests_per_hour=6)

    @pytest.mark.usefixtures("alice")
    async def test_one_mail_an_hour(self, anonymous: Member, services: Services, settings: Settings) -> None:
        """However often it is requested, an address gets one mail an hour, and the answers are the same."""
        await sent(services, settings)
        for address in (ALICES, "nobody@example.org"):
            answers = [await anonymous.do("requestPasswordReset", email=address) for _ in range(3)]
            assert answers == [{"userErrors": []}] * 3
        mails = [mail for mail in await sent(services, settings) if mail["Subject"] == "A new password"]
        assert [mail["To"] for mail in mails] == [ALICES]
        query = 'mutation { requestPasswordReset(input: { email: "x@example.org" }) { userErrors { code } } }'
        assert await anonymous.fail(query) == "RATE_LIMITED"

"""Verified addresses: links that work once, for a while, for their member and their address alone."""

import asyncio

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.settings import Settings
from tests.support.mails import sent, to, token_in
from tests.support.people import PASSWORD, Member, contents, shrunk
from tests.support.probes.accounts import VIEWER
from tests.support.probes.members import number
from tests.support.stored import find
from tests.support.work import work_off

STALE = ("INVALID", ["token"])
VERIFIED = "{ viewer { isEmailVerified } }"
NEW = "alicia@example.net"


async def age(db: Database, member: Member) -> None:
    """Let every token of a member expire."""
    key = keys.mail_tokens(number(member))
    for purpose, text in dict(zip(*[iter(await db.one("HGETALL", key))] * 2, strict=True)).items():
        await db.one("HSET", key, purpose, text.replace('"expires":1', '"expires":0.1'))


async def test_sign_up_is_verified_by_a_link(
    anonymous: Member, alice: Member, services: Services, settings: Settings
) -> None:
    """A new member is not verified until the link in the mail is followed, with or without a session."""
    assert (await alice.ask(VERIFIED)) == {"isEmailVerified": False}
    token = token_in(await sent(services, settings), "alice@example.org")
    assert (await anonymous.do("verifyEmail", "viewer { id }", token=token)) == {"viewer": None, "userErrors": []}
    assert (await alice.ask(VERIFIED)) == {"isEmailVerified": True}


async def test_a_link_works_once(alice: Member, services: Services, settings: Settings, db: Database) -> None:
    """A used token is refused, and changes nothing."""
    token = token_in(await sent(services, settings), "alice@example.org")
    await alice.do("verifyEmail", token=token)
    before = await contents(db)
    assert await alice.refused("verifyEmail", token=token) == STALE
    assert await contents(db) == before


async def test_a_link_used_at_once_by_many(alice: Member, services: Services, settings: Settings) -> None:
    """Of many simultaneous uses of one token, one succeeds."""
    token = token_in(await sent(services, settings), "alice@example.org")
    answers = await asyncio.gather(*(alice.do("verifyEmail", token=token) for _ in range(10)))
    assert sorted(len(answer["userErrors"]) for answer in answers) == [0] + [1] * 9


async def test_tokens_that_are_not_valid(
    alice: Member, bob: Member, services: Services, settings: Settings, db: Database
) -> None:
    """Forged, expired, replaced and swapped tokens get one answer, and change nothing."""
    mails = await sent(services, settings)
    token, bobs = token_in(mails, "alice@example.org"), token_in(mails, "bob@example.org")
    secret = token.partition(".")[2]
    forged = ["", " ", "x" * 5000, token[:-1], token + "x", f"{number(bob)}.{secret}", f"99.{secret}", f"0.{secret}"]
    forged += [f"{number(alice)}.{bobs.partition('.')[2]}", token[:-1] + ("A" if token[-1] != "A" else "B")]
    before = await contents(db)
    for one in forged:
        assert await alice.refused("verifyEmail", token=one) == STALE
        assert await alice.refused("resetPassword", token=one, newPassword="quite another password") == STALE
    assert await alice.refused("resetPassword", token=token, newPassword="quite another password") == STALE
    assert await contents(db) == before
    await alice.do("resendVerification")
    assert await alice.refused("verifyEmail", token=token) == STALE
    await sent(services, settings)
    await age(db, bob)
    assert await bob.refused("verifyEmail", token=bobs) == STALE
    assert (await bob.ask(VERIFIED)) == {"isEmailVerified": False}


async def test_the_old_address_is_told(alice: Member, services: Services, settings: Settings) -> None:
    """After a change of address, a mail to the old one says so, without naming the new one."""
    await alice.do("changeEmail", email=NEW, currentPassword=PASSWORD)
    await alice.do("verifyEmail", token=token_in(await sent(services, settings), NEW))
    (told,) = [mail for mail in await sent(services, settings) if mail["Subject"] == "Your address was changed"]
    assert told["To"] == "alice@example.org"
    assert NEW not in told.as_string()


async def test_a_changed_password_is_told(alice: Member, services: Services, settings: Settings) -> None:
    """After a change of password, a mail to the member says so."""
    await alice.do("changePassword", currentPassword=PASSWORD, newPassword="quite another password")
    mails = to(await sent(services, settings), "alice@example.org")
    assert mails[-1]["Subject"] == "Your password was changed"
    assert "token" not in mails[-1].as_string()


async def test_an_address_that_waits_is_taken(alice: Member, bob: Member, services: Services, db: Database) -> None:
    """Nobody else gets an address that waits to be verified; asking for another one frees it."""
    await alice.do("changeEmail", email=NEW, currentPassword=PASSWORD)
    fields = {"email": NEW.upper(), "currentPassword": PASSWORD}
    assert await bob.refused("changeEmail", **fields) == ("TAKEN", ["email"])
    await alice.do("changeEmail", email="other@example.net", currentPassword=PASSWORD)
    assert (await bob.do("changeEmail", **fields))["userErrors"] == []
    await alice.do("changeEmail", email="alice@example.org", currentPassword=PASSWORD)
    assert keys.email("other@example.net") not in await find(db, "email:*")


async def test_an_unfollowed_link_changes_nothing(
    anonymous: Member, alice: Member, services: Services, settings: Settings, db: Database
) -> None:
    """Once the link has expired, the old address stays and the new one is free for others."""
    await alice.do("changeEmail", email=NEW, currentPassword=PASSWORD)
    token = token_in(await sent(services, settings), NEW)
    await age(db, alice)
    assert await alice.refused("verifyEmail", token=token) == STALE
    assert (await alice.ask("{ viewer { email } }")) == {"email": "alice@example.org"}
    assert 0 < await db.one("TTL", keys.email(NEW)) <= 24 * 3600 + settings.reservation_seconds


async def test_an_address_lost_while_it_waited(
    alice: Member, bob: Member, services: Services, settings: Settings, db: Database
) -> None:
    """A link whose address belongs to somebody else by now is refused."""
    await alice.do("changeEmail", email=NEW, currentPassword=PASSWORD)
    token = token_in(await sent(services, settings), NEW)
    await db.one("SET", keys.email(NEW), number(bob))
    assert await alice.refused("verifyEmail", token=token) == STALE
    assert (await alice.ask("{ viewer { email } }")) == {"email": "alice@example.org"}


async def test_resending_to_a_verified_member(alice: Member, services: Services, settings: Settings) -> None:
    """Without an address to verify, asking for the link again changes nothing and is no error."""
    await alice.do("verifyEmail", token=token_in(await sent(services, settings), "alice@example.org"))
    count = len(await sent(services, settings))
    assert (await alice.do("resendVerification", VIEWER))["viewer"]["email"] == "alice@example.org"
    assert len(await sent(services, settings)) == count


async def test_a_mail_whose_link_was_replaced(alice: Member, services: Services, settings: Settings) -> None:
    """A mail that waits is dropped when its link does not work any more."""
    for _ in range(3):
        await alice.do("resendVerification")
    assert len(await sent(services, settings)) == 1


async def test_deletion_frees_an_address_that_waits(
    anonymous: Member, alice: Member, db: Database, worker: Worker
) -> None:
    """A deleted account leaves neither tokens nor mails, and the address that waited is free."""
    await alice.do("changeEmail", email=NEW, currentPassword=PASSWORD)
    await alice.do("deleteAccount", password=PASSWORD)
    await work_off(db, worker)
    assert await find(db, "email:*") == []
    assert await find(db, "mail*") == await find(db, "outbox:*") == []


@pytest.mark.parametrize("login", ["alice"])
async def test_names_are_not_in_mails(anonymous: Member, services: Services, settings: Settings, login: str) -> None:
    """A display name with line breaks, headers or links reaches no mail."""
    name = "Bcc: all@example.org http://evil.example"
    fields = {"login": login, "email": "alice@example.org", "password": PASSWORD}
    for bad in ("A\r\nBcc: all@example.org", "A\nSubject: x"):
        assert (await anonymous.do("signUp", name=bad, **fields))["userErrors"][0]["field"] == ["name"]
    await anonymous.do("signUp", name=name, **fields)
    (mail,) = await sent(services, settings)
    assert "evil" not in mail.as_string()
    assert mail["Bcc"] is None


@pytest.mark.parametrize("address", ["a@b.example\r\nBcc: c@d.example", "a@b.example\nX: y", '"a\r\nb"@c.example'])
async def test_addresses_with_line_breaks(alice: Member, db: Database, address: str) -> None:
    """An address with a line break inside is refused, and changes nothing."""
    before = await contents(db)
    assert await alice.refused("changeEmail", email=address, currentPassword=PASSWORD) == ("INVALID", ["email"])
    assert await contents(db) == before


class TestLimit:
    """Limits on verification mails."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, rate_limit=10_000, verification_mails_per_hour=2)

    async def test_links_are_limited(self, alice: Member) -> None:
        """Beyond the limit, asking for a link is refused, with the time when it ends."""
        answers = [await alice.do("resendVerification") for _ in range(3)]
        assert [len(answer["userErrors"]) for answer in answers] == [0, 0, 1]
        assert answers[2]["userErrors"][0]["code"] == "LIMIT_REACHED"
        assert "try again in" in answers[2]["userErrors"][0]["message"]


class TestRequired:
    """REQUIRE_VERIFIED_EMAIL."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, require_verified_email=True)

    async def test_an_unverified_member_may_only_read(
        self, alice: Member, services: Services, settings: Settings
    ) -> None:
        """Until the address is verified, the member reads and manages the account; every other change is refused."""
        assert await alice.refused("post", text="hello") == ("NOT_ALLOWED", None)
        assert await alice.refused("updateProfile", name="Alice the second") == ("NOT_ALLOWED", None)
        assert await alice.home() == []
        await alice.do("verifyEmail", token=token_in(await sent(services, settings), "alice@example.org"))
        assert await alice.post("hello")

"""E-mail addresses that change, and the token that mutations of a member need."""

import asyncio
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import account_names, accounts, jobs, keys
from store.client.database import Database
from store.keys.fields import CredentialsField
from store.refusals import accepted
from store.settings import Settings
from tests.support.mails import sent, token_in
from tests.support.people import PASSWORD, Member, contents
from tests.support.probes.accounts import BAD_EMAILS, MEMBER, VIEWER, form, rows, samples
from tests.support.probes.members import ABSENT, LASTING, life, number, refusals
from tests.support.stored import find


async def change(member: Member, services: Services, settings: Settings, address: str) -> None:
    """Change a member's address, and follow the link in the mail."""
    payload = await member.do("changeEmail", VIEWER, email=address, currentPassword=PASSWORD)
    assert payload["userErrors"] == []
    mails = await sent(services, settings)
    assert (await member.do("verifyEmail", token=token_in(mails, address)))["userErrors"] == []


async def test_change_email(
    anonymous: Member, alice: Member, services: Services, settings: Settings, db: Database
) -> None:
    """Once the link is followed the address changes for good: the new one logs in, the old one doesn't."""
    payload = await alice.do("changeEmail", VIEWER, email=" Alicia@EXAMPLE.net ", currentPassword=PASSWORD)
    assert payload["userErrors"] == []
    assert payload["viewer"]["email"] == "alice@example.org"
    assert (await anonymous.do("logIn", MEMBER, identifier="alice@example.org", password=PASSWORD))["viewer"]
    mails = await sent(services, settings)
    verified = await alice.do("verifyEmail", VIEWER, token=token_in(mails, "Alicia@example.net"))
    assert verified["viewer"]["email"] == "Alicia@example.net"
    assert (await alice.ask("{ viewer { email isEmailVerified } }")) == {
        "email": "Alicia@example.net",
        "isEmailVerified": True,
    }
    assert await life(db, keys.email("alicia@example.net")) == LASTING
    assert await life(db, keys.email("alice@example.org")) == ABSENT
    new = await anonymous.do("logIn", MEMBER, identifier="alicia@example.NET", password=PASSWORD)
    assert new["viewer"]["user"]["id"] == alice.id
    old = await anonymous.do("logIn", MEMBER, identifier="alice@example.org", password=PASSWORD)
    assert refusals(old) == [(None, "WRONG_CREDENTIALS")]


@pytest.mark.parametrize(
    ("field", "text", "code"),
    [
        *samples("email", BAD_EMAILS),
        *rows("email", [("bob@example.org", "TAKEN"), ("BOB@Example.org", "TAKEN")]),
        *rows("currentPassword", [(text, "WRONG_CREDENTIALS") for text in ("", "wrong password", PASSWORD.upper())]),
        *rows("currentPassword", [("01" * 600, "WRONG_CREDENTIALS")]),
    ],
)
@pytest.mark.usefixtures("bob")
async def test_change_email_refuses(alice: Member, db: Database, field: str, text: str, code: str) -> None:
    """A wrong password, a malformed address and another member's address change nothing."""
    before = await contents(db)
    right = {"email": "alicia@example.org", "currentPassword": PASSWORD}
    payload = await alice.do("changeEmail", VIEWER, **{**right, field: text})
    assert refusals(payload) == [(field, code)]
    assert await contents(db) == before


async def test_an_address_in_another_case(
    anonymous: Member, alice: Member, services: Services, settings: Settings, db: Database
) -> None:
    """A change of case alone releases no address."""
    await change(alice, services, settings, "ALICE@example.org")
    assert (await alice.ask("{ viewer { email } }"))["email"] == "ALICE@example.org"
    assert await life(db, keys.email("alice@example.org")) == LASTING
    assert await find(db, "email:*") == [keys.email("alice@example.org")]
    assert refusals(await anonymous.do("signUp", MEMBER, **form(email="alice@example.org"))) == [("email", "TAKEN")]
    assert (await anonymous.do("logIn", MEMBER, identifier="alice@example.org", password=PASSWORD))["viewer"]


async def test_the_address_they_have(alice: Member, db: Database) -> None:
    """Asking for one's present address changes nothing and is no error."""
    before = await contents(db)
    payload = await alice.do("changeEmail", VIEWER, email="alice@example.org", currentPassword=PASSWORD)
    assert payload["viewer"]["email"] == "alice@example.org"
    assert await contents(db) == before


async def test_a_crash_while_an_address_changes_is_finished(alice: Member, db: Database, worker: Worker) -> None:
    """After the change is committed, the worker makes the new address permanent and frees the old one."""
    new, old = "alicia@example.org", "alice@example.org"
    assert await account_names.reserve(db, keys.email(new), number(alice))
    job = accepted(
        await accounts.update(db, number(alice), credentials={CredentialsField.EMAIL: new}, names={"email": new})
    )
    assert job
    await jobs.hand_over(db, job)
    assert await worker.run_once() == 1
    assert [await life(db, keys.email(address)) for address in (new, old)] == [LASTING, ABSENT]


async def test_addresses_changed_at_once(alice: Member, services: Services, settings: Settings, db: Database) -> None:
    """Of many simultaneous changes one is the last: its address alone waits, and takes effect. All others are free."""
    wanted = [f"alice{i}@example.org" for i in range(12)]
    await asyncio.gather(*(alice.do("changeEmail", email=a, currentPassword=PASSWORD) for a in wanted))
    (waiting,) = set(await find(db, "email:*")) - {keys.email("alice@example.org")}
    address = waiting.removeprefix("email:{").removesuffix("}")
    mails = await sent(services, settings)
    assert (await alice.do("verifyEmail", token=token_in(mails, address)))["userErrors"] == []
    assert await find(db, "email:*") == [keys.email(address)]
    assert await life(db, keys.email(address)) == LASTING


@pytest.mark.parametrize(
    ("mutation", "fields"),
    [
        ("updateProfile", {"name": "Nobody"}),
        ("changeEmail", {"email": "nobody@example.org", "currentPassword": PASSWORD}),
        ("changePassword", {"currentPassword": PASSWORD, "newPassword": "another password"}),
        ("logOut", {"everywhere": True}),
    ],
)
@pytest.mark.usefixtures("alice")
async def test_what_takes_a_member(anonymous: Member, db: Database, mutation: str, fields: dict[str, Any]) -> None:
    """Mutations of a member are UNAUTHENTICATED without a token, and write nothing."""
    before = await contents(db)
    kind = mutation[0].upper() + mutation[1:] + "Input"
    query = f"mutation($input: {kind}!) {{ {mutation}(input: $input) {{ userErrors {{ code }} }} }}"
    assert await anonymous.fail(query, input=fields) == "UNAUTHENTICATED"
    assert await contents(db) == before

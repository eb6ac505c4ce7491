"""The second factor: turning it on and off, and the codes that log-ins then need."""

import asyncio
import time
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest

from resolvers.process import one_time_codes
from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from tests.support.people import PASSWORD, Member, contents
from tests.support.probes import sessions
from tests.support.probes.members import number
from tests.support.probes.sessions import NEW_PASSWORD, is_signed_in, session_of, suspend
from tests.support.probes.two_factor import NO_CODE, STATE, WRONG_CODE, begin, enabled, log_in, pass_steps

OFF, ON = ({"isTwoFactorEnabled": on, "recoveryCodesLeft": 10 * on} for on in (False, True))
OK = ("OK", None)


async def test_turn_it_on(anonymous: Member, alice: Member) -> None:
    """After a code of the app has confirmed the secret, the member has a second factor and ten recovery codes."""
    assert await alice.ask(f"{{ {STATE} }}") == OFF
    app = await begin(alice)
    assert await alice.ask(f"{{ {STATE} }}") == OFF
    assert await log_in(anonymous) == OK
    payload = await alice.do("confirmTwoFactor", f"recoveryCodes {STATE}", code=app.code())
    assert payload["viewer"] == ON
    assert len(set(payload["recoveryCodes"])) == 10
    assert await log_in(anonymous) == NO_CODE


async def test_the_uri(alice: Member) -> None:
    """The URI names the site, the login and the secret, as authenticator apps expect."""
    payload = await alice.do("enableTwoFactor", "secret uri", password=PASSWORD)
    uri = urlsplit(payload["uri"])
    assert (uri.scheme, uri.netloc, uri.path) == ("otpauth", "totp", "/Perch:alice")
    assert parse_qs(uri.query) == {"secret": [payload["secret"]], "issuer": ["Perch"]}
    assert len(payload["secret"]) == 32


async def test_it_ends_other_sessions(anonymous: Member, alice: Member, bob: Member) -> None:
    """Turning it on ends the sessions that a password alone has opened, except the one that asks."""
    phone = await sessions.log_in(anonymous, "alice")
    app = await begin(alice)
    assert await is_signed_in(phone)
    await alice.do("confirmTwoFactor", code=app.code())
    assert [await is_signed_in(one) for one in (alice, phone, bob)] == [True, False, True]


async def test_log_in_with_a_code(anonymous: Member, alice: Member, db: Database) -> None:
    """The right password and the code of now, typed with spaces or hyphens, open a session."""
    app = await enabled(alice, db)
    for spell in (lambda code: code, lambda code: f" {code[:3]} {code[3:]} ", lambda code: f"{code[:3]}-{code[3:]}"):
        assert await log_in(anonymous, spell(app.code())) == OK
        await pass_steps(db, alice)


@pytest.mark.parametrize("code", [None, "", "  "])
async def test_log_in_without_a_code(anonymous: Member, alice: Member, db: Database, code: str | None) -> None:
    """Without a code the right password opens no session, and the refusal says that a code is needed."""
    await enabled(alice, db)
    before = await contents(db)
    assert await log_in(anonymous, code) == NO_CODE
    assert await contents(db) == before


async def test_a_wrong_password_tells_nothing(anonymous: Member, alice: Member, db: Database) -> None:
    """With a wrong password, nothing tells whether the member has a second factor or the code is right."""
    app = await enabled(alice, db)
    for code in (None, "000000", app.code(), app.recovery_codes[0]):
        assert await log_in(anonymous, code, password="wrong password") == ("WRONG_CREDENTIALS", None)
    assert await log_in(anonymous, app.code()) == OK
    assert await log_in(anonymous, app.recovery_codes[0]) == OK


@pytest.mark.usefixtures("alice")
async def test_a_code_that_is_not_needed(anonymous: Member) -> None:
    """A member without a second factor logs in with any code."""
    for code in ("123456", "nonsense"):
        assert await log_in(anonymous, code) == OK


@pytest.mark.parametrize(
    "code",
    ["000000", "12345", "1234567", "abcdef", "x" * 10_000, "\u0661\u0662\u0663\u0664\u0665\u0666", "\0", "a" * 16],
)
async def test_wrong_codes(anonymous: Member, alice: Member, db: Database, code: str) -> None:
    """A code that is wrong, or none at all, is refused."""
    app = await enabled(alice, db)
    if code not in {app.code(-30), app.code(), app.code(30)}:
        assert await log_in(anonymous, code) == WRONG_CODE


async def test_codes_outside_their_time(
    anonymous: Member, alice: Member, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codes of the step before, this and the next one are accepted, and those of no other step."""
    app = await enabled(alice, db)
    now = time.time()
    monkeypatch.setattr(one_time_codes, "time", SimpleNamespace(time=lambda: now))
    for seconds in (-3600, -60, 60, 3600):
        assert await log_in(anonymous, app.code(seconds, now)) == WRONG_CODE
    for seconds in (-30, 0, 30):
        assert await log_in(anonymous, app.code(seconds, now)) == OK


async def test_a_code_works_once(anonymous: Member, alice: Member, db: Database) -> None:
    """A code that has opened a session opens no other, nor does one of an earlier step, and the next one does."""
    app = await enabled(alice, db)
    code, earlier, later = app.code(), app.code(-30), app.code(30)
    assert await log_in(anonymous, code) == OK
    assert await log_in(anonymous, code) == WRONG_CODE
    assert await log_in(anonymous, earlier) == WRONG_CODE
    assert await log_in(anonymous, later) == OK


async def test_the_confirming_code_works_once(anonymous: Member, alice: Member) -> None:
    """The code that turned it on opens no session."""
    app = await begin(alice)
    code = app.code()
    await alice.do("confirmTwoFactor", code=code)
    assert await log_in(anonymous, code) == WRONG_CODE


@pytest.mark.parametrize("kind", ["app", "recovery"])
async def test_a_code_used_twice_at_once(anonymous: Member, alice: Member, db: Database, kind: str) -> None:
    """Of several log-ins with one code at the same moment, exactly one succeeds."""
    app = await enabled(alice, db)
    code = app.code() if kind == "app" else app.recovery_codes[3]
    outcomes = await asyncio.gather(*(log_in(anonymous, code) for _ in range(5)))
    assert sorted(outcomes, key=str) == [OK, *[WRONG_CODE] * 4]


async def test_recovery_codes(anonymous: Member, alice: Member, db: Database) -> None:
    """Each recovery code, in any case and with or without hyphens, replaces a code of the app once."""
    app = await enabled(alice, db)
    spelt = [app.recovery_codes[0], app.recovery_codes[1].upper(), app.recovery_codes[2].replace("-", " ")]
    for used, code in enumerate(spelt, 1):
        assert await log_in(anonymous, code) == OK
        assert await log_in(anonymous, code) == WRONG_CODE
        assert (await alice.ask(f"{{ {STATE} }}"))["recoveryCodesLeft"] == 10 - used
    for code in app.recovery_codes[3:]:
        assert await log_in(anonymous, code) == OK
    assert await alice.ask(f"{{ {STATE} }}") == {"isTwoFactorEnabled": True, "recoveryCodesLeft": 0}
    assert await log_in(anonymous, app.code()) == OK


async def test_codes_of_another_member(anonymous: Member, alice: Member, bob: Member, db: Database) -> None:
    """Neither the app nor the recovery codes of another member open a session."""
    await enabled(alice, db)
    other = await enabled(bob, db)
    for code in (other.code(), other.recovery_codes[0]):
        assert await log_in(anonymous, code) == WRONG_CODE


# ------------------------------------------------------------ turning it on: refusals


async def test_enable_with_a_wrong_password(alice: Member, db: Database) -> None:
    """A wrong password gets no secret and changes nothing."""
    before = await contents(db)
    assert await alice.refused("enableTwoFactor", password="wrong") == ("WRONG_CREDENTIALS", ["password"])
    assert await contents(db) == before


async def test_enable_again(alice: Member, db: Database) -> None:
    """While it is on, no new secret is given: a stolen password must not replace the app."""
    app = await enabled(alice, db)
    assert await alice.refused("enableTwoFactor", password=PASSWORD) == ("NOT_ALLOWED", None)
    assert await alice.refused("confirmTwoFactor", code=app.code()) == ("NOT_ALLOWED", None)


async def test_a_new_secret_before_the_first_is_confirmed(alice: Member) -> None:
    """Only the newest secret can be confirmed."""
    first, second = await begin(alice), await begin(alice)
    assert first.secret != second.secret
    assert await alice.refused("confirmTwoFactor", code=first.code()) == WRONG_CODE
    assert (await alice.do("confirmTwoFactor", STATE, code=second.code()))["viewer"] == ON


async def test_confirm_nothing(alice: Member) -> None:
    """Without a secret there is nothing to confirm."""
    assert await alice.refused("confirmTwoFactor", code="123456") == ("NOT_ALLOWED", None)


async def test_confirm_with_a_wrong_code(anonymous: Member, alice: Member) -> None:
    """A wrong code leaves the second factor off, and a recovery code confirms nothing."""
    app = await begin(alice)
    for code in ("", "abcdef", app.code(3600), "abcd-efgh-ijkl-mnop"):
        assert await alice.refused("confirmTwoFactor", code=code) == WRONG_CODE
    assert await log_in(anonymous) == OK


async def test_confirm_twice_at_once(alice: Member) -> None:
    """Of two confirmations at the same moment one gives recovery codes, and these are the ones that count."""
    app = await begin(alice)
    code = app.code()
    payloads = await asyncio.gather(*(alice.do("confirmTwoFactor", "recoveryCodes", code=code) for _ in range(2)))
    assert sorted(bool(payload["recoveryCodes"]) for payload in payloads) == [False, True]
    assert await alice.ask(f"{{ {STATE} }}") == ON


# ------------------------------------------------------------ turning it off


async def test_turn_it_off(anonymous: Member, alice: Member, db: Database) -> None:
    """Password and code turn it off, and nothing of it is left; doing that twice is no error."""
    app = await enabled(alice, db)
    payload = await alice.do("disableTwoFactor", STATE, password=PASSWORD, code=app.code())
    assert payload == {"viewer": OFF, "userErrors": []}
    assert sorted(await db.one("HKEYS", keys.credentials(number(alice)))) == [
        "email",
        "password",
        "role",
        "verified",
    ]
    assert await log_in(anonymous) == OK
    again = await alice.do("disableTwoFactor", STATE, password=PASSWORD, code=app.code())
    assert again == {"viewer": OFF, "userErrors": []}


async def test_turn_it_off_with_a_recovery_code(alice: Member, db: Database) -> None:
    """A recovery code turns it off, too, for a member whose app is lost."""
    app = await enabled(alice, db)
    payload = await alice.do("disableTwoFactor", STATE, password=PASSWORD, code=app.recovery_codes[0])
    assert payload["viewer"] == OFF


async def test_turn_it_off_without_proof(alice: Member, db: Database) -> None:
    """Without the right password and a right, unused code it stays on."""
    app = await enabled(alice, db)
    before = await contents(db)
    wrong = await alice.refused("disableTwoFactor", password="wrong", code=app.code())
    assert wrong == ("WRONG_CREDENTIALS", ["password"])
    assert await alice.refused("disableTwoFactor", password=PASSWORD, code="") == NO_CODE
    assert await alice.refused("disableTwoFactor", password=PASSWORD, code=app.code(3600)) == WRONG_CODE
    assert await contents(db) == before


async def test_a_code_that_logged_in_does_not_turn_it_off(anonymous: Member, alice: Member, db: Database) -> None:
    """A code that somebody has seen being used does not turn it off."""
    app = await enabled(alice, db)
    code = app.code()
    assert await log_in(anonymous, code) == OK
    assert await alice.refused("disableTwoFactor", password=PASSWORD, code=code) == WRONG_CODE


# ------------------------------------------------------------ what it leaves alone


async def test_other_mutations_need_no_code(anonymous: Member, alice: Member, db: Database) -> None:
    """Refreshes, a new password and the deletion of the account work as without it, and a new password keeps it."""
    await enabled(alice, db)
    renewed = await sessions.refresh(anonymous, alice.refresh_token)
    assert renewed["userErrors"] == []
    payload = await alice.do("changePassword", STATE, currentPassword=PASSWORD, newPassword=NEW_PASSWORD)
    assert payload["viewer"] == ON
    assert await log_in(anonymous, password=NEW_PASSWORD) == NO_CODE
    assert (await alice.do("deleteAccount", password=NEW_PASSWORD))["userErrors"] == []


async def test_suspended_members(services: Services, anonymous: Member, alice: Member) -> None:
    """A suspended member may protect their account."""
    await suspend(services, alice)
    again = await sessions.log_in(anonymous, "alice")
    app = await begin(again)
    assert (await again.do("confirmTwoFactor", STATE, code=app.code()))["viewer"] == ON
    assert session_of(again)


async def test_the_store_does_not_know_the_secret(alice: Member, db: Database) -> None:
    """Neither the secret nor a recovery code is in the store."""
    app = await enabled(alice, db)
    stored = str(await contents(db))
    for secret in (app.secret, *app.recovery_codes, *(code.replace("-", "") for code in app.recovery_codes)):
        assert secret not in stored

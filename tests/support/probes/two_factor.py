"""Helpers of tests of the second factor: an authenticator app, and time that passes."""

import time
from dataclasses import dataclass, field
from typing import Any

import pyotp

from store import keys
from store.client.database import Database
from store.keys.fields import CredentialsField
from tests.support.people import PASSWORD, Member
from tests.support.probes.members import number

WRONG_CODE = ("WRONG_CREDENTIALS", ["code"])
NO_CODE = ("BLANK", ["code"])
STATE = "viewer { isTwoFactorEnabled recoveryCodesLeft }"
LOG_IN = """mutation($input: LogInInput!) {
  logIn(input: $input) { accessToken deviceToken userErrors { code field message } }
}"""


@dataclass
class App:
    """An authenticator app that has a member's secret, and the recovery codes that the member wrote down."""

    secret: str
    recovery_codes: list[str] = field(default_factory=list)

    def code(self, seconds: int = 0, now: float | None = None) -> str:
        """Return the code of now, or of some seconds later."""
        return pyotp.TOTP(self.secret).at(int(time.time() if now is None else now) + seconds)


async def begin(member: Member) -> App:
    """Ask for a secret, which is still to be confirmed."""
    payload = await member.do("enableTwoFactor", "secret uri", password=PASSWORD)
    assert payload["userErrors"] == []
    assert pyotp.parse_uri(payload["uri"]).secret == payload["secret"]
    return App(payload["secret"])


async def verify(member: Member, db: Database) -> None:
    """Verify a member's address."""
    await db.one("HSET", keys.credentials(number(member)), CredentialsField.VERIFIED, "1")


async def enabled(member: Member, db: Database) -> App:
    """Turn the second factor on, some time ago: the code of now is not used. The address is verified for it."""
    await verify(member, db)
    app = await begin(member)
    payload = await member.do("confirmTwoFactor", "recoveryCodes", code=app.code())
    assert payload["userErrors"] == []
    app.recovery_codes = payload["recoveryCodes"]
    await pass_steps(db, member)
    return app


async def pass_steps(db: Database, member: Member, steps: int = 3) -> None:
    """Make the newest accepted code older."""
    await db.one("HINCRBY", keys.credentials(number(member)), CredentialsField.TOTP_STEP, -steps)


async def log_in(client: Member, code: str | None = None, **fields: Any) -> tuple[str, Any]:
    """Try to log in as alice; returns OK or the error's code, and its field."""
    given = {"identifier": "alice", "password": PASSWORD, "code": code, **fields}
    answer = await client.send(LOG_IN, input=given)
    if "errors" in answer:
        return answer["errors"][0]["extensions"]["code"], None
    payload = answer["data"]["logIn"]
    assert bool(payload["accessToken"]) != bool(payload["userErrors"])
    for error in payload["userErrors"]:
        return error["code"], error["field"]
    return "OK", None

"""Codes of the second factor: those of authenticator apps (TOTP, RFC 6238), and recovery codes."""

import base64
import hmac
import re
import secrets
import time

import pyotp

from resolvers.process.tokens import ISSUER, digest
from store.credentials.records import Credentials
from store.credentials.two_factor import NO_PROOF, Proof
from store.secret import Secret

STEP_SECONDS = 30  # one code lasts as long
STEPS_AROUND = 1  # codes of so many steps before and after are accepted: clocks differ, and typing takes time
RECOVERY_CODES = 10
_SECRET_BYTES = 20  # as many as RFC 4226 §4 recommends
_SALT_BYTES = 9
_RECOVERY_BYTES = 10  # 80 bits, 16 characters: too many to guess even from the digest
_RECOVERY_GROUP = 4  # characters between two hyphens
_PURPOSE = "two-factor secret:"  # part of the signed text, so that no other signature is a secret
_LEFT_OUT = re.compile(r"[\s-]")
_TYPED = re.compile(r"[0-9]{6}|[a-z2-7]{16}", re.ASCII)


def new_salt() -> str:
    """Return a salt for a new secret."""
    return secrets.token_urlsafe(_SALT_BYTES)


def new_recovery_codes() -> list[Secret]:
    """Return new recovery codes, such as `abcd-efgh-ijkl-mnop`."""
    return [_recovery_code() for _ in range(RECOVERY_CODES)]


def _recovery_code() -> Secret:
    text = base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower()
    return Secret("-".join(text[i : i + _RECOVERY_GROUP] for i in range(0, len(text), _RECOVERY_GROUP)))


def recovery_digest(member: int, code: Secret) -> str:
    """Return the digest under which a member's recovery code is stored."""
    return digest(f"{member} {_normal(code)}")


class OneTimeCodes:
    """Derives the secrets of members from the process's own, and checks codes."""

    def __init__(self, secret_key: str) -> None:
        self._key = secret_key.encode()

    def secret(self, member: int, salt: str) -> Secret:
        """Return the secret that a member's app needs, in base32."""
        mac = hmac.digest(self._key, f"{_PURPOSE}{member} {salt}".encode(), "sha256")
        return Secret(base64.b32encode(mac[:_SECRET_BYTES]).decode())

    def uri(self, member: int, salt: str, login: str) -> Secret:
        """Return the `otpauth:` URI of a secret, which apps read from a QR code."""
        return Secret(self._app(member, salt).provisioning_uri(name=login, issuer_name=ISSUER.title()))

    def step(self, member: int, salt: str, code: Secret) -> int:
        """Return the time step of a code of the app, 0 if the code is wrong or not of this time."""
        typed, app, now = _normal(code), self._app(member, salt), int(time.time()) // STEP_SECONDS
        for step in range(now - STEPS_AROUND, now + STEPS_AROUND + 1):
            if hmac.compare_digest(app.generate_otp(step), typed):
                return step
        return 0

    def check(self, member: int, found: Credentials, code: Secret) -> Proof:
        """Return the proof that a code gives; NO_PROOF if it is wrong, not of this time or used already."""
        recovery = recovery_digest(member, code)
        if recovery in found.recovery_codes:
            return Proof(found.totp_salt, recovery=recovery)
        step = self.step(member, found.totp_salt, code)
        return Proof(found.totp_salt, step) if step > found.totp_step else NO_PROOF

    def _app(self, member: int, salt: str) -> pyotp.TOTP:
        return pyotp.TOTP(self.secret(member, salt).reveal(), interval=STEP_SECONDS)


def _normal(code: Secret) -> str:
    """Return a code as it is checked, without spaces and hyphens, in lower case; "" if it is no code."""
    text = _LEFT_OUT.sub("", code.reveal()).lower()
    return text if _TYPED.fullmatch(text) else ""

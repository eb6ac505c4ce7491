"""The second factor: a secret shared with an authenticator app, and recovery codes.

The store has a salt, from which only a process that knows `SECRET_KEY` derives the secret. Recovery codes are stored as
digests. All of it lies in the member's credentials.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from store import keys
from store.client.database import Database
from store.keys.fields import CredentialsField
from store.refusals import Refusal, refused
from store.secret import Secret


class Proof(Struct, frozen=True):
    """A code that was found right. The script that commits what it allows checks it again, and uses it up."""

    salt: str = ""  # of the secret that the code was checked with; "" without a code
    step: int = 0  # time step of the code; 0 for a recovery code
    recovery: str = ""  # digest of a recovery code

    def arguments(self) -> dict[str, int | str]:
        """Return the script parameters that carry the proof."""
        return {"code_salt": self.salt, "code_step": self.step, "recovery_code": self.recovery}


NO_PROOF = Proof()


async def enable(
    db: Database, member: int, *, checked_hash: Secret, salt: str
) -> Literal[Refusal.ENABLED, Refusal.UNVERIFIED, Refusal.CHANGED] | None:
    """Store the salt of a secret that is still to be confirmed, in place of an earlier one.

    CHANGED says that the password's hash is no longer `checked_hash`.
    """
    reply = await db.call("enable_two_factor", member, checked_hash=checked_hash.reveal(), salt=salt)
    return refused(reply)


async def confirm(
    db: Database, member: int, *, salt: str, step: int, session: str, recovery_codes: Sequence[str]
) -> list[str] | Literal[Refusal.CODE]:
    """Turn the second factor on and end every other session; returns these sessions, which are to be announced.

    CODE says that the secret is no longer that of `salt`, the address is not verified, or the session has ended.
    `recovery_codes` are digests.
    """
    reply = await db.call(
        "confirm_two_factor",
        member,
        salt=salt,
        step=step,
        session=session,
        recovery_codes=" ".join(recovery_codes),
    )
    return refused(reply) or list(reply)


async def disable(
    db: Database, member: int, *, checked_hash: Secret, proof: Proof
) -> Literal[Refusal.CHANGED, Refusal.CODE] | None:
    """Turn the second factor off. CHANGED is meant as by `enable`."""
    reply = await db.call("disable_two_factor", member, checked_hash=checked_hash.reveal(), **proof.arguments())
    return refused(reply)


async def drop(db: Database, member: int) -> bool:
    """Turn the second factor off without a proof, for an operator; False when there was none."""
    fields = (
        CredentialsField.TOTP_SALT,
        CredentialsField.TOTP_STEP,
        CredentialsField.RECOVERY_CODES,
        CredentialsField.TOTP_PENDING,
    )
    return bool(await db.one("HDEL", keys.credentials(member), *fields))

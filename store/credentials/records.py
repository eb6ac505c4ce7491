"""A member's credentials, and the role that they have on the site."""

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from store.keys.fields import CredentialsField
from store.secret import Secret


class Role(Enum):
    """A member's role on the whole site."""

    MEMBER = "MEMBER"
    MODERATOR = "MODERATOR"
    ADMIN = "ADMIN"


class Credentials(Struct, frozen=True):
    """A member's private e-mail address, password, role and second factor."""

    email: str  # "" once another member has taken over an address that this one never verified
    password: Secret  # its hash
    role: Role
    totp_salt: str = ""  # "" without a second factor
    totp_pending: str = ""  # salt of a secret that is not confirmed yet
    totp_step: int = 0
    recovery_codes: tuple[str, ...] = ()  # digests
    is_verified: bool = False  # the address is theirs, which a link sent to it has shown

    @property
    def has_two_factor(self) -> bool:
        return bool(self.totp_salt)

    @property
    def recovery_codes_left(self) -> int:
        return len(self.recovery_codes)

    @classmethod
    def read(cls, fields: Mapping[str, str]) -> "Credentials | None":
        if not fields:
            return None
        return cls(
            email=fields[CredentialsField.EMAIL],
            password=Secret(fields[CredentialsField.PASSWORD]),
            role=Role(fields[CredentialsField.ROLE]),
            totp_salt=fields.get(CredentialsField.TOTP_SALT, ""),
            totp_pending=fields.get(CredentialsField.TOTP_PENDING, ""),
            totp_step=int(fields.get(CredentialsField.TOTP_STEP, 0)),
            recovery_codes=tuple(fields.get(CredentialsField.RECOVERY_CODES, "").split()),
            is_verified=CredentialsField.VERIFIED in fields,
        )

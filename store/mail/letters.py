"""The record of a mail that waits to be sent, and the arguments with which scripts add one."""

from enum import Enum

import msgspec
from msgspec import Struct


class MailKind(Enum):
    """What a mail is about. Each kind has its template."""

    VERIFICATION = "verification"
    NEW_ADDRESS = "new_address"
    RESET = "reset"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105  no password
    ADDRESS_CHANGED = "address_changed"


class Letter(Struct, frozen=True, kw_only=True):
    """A mail as the outbox has it. The text, and the token in its link, are made when it is sent.

    The token of a link is made of `nonce` and the secret key. So nobody can use a link who reads the store alone.
    """

    kind: MailKind
    member: str
    to: str = ""  # The script that adds the mail sets it.
    nonce: str = ""  # Empty for a mail without a link.
    attempts: int = 0  # How often the server put the mail off.

    @classmethod
    def read(cls, text: str) -> "Letter":
        """Return a stored letter; raises msgspec.ValidationError."""
        return msgspec.json.decode(text, type=cls)

    def text(self) -> str:
        """Return the letter as it is stored."""
        return msgspec.json.encode(self).decode()


class MailLink(Struct, frozen=True):
    """A letter with a link, and the digest and life (s) of the token in it."""

    letter: Letter
    digest: str
    lifetime: int

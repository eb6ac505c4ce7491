"""Links in mails: made with a new token, and checked when the token comes back."""

from resolvers.operation.context import Context
from resolvers.process.errors import Refused, UserErrorCode, refuse
from resolvers.process.tokens import Tokens, digest, mail_nonce, mail_token_member
from store.keys.fields import MailTokenField
from store.limits.windows import HOUR_SECONDS, MINUTE_SECONDS
from store.mail import tokens
from store.mail.letters import Letter, MailKind, MailLink
from store.mail.tokens import MailToken
from store.secret import Secret
from store.settings import Settings

PURPOSES = {
    MailKind.VERIFICATION: MailTokenField.VERIFICATION,
    MailKind.NEW_ADDRESS: MailTokenField.VERIFICATION,
    MailKind.RESET: MailTokenField.RESET,
}  # of the token in a mail's link, for mails that have one


def make(signer: Tokens, settings: Settings, kind: MailKind, member: int) -> MailLink:
    """Return a letter with a link, whose token is new."""
    nonce = mail_nonce()
    token = signer.mail_token(PURPOSES[kind], member, nonce)
    letter = Letter(kind=kind, member=str(member), nonce=nonce)
    return MailLink(letter, digest(token.reveal()), lifetime(settings, kind))


def lifetime(settings: Settings, kind: MailKind) -> int:
    """Return how long a link works, in seconds."""
    return (
        settings.reset_minutes * MINUTE_SECONDS
        if kind is MailKind.RESET
        else settings.verification_hours * HOUR_SECONDS
    )


def notice(kind: MailKind, member: int) -> Letter:
    """Return a letter without a link."""
    return Letter(kind=kind, member=str(member))


async def checked(context: Context, token: Secret, purpose: str) -> tuple[int, MailToken]:
    """Return the member of a token that came by mail, and the token as it is stored; one round trip.

    Raises Refused for a token that is malformed, forged, used, replaced or expired, without saying which.
    """
    member = mail_token_member(token)
    stored = await tokens.token(context.db, member, purpose) if member is not None else None
    if member is None or stored is None or Secret(stored.digest) != Secret(digest(token.reveal().strip())):
        raise stale()
    return member, stored


def stale() -> Refused:
    """Return the one refusal of every token that is not valid."""
    return refuse(UserErrorCode.INVALID, "token: this link has expired or was used already: ask for a new one", "token")

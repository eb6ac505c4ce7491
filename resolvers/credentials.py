"""What signing up, logging in and changing credentials share: sessions opened, passwords proved, attempts limited."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, datetime

from email_validator import EmailNotValidError, validate_email

from resolvers.operation import attempts
from resolvers.operation.context import Context
from resolvers.operation.errors import UserError, UserErrorCode, field_error, refuse
from resolvers.operation.payloads import SessionPayload
from resolvers.operation.tokens import Claims, digest, new_session
from store import accounts
from store.records import Credentials, Session
from store.secret import Secret

PASSWORD_LEAST = 10  # characters
PASSWORD_MOST = 1_000  # characters: hashing what is longer costs the server, not the attacker
EMAIL_MOST = 254  # characters, RFC 5321 §4.5.3.1.3 less the brackets
USER_AGENT_MOST = 200  # characters
DAY_MS = 86_400_000
NOTHING = Secret("")
UNKNOWN = "this login or e-mail and this password do not belong together"


async def sign_in(context: Context, member: int, proved: Secret | None = None) -> SessionPayload:
    """Open a session and return its tokens; raises the refusal of a member who is gone.

    `proved` is the hash of the password that was right: where it has been changed since, there is no session.
    """
    session = new_session()
    refresh_token = context.services.tokens.first_refresh_token(member, session)
    now = time.time_ns() // 1_000_000
    opened = Session(
        id=session,
        token=Secret(digest(refresh_token.reveal())),
        created=now,
        expires=now + context.settings.session_days * DAY_MS,
        user_agent=context.user_agent[:USER_AGENT_MOST],
    )
    address = context.services.tokens.address_digest(member, context.address)
    if not await accounts.open_session(context.db, member, opened, proved, address):
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, UNKNOWN)
    return session_answer(context, member, session, refresh_token)


def session_answer(context: Context, member: int, session: str, refresh_token: Secret) -> SessionPayload:
    """Return the tokens of a session with its viewer; what is read from now on is read anew."""
    tokens = context.services.tokens
    access_token, expires = tokens.sign(member, session)
    context.forget()
    return SessionPayload(
        access_token=access_token,
        refresh_token=refresh_token,
        device_token=tokens.device_token(member, session),
        expires_at=datetime.fromtimestamp(expires, UTC),
        viewer=Claims(member, session, expires),
    )


async def confirm(context: Context, member: int, password: Secret, field: str = "currentPassword") -> Credentials:
    """Return the member's credentials once the password, given as `field`, is proved; attempts are limited."""
    admission = await attempts.admit_confirmation(context)
    found = await accounts.credentials(context.db, member)
    stored = found.password if found else None
    if not await context.services.passwords.matches(stored, bounded(password), context.address):
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, f"{field}: this is not your password", field)
    await attempts.forget(context, admission)
    assert found
    return found


def checked_email(email: str, errors: list[UserError]) -> str:
    """Return an e-mail address in normal form; adds the refusal of one that is none."""
    if not email.strip():
        errors.append(field_error(UserErrorCode.BLANK, "email: must not be blank", "email"))
        return ""
    if len(email) > EMAIL_MOST:
        errors.append(field_error(UserErrorCode.TOO_LONG, f"email: must be at most {EMAIL_MOST} characters", "email"))
        return ""
    try:
        return validate_email(email.strip(), check_deliverability=False, test_environment=True).normalized
    except EmailNotValidError as error:
        errors.append(field_error(UserErrorCode.INVALID, f"email: {error}", "email"))
        return ""


def bounded(password: Secret) -> Secret:
    """Return a password, or an empty one in place of one that is too long to be hashed."""
    return password if len(password.reveal()) <= PASSWORD_MOST else NOTHING


async def password_errors(context: Context, secret: Secret, names: Iterable[str], field: str) -> list[UserError]:
    """Return what is wrong with a new password; `names` are the member's own, which it must not be."""
    password = secret.reveal()
    if len(password) > PASSWORD_MOST:
        return [field_error(UserErrorCode.TOO_LONG, f"{field}: must be at most {PASSWORD_MOST} characters", field)]
    if len(password) < PASSWORD_LEAST:
        message = f"{field}: must have at least {PASSWORD_LEAST} characters"
    elif password.casefold() in {part.casefold() for name in names for part in (name, name.partition("@")[0])}:
        message = f"{field}: must not be the login, the name or the e-mail address"
    elif len(set(password)) == 1:
        message = f"{field}: must not be one character repeated"
    elif await context.services.passwords.is_common(secret):
        message = f"{field}: must not be one of the passwords that many people use"
    else:
        return []
    return [field_error(UserErrorCode.WEAK_PASSWORD, message, field)]

"""Steps that sign-up, log-in and changes of credentials share: open a session, check a password, limit attempts."""

import time
from collections.abc import Iterable
from datetime import UTC, datetime

from email_validator import EmailNotValidError, validate_email

from resolvers.operation import attempts
from resolvers.operation.context import Context
from resolvers.operation.payloads import SessionPayload
from resolvers.process.errors import Refused, UserError, UserErrorCode, field_error, refuse
from resolvers.process.tokens import Claims, digest, new_session
from store import accounts, sessions
from store.credentials.records import Credentials
from store.credentials.two_factor import NO_PROOF, Proof
from store.refusals import Refusal
from store.secret import Secret
from store.sessions import Session

PASSWORD_LEAST = 10  # characters
PASSWORD_MOST = 1_000  # characters: hashing longer ones costs the server, not the attacker
EMAIL_MOST = 254  # characters, RFC 5321 §4.5.3.1.3 less the brackets
USER_AGENT_MOST = 200  # characters
DAY_MS = 86_400_000
NOTHING = Secret("")
UNKNOWN = "this login or e-mail and this password do not belong together"


async def sign_in(
    context: Context, member: int, checked_hash: Secret | None = None, proof: Proof = NO_PROOF
) -> SessionPayload:
    """Open a session and return its tokens; raises Refused if the member was deleted.

    `checked_hash` is the hash that the given password matched. If it has changed since then, no session is opened, and
    Refused is raised, too. So it is where `proof`, of the second factor, was used meanwhile.
    """
    session = new_session()
    refresh_token = context.services.tokens.first_refresh_token(member, session)
    opened = new_record(context, session, refresh_token)
    address = context.services.tokens.address_digest(member, context.address)
    match await sessions.open_session(context.db, member, opened, checked_hash, address, proof):
        case Refusal.CODE:
            raise wrong_code()
        case Refusal.GONE | Refusal.CHANGED:
            raise refuse(UserErrorCode.WRONG_CREDENTIALS, UNKNOWN)
        case None:
            return session_answer(context, member, session, refresh_token)


def new_record(context: Context, session: str, refresh_token: Secret) -> Session:
    """Return the record of a session that begins now, with the client that asks for it."""
    now = time.time_ns() // 1_000_000
    return Session(
        id=session,
        token=Secret(digest(refresh_token.reveal())),
        created=now,
        expires=now + context.settings.session_days * DAY_MS,
        user_agent=context.user_agent[:USER_AGENT_MOST],
        address=context.address,
    )


def session_answer(context: Context, member: int, session: str, refresh_token: Secret) -> SessionPayload:
    """Return a session's payload with new tokens, and drop what the operation has loaded."""
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
    """Check the member's password and return their credentials; raises Refused about `field`, and RateLimited."""
    admission = await attempts.admit_confirmation(context)
    found = await accounts.credentials(context.db, member)
    stored = found.password if found else None
    if not await context.services.passwords.matches(stored, bounded(password), context.address):
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, f"{field}: this is not your password", field)
    await attempts.forget(context, admission)
    assert found
    return found


async def second_factor(
    context: Context, member: int, found: Credentials, code: Secret | None, device: str | None = None
) -> Proof:
    """Return the proof that a member's code gives, for the script that commits what it allows.

    To be called once the password, or what takes its place, was found right. A member without a second factor needs no
    code. Raises Refused about `code` where it is missing or wrong, and RateLimited. `device` is that of `admit_code`.
    """
    if not found.totp_salt:
        return NO_PROOF
    if code is None or not code.reveal().strip():
        message = "code: must be a code of your authenticator app, or a recovery code"
        raise refuse(UserErrorCode.BLANK, message, "code")
    admission = await attempts.admit_code(context, member, device)
    proof = context.services.codes.check(member, found, code)
    if proof is NO_PROOF:
        raise wrong_code()
    await attempts.forget(context, admission)
    return proof


def wrong_code() -> Refused:
    """Return the refusal of a code that is wrong, not of this time, or used already."""
    message = "code: this is no code of this time, or it was used already"
    return refuse(UserErrorCode.WRONG_CREDENTIALS, message, "code")


def checked_email(email: str, errors: list[UserError]) -> str:
    """Return an e-mail address in normal form. If it is invalid, append a user error and return ""."""
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
    """Return a password, or an empty one if it is too long to be hashed."""
    return password if len(password.reveal()) <= PASSWORD_MOST else NOTHING


async def password_errors(context: Context, secret: Secret, names: Iterable[str], field: str) -> list[UserError]:
    """Return the user errors of a new password. It must not equal any of `names`, which are the member's own."""
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

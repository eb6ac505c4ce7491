"""Log-in, log-out, and the sessions in between."""

from __future__ import annotations

from resolvers import signing
from resolvers.context import Context
from resolvers.errors import Unauthenticated, UserErrorCode, refuse, refuse_all
from resolvers.signing import EMAIL_MOST, IDENTIFIER, PASSWORD_MOST, UNKNOWN
from resolvers.tokens import Claims, digest
from store import accounts, keys
from store.connection import Database
from store.records import Credentials, Session


async def sessions(context: Context, who: Claims) -> list[Session]:
    """Return where the member is signed in, newest first."""
    await context.proved()
    return await accounts.sessions(context.db, who.member)


async def log_in(context: Context, *, identifier: str, password: str) -> dict[str, object]:
    """Open a session by login or e-mail; a wrong password and an unknown member look and cost the same."""
    await context.proved()
    wanted = (
        signing.checked_email(identifier, []) or identifier.strip()
    ).lower()  # an address in the form in which it is kept
    subject = digest(wanted)
    await signing.limit_log_ins(context, subject)
    member = await accounts.holder(context.db, _name_key(wanted)) if len(wanted) <= EMAIL_MOST else None
    found = await accounts.credentials(context.db, member) if member else None
    known = found if found and member and await _is_named(context.db, member, found, wanted) else None
    right = len(password) <= PASSWORD_MOST
    if not await context.services.passwords.matches(known.password if known else None, password if right else ""):
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, UNKNOWN)
    assert member
    assert known
    await accounts.forget_attempts(context.db, IDENTIFIER, subject, accounts.WINDOW_SECONDS)
    return await signing.sign_in(context, member, known.password)


async def refresh_session(context: Context, *, refresh_token: str) -> dict[str, object]:
    """Trade a refresh token for a new pair; an issued one that was traded long ago ends its session."""
    await context.proved()
    tokens = context.services.tokens
    claims = tokens.read_refresh_token(refresh_token)
    if claims is None:
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, "refreshToken: this is not a refresh token", "refreshToken")
    successor = tokens.next_refresh_token(refresh_token)
    outcome = await accounts.rotate_session(
        context.db,
        claims.member,
        claims.session,
        presented=digest(refresh_token),
        successor=digest(successor),
        is_issued=claims.is_issued,
    )
    if outcome == "ended":
        await accounts.end_sessions(context.db, claims.member, only=claims.session)
    if outcome != "ok":
        raise refuse(
            UserErrorCode.WRONG_CREDENTIALS, "refreshToken: it is used up, or its session has ended", "refreshToken"
        )
    return signing.session_answer(context, claims.member, claims.session, successor)


async def log_out(context: Context, *, everywhere: bool = False) -> dict[str, object]:
    """End the session that asks, or all of the member's."""
    member = await context.member()
    assert context.claims
    await accounts.end_sessions(context.db, member, only=None if everywhere else context.claims.session)
    context.claims = None  # what follows in the same document is anonymous
    context.forget()
    return {}


async def change_password(context: Context, *, current_password: str, new_password: str) -> dict[str, object]:
    """Set a new password; every other session ends in the same step, and this one goes on with a new pair of tokens."""
    member = await context.member()
    assert context.claims
    found = await signing.confirm(context, member, current_password)
    profile = await accounts.user(context.db, member)
    if profile is None:
        raise Unauthenticated("this member is gone")
    names = (profile.login, profile.name, found.email)
    refuse_all(await signing.password_errors(context, new_password, names, "newPassword"))
    password = await context.services.passwords.hash(new_password)
    session = context.claims.session
    token = context.services.tokens.first_refresh_token(member, session)
    if not await accounts.change_password(
        context.db, member, proved=found.password, password=password, session=session, token=digest(token)
    ):
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, "currentPassword: it was changed meanwhile", "currentPassword")
    return signing.session_answer(context, member, session, token)


async def _is_named(db: Database, member: int, found: Credentials, wanted: str) -> bool:
    # A login given up still leads to its former holder, but no longer logs them in.
    if "@" in wanted:
        return found.email.lower() == wanted
    profile = await accounts.user(db, member)
    return profile is not None and profile.login.lower() == wanted


def _name_key(wanted: str) -> str:
    return keys.email(wanted) if "@" in wanted else keys.login(wanted)

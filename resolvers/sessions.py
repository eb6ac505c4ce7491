"""Sessions: log-in, log-out, refresh, the list and end of sessions, and change of password."""

from msgspec.structs import asdict

from resolvers import credentials
from resolvers.credentials import EMAIL_MOST, NOTHING, UNKNOWN
from resolvers.mail import links
from resolvers.operation import attempts
from resolvers.operation.context import Context
from resolvers.operation.payloads import LogOutPayload, SessionPayload, ViewerPayload
from resolvers.process.errors import Unauthenticated, UserErrorCode, refuse, refuse_all
from resolvers.process.tokens import Claims, digest
from store import account_names, accounts
from store import sessions as stored
from store.mail.letters import MailKind
from store.refusals import Refusal
from store.secret import Secret
from store.sessions import Session

NOBODY = 0  # an id that no member has, looked up for an unknown identifier


class ViewerSession(Session, frozen=True):
    """A session of the viewer. The current one is that of the request."""

    is_current: bool = False


async def sessions(context: Context, who: Claims) -> list[ViewerSession]:
    """Return the viewer's sessions, newest first."""
    await context.authenticate()
    unexpired = await stored.unexpired(context.db, who.member)
    return [ViewerSession(**asdict(session), is_current=session.id == who.session) for session in unexpired]


async def log_in(
    context: Context,
    *,
    identifier: str,
    password: Secret,
    device_token: Secret | None = None,
    code: Secret | None = None,
) -> SessionPayload:
    """Open a session by login or e-mail address. A wrong password and an unknown member look and cost the same.

    Only after the right password does anything tell that the member has a second factor.
    """
    await context.authenticate()
    wanted = (
        credentials.checked_email(identifier, []) or identifier.strip()
    ).lower()  # an address in the form in which it is stored
    holder = await account_names.holder(context.db, _name_key(wanted)) if len(wanted) <= EMAIL_MOST else None
    member = holder or NOBODY
    tokens = context.services.tokens
    facts = await stored.log_in_facts(context.db, member, tokens.address_digest(member, context.address))
    device = tokens.device(device_token or NOTHING, member)
    admission = await attempts.admit_log_in(context, digest(wanted), device)
    hashed = facts.credentials.password if facts.credentials and _is_named(facts, wanted) else None
    matches = await context.services.passwords.matches(hashed, credentials.bounded(password), context.address)
    if admission.refusal and not (matches and facts.is_known_address):
        raise admission.refusal  # also for a wrong password from a known address, so that it looks no different
    if not matches or not facts.credentials:
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, UNKNOWN)
    proof = await credentials.second_factor(context, member, facts.credentials, code, device)
    await attempts.forget(context, admission)
    return await credentials.sign_in(context, member, hashed, proof)


async def refresh_session(context: Context, *, refresh_token: Secret) -> SessionPayload:
    """Exchange a refresh token for a new pair. Reusing an issued token long after its exchange ends its session."""
    await context.authenticate()
    tokens = context.services.tokens
    claims = tokens.read_refresh_token(refresh_token)
    if claims is None:
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, "refreshToken: this is not a refresh token", "refreshToken")
    successor = tokens.next_refresh_token(refresh_token)
    refusal = await stored.rotate(
        context.db,
        claims.member,
        claims.session,
        presented=digest(refresh_token.reveal()),
        successor=digest(successor.reveal()),
        is_issued=claims.is_issued,
        address=context.address,
    )
    if refusal is Refusal.ENDED:
        await stored.end(context.db, claims.member, only=claims.session)
    if refusal:
        raise refuse(
            UserErrorCode.WRONG_CREDENTIALS, "refreshToken: it is used up, or its session has ended", "refreshToken"
        )
    return credentials.session_answer(context, claims.member, claims.session, successor)


async def log_out(context: Context, *, everywhere: bool | None = False) -> LogOutPayload:
    """End the viewer's current session, or all of their sessions."""
    member = await context.member()
    assert context.claims
    await stored.end(context.db, member, only=None if everywhere else context.claims.session)
    context.sign_out()
    return LogOutPayload()


async def end_session(context: Context, *, session_id: str) -> ViewerPayload:
    """End one of the viewer's sessions. Ending the current one is a log-out."""
    member = await context.member()
    assert context.claims
    if not await stored.end(context.db, member, only=session_id):
        raise refuse(UserErrorCode.NOT_FOUND, "sessionId: you have no such session", "sessionId")
    if session_id == context.claims.session:
        context.sign_out()
    context.forget()
    return ViewerPayload(viewer=context.claims)


async def change_password(context: Context, *, current_password: Secret, new_password: Secret) -> SessionPayload:
    """Set a new password. The same script ends every other session, and gives this one a new pair of tokens."""
    member = await context.member()
    assert context.claims
    confirmed = await credentials.confirm(context, member, current_password)
    profile = await accounts.user(context.db, member)
    if profile is None:
        raise Unauthenticated("this member is gone")
    names = (profile.login, profile.name, confirmed.email)
    refuse_all(await credentials.password_errors(context, new_password, names, "newPassword"))
    password = await context.services.passwords.hash(new_password, context.address)
    session = context.claims.session
    token = context.services.tokens.first_refresh_token(member, session)
    if await stored.change_password(
        context.db,
        member,
        checked_hash=confirmed.password,
        password=password,
        session=session,
        token=digest(token.reveal()),
        letter=links.notice(MailKind.PASSWORD_CHANGED, member),
    ):
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, "currentPassword: it was changed meanwhile", "currentPassword")
    return credentials.session_answer(context, member, session, token)


def _is_named(facts: stored.LogInFacts, wanted: str) -> bool:
    # A login that was given up still names its former holder, but no longer logs them in.
    name = facts.credentials.email if "@" in wanted and facts.credentials else facts.login
    return name is not None and name.lower() == wanted


def _name_key(wanted: str) -> str:
    return account_names.email_reservation(wanted) if "@" in wanted else account_names.login_reservation(wanted)

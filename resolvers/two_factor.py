"""The second factor: turning it on and off."""

from resolvers import credentials
from resolvers.operation import attempts
from resolvers.operation.context import Context
from resolvers.operation.payloads import ConfirmTwoFactorPayload, EnableTwoFactorPayload, ViewerPayload
from resolvers.process import one_time_codes
from resolvers.process.errors import Refused, Unauthenticated, UserErrorCode, refuse
from store import accounts, sessions
from store.credentials import two_factor as stored
from store.refusals import Refusal
from store.secret import Secret


async def enable_two_factor(context: Context, *, password: Secret) -> EnableTwoFactorPayload:
    """Return a new secret for the viewer's authenticator app. Nothing changes until `confirm_two_factor`."""
    member = await context.member()
    confirmed = await credentials.confirm(context, member, password, "password")
    profile = await accounts.user(context.db, member)
    if profile is None:
        raise Unauthenticated("this member is gone")
    salt = one_time_codes.new_salt()
    match await stored.enable(context.db, member, checked_hash=confirmed.password, salt=salt):
        case Refusal.ENABLED:
            message = "the second factor is on: turn it off before you set it up anew"
            raise refuse(UserErrorCode.NOT_ALLOWED, message)
        case Refusal.UNVERIFIED:
            raise _unverified()
        case Refusal.CHANGED:
            raise _password_changed()
        case None:
            codes = context.services.codes
            uri = codes.uri(member, salt, profile.login)
            return EnableTwoFactorPayload(secret=codes.secret(member, salt), uri=uri)


async def confirm_two_factor(context: Context, *, code: Secret) -> ConfirmTwoFactorPayload:
    """Turn the second factor on: the code shows that the viewer's app has the secret. Every other session ends."""
    member = await context.member()
    assert context.claims
    found = await accounts.credentials(context.db, member)
    if found is None or not found.totp_pending:
        raise refuse(UserErrorCode.NOT_ALLOWED, "there is no secret to confirm: ask for one with enableTwoFactor")
    if not found.is_verified:
        raise _unverified()
    admission = await attempts.admit_code(context, member)
    step = context.services.codes.step(member, found.totp_pending, code)
    if not step:
        raise credentials.wrong_code()
    await attempts.forget(context, admission)
    recovery_codes = one_time_codes.new_recovery_codes()
    ended = await stored.confirm(
        context.db,
        member,
        salt=found.totp_pending,
        step=step,
        session=context.claims.session,
        recovery_codes=[one_time_codes.recovery_digest(member, one) for one in recovery_codes],
    )
    if ended is Refusal.CODE:
        raise credentials.wrong_code()
    await sessions.announce(context.db, member, ended)
    context.forget()
    return ConfirmTwoFactorPayload(recovery_codes=recovery_codes, viewer=context.claims)


async def disable_two_factor(context: Context, *, password: Secret, code: Secret) -> ViewerPayload:
    """Turn the second factor off; idempotent."""
    member = await context.member()
    confirmed = await credentials.confirm(context, member, password, "password")
    proof = await credentials.second_factor(context, member, confirmed, code)
    match await stored.disable(context.db, member, checked_hash=confirmed.password, proof=proof):
        case Refusal.CODE:
            raise credentials.wrong_code()
        case Refusal.CHANGED:
            raise _password_changed()
        case None:
            context.forget()
            return ViewerPayload(viewer=context.claims)


def _unverified() -> Refused:
    # Otherwise a stranger could sign up with somebody's address, and keep them from resetting the password.
    return refuse(UserErrorCode.NOT_ALLOWED, "verify your e-mail address first: a second factor needs it")


def _password_changed() -> Refused:
    return refuse(UserErrorCode.WRONG_CREDENTIALS, "password: it was changed meanwhile", "password")

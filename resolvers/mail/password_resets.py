"""Password resets by a link in a mail. Neither an answer nor its time reveals whether an address has an account."""

import random

from resolvers import credentials
from resolvers.mail import links
from resolvers.operation import attempts
from resolvers.operation.context import Context
from resolvers.operation.payloads import RequestPasswordResetPayload, SessionPayload
from resolvers.process.errors import RateLimited, UserError, refuse_all
from resolvers.process.tokens import digest, new_session
from store import account_names, accounts, sessions
from store.credentials.two_factor import NO_PROOF
from store.keys.fields import MailTokenField
from store.mail import tokens
from store.mail.letters import MailKind
from store.refusals import Refusal
from store.secret import Secret

REQUESTS = "password-reset"  # the kind under which requests are counted
NOBODY = 0  # an id that no member has, for an unknown address
DELAY_MS = (1_000, 4_000)  # Random wait of the mail, so that sending it does not slow down the requests just after.


async def request_password_reset(context: Context, *, email: str) -> RequestPasswordResetPayload:
    """Send a link that resets the password, if a member has the address; the same round trips in both cases.

    Raises RateLimited for a client address that asks too often.
    """
    await context.authenticate()
    errors: list[UserError] = []
    address = credentials.checked_email(email, errors)
    refuse_all(errors)
    await _limit(context)
    holder = await account_names.holder(context.db, account_names.email_reservation(address))
    wanted = digest(address.lower())
    if context.settings.rate_limit and not await tokens.may_request_reset(context.db, wanted):
        return RequestPasswordResetPayload()
    link = links.make(context.services.tokens, context.settings, MailKind.RESET, holder or NOBODY)
    await tokens.request_reset(context.db, holder or NOBODY, address, link, random.randint(*DELAY_MS))  # noqa: S311
    return RequestPasswordResetPayload()


async def reset_password(
    context: Context, *, token: Secret, new_password: Secret, code: Secret | None = None
) -> SessionPayload:
    """Set a new password by the token of a link. Every session ends, and a new one begins.

    A member with a second factor also needs a code: who can read their mail has one factor only. Where nobody had
    verified the address, the second factor may be somebody else's. So it needs no code, and ends.
    """
    await context.authenticate()
    member, stored = await links.checked(context, token, MailTokenField.RESET)
    profile, found = await accounts.user(context.db, member), await accounts.credentials(context.db, member)
    if profile is None or found is None:
        raise links.stale()
    names = (profile.login, profile.name, found.email)
    refuse_all(await credentials.password_errors(context, new_password, names, "newPassword"))
    proof = await credentials.second_factor(context, member, found, code) if found.is_verified else NO_PROOF
    password = await context.services.passwords.hash(new_password, context.address)
    session = new_session()
    refresh_token = context.services.tokens.first_refresh_token(member, session)
    refusal = await sessions.reset_password(
        context.db,
        member,
        digest=stored.digest,
        password=password,
        session=credentials.new_record(context, session, refresh_token),
        letter=links.notice(MailKind.PASSWORD_CHANGED, member),
        proof=proof,
    )
    match refusal:
        case Refusal.CODE:
            raise credentials.wrong_code()
        case Refusal.STALE:
            raise links.stale()
        case None:
            return credentials.session_answer(context, member, session, refresh_token)


async def _limit(context: Context) -> None:
    most = context.settings.reset_requests_per_hour
    if wait := await attempts.hourly_wait(context, REQUESTS, context.address, most):
        raise RateLimited(
            f"too many requests to reset a password: try again in {wait} s", wait, "reset_requests_per_hour"
        )

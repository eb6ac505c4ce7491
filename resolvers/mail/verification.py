"""Verified addresses: the link that shows that an address is the member's, and the change to a new address.

Others may take over an address that an account has had for VERIFICATION_HOURS without verifying it. Otherwise anybody
could keep a stranger's address by signing up with it.
"""

import time

from resolvers import credentials
from resolvers.jobs import dispatch
from resolvers.mail import links
from resolvers.operation import attempts
from resolvers.operation.context import Context
from resolvers.operation.payloads import ViewerPayload
from resolvers.process.errors import Unauthenticated, UserError, UserErrorCode, over_limit, refuse, refuse_all
from store import account_names, accounts
from store.client.database import Database
from store.keys.fields import MailTokenField
from store.limits.windows import MINUTE_SECONDS
from store.mail import tokens
from store.mail.letters import MailKind
from store.refusals import Refusal
from store.secret import Secret

MAILS = "verification-mail"  # the kind under which these mails are counted


async def change_email(context: Context, *, email: str, current_password: Secret) -> ViewerPayload:
    """Send a link to a new e-mail address, which takes effect when the link is followed.

    The address is the member's alone until the link expires. Asking for the present address drops one that waits.
    """
    member = await context.member()
    errors: list[UserError] = []
    address = credentials.checked_email(email, errors)
    refuse_all(errors)
    confirmed = await credentials.confirm(context, member, current_password)
    waiting = await tokens.token(context.db, member, MailTokenField.VERIFICATION)
    if address == confirmed.email and (confirmed.is_verified or waiting is None or waiting.address == address):
        await _drop(context, member, "" if waiting is None or waiting.address == address else waiting.address)
        return ViewerPayload(viewer=context.claims)
    await _limit(context, member)
    await _send(context, member, address, confirmed.email)
    return ViewerPayload(viewer=context.claims)


async def resend_verification(context: Context) -> ViewerPayload:
    """Send the link again, with a new token. Without an address to verify, it changes nothing."""
    member = await context.member()
    stored = await accounts.credentials(context.db, member)
    if stored is None:
        raise Unauthenticated("this member is gone")
    waiting = await tokens.token(context.db, member, MailTokenField.VERIFICATION)
    if waiting is None and (stored.is_verified or not stored.email):
        return ViewerPayload(viewer=context.claims)
    await _limit(context, member)
    await _send(context, member, waiting.address if waiting else stored.email, stored.email)
    return ViewerPayload(viewer=context.claims)


async def verify_email(context: Context, *, token: Secret) -> ViewerPayload:
    """Verify an address by the token of a link, with or without a session. A new address takes effect."""
    await context.authenticate()
    member, stored = await links.checked(context, token, MailTokenField.VERIFICATION)
    if not await _hold(context, account_names.email_reservation(stored.address), member):
        raise links.stale()
    letter = links.notice(MailKind.ADDRESS_CHANGED, member)
    job = await tokens.verify_email(context.db, member, stored.digest, letter)
    if job is Refusal.STALE:
        raise links.stale()
    await dispatch.finish(context.db, job)
    context.forget()
    return ViewerPayload(viewer=context.claims)


async def _send(context: Context, member: int, address: str, current: str) -> None:
    kind = MailKind.VERIFICATION if address == current else MailKind.NEW_ADDRESS
    link = links.make(context.services.tokens, context.settings, kind, member)
    # A link that is sent again does not reserve the address for longer: it may be a stranger's.
    life, key = link.lifetime + context.settings.reservation_seconds, account_names.email_reservation(address)
    if not (await account_names.reserve(context.db, key, member, life) or await lapsed_holder(context.db, key)):
        raise refuse(UserErrorCode.TAKEN, "email: another member has this address, or had it until lately", "email")
    replaced = await tokens.send_verification(context.db, member, address, link)
    if replaced is Refusal.GONE:
        await account_names.release(context.db, account_names.email_reservation(address), member)
        raise Unauthenticated("this member is gone")
    # Race: when changes to the same address overlap, it may wait without a reservation. `verify_email` asks for one.
    if replaced.lower() not in {"", address.lower(), current.lower()}:
        await account_names.release(context.db, account_names.email_reservation(replaced), member)
    context.forget()


async def _drop(context: Context, member: int, waiting: str) -> None:
    """Drop an address that waits to be verified, if there is one."""
    if waiting:
        await tokens.drop(context.db, member, MailTokenField.VERIFICATION)
        await account_names.release(context.db, account_names.email_reservation(waiting), member)


async def _hold(context: Context, key: str, member: int) -> bool:
    """Hold an address that a member has shown to be theirs, also if another account has it and did not, in its time."""
    if await account_names.hold(context.db, key, member):
        return True
    return await release_lapsed(context.db, key) and await account_names.hold(context.db, key, member)


async def _limit(context: Context, member: int) -> None:
    most = context.settings.verification_mails_per_hour
    if wait := await attempts.hourly_wait(context, MAILS, str(member), most):
        minutes = -(-wait // MINUTE_SECONDS)
        message = f"at most {most} links to verify an address are sent in an hour: try again in {minutes} min"
        raise over_limit("verification_mails_per_hour", message)


async def release_lapsed(db: Database, key: str) -> bool:
    """Take an address from the account that may lose it; False if there is none.

    The account stays as it is otherwise: its member logs in by login, and can set another address. The address is
    then free for whoever reserves it first. Where the job is left to a worker, it is free once that has done it.
    """
    lapsed = await lapsed_holder(db, key)
    job = await tokens.lose_address(db, *lapsed) if lapsed else None
    if job is None:
        return False
    await dispatch.finish(db, job)
    return True


async def lapsed_holder(db: Database, key: str) -> tuple[int, str] | None:
    """Return the member who may lose an address, and the address as they have it."""
    member = await account_names.holder(db, key)
    if member is None or account_names.unverified_until(db, member) > time.time():
        return None
    stored = await accounts.credentials(db, member)
    if stored is None or stored.is_verified or account_names.email_reservation(stored.email) != key:
        return None
    return member, stored.email

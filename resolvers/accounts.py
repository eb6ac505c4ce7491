"""Accounts: sign-up, logins and names, profile, roles, suspension, deletion."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from resolvers import credentials
from resolvers.jobs import dispatch
from resolvers.mail import links, verification
from resolvers.operation import attempts
from resolvers.operation.context import Context
from resolvers.operation.inputs import check_login, gathered
from resolvers.operation.payloads import DeleteAccountPayload, SessionPayload, ViewerPayload
from resolvers.process.errors import (
    RateLimited,
    Refused,
    Unauthenticated,
    UserError,
    UserErrorCode,
    field_error,
    over_limit,
    refuse,
    refuse_all,
)
from resolvers.process.tokens import Claims
from resolvers.reading import global_ids, hydrate, moderation, pictures
from resolvers.reading.pictures import Keep, Picture
from resolvers.rules.text import is_login, normalise
from store import account_names, accounts
from store.accounts import AccountDraft
from store.client.database import Database
from store.credentials.records import Credentials, Role
from store.keys.fields import UserField
from store.mail.letters import MailKind, MailLink
from store.moderation.records import ModerationActKind
from store.records.members import MessageAudience, User
from store.refusals import PartRefused, Refusal, accepted
from store.secret import Secret

SIGN_UP = "sign-up"  # the kind under which these attempts are counted


async def viewer_user(context: Context, who: Claims) -> User | None:
    """Return the viewer's profile."""
    return await context.load.user.load(who.member)


async def messages_from(context: Context, who: Claims) -> MessageAudience:
    """Return who may begin a conversation with the viewer; raises Unauthenticated if the account was deleted."""
    member = await context.load.user.load(who.member)
    if member is None:
        raise Unauthenticated("this member is gone")
    return member.messages_from


async def viewer_credentials(context: Context, who: Claims) -> Credentials:
    """Return the viewer's credentials, which only they may see; raises Unauthenticated if the account was deleted."""
    stored = await context.load.credentials.load(who.member)
    if stored is None:
        raise Unauthenticated("this member is gone")
    return stored


async def user(context: Context, login: str) -> User | None:
    """Return the member with a login, in upper or lower case; None for a login that was given up."""
    if not is_login(login):
        return None
    load, name = context.load, login.lower()
    expected = load.login.find_cached((name,)).get(name)  # perhaps another member has the login by now
    await load.all((load.login, (name,)), *(hydrate.profile_ahead(context, expected) if expected else ()))
    (member,) = load.login.loaded((name,))
    user_found = await hydrate.user(context, member) if member else None
    return user_found if user_found and user_found.login.lower() == login.lower() else None


async def is_login_available(context: Context, login: str) -> bool:
    """Return whether a new member could take a login."""
    if not is_login(login):
        return False
    former = context.batcher.run([account_names.former_holder_command(context.db, login)])
    holder, (giver,) = await asyncio.gather(context.load.login.load(login.lower()), former)
    return holder is None and giver is None


async def sign_up(context: Context, *, login: str, name: str, email: str, password: Secret) -> SessionPayload:
    """Create a member and open a session. All errors in the input are reported together."""
    await context.authenticate()
    fields = await _check_sign_up(context, login, name, email, password)
    await _limit_sign_ups(context)
    member = await create_member(
        context.db,
        login=login,
        name=fields["name"],
        email=fields["email"],
        password_hash=lambda: _hash(context, password),
        link=partial(links.make, context.services.tokens, context.settings, MailKind.VERIFICATION),
    )
    return await credentials.sign_in(context, member)


async def _hash(context: Context, password: Secret) -> Secret:
    return await context.services.passwords.hash(password, context.address)


async def update_profile(
    context: Context,
    *,
    login: str | None = None,
    name: str | None = None,
    bio: str | None = None,
    is_private: bool | None = None,
    messages_from: MessageAudience | None = None,
    avatar: Picture | Keep | None = Keep.KEEP,
    header: Picture | Keep | None = Keep.KEEP,
) -> ViewerPayload:
    """Change the given fields of the profile. A login that is given up stays reserved for a while.

    A member who stops being private accepts all open follow requests. A member who becomes private keeps their
    followers.
    """
    member = await context.member()
    profile = _check_profile(context, login, name, bio)
    if messages_from is not None:
        profile[UserField.MESSAGES_FROM] = messages_from.value
    changed = pictures.of_profile(context, avatar=avatar, header=header)
    current = await accounts.user(context.db, member)
    if current is None:
        raise Unauthenticated("this member is gone")
    names = {"name": profile[UserField.NAME]} if name is not None else {}
    if login is not None and login != current.login:
        await _reserve_login(context, current, login)
        profile[UserField.LOGIN] = names["login"] = login
    job = await accounts.update(context.db, member, profile=profile, names=names, pictures=changed)
    if isinstance(job, PartRefused):
        raise pictures.refusal(*job)
    await dispatch.finish(context.db, job)
    if is_private is not None:
        job = await accounts.set_account_state(context.db, member, UserField.PRIVATE, holds=is_private)
        await dispatch.finish(context.db, job)
    context.forget()
    return ViewerPayload(viewer=context.claims)


def _check_profile(context: Context, login: str | None, name: str | None, bio: str | None) -> dict[str, str]:
    """Return the given name and bio as they are stored; raises Refused with all errors in the input."""
    errors: list[UserError] = []
    profile: dict[str, str] = {}
    if name is not None:
        profile[UserField.NAME] = _name(context, name, errors)
    if bio is not None:
        most = context.settings.max_bio
        profile[UserField.BIO] = gathered(errors, lambda: normalise(bio, limit=most, may_be_empty=True), "bio")
    if login is not None:
        check_login(login, errors)
    refuse_all(errors)
    return profile


def _name(context: Context, name: str, errors: list[UserError]) -> str:
    return gathered(errors, lambda: normalise(name, limit=context.settings.max_name, multiline=False), "name")


async def _reserve_login(context: Context, current: User, wanted: str) -> None:
    """Reserve another login for a member; raises Refused if it is taken, or too many that they gave up are reserved."""
    await _limit_former_logins(context, current.id, current.login.lower(), wanted.lower())
    if not await account_names.reserve(context.db, account_names.login_reservation(wanted), current.id):
        raise refuse(UserErrorCode.TAKEN, "login: another member has this login, or had it until lately", "login")


async def _limit_former_logins(context: Context, member: int, current: str, wanted: str) -> None:
    # Race: concurrent changes by one member may exceed the limit, each by one login.
    reserved = await account_names.former_logins(context.db, member)
    most = context.settings.former_logins
    if context.settings.login_release_days and len((reserved | {current}) - {wanted}) > most:
        message = f"login: at most {most} logins that you gave up stay reserved: try again when the oldest is free"
        raise over_limit("former_logins", message, "login")


async def find(db: Database, login: str) -> int | None:
    """Return the member who has a login now; None if nobody has it, or the holder has given it up."""
    member = await account_names.holder(db, account_names.login_reservation(login))
    found = await accounts.user(db, member) if member else None
    return found.id if found and found.login.lower() == login.lower() else None


async def set_role(db: Database, login: str, role: Role) -> bool:
    """Set the role of the member with a login, from their next request on; False if there is no such member."""
    member = await find(db, login)
    if member is None:
        return False
    acting = moderation.by_operator(ModerationActKind.ROLE_CHANGED, member, role)
    await dispatch.finish(db, accepted(await accounts.set_role(db, member, role, acting)))
    return True


async def set_suspension(db: Database, login: str, *, suspended: bool) -> bool:
    """Suspend the member with a login, which ends their sessions, or end it; False if there is no such member."""
    member = await find(db, login)
    if member is None:
        return False
    kind = ModerationActKind.USER_SUSPENDED if suspended else ModerationActKind.USER_UNSUSPENDED
    acting = moderation.by_operator(kind, member)
    await dispatch.finish(db, accepted(await accounts.suspend(db, member, holds=suspended, acting=acting)))
    return True


async def delete_account(context: Context, *, password: Secret) -> DeleteAccountPayload:
    """Delete the viewer's account: hidden at once, and soon removed with everything that the member did."""
    member = await context.member()
    confirmed = await credentials.confirm(context, member, password, "password")
    job = await accounts.delete(context.db, member, confirmed.password)
    if job is Refusal.CHANGED:
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, "password: it was changed meanwhile", "password")
    await dispatch.finish(context.db, job)
    context.sign_out()
    return DeleteAccountPayload(deleted_user_id=global_ids.user_id(member))


async def create_member(
    db: Database,
    *,
    login: str,
    name: str,
    email: str,
    password_hash: Callable[[], Awaitable[Secret]],
    link: Callable[[int], MailLink] | None = None,
) -> int:
    """Create a member. If several sign-ups want the same login or e-mail address, only one gets it.

    The names are reserved first, each by one command, for as long as a sign-up may take. The password is hashed only
    after both reservations succeeded. A crash in between leaves reservations that expire. An address that nobody
    verified in time is taken over, unless the login is taken.
    `link` makes the link that is sent to verify the address. Without it, the address counts as verified.
    Raises Refused for names that are taken.
    """
    member = await db.mint()
    wanted = {"login": account_names.login_reservation(login), "email": account_names.email_reservation(email)}
    await _reserve(db, member, wanted)
    password = await password_hash()
    await _reserve(db, member, wanted)  # again, because reservations may expire while many passwords wait to be hashed
    sent = link(member) if link else None
    draft = AccountDraft(login, name, email, password, is_verified=sent is None, link=sent)
    job = await accounts.create(db, member, draft)
    await dispatch.finish(db, job)
    return member


async def _reserve(db: Database, member: int, wanted: dict[str, str]) -> None:
    taken: list[str] = []
    for field, key in wanted.items():
        # After a refusal, only look the other name up. Otherwise two equal sign-ups could get one name each.
        free = await account_names.is_free(db, key) if taken else await account_names.reserve(db, key, member)
        if not free and not taken and await verification.release_lapsed(db, key):
            free = await account_names.reserve(db, key, member)
        if not free:
            taken.append(field)
    if taken:
        for key in wanted.values():
            await account_names.release(db, key, member)
        raise Refused(
            *(
                field_error(UserErrorCode.TAKEN, f"{field}: another member has it, or had it until lately", field)
                for field in taken
            )
        )


async def _limit_sign_ups(context: Context) -> None:
    if wait := await attempts.hourly_wait(context, SIGN_UP, context.address, context.settings.sign_ups_per_hour):
        raise RateLimited(f"too many sign-ups from this address: try again in {wait} s", wait, "sign_ups_per_hour")


async def _check_sign_up(context: Context, login: str, name: str, email: str, password: Secret) -> dict[str, str]:
    errors: list[UserError] = []
    check_login(login, errors)
    clean = {
        "name": _name(context, name, errors),
        "email": credentials.checked_email(email, errors),
    }
    names = (login, clean["name"], email.strip(), clean["email"])
    errors += await credentials.password_errors(context, password, names, "password")
    refuse_all(errors)
    return clean

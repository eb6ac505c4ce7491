"""Members: sign-up, log-in, sessions, profile."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from email_validator import EmailNotValidError, validate_email

from resolvers import fanout, hydrate
from resolvers.context import Context
from resolvers.errors import RateLimited, Refused, Unauthenticated, UserError, UserErrorCode, refuse
from resolvers.rules.text import LOGIN_MAX, TextRefused, is_login, normalise
from resolvers.tokens import Claims, digest, new_session, read_refresh_token
from store import accounts, keys
from store.connection import Database
from store.records import Credentials, Session, User

PASSWORD_LEAST = 10  # characters
PASSWORD_MOST = 1_000  # characters: hashing what is longer costs the server, not the attacker
EMAIL_MOST = 254  # characters, RFC 5321 §4.5.3.1.3 less the brackets
USER_AGENT_MOST = 200  # characters
UNKNOWN = "this login or e-mail and this password do not belong together"
SIGN_UP, IDENTIFIER, ADDRESS = "sign-up", "identifier", "address"  # what attempts are counted for


async def viewer_user(context: Context, who: Claims) -> User | None:
    """Return the signed-in member's profile."""
    return await context.load.user.load(who.member)


async def viewer_credentials(context: Context, who: Claims) -> Credentials:
    """Return what only the member may see."""
    found = await context.load.credentials.load(who.member)
    if found is None:
        raise Unauthenticated("this member is gone")
    return found


async def sessions(context: Context, who: Claims) -> list[Session]:
    """Return where the member is signed in, newest first."""
    await context.proved()
    return await accounts.sessions(context.db, who.member)


async def user(context: Context, login: str) -> User | None:
    """Return a member by login, in any case; a login given up leads to nobody."""
    if not is_login(login):
        return None
    (member,) = await context.reader.run([("GET", keys.login(login.lower()))])
    found = await hydrate.user(context, int(member)) if member else None
    return found if found and found.login.lower() == login.lower() else None


async def is_login_available(context: Context, login: str) -> bool:
    """Return whether a new member could take a login."""
    if not is_login(login):
        return False
    (member,) = await context.reader.run([("EXISTS", keys.login(login.lower()))])
    return not member


async def sign_up(context: Context, *, login: str, name: str, email: str, password: str) -> dict[str, object]:
    """Create a member and open a session; all that is wrong with the input is named at once."""
    fields = _check_sign_up(context, login, name, email, password)
    await context.proved()
    await _limit_sign_ups(context)
    member = await create_member(
        context.db,
        login=login,
        name=fields["name"],
        email=fields["email"],
        password_hash=lambda: _hash(context, password),
    )
    return await _signed_in(context, member)


async def _hash(context: Context, password: str) -> str:
    return await context.services.passwords.hash(password)


async def log_in(context: Context, *, identifier: str, password: str) -> dict[str, object]:
    """Open a session by login or e-mail; a wrong password and an unknown member look and cost the same."""
    await context.proved()
    wanted = (_email(identifier, []) or identifier.strip()).lower()  # an address in the form in which it is kept
    subject = digest(wanted)
    await _limit_log_ins(context, subject)
    member = await accounts.holder(context.db, _name_key(wanted)) if len(wanted) <= EMAIL_MOST else None
    found = await accounts.credentials(context.db, member) if member else None
    known = found if found and member and await _is_named(context.db, member, found, wanted) else None
    right = len(password) <= PASSWORD_MOST
    if not await context.services.passwords.matches(known.password if known else None, password if right else ""):
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, UNKNOWN)
    assert member
    assert known
    await accounts.forget_attempts(context.db, IDENTIFIER, subject, accounts.WINDOW_SECONDS)
    return await _signed_in(context, member, known.password)


async def refresh_session(context: Context, *, refresh_token: str) -> dict[str, object]:
    """Trade a refresh token for a new pair; one that was traded long ago ends its session."""
    await context.proved()
    named = read_refresh_token(refresh_token)
    if named is None:
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, "refreshToken: this is not a refresh token", "refreshToken")
    member, session = named
    successor = context.services.tokens.next_refresh_token(refresh_token)
    outcome = await accounts.rotate_session(context.db, member, session, digest(refresh_token), digest(successor))
    if outcome == "ended":
        await accounts.end_sessions(context.db, member, only=session)
    if outcome != "ok":
        raise refuse(
            UserErrorCode.WRONG_CREDENTIALS, "refreshToken: it is used up, or its session has ended", "refreshToken"
        )
    return _session_answer(context, member, session, successor)


async def log_out(context: Context, *, everywhere: bool = False) -> dict[str, object]:
    """End the session that asks, or all of the member's."""
    member = await context.member()
    assert context.claims
    await accounts.end_sessions(context.db, member, only=None if everywhere else context.claims.session)
    return {}


async def change_password(context: Context, *, current_password: str, new_password: str) -> dict[str, object]:
    """Set a new password; every other session ends, and this one goes on with a new pair of tokens."""
    member = await context.member()
    found = await _confirm(context, member, current_password)
    profile = await accounts.user(context.db, member)
    assert profile
    _raise(_password_errors(new_password, (profile.login, found.email), "newPassword"))
    password = await context.services.passwords.hash(new_password)
    await accounts.update(context.db, member, credentials={"password": password})
    answer = await _signed_in(context, member, password)
    assert isinstance(answer["viewer"], Claims)
    await accounts.end_sessions(context.db, member, but=answer["viewer"].session)
    return answer


async def change_email(context: Context, *, email: str, current_password: str) -> dict[str, object]:
    """Set a new e-mail address; the old one is free at once."""
    member = await context.member()
    errors: list[UserError] = []
    address = _email(email, errors)
    _raise(errors)
    found = await _confirm(context, member, current_password)
    if address == found.email:
        return {"viewer": context.claims}
    if address.lower() != found.email.lower() and not await accounts.reserve(
        context.db, keys.email(address.lower()), member
    ):
        raise refuse(UserErrorCode.TAKEN, "email: another member has this address", "email")
    job = await accounts.update(context.db, member, credentials={"email": address}, names={"email": address})
    if job:
        await fanout.finish(context.db, job)
    context.forget()
    return {"viewer": context.claims}


async def update_profile(
    context: Context, *, login: str | None = None, name: str | None = None, bio: str | None = None
) -> dict[str, object]:
    """Change what is given of the profile; a login given up stays reserved for a while."""
    member = await context.member()
    errors: list[UserError] = []
    profile: dict[str, str] = {}
    if name is not None:
        profile["name"] = _text(name, "name", context.settings.max_name, errors)
    if bio is not None:
        profile["bio"] = _text(bio, "bio", context.settings.max_bio, errors, multiline=True, may_be_empty=True)
    if login is not None:
        _check_login(login, errors)
    _raise(errors)
    current = await accounts.user(context.db, member)
    assert current
    names: dict[str, str] = {}
    if login is not None and login != current.login:
        if not await accounts.reserve(context.db, keys.login(login.lower()), member):
            raise refuse(UserErrorCode.TAKEN, "login: another member has this login", "login")
        profile["login"] = login
        names = {"login": login}
    job = await accounts.update(context.db, member, profile=profile, names=names)
    if job:
        await fanout.finish(context.db, job)
    context.forget()
    return {"viewer": context.claims}


async def create_member(
    db: Database, *, login: str, name: str, email: str, password_hash: Callable[[], Awaitable[str]]
) -> int:
    """Create a member; of many who want one login or e-mail exactly one gets it, the others are refused.

    The names are reserved first, each by one command, for as long as a sign-up may take; the password is hashed only
    for who got them. A crash on the way leaves reservations that expire.
    """
    member = await accounts.mint(db)
    wanted = {"login": keys.login(login.lower()), "email": keys.email(email.lower())}
    await _reserve(db, member, wanted)
    password = await password_hash()
    await _reserve(db, member, wanted)  # once more: where many wait to be hashed, reservations may have expired
    job = await accounts.create(db, member, login=login, name=name, email=email, password=password)
    if job:
        await fanout.finish(db, job)
    return member


async def _reserve(db: Database, member: int, wanted: dict[str, str]) -> None:
    taken: list[str] = []
    for field, key in wanted.items():
        # After a refusal the rest is only looked up: of two equal sign-ups each could get one name, and neither both.
        free = await accounts.holder(db, key) is None if taken else await accounts.reserve(db, key, member)
        if not free:
            taken.append(field)
    if taken:
        for key in wanted.values():
            await accounts.release(db, key, member)
        raise Refused(*(_error(UserErrorCode.TAKEN, f"{field}: another member has it", field) for field in taken))


async def _signed_in(context: Context, member: int, proved: str = "") -> dict[str, object]:
    # `proved` is the hash of the password that was right: it may have been changed since, which ends such sessions.
    session = new_session()
    refresh_token = context.services.tokens.first_refresh_token(member, session)
    now = time.time_ns() // 1_000_000
    opened = Session(
        id=session,
        token=digest(refresh_token),
        created=now,
        expires=now + context.settings.session_days * 86_400_000,
        user_agent=context.user_agent[:USER_AGENT_MOST],
    )
    if not await accounts.open_session(context.db, member, opened, proved):
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, UNKNOWN)
    return _session_answer(context, member, session, refresh_token)


def _session_answer(context: Context, member: int, session: str, refresh_token: str) -> dict[str, object]:
    access_token, expires = context.services.tokens.sign(member, session)
    context.forget()
    return {
        "access_token": access_token,
        "refresh_token": refresh_token,
        "expires_at": datetime.fromtimestamp(expires, UTC),
        "viewer": Claims(member, session, expires),
    }


async def _confirm(context: Context, member: int, password: str) -> Credentials:
    """Return the member's credentials once the password is proved; attempts are limited."""
    await _limit_log_ins(context, f"member {member}")
    found = await accounts.credentials(context.db, member)
    right = len(password) <= PASSWORD_MOST
    if not await context.services.passwords.matches(found.password if found else None, password if right else ""):
        raise refuse(UserErrorCode.WRONG_CREDENTIALS, "currentPassword: this is not your password", "currentPassword")
    assert found
    return found


async def _is_named(db: Database, member: int, found: Credentials, wanted: str) -> bool:
    # A login given up still leads to its former holder, but no longer logs them in.
    if "@" in wanted:
        return found.email.lower() == wanted
    profile = await accounts.user(db, member)
    return profile is not None and profile.login.lower() == wanted


def _name_key(wanted: str) -> str:
    return keys.email(wanted) if "@" in wanted else keys.login(wanted)


async def _limit_sign_ups(context: Context) -> None:
    if context.settings.rate_limit:
        count = await accounts.count_attempt(context.db, SIGN_UP, context.address, accounts.HOUR_SECONDS)
        if count > context.settings.sign_ups_per_hour:
            raise RateLimited("too many sign-ups from this address: try again in an hour", accounts.HOUR_SECONDS)


async def _limit_log_ins(context: Context, subject: str) -> None:
    if not context.settings.rate_limit:
        return
    window = accounts.WINDOW_SECONDS
    by_subject = await accounts.count_attempt(context.db, IDENTIFIER, subject, window)
    by_address = await accounts.count_attempt(context.db, ADDRESS, context.address, window)
    if by_subject > context.settings.log_in_attempts or by_address > context.settings.log_in_attempts_per_address:
        raise RateLimited("too many log-in attempts: try again later", window)


def _check_sign_up(context: Context, login: str, name: str, email: str, password: str) -> dict[str, str]:
    errors: list[UserError] = []
    _check_login(login, errors)
    clean = {
        "name": _text(name, "name", context.settings.max_name, errors),
        "email": _email(email, errors),
    }
    errors += _password_errors(password, (login, email.strip(), clean["email"]), "password")
    _raise(errors)
    return clean


def _check_login(login: str, errors: list[UserError]) -> None:
    if not login.strip():
        errors.append(_error(UserErrorCode.BLANK, "login: must not be blank", "login"))
    elif len(login) > LOGIN_MAX:
        errors.append(_error(UserErrorCode.TOO_LONG, f"login: must be at most {LOGIN_MAX} characters", "login"))
    elif not is_login(login):
        errors.append(_error(UserErrorCode.INVALID, "login: only a-z, A-Z, 0-9 and _ are allowed", "login"))


def _email(email: str, errors: list[UserError]) -> str:
    if not email.strip():
        errors.append(_error(UserErrorCode.BLANK, "email: must not be blank", "email"))
        return ""
    if len(email) > EMAIL_MOST:
        errors.append(_error(UserErrorCode.TOO_LONG, f"email: must be at most {EMAIL_MOST} characters", "email"))
        return ""
    try:
        return validate_email(email.strip(), check_deliverability=False, test_environment=True).normalized
    except EmailNotValidError as error:
        errors.append(_error(UserErrorCode.INVALID, f"email: {error}", "email"))
        return ""


def _password_errors(password: str, names: tuple[str, ...], field: str) -> list[UserError]:
    if len(password) < PASSWORD_LEAST:
        message = f"{field}: must have at least {PASSWORD_LEAST} characters"
    elif password.lower() in {name.lower() for name in names}:
        message = f"{field}: must not be the login or the e-mail address"
    elif len(set(password)) == 1:
        message = f"{field}: must not be one character repeated"
    elif len(password) > PASSWORD_MOST:
        return [_error(UserErrorCode.TOO_LONG, f"{field}: must be at most {PASSWORD_MOST} characters", field)]
    else:
        return []
    return [_error(UserErrorCode.WEAK_PASSWORD, message, field)]


def _text(
    text: str,
    field: str,
    limit: int,
    errors: list[UserError],
    *,
    multiline: bool = False,
    may_be_empty: bool = False,
) -> str:
    try:
        return normalise(text, limit=limit, multiline=multiline, may_be_empty=may_be_empty)
    except TextRefused as refusal:
        errors.append(_error(UserErrorCode(refusal.code), f"{field}: {refusal}", field))
        return ""


def _error(code: UserErrorCode, message: str, field: str) -> UserError:
    return UserError(code, message, [field])


def _raise(errors: list[UserError]) -> None:
    if errors:
        raise Refused(*errors)

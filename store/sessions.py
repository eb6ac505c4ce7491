"""Sessions: their records, log-in, the session check of each operation, refresh, and the end of sessions."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.credentials.records import Credentials
from store.credentials.two_factor import NO_PROOF, Proof
from store.keys.fields import CredentialsField, UserField
from store.mail.letters import Letter
from store.records.lists import read_pairs
from store.refusals import Refusal, refused
from store.secret import Secret

SESSIONS = keys.sessions_channel()  # `member session` of a session that has ended
NO_TOKEN = Secret("")
_CHECKED = (
    CredentialsField.ROLE,
    CredentialsField.SUSPENDED,
    CredentialsField.TOTP_SALT,
    CredentialsField.VERIFIED,
)


class Session(Struct, frozen=True):
    """A session of a member. Times are in ms since 1970; tokens are digests of refresh tokens.

    `address` is that of the client when it last got tokens. Nobody but the member sees it.
    """

    id: str
    token: Secret
    created: int
    expires: int
    user_agent: str
    previous: Secret = NO_TOKEN
    rotated: int = 0
    address: str = ""

    @property
    def created_at(self) -> datetime:
        return datetime.fromtimestamp(self.created / 1000, UTC)

    @property
    def expires_at(self) -> datetime:
        return datetime.fromtimestamp(self.expires / 1000, UTC)

    @property
    def last_used_at(self) -> datetime:
        """When the session last got tokens: at log-in, at a refresh or with a new password."""
        return datetime.fromtimestamp(max(self.created, self.rotated) / 1000, UTC)

    @classmethod
    def read(cls, session: str, text: str) -> "Session":
        fields = msgspec.json.decode(text)
        tokens = {name: Secret(fields[name]) for name in ("token", "previous") if name in fields}
        return cls(id=session, **{**fields, **tokens})

    def text(self) -> str:
        """Return the record as it is stored."""
        fields = msgspec.structs.asdict(self)
        del fields["id"]
        return msgspec.json.encode(fields, enc_hook=Secret.reveal).decode()


class LogInFacts(Struct, frozen=True):
    """The facts that decide on a log-in: the member's credentials, and whether they used the address before."""

    credentials: Credentials | None
    login: str | None
    is_known_address: bool


async def log_in_facts(db: Database, member: int, address: str) -> LogInFacts:
    """Return the facts that decide on a log-in, in one round trip, also for a member who does not exist.

    `address` is a digest of the client's address, the same that `open_session` stores.
    """
    credentials, login, known = await db.ask(
        ("HGETALL", keys.credentials(member)),
        ("HGET", keys.user(member), UserField.LOGIN),
        ("ZSCORE", keys.known_addresses(member), address),
    )
    oldest = _now() - _known_address_seconds(db) * 1000
    return LogInFacts(
        credentials=Credentials.read(read_pairs(credentials)),
        login=login,
        is_known_address=known is not None and int(known) > oldest,
    )


async def open_session(
    db: Database,
    member: int,
    session: Session,
    checked_hash: Secret | None = None,
    address: str = "",
    proof: Proof = NO_PROOF,
) -> Literal[Refusal.GONE, Refusal.CHANGED, Refusal.CODE] | None:
    """Add a session, unless the password's hash is no longer `checked_hash`, or the proof was used meanwhile.

    Beyond `SESSIONS_PER_MEMBER`, the oldest sessions end. `address` is a digest of the client's address.
    """
    reply = await db.call(
        "open_session",
        member,
        session=session.id,
        record=session.text(),
        max_sessions=db.settings.sessions_per_member,
        checked_hash=checked_hash.reveal() if checked_hash else "",
        address=address,
        now=session.created,
        address_ttl=_known_address_seconds(db),
        max_addresses=db.settings.known_addresses,
        **proof.arguments(),
    )
    return await _announced(db, member, reply)


def _known_address_seconds(db: Database) -> int:
    return db.settings.known_address_days * 86_400


def session_commands(member: int, session: str) -> list[Command]:
    """Return the commands that read a session's text, then what is checked of its member's credentials."""
    return [("HGET", keys.sessions(member), session), ("HMGET", keys.credentials(member), *_CHECKED)]


async def session_text(db: Database, member: int, session: str) -> str | None:
    """Return a session as it is stored, None when it has ended; one round trip."""
    text: str | None = await db.one("HGET", keys.sessions(member), session)
    return text


async def rotate(
    db: Database, member: int, session: str, *, presented: str, successor: str, is_issued: bool, address: str
) -> Literal[Refusal.STALE, Refusal.ENDED] | None:
    """Replace the digest of a refresh token with its successor's. ENDED says that this has ended a running session.

    Only a token that was issued for the session, or whose digest the session has, can end the session. `address` is the
    client's.
    """
    now = _now()
    reply = await db.call(
        "rotate_session",
        member,
        session=session,
        presented=presented,
        successor=successor,
        now=now,
        grace=db.settings.refresh_grace_seconds * 1000,
        expires=now + db.settings.session_days * 86_400_000,
        is_issued="1" if is_issued else "",
        address=address,
    )
    return refused(reply)


async def change_password(
    db: Database, member: int, *, checked_hash: Secret, password: Secret, session: str, token: str, letter: Letter
) -> Literal[Refusal.CHANGED] | None:
    """Set a password's hash and end every session but one. `letter` tells the member.

    CHANGED says that the password's hash is no longer `checked_hash`, or that this session has ended.
    """
    now = _now()
    reply = await db.call(
        "change_password",
        member,
        checked_hash=checked_hash.reveal(),
        new_hash=password.reveal(),
        session=session,
        token=token,
        now=now,
        expires=now + db.settings.session_days * 86_400_000,
        mail=letter.text(),
    )
    return await _announced(db, member, reply)


async def reset_password(
    db: Database, member: int, *, digest: str, password: Secret, session: Session, letter: Letter, proof: Proof
) -> Literal[Refusal.STALE, Refusal.CODE] | None:
    """Set a password's hash by a token, end every session and begin a new one. `proof` is of the second factor."""
    reply = await db.call(
        "reset_password",
        member,
        digest=digest,
        new_hash=password.reveal(),
        session=session.id,
        record=session.text(),
        mail=letter.text(),
        **proof.arguments(),
    )
    return await _announced(db, member, reply)


async def unexpired(db: Database, member: int) -> list[Session]:
    """Return a member's unexpired sessions, newest first."""
    stored = read_pairs(await db.one("HGETALL", keys.sessions(member)))
    now = _now()
    living = [Session.read(session, text) for session, text in stored.items()]
    return sorted((s for s in living if s.expires > now), key=lambda s: (s.created, s.id), reverse=True)


async def end(db: Database, member: int, *, only: str | None = None) -> int:
    """End one session of a member, or all of them, and notify every process; returns how many there were."""
    ended = await db.one("HKEYS", keys.sessions(member)) if only is None else [only]
    if not ended:
        return 0
    count: int = await db.one("HDEL", keys.sessions(member), *ended)
    await announce(db, member, ended)
    return count


async def _announced(db: Database, member: int, reply: Any) -> Any | None:
    """Announce the sessions that a script has ended, and return None; or return the refusal that its reply is."""
    refusal = refused(reply)
    if refusal is None:
        await announce(db, member, reply)
    return refusal


async def announce(db: Database, member: int, ended: Sequence[str]) -> None:
    """Notify every process that these sessions of a member have ended."""
    await db.ask(*(("SPUBLISH", db.channel(SESSIONS), f"{member} {session}") for session in ended))


def _now() -> int:
    return time.time_ns() // 1_000_000

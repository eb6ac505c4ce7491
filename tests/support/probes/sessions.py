"""Helpers of session tests: log in, refresh, and check whether a session is valid."""

import json
from typing import Any

import jwt

from resolvers import accounts
from resolvers.process.services import Services
from resolvers.process.tokens import digest
from store import keys
from store.client.database import Database
from store.settings import Settings
from tests.support.people import PASSWORD, SECRET, SIGN_UP, Member
from tests.support.probes.members import number

SESSION = "accessToken refreshToken expiresAt viewer { user { id } sessions { id isCurrent } }"
VIEWER = "viewer { user { id } }"
NEW_PASSWORD = "another good password"
WRONG_LOG_IN = [(None, "WRONG_CREDENTIALS")]
WRONG_TOKEN = [("refreshToken", "WRONG_CREDENTIALS")]


async def log_in(anonymous: Member, identifier: str, password: str = PASSWORD, user_agent: str = "") -> Member:
    """Return a member signed in once more, from another device."""
    headers = {"User-Agent": user_agent} if user_agent else {}
    device = Member(anonymous.client, headers=headers)
    payload = await device.do("logIn", SIGN_UP, identifier=identifier, password=password)
    assert not payload["userErrors"], payload
    device.token, device.refresh_token = payload["accessToken"], payload["refreshToken"]
    device.device_token = payload["deviceToken"]
    device.id, device.login = payload["viewer"]["user"]["id"], payload["viewer"]["user"]["login"]
    return device


async def refresh(anonymous: Member, token: str) -> Any:
    """Return the payload of a refresh."""
    return await anonymous.do("refreshSession", SESSION, refreshToken=token)


async def raw(member: Member, query: str, **variables: Any) -> tuple[int, dict[str, Any]]:
    """Return the HTTP status and the whole response."""
    headers = {"Authorization": f"Bearer {member.token}"} if member.token else {}
    body = {"query": query, "variables": variables}
    async with member.client.post("/graphql", json=body, headers=headers) as response:
        return response.status, await response.json()


async def is_signed_in(member: Member) -> bool:
    """Return whether the access token is accepted; if not, the response must be a plain 401."""
    status, answer = await raw(member, "{ viewer { user { id } } }")
    if status == 200:
        assert answer == {"data": {"viewer": {"user": {"id": member.id}}}}
        return True
    assert_unauthenticated(status, answer)
    return False


def assert_unauthenticated(status: int, answer: dict[str, Any]) -> None:
    """Assert that a response has UNAUTHENTICATED and nothing else."""
    assert status == 401
    assert list(answer) == ["errors"]
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAUTHENTICATED"]


def session_of(member: Member) -> str:
    """Return the id of a token's session."""
    assert member.token
    return str(jwt.decode(member.token, SECRET, algorithms=["HS256"])["sid"])


async def edit_session(db: Database, member: Member, **changes: int) -> None:
    """Add to numbers of the stored session, as if time had passed."""
    key, session = keys.sessions(number(member)), session_of(member)
    record = json.loads(await db.one("HGET", key, session))
    record.update({field: record[field] + change for field, change in changes.items()})
    await db.one("HSET", key, session, json.dumps(record))


async def store_token(db: Database, member: Member, token: str) -> None:
    """Make a refresh token the current one of the session, as if an older version had issued it."""
    key, session = keys.sessions(number(member)), session_of(member)
    record = json.loads(await db.one("HGET", key, session))
    await db.one("HSET", key, session, json.dumps({**record, "token": digest(token)}))


async def end_by_time(db: Database, member: Member, settings: Settings) -> None:
    """Let the life of a session that is never refreshed run out."""
    await edit_session(db, member, expires=-settings.session_days * 86_400_000)


NOTHING_READ = "{ __typename }"


async def suspend(services: Services, member: Member, *, end: bool = False) -> None:
    """Suspend a member, or end a suspension."""
    assert await accounts.set_suspension(services.db, member.login, suspended=not end)

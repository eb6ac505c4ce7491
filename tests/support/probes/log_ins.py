"""Helpers of log-in limit tests: they try passwords from several addresses, and let time pass."""

from typing import Any

from store.client.database import Database
from tests.support.people import PASSWORD, Member
from tests.support.stored import find

LOG_IN = "mutation($input: LogInInput!) { logIn(input: $input) { accessToken userErrors { code } } }"
# With a proxy header that gives the client's address.
LIMITS = {
    "rate_limit": 10_000,
    "log_in_attempts": 3,
    "log_in_attempts_per_address": 8,
    "trusted_proxies": ("127.0.0.0/8", "::1/128"),
}


def stranger(member: Member, number: int) -> Member:
    """Return an anonymous client at an address in a network of its own."""
    return at(member, f"198.51.{number}.1")


def at(member: Member, address: str) -> Member:
    """Return a client at an address."""
    return Member(member.client, headers={"X-Forwarded-For": address})


async def answer(member: Member, identifier: str, password: str, device: str | None = None) -> dict[str, Any]:
    """Return the payload of an attempt to log in."""
    return await member.send(LOG_IN, input={"identifier": identifier, "password": password, "deviceToken": device})


async def attempt(member: Member, identifier: str, password: str, device: str | None = None) -> str:
    """Return the error code of an attempt to log in, or OK."""
    found = await answer(member, identifier, password, device)
    if "errors" in found:
        assert found["data"] == {"logIn": None}
        return str(found["errors"][0]["extensions"]["code"])
    payload = found["data"]["logIn"]
    return "OK" if payload["accessToken"] else str(payload["userErrors"][0]["code"])


async def wait_of(member: Member, identifier: str) -> int:
    """Return after how many seconds a client may try an identifier again."""
    (error,) = (await answer(member, identifier, PASSWORD))["errors"]
    wait: int = error["extensions"]["retryAfter"]
    assert f"in {wait} s" in error["message"]
    return wait


async def pass_time(db: Database, seconds: int) -> None:
    """Move the time of every next allowed attempt nearer."""
    for key in await find(db, "log-in-turns:*"):
        for network in await db.one("ZRANGE", key, 0, -1):
            await db.one("ZINCRBY", key, -1000 * seconds, network)

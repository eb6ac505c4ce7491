"""What clients of several benchmarks do: they sign up, ask, and wait until something has happened."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientSession

from resolvers.reading import global_ids
from store import jobs
from store.client.database import Database, Unavailable

PAUSE = 0.05  # s between two looks, or before a retry
PASSWORD = "correct horse battery"  # noqa: S105  of members that are removed
SIGN_UP = """mutation($input: SignUpInput!) { signUp(input: $input) {
  accessToken viewer { user { id } } userErrors { message } } }"""
FOLLOW = "mutation($input: UsersInput!) { follow(input: $input) { userErrors { code } } }"
POST = "mutation($input: PostInput!) { post(input: $input) { status { id } userErrors { message } } }"
UNLIMITED: dict[str, Any] = {  # settings of a server whose members do more than members may
    "sign_ups_per_hour": 1_000_000,
    "posts_per_hour": 1_000_000,
    "follows_per_hour": 1_000_000,
    "new_member_hours": 0,
    "connections_per_address": 0,
}


@dataclass(frozen=True)
class SignedIn:
    """A member who is signed in."""

    member: int
    login: str
    token: str

    @property
    def id(self) -> str:
        """Return their global id."""
        return global_ids.user_id(self.member)


async def ask(session: ClientSession, url: str, query: str, token: str | None, variables: dict[str, Any]) -> Any:
    """Return the whole response to an operation. Raises what aiohttp raises."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with session.post(
        f"{url}/graphql", json={"query": query, "variables": variables}, headers=headers
    ) as response:
        return await response.json()


async def sign_up(session: ClientSession, url: str, count: int) -> list[SignedIn]:
    """Sign members up."""
    members = []
    for n in range(count):
        fields = {"login": f"member{n}", "name": "M", "email": f"m{n}@example.org", "password": PASSWORD}
        payload = (await ask(session, url, SIGN_UP, None, {"input": fields}))["data"]["signUp"]
        member = int(payload["viewer"]["user"]["id"].removeprefix("user_"), 16)
        members.append(SignedIn(member, fields["login"], payload["accessToken"]))
    return members


async def until(condition: Callable[[], Awaitable[object]]) -> float:
    """Look again and again until a condition holds; returns how long that took, s."""
    began = time.monotonic()
    while not await condition():  # noqa: ASYNC110  it comes true in another process
        await asyncio.sleep(PAUSE)
    return time.monotonic() - began


async def until_no_job_is_left(db: Database) -> None:
    """Wait until all jobs are done, through outages of the store."""

    async def is_finished() -> bool:
        try:
            return await jobs.backlog(db) == (0, 0)
        except Unavailable:
            return False

    await until(is_finished)

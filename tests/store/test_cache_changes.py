"""Cached sessions, lists and logins are right in every process after a change in another one."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from resolvers.process.services import Services
from store import keys
from store.keys.fields import CredentialsField, UserField
from store.settings import Settings
from tests.support.people import Member
from tests.support.servers.processes import process
from tests.support.stored import disconnect
from tests.support.work import number

Elsewhere = Callable[[Member, str], Awaitable[Any]]

VIEWER = "{ viewer { user { login } } }"
PAGE = "nodes { ... on Post { text } ... on Promotion { sponsor { login } } }"
HOME = f"{{ homeTimeline(first: 5) {{ {PAGE} }} }}"
PROFILE = f'{{ user(login: "bob") {{ name timeline(first: 5) {{ {PAGE} }} }} }}'


@pytest.fixture
async def elsewhere(settings: Settings, services: Services) -> AsyncIterator[Elsewhere]:
    """Another process, which answers queries and caches its reads."""
    async with process(settings) as ask:
        yield ask


def code(answer: Any) -> str | None:
    """Return the code of the first error of an answer."""
    return answer["errors"][0]["extensions"]["code"] if "errors" in answer else None


@pytest.mark.parametrize("end", ["log out", "expiry", "deletion"])
async def test_sessions(services: Services, elsewhere: Elsewhere, alice: Member, end: str) -> None:
    """A session that has ended in one process is refused in every other, even if it was valid a moment before."""
    assert code(await elsewhere(alice, VIEWER)) is None
    assert code(await elsewhere(alice, HOME)) is None
    member = number(alice.id)
    if end == "log out":
        await alice.do("logOut")
    elif end == "expiry":
        (session,) = await services.db.one("HKEYS", keys.sessions(member))
        text = await services.db.one("HGET", keys.sessions(member), session)
        expired = text.replace('"expires":1', '"expires":')
        assert expired != text
        await services.db.one("HSET", keys.sessions(member), session, expired)
    else:
        await services.db.one("DEL", keys.credentials(member))
    for query in (VIEWER, HOME):
        assert code(await elsewhere(alice, query)) == "UNAUTHENTICATED"


async def test_account_state(services: Services, elsewhere: Elsewhere, alice: Member, bob: Member) -> None:
    """A suspended member can do nothing at once, and a new moderator sees at once everything moderators see."""
    write = 'mutation { post(input: { text: "hello" }) { userErrors { code } } }'
    assert (await elsewhere(alice, write))["data"]["post"]["userErrors"] == []
    await services.db.one("HSET", keys.credentials(number(alice.id)), CredentialsField.SUSPENDED, "1")
    assert (await elsewhere(alice, write))["data"]["post"]["userErrors"] == [{"code": "NOT_ALLOWED"}]
    await services.db.one("HSET", keys.user(number(bob.id)), UserField.SUSPENDED, "1")
    assert (await elsewhere(alice, PROFILE))["data"]["user"] is None
    await services.db.one("HDEL", keys.credentials(number(alice.id)), CredentialsField.SUSPENDED)
    await services.db.one("HSET", keys.credentials(number(alice.id)), CredentialsField.ROLE, "MODERATOR")
    assert (await elsewhere(alice, PROFILE))["data"]["user"]


async def test_lists(elsewhere: Elsewhere, alice: Member, bob: Member) -> None:
    """Posts are in profiles and homes at once, and leave them as soon as they are deleted."""
    await alice.follow(bob)
    made: list[str] = []

    async def shown() -> list[list[str]]:
        pages = [await elsewhere(alice, HOME), await elsewhere(alice, PROFILE)]
        timelines = [pages[0]["data"]["homeTimeline"], pages[1]["data"]["user"]["timeline"]]
        return [[node["text"] for node in timeline["nodes"]] for timeline in timelines]

    for i in range(12):  # more than the buffer `newest` beside a home's list holds
        assert await shown() == [[f"post {j}" for j in reversed(range(i))][:5]] * 2
        made.append(await bob.post(f"post {i}"))
    await bob.do("deletePost", postId=made.pop(10))
    assert await shown() == [["post 11", "post 9", "post 8", "post 7", "post 6"]] * 2
    await alice.unfollow(bob)
    assert (await shown())[0] == []


async def test_logins(elsewhere: Elsewhere, alice: Member, bob: Member, carol: Member) -> None:
    """A login leads to its present holder."""
    assert (await elsewhere(alice, PROFILE))["data"]["user"]["name"]
    await bob.do("updateProfile", login="robert")
    assert (await elsewhere(alice, PROFILE))["data"]["user"] is None
    assert (await elsewhere(alice, PROFILE.replace("bob", "robert")))["data"]["user"]
    missing = PROFILE.replace("bob", "caroline")
    assert (await elsewhere(alice, missing))["data"]["user"] is None
    await carol.do("updateProfile", login="caroline")
    assert (await elsewhere(alice, missing))["data"]["user"]


async def test_without_the_connection(services: Services, elsewhere: Elsewhere, alice: Member, bob: Member) -> None:
    """If the connection for invalidations breaks, no cached value is shown any more."""
    await alice.follow(bob)
    post = await bob.post("secret")
    assert "secret" in str(await elsewhere(alice, HOME))
    await disconnect(services.db, "normal")
    for _ in range(3):  # a process may learn only now that a connection is gone
        await bob.send(f'mutation {{ deletePost(input: {{ postId: "{post}" }}) {{ userErrors {{ code }} }} }}')
    while code(answer := await elsewhere(alice, HOME)) == "SERVICE_UNAVAILABLE":
        pass
    assert answer == {"data": {"homeTimeline": {"nodes": []}}}

"""A store that refuses commands: reads go on, refused writes change nothing, and the operator is informed."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.upkeep import verify
from store import jobs, keys
from store.client import database
from store.client.caching import cache
from store.client.connection import connect
from store.client.database import Database, Unavailable
from store.homes import stored
from store.settings import Settings
from tests.support.people import PASSWORD, USER_ERRORS, Member, contents, mutation_text, shrunk, sign_up
from tests.support.servers.outages import REFUSING, SILENCED, outage
from tests.support.servers.processes import SERVERS, VALKEY, Redis, own_store, process
from tests.support.transport.live import watching
from tests.support.work import number, waiting, work_off

RATE_LIMIT = 60
READS = """{
  viewer { user { id followerCount } unreadNotificationCount notifications(first: 5) { nodes { __typename } } }
  homeTimeline(first: 10) { nodes { ... on Post { id text likeCount author { login } } } }
  publicTimeline(first: 10) { nodes { ... on Post { id } } }
  important: publicTimeline(first: 1, order: IMPORTANT) { nodes { ... on Post { id } } }
  hashtag(name: "tag") { name timeline(first: 1) { nodes { ... on Post { id } } } }
  trendingHashtags { name }
  searchUsers(prefix: "bo", first: 1) { nodes { id } }
  user(login: "bob") { id name timeline(first: 5) { nodes { ... on Post { id } } } followers { nodes { id } } }
}"""
PAGE = "{ homeTimeline { nodes { __typename } } }"
SOON = 1.0  # s within which /readyz answers


@pytest.fixture
async def store(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Redis]:
    """A store of the test's own, which it can put into any state."""
    async with own_store(tmp_path, getattr(request, "param", VALKEY)) as server:
        yield server


@pytest.fixture
def settings(settings: Settings, store: Redis) -> Settings:
    """The settings, with that store; requests are counted."""
    return shrunk(settings, redis_url=store.settings["redis_url"], rate_limit=RATE_LIMIT)


async def answer(member: Member, query: str, **variables: Any) -> tuple[int, str | None, dict[str, Any]]:
    """Return status, Retry-After and body of an answer."""
    headers = {"Authorization": f"Bearer {member.token}"} if member.token else {}
    body = {"query": query, "variables": variables}
    async with member.client.post("/graphql", json=body, headers=headers) as response:
        return response.status, response.headers.get("Retry-After"), await response.json()


READY = ([200, 200], {"reads": True, "writes": True, "states": []})


async def readiness(member: Member) -> tuple[list[int], dict[str, Any]]:
    """Return the statuses of /readyz and /readyz/writes, and their answer. Each must come within a second."""
    statuses, bodies = [], []
    for path in ("/readyz", "/readyz/writes"):
        began = time.monotonic()
        async with member.client.get(path) as response:
            statuses.append(response.status)
            bodies.append(await response.json())
        assert time.monotonic() - began < SOON
    assert bodies[0] == bodies[1]
    return statuses, bodies[0]


def refuses_writes(state: str) -> tuple[list[int], dict[str, Any]]:
    """Return the answers about readiness while the store refuses writes."""
    return [200, 503], {"reads": True, "writes": False, "states": [state]}


def is_away(state: str) -> tuple[list[int], dict[str, Any]]:
    """Return the answers about readiness while the store answers nothing."""
    return [503, 503], {"reads": False, "writes": False, "states": [state]}


@pytest.mark.parametrize("state", REFUSING)
async def test_reads_go_on(settings: Settings, db: Database, alice: Member, bob: Member, state: str) -> None:
    """While the store accepts no writes, reads are answered as before, cached or not."""
    await alice.follow(bob)
    for text in ("hello", "again #tag"):
        await bob.post(text)
    before = await alice.ask(READS)
    async with outage(state, settings.redis_url):
        assert await alice.ask(READS) == before
        assert await Member(alice.client).ask('{ user(login: "bob") { name } }') == {"name": "Bob"}
        assert await readiness(alice) == refuses_writes(state)
    assert await readiness(alice) == READY


@pytest.mark.parametrize("store", SERVERS, indirect=True)
@pytest.mark.parametrize("state", REFUSING)
async def test_refused_writes(
    settings: Settings, db: Database, worker: Worker, alice: Member, bob: Member, state: str
) -> None:
    """A mutation that the store refuses says so, says when to try again, and has changed nothing."""
    post = await bob.post("hello @alice #tag")
    await alice.repost(post)
    await work_off(db, worker)
    inputs: dict[str, dict[str, Any]] = {
        "post": {"text": "more @bob #tag"},
        "repost": {"postId": post, "text": "quote"},
        "follow": {"userIds": [bob.id]},
        "block": {"userIds": [bob.id]},
        "mute": {"userIds": [bob.id]},
        "like": {"postId": post},
        "favourite": {"postId": post},
        "comment": {"postId": post, "text": "so? @bob"},
        "updateProfile": {"name": "Other", "login": "other"},
        "changeEmail": {"email": "other@example.org", "currentPassword": PASSWORD},
        "signUp": {"login": "carol", "name": "Carol", "email": "carol@example.org", "password": PASSWORD},
        "logIn": {"identifier": "alice", "password": PASSWORD},
        "changePassword": {"currentPassword": PASSWORD, "newPassword": "another long one"},
    }
    before = await contents(db)
    async with outage(state, settings.redis_url):
        for mutation, fields in inputs.items():
            query = mutation_text(mutation, USER_ERRORS)
            status, retry_after, body = await answer(alice, query, input=fields)
            assert (mutation, status, retry_after) == (mutation, 503, "10"), body
            assert [error["extensions"]["code"] for error in body["errors"]] == ["SERVICE_UNAVAILABLE"]
        assert await contents(db) == before
    await alice.follow(bob)


async def test_what_goes_on_without_memory(
    settings: Settings, db: Database, services: Services, worker: Worker, alice: Member, bob: Member
) -> None:
    """If memory is used up, deletes and log-out still work. Their jobs finish once there is memory again."""
    await bob.follow(alice)
    liked = await bob.post("liked")
    await alice.follow(bob)
    post, other = await alice.post("mine #tag @bob"), await alice.post("hidden")
    comment = (await alice.do("comment", "comment { id }", postId=liked, text="so? @bob"))["comment"]["id"]
    for mutation in ("like", "favourite"):
        await alice.do(mutation, postId=liked)
    carol = await sign_up(Member(alice.client), "carol")
    async with outage("OOM", settings.redis_url):
        for mutation, fields in {
            "unlike": {"postId": liked},
            "unfavourite": {"postId": liked},
            "deleteComment": {"commentId": comment},
            "deletePost": {"postId": post},
            "unfollow": {"userIds": [bob.id]},
            "removeFollowers": {"userIds": [bob.id]},
        }.items():
            assert (await alice.do(mutation, **fields))["userErrors"] == []
        assert await alice.ask("query($id: ID!) { node(id: $id) { id } }", id=post) is None
        assert await bob.home() == [liked]
        renewed = await bob.do("refreshSession", "accessToken", refreshToken=bob.refresh_token)
        assert renewed["accessToken"]
        assert (await carol.do("deleteAccount", password=PASSWORD))["userErrors"] == []
        assert (await bob.do("logOut"))["userErrors"] == []
        assert await bob.fail("{ viewer { user { id } } }") == "UNAUTHENTICATED"
        for _ in range(2 * settings.job_attempts):  # the store's failures are not the job's
            for job in await waiting(db):
                await jobs.hand_over(db, job)
            await worker.run_once()
    assert [await jobs.dead(db, p) for p in range(256) if await jobs.dead(db, p)] == []
    await work_off(db, worker)
    assert await alice.home() == [other]
    report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
    assert report.findings == []


async def test_half_of_the_permissions(db: Database, alice: Member) -> None:
    """A script that may write but not lease its job is refused with the state of the server, too."""
    await alice.post("@alice, this makes the group of workers")
    await db.ask(("ACL", "SETUSER", "default", "-xreadgroup"))
    assert await alice.fail('mutation { post(input: {text: "@alice"}) { status { id } } }') == "SERVICE_UNAVAILABLE"


async def test_requests_are_limited_all_the_same(settings: Settings, alice: Member, bob: Member) -> None:
    """The process counts requests while the store refuses to, with a separate limit for each member."""
    async with outage("OOM", settings.redis_url):
        for _ in range(RATE_LIMIT):
            await alice.ask("{ viewer { user { id } } }")
        status, retry_after, body = await answer(alice, "{ viewer { user { id } } }")
        assert (status, body["errors"][0]["extensions"]["code"]) == (429, "RATE_LIMITED")
        assert retry_after
        await bob.ask("{ viewer { user { id } } }")


@pytest.mark.parametrize("state", REFUSING)
async def test_the_home_of_who_was_away(
    settings: Settings, db: Database, alice: Member, bob: Member, carol: Member, state: str
) -> None:
    """A home that cannot be stored is pulled from the profiles of all followed members."""
    await alice.follow(bob)
    mine, theirs = await alice.post("mine"), [await bob.post(f"post {i}") for i in range(3)]
    theirs.append(reposted := await carol.post("reposted"))
    await bob.repost(reposted)
    await db.one(*stored.drop_home(number(alice.id)))
    async with outage(state, settings.redis_url):
        assert await alice.home() == [*reversed(theirs), mine]
        assert await alice.home("first: 2") == [*reversed(theirs)][:2]
        assert await alice.home("last: 2") == [theirs[0], mine]
        assert await db.one("EXISTS", keys.home_state(number(alice.id))) == 0
    assert len(await alice.home()) == 5


@pytest.mark.parametrize("state", SILENCED)
async def test_a_server_that_answers_nothing(settings: Settings, alice: Member, bob: Member, state: str) -> None:
    """While the store answers nothing, every operation says so. Afterwards all works again, caches included."""
    await alice.follow(bob)
    async with outage(state, settings.redis_url):
        status, retry_after, body = await answer(alice, READS)
        assert (status, retry_after) == (503, "1")
        assert [error["extensions"]["code"] for error in body["errors"]] == ["SERVICE_UNAVAILABLE"]
        assert await alice.fail('mutation { post(input: {text: "x"}) { status { id } } }') == "SERVICE_UNAVAILABLE"
        assert await readiness(alice) == is_away(state)
    post = await bob.post("hello")
    assert await alice.home() == [post]
    assert await readiness(alice) == READY


async def test_who_connects_while_it_is_busy(settings: Settings, alice: Member) -> None:
    """A process that connects while the store is busy caches like any other afterwards."""
    late = Database(settings.redis_url, settings)
    async with outage("BUSY", settings.redis_url):
        with pytest.raises(Unavailable, match="BUSY"):
            await late.read([("PING",)], [])
    assert await late.read([("PING",)], []) == (["PONG"], True)
    assert late.cache.is_on
    await late.close()


@pytest.mark.parametrize("state", ["OOM", "NOREPLICAS"])
async def test_a_live_home(settings: Settings, db: Database, alice: Member, bob: Member, state: str) -> None:
    """A live home begins while the store accepts no writes, and delivers the posts that come afterwards."""
    await alice.follow(bob)
    await db.one(*stored.drop_home(number(alice.id)))
    async with AsyncExitStack() as stack:
        async with outage(state, settings.redis_url):
            stream = await stack.enter_async_context(watching(alice, db))
        post = await bob.post("hello")
        assert await stream.brief() == ("put", post)


async def test_a_server_that_hangs(store: Redis, alice: Member) -> None:
    """/readyz answers within a second even while the store hangs, and at once afterwards."""
    with store.frozen():
        assert await readiness(alice) == is_away("SILENT")
    assert await readiness(alice) == READY


async def test_the_check_of_readiness_keeps_nothing(db: Database, services: Services) -> None:
    """Asking whether the store accepts writes leaves no key behind."""
    assert (await services.readiness()).states == []
    assert await contents(db) == {}


@pytest.mark.parametrize("query", [PAGE, "mutation { logOut { userErrors { code } } }"])
async def test_waiting_once(
    settings: Settings, store: Redis, alice: Member, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """An operation waits for a store that hangs once, not for each connection."""
    monkeypatch.setattr(database, "REPLY_SECONDS", 0.2)
    opened: list[object] = []

    async def counted(*arguments: Any) -> Any:
        opened.append(arguments)
        return await connect(*arguments)

    async with process(shrunk(settings, rate_limit=0)) as ask:
        for _ in range(2):  # the second time everything is cached
            assert "errors" not in await ask(alice, PAGE)
        monkeypatch.setattr(cache, "connect", counted)
        with store.frozen():
            answer = await ask(alice, query)
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["SERVICE_UNAVAILABLE"]
        assert not opened

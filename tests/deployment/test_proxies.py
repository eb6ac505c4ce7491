"""Perch behind Caddy and behind HAProxy, each with the configuration that the documentation shows."""

import asyncio
import contextlib
import json
import shutil
from pathlib import Path

import pytest

from benchmarks import restarts
from benchmarks.restarts import RestartLoad
from tests.support.people import sign_up
from tests.support.servers.processes import PATIENCE, serving
from tests.support.servers.proxies import CLIENT, OTHER_CLIENT, PROXIES, PROXY, Certificate, Proxy, before
from tests.support.slow import slow
from tests.support.transport.feeds import following
from tests.support.transport.live import HOME, subscribed
from tests.support.uploads import announce, drawn, put

pytestmark = slow

QUERY = json.dumps({"query": "{ __typename }"})
LIMIT = 30  # requests a minute
LIVE = "subscription { homeTimeline { ... on StreamEvent { cursor } } }"


@pytest.mark.parametrize("name", PROXIES)
async def test_behind_a_proxy(name: str, tmp_path: Path) -> None:
    """HTTP/2, websockets, event streams and uploads work through a proxy, and limits count the client's address."""
    if not shutil.which(name):
        pytest.skip("this proxy is not installed")
    async with (
        serving(tmp_path / "data", trusted_proxies=f"{PROXY}/32", rate_limit=LIMIT) as (running, _),
        before(name, tmp_path, await running.url(), Certificate.made(tmp_path)) as proxy,
    ):
        async with proxy.visiting() as anonymous:
            alice = await sign_up(anonymous, "alice")
            async with subscribed(alice, HOME) as stream, following(alice, HOME) as feed:
                post = await alice.post("through a proxy")
                assert (await stream.receive())["payload"]["data"]["homeTimeline"]["edge"]["node"]["id"] == post
                assert (await feed.receive())["data"]["homeTimeline"]["edge"]["node"]["id"] == post
            picture = drawn(size=(1_000, 1_000))
            link = (await announce(alice, picture))["url"]
            assert await put(alice, link[link.index("/uploads") :], picture) == 204
            assert alice.token
            await _speaks_http_2(proxy, alice.token)
        await _counts_clients(proxy)


async def _speaks_http_2(proxy: Proxy, token: str) -> None:
    """A query and an event stream over HTTP/2; the stream's first bytes arrive while nothing happens."""
    url, json_body = f"{proxy.url}/graphql", ("-H", "Content-Type: application/json")
    shown = await proxy.curl(url, *json_body, "-d", QUERY, "-w", " over HTTP/%{http_version}")
    assert shown == '{"data":{"__typename":"Query"}} over HTTP/2'
    accepting = ("-H", "Accept: text/event-stream", "-H", f"Authorization: Bearer {token}")
    following = await proxy.curling(url, *json_body, *accepting, "-d", json.dumps({"query": LIVE}))
    assert following.stdout
    async with asyncio.timeout(PATIENCE):
        assert await following.stdout.readline() == b":\n"
    following.kill()
    await following.wait()


async def _counts_clients(proxy: Proxy) -> None:
    """One address uses up its limit, whatever it claims to be; another address is answered."""
    claim = ("-H", f"X-Forwarded-For: {OTHER_CLIENT}", "-H", "Content-Type: application/json", "-d", QUERY)
    urls = [f"{proxy.url}/graphql"] * (LIMIT + 1)
    answers = await proxy.curl(*urls, *claim, address=CLIENT)
    assert answers.count("__typename") <= LIMIT
    assert "RATE_LIMITED" in answers
    assert "__typename" in await proxy.curl(urls[0], *claim[2:], address=OTHER_CLIENT)


@pytest.mark.skipif(not all(map(shutil.which, PROXIES)), reason="a proxy is not installed")
async def test_restart_behind_proxies(tmp_path: Path) -> None:
    """Proxies that reuse their connections to Perch lose no request and no event in a rolling restart."""
    load, certificate = RestartLoad(requests=300, subscriptions=12, restarts=1, clients=10), Certificate.made(tmp_path)
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(restarts.serving(tmp_path, trusted_proxies=f"{PROXY}/32"))
        url = await server.url()
        proxies = [await stack.enter_async_context(before(name, tmp_path, url, certificate)) for name in PROXIES]
        outcome = await restarts.prove(server, load, ([proxy.url for proxy in proxies], proxies[0].tls))
    assert outcome.is_perfect(), outcome
    assert outcome.answered == load.requests

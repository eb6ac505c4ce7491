"""A real server whose store stops answering, and goes on."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support.people import Member, sign_up
from tests.support.servers.processes import own_store, serving

MOST = 8  # requests at a time; anonymous ones have four tenths of them, reads eight tenths
AT_ONCE = 10
LATEST = "{ publicTimeline(first: 1) { totalCount } }"
HOME = "{ homeTimeline(first: 1) { totalCount } }"
POST = 'mutation { post(input: { text: "a post" }) { status { id } } }'


class Sent:
    """Requests that were sent at once, and what those that were refused got."""

    def __init__(self, who: Member, query: str) -> None:
        headers = {"Authorization": f"Bearer {who.token}"} if who.token else {}
        self.tasks = [asyncio.create_task(self._ask(who, query, headers)) for _ in range(AT_ONCE)]

    async def _ask(self, who: Member, query: str, headers: dict[str, str]) -> tuple[int, Any, str]:
        async with who.client.post("/graphql", json={"query": query}, headers=headers) as response:
            return response.status, await response.json(), response.headers.get("Retry-After", "")

    async def refused(self, count: int) -> None:
        """Wait until so many are refused, each with its code and a time to retry after."""
        done: set[asyncio.Task[tuple[int, Any, str]]] = set()
        while len(done) < count:
            done, _ = await asyncio.wait(self.tasks, return_when=asyncio.FIRST_COMPLETED, timeout=10)
            done = {task for task in self.tasks if task.done()}
        assert len(done) == count
        for status, answer, retry_after in (task.result() for task in done):
            assert status == 503
            assert answer["errors"][0]["extensions"]["code"] == "SERVICE_UNAVAILABLE"
            assert retry_after in {"1", "2", "3"}

    async def statuses(self) -> Counter[int]:
        """Return how often each status was answered."""
        return Counter(status for status, _, _ in await asyncio.gather(*self.tasks))


async def test_store_that_stops(tmp_path: Path) -> None:
    """While the store is silent, anonymous reads are refused first, and the rest is answered afterwards."""
    limits = {"max_requests": MOST, "overload_delay_ms": 10_000, "store_patience_ms": 10_000}
    async with own_store(tmp_path) as store, serving(tmp_path / "data", **limits, **store.settings) as (_, anonymous):
        alice = await sign_up(anonymous, "alice")
        with store.frozen():
            strangers = Sent(anonymous, LATEST)
            await strangers.refused(6)
            reads = Sent(alice, HOME)
            await reads.refused(6)
            assert (await Sent(anonymous, LATEST).statuses())[503] == AT_ONCE
            posts = Sent(alice, POST)
            await posts.refused(AT_ONCE)
        for sent, answered in ((strangers, 4), (reads, 4), (posts, 0)):
            assert await sent.statuses() == Counter({200: answered, 503: AT_ONCE - answered})
        assert (await Sent(alice, POST).statuses())[200] > 1
        async with anonymous.client.post("/graphql", json={"query": LATEST}) as response:
            assert response.status == 200

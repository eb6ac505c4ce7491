"""Proves that the live API loses nothing while connections are cut and the store restarts.

Run it from a checkout with Perch installed: `python -m benchmarks.cuts`. It starts a server of its own, a process with
an embedded store in a folder that is removed at the end. Members post through GraphQL. A post that is refused or not
answered is sent again with its idempotency key. Meanwhile the server's Pub/Sub connection is killed again and again,
and the store is shut down once and restarts on the same files.

Four subscribers on websockets, two to `stream` and two to `homeTimeline`, must get each post once, in the order of the
log. One of each pair stays connected. The other breaks its connection without a closing handshake and resumes from its
last cursor. No subscriber may get a gap, so nobody posts while one is further behind than half of `SUBSCRIBER_QUEUE`.
The exit status is 1 where anything was lost or delivered twice.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import structlog
from aiohttp import ClientConnectionError, ClientSession
from tqdm import tqdm

from benchmarks.subscriber import QUERIES, Subscriber
from resolvers.live.cursors import event_cursor
from resolvers.reading import global_ids
from store import jobs
from store.client.database import Database, Unavailable
from store.embedded import attach
from store.events import log as events
from store.events.log import Event
from store.settings import Settings

SERVER = Path(__file__).parent.parent / "server.py"
AUTHORS, CLIENTS = 10, 8  # Members who post, and concurrent requests.
BEHIND = 500  # Posts by which the slowest subscriber may be behind: half of SUBSCRIBER_QUEUE.
PATIENCE = 60  # Seconds without progress after which something counts as lost.
PAUSE = 0.05  # Seconds between two polls, or before a retry.
PASSWORD = "correct horse battery"  # noqa: S105  of members that are removed
SIGN_UP = """mutation($input: SignUpInput!) { signUp(input: $input) {
  accessToken viewer { user { id } } userErrors { message } } }"""
FOLLOW = "mutation($input: UsersInput!) { follow(input: $input) { userErrors { message } } }"
POST = "mutation($input: PostInput!) { post(input: $input) { status { id } userErrors { message } } }"


class Posting:
    """Posts that several clients make concurrently. Each has an idempotency key, so none is made twice."""

    def __init__(self, url: str, tokens: list[str], total: int, subscribers: list[Subscriber]) -> None:
        self.left = deque((tokens[n % len(tokens)], f"post {n} #cuts") for n in range(total))
        self.answered: set[str] = set()
        self.refused: Counter[str] = Counter()  # By the error in place of an answer.
        self._url, self._subscribers = url, subscribers
        self._bar = tqdm(total=total, desc="posts", unit="", mininterval=0.5)

    async def run(self) -> None:
        """Post until all posts are answered."""
        async with ClientSession() as session, asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(self._client(session))

    async def until(self, answered: int) -> None:
        """Wait until this many posts are answered."""
        while len(self.answered) < answered:  # noqa: ASYNC110  many count
            await asyncio.sleep(PAUSE)

    async def _client(self, session: ClientSession) -> None:
        while self.left:
            token, text = self.left.popleft()
            fields = {"text": text, "idempotencyKey": text.replace(" ", "-").replace("#", "")}
            while self._is_ahead() or not (post := await self._once(session, token, fields)):  # noqa: ASYNC110
                await asyncio.sleep(PAUSE)
            self.answered.add(post)
            self._bar.update()

    def _is_ahead(self) -> bool:
        return len(self.answered) > min(len(subscriber.received) for subscriber in self._subscribers) + BEHIND

    async def _once(self, session: ClientSession, token: str, fields: dict[str, str]) -> str | None:
        try:
            answer = await ask(session, self._url, POST, token, fields)
        except (ClientConnectionError, TimeoutError) as error:
            self.refused[type(error).__name__] += 1
            return None
        if "errors" in answer:
            self.refused[answer["errors"][0]["extensions"]["code"]] += 1
            return None
        assert not answer["data"]["post"]["userErrors"], answer
        return str(answer["data"]["post"]["status"]["id"])


async def ask(session: ClientSession, url: str, query: str, token: str | None, fields: dict[str, Any]) -> Any:
    """Return the whole response to an operation with an input."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    body = {"query": query, "variables": {"input": fields}}
    async with session.post(f"{url}/graphql", json=body, headers=headers) as response:
        return await response.json()


async def members(url: str, count: int) -> list[str]:
    """Sign members up, have the first one follow all the others, and return their access tokens."""
    signed_up = []
    async with ClientSession() as session:
        for n in range(count):
            fields = {"login": f"member{n}", "name": "M", "email": f"m{n}@example.org", "password": PASSWORD}
            signed_up.append((await ask(session, url, SIGN_UP, None, fields))["data"]["signUp"])
        others = [payload["viewer"]["user"]["id"] for payload in signed_up[1:]]
        await ask(session, url, FOLLOW, signed_up[0]["accessToken"], {"userIds": others})
    return [payload["accessToken"] for payload in signed_up]


@contextlib.asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[str]:
    """Run a server as a process of its own; yields its address."""
    chosen = {"DATA_DIR": str(folder), "PORT": "0", "RATE_LIMIT": "0", "OVERLOAD_DELAY_MS": "0"}
    chosen["SIGN_UPS_PER_HOUR"] = "1000"
    with (folder / "server.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, SERVER, "serve", stdout=PIPE, stderr=log, env={**os.environ, **chosen}
        )
    try:
        yield await address(process)
    finally:
        process.terminate()
        await process.wait()


async def address(process: Process) -> str:
    """Return the address that a process of Perch prints once it serves."""
    assert process.stdout
    async for line in process.stdout:
        if b"/graphql" in line:
            return line.decode().split()[-1].removesuffix("/graphql")
    raise SystemExit("the server does not start")


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Poll until a condition holds."""
    while not await condition():  # noqa: ASYNC110  it comes true in another process
        await asyncio.sleep(PAUSE)


async def cut(db: Database) -> None:
    """Kill the server's Pub/Sub connection, after waiting until it exists."""

    async def is_cut() -> bool:
        return bool(await answered(db, "CLIENT", "KILL", "TYPE", "pubsub"))

    await until(is_cut)


async def restart(db: Database) -> None:
    """Shut the store down. Its supervisor restarts it on the same files."""
    run = await _run_id(db)
    with contextlib.suppress(Unavailable):
        await db.one("SHUTDOWN")

    async def is_back() -> bool:
        return await _run_id(db) not in {run, ""}

    await until(is_back)


async def _run_id(db: Database) -> str:
    lines = str(await answered(db, "INFO", "server")).splitlines()
    return next((line for line in lines if line.startswith("run_id:")), "")


async def answered(db: Database, *command: str) -> Any:
    """Return the reply to a command, or None while the store is unavailable."""
    try:
        return await db.one(*command)
    except Unavailable:
        return None


async def trouble(db: Database, posting: Posting, subscribers: list[Subscriber], asked: argparse.Namespace) -> None:
    """Cause all failures, evenly spread over the posts."""
    acts: list[tuple[float, Callable[[], Awaitable[None]]]] = [(0.5, lambda: restart(db))]
    acts += [((n + 0.5) / asked.cuts, lambda: cut(db)) for n in range(asked.cuts)]
    for subscriber in subscribers:
        acts += [((n + 0.7) / asked.breaks, subscriber.leave) for n in range(asked.breaks)]
    for place, act in sorted(acts, key=lambda planned: planned[0]):
        await posting.until(int(place * asked.posts))
        await act()


async def logged(db: Database, start: str) -> list[str]:
    """Return the posts in the event log since a cursor, in its order."""
    found: list[Event] = []
    while batch := await events.between(db, found[-1].cursor if found else start):
        found += batch
    return [global_ids.post_id(event.post, is_repost=False) for event in found if event.kind == "post"]


async def all_received(subscribers: list[Subscriber], count: int) -> None:
    """Wait until all subscribers have got this many posts, or no more arrive."""
    received, since = -1, time.monotonic()
    while any(len(s.received) < count for s in subscribers) and time.monotonic() - since < PATIENCE:
        now = sum(len(s.received) for s in subscribers)
        received, since = now, time.monotonic() if now != received else since
        await asyncio.sleep(PAUSE)


async def prove(folder: Path, asked: argparse.Namespace) -> bool:
    """Run the benchmark, print its results, and return whether nothing was lost."""
    async with serving(folder) as url:
        held = await attach.attach(folder)
        db = Database(held.url, Settings())
        tokens = await members(url, AUTHORS + 1)
        start = await events.newest(db)
        subscribers = [
            Subscriber(f"{name}, {how}", query, tokens[0], event_cursor(start))
            for name, query in QUERIES.items()
            for how in ("stays", "breaks")
        ]
        listening = [asyncio.create_task(subscriber.run(url)) for subscriber in subscribers]
        began, posting = time.monotonic(), Posting(url, tokens[1:], asked.posts, subscribers)
        await asyncio.gather(posting.run(), trouble(db, posting, subscribers[1::2], asked))

        async def is_finished() -> bool:
            return await jobs.backlog(db) == (0, 0)

        await until(is_finished)
        wanted = await logged(db, start)
        await all_received(subscribers, len(wanted))
        seconds = time.monotonic() - began
        for task in listening:
            task.cancel()
        await asyncio.wait(listening)
        await db.close()
    await held.close()
    rows = [subscriber.row(wanted) for subscriber in subscribers]
    is_whole = len(wanted) == asked.posts and set(wanted) == posting.answered
    print(f"\n\n{len(posting.answered):,} posts answered, {len(wanted):,} in the log ", end="")
    print(f"({'the same' if is_whole else 'NOT THE SAME'}), {seconds:.0f} s")
    print(f"{asked.cuts} cuts of Pub/Sub, 1 restart of the store; asked again: {dict(posting.refused) or 'nothing'}")
    head = ["subscriber", "events", "missing", "repeated", "gaps", "in order", "broken by it", "ended by the server"]
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row) + " |")
    return is_whole and all(s.received == wanted and not s.gaps for s in subscribers)


def main() -> int:
    """Parse the arguments, run the benchmark, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    for name, default in (("posts", 10_000), ("cuts", 20), ("breaks", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return 0 if asyncio.run(prove(Path(folder), asked)) else 1


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    sys.exit(main())

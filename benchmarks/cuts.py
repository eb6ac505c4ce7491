"""Proves that the live API loses nothing while connections are cut and the store restarts.

Run it from a checkout with the development packages: `python -m benchmarks.cuts`. It starts a server of its own, a
process with an embedded store in a folder that is removed at the end. Members post through GraphQL. A post that is
refused or not answered is sent again with its idempotency key. Meanwhile the server's Pub/Sub connection is killed
again and again, and the store is shut down once and restarts on the same files.

Four subscribers on websockets, two to `stream` and two to `homeTimeline`, must get each post once, in the order of the
log. One of each pair stays connected. The other breaks its connection without a closing handshake and resumes from its
last cursor. No subscriber may get a gap, so nobody posts while one is further behind than half of `SUBSCRIBER_QUEUE`.
The exit status is 1 where anything was lost or delivered twice.
"""

import argparse
import asyncio
import contextlib
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from aiohttp import ClientConnectionError, ClientSession
from tqdm import tqdm

from benchmarks.clients import FOLLOW, PAUSE, POST, UNLIMITED, SignedIn, ask, sign_up, until, until_no_job_is_left
from benchmarks.subscribers import HEAD, QUERIES, PostLog, SubscribedClient, losses, rows, until_received
from benchmarks.versus.tables import table
from resolvers.live.cursors import event_cursor
from store.client.database import Database, Unavailable
from store.events import log as events
from tests.support.servers import processes

AUTHORS, CLIENTS = 10, 8  # members who post, and concurrent requests
BEHIND = 500  # posts by which the slowest subscriber may be behind: half of SUBSCRIBER_QUEUE


class Posting:
    """Posts that several clients make concurrently. Each has an idempotency key, so none is made twice."""

    def __init__(self, url: str, authors: list[SignedIn], total: int, subscribers: list[SubscribedClient]) -> None:
        self.left = deque((authors[n % len(authors)], f"post {n} #cuts") for n in range(total))
        self.answered: set[str] = set()
        self.refused: Counter[str] = Counter()  # by the error in place of an answer
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
            author, text = self.left.popleft()
            fields = {"text": text, "idempotencyKey": text.replace(" ", "-").replace("#", "")}
            while self._is_ahead() or not (post := await self._once(session, author, fields)):  # noqa: ASYNC110
                await asyncio.sleep(PAUSE)
            self.answered.add(post)
            self._bar.update()

    def _is_ahead(self) -> bool:
        return len(self.answered) > min(len(subscriber.received) for subscriber in self._subscribers) + BEHIND

    async def _once(self, session: ClientSession, author: SignedIn, fields: dict[str, str]) -> str | None:
        try:
            answer = await ask(session, self._url, POST, author.token, {"input": fields})
        except (ClientConnectionError, TimeoutError) as error:
            self.refused[type(error).__name__] += 1
            return None
        if "errors" in answer:
            self.refused[answer["errors"][0]["extensions"]["code"]] += 1
            return None
        assert not answer["data"]["post"]["userErrors"], answer
        return str(answer["data"]["post"]["status"]["id"])


async def cut(db: Database) -> None:
    """Kill the server's Pub/Sub connection, after waiting until it exists."""
    await until(lambda: answered(db, "CLIENT", "KILL", "TYPE", "pubsub"))


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


async def trouble(
    db: Database, posting: Posting, subscribers: list[SubscribedClient], asked: argparse.Namespace
) -> None:
    """Cause all failures, evenly spread over the posts."""
    acts: list[tuple[float, Callable[[], Awaitable[None]]]] = [(0.5, lambda: restart(db))]
    acts += [((n + 0.5) / asked.cuts, lambda: cut(db)) for n in range(asked.cuts)]
    for subscriber in subscribers:
        acts += [((n + 0.7) / asked.breaks, subscriber.leave) for n in range(asked.breaks)]
    for place, act in sorted(acts, key=lambda planned: planned[0]):
        await posting.until(int(place * asked.posts))
        await act()


async def members(url: str) -> tuple[SignedIn, list[SignedIn]]:
    """Sign members up, the first of whom follows all the others."""
    async with ClientSession() as session:
        reader, *authors = await sign_up(session, url, AUTHORS + 1)
        await ask(session, url, FOLLOW, reader.token, {"input": {"userIds": [author.id for author in authors]}})
    return reader, authors


async def prove(folder: Path, asked: argparse.Namespace) -> bool:
    """Run the benchmark, print its results, and return whether nothing was lost."""
    async with processes.perch(folder, "serve", **UNLIMITED) as server, processes.opened(folder) as db:
        url = await server.url()
        reader, authors = await members(url)
        log = PostLog(db, await events.newest(db))
        subscribers = [
            SubscribedClient(f"{name}, {how}", query, reader.token, event_cursor(log.cursor))
            for name, query in QUERIES.items()
            for how in ("stays", "breaks")
        ]
        listening = [asyncio.create_task(subscriber.run(url)) for subscriber in subscribers]
        began, posting = time.monotonic(), Posting(url, authors, asked.posts, subscribers)
        await asyncio.gather(posting.run(), trouble(db, posting, subscribers[1::2], asked))
        await until_no_job_is_left(db)
        await log.catch_up()
        await until_received(subscribers, len(log.posts))
        seconds = time.monotonic() - began
        for task in listening:
            task.cancel()
        await asyncio.wait(listening)
        await server.stop()
    is_whole = len(log.posts) == asked.posts and set(log.posts) == posting.answered
    print(f"\n\n{len(posting.answered):,} posts answered, {len(log.posts):,} in the log ", end="")
    print(f"({'the same' if is_whole else 'NOT THE SAME'}), {seconds:.0f} s")
    print(f"{asked.cuts} cuts of Pub/Sub, 1 restart of the store; asked again: {dict(posting.refused) or 'nothing'}")
    table(HEAD, rows(subscribers, log.posts))
    return is_whole and not any(losses(subscribers, log.posts, log.posts))


def main() -> int:
    """Parse the arguments, run the benchmark, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    for name, default in (("posts", 10_000), ("cuts", 20), ("breaks", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return 0 if asyncio.run(prove(Path(folder), asked)) else 1


if __name__ == "__main__":
    sys.exit(main())

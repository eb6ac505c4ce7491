"""Runs Perch under mixed load for a long time, while the store and its own processes are killed again and again.

Run it from a checkout with Perch and its extra `bench` installed: `python -m benchmarks.soak --minutes 60`. It starts
two server processes and an embedded store in a folder that is removed at the end.

Requests become due at random moments, so many a second: home pages, profiles, likes, follows and posts. A read that
fails is counted, and a write is repeated until it is answered. Meanwhile 500 subscribers, half of them on websockets
and half on event streams, get every post. In each period, five minutes long unless another is asked for, the store ends
once and one of the processes ends once, by SIGKILL and by SIGTERM in turn.

At the end, all that was answered has to be in the store, each subscriber has to have each post once and in the order of
the log, and `verify` has to find nothing. The exit status is 1 otherwise.
"""

import argparse
import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import structlog
import uvloop

from benchmarks.clients import SignedIn, until_no_job_is_left
from benchmarks.soak.load import LIKE, SHARES, MemberLoad
from benchmarks.soak.trouble import MemorySamples, Trouble
from benchmarks.subscribers import (
    HEAD,
    QUERIES,
    EventStreamClient,
    PostLog,
    SubscribedClient,
    losses,
    rows,
    until_received,
)
from benchmarks.versus import contenders, graph, processors, stage
from benchmarks.versus.contenders import PERCH, ROOT, Contender
from benchmarks.versus.stage import ALL_PUSHED, SECRET, Stage
from benchmarks.versus.tables import table
from resolvers.live.cursors import event_cursor
from store.events import log as events

PROCESSES = 2
WATCHERS, AUTHORS, READERS = 50, 20, 200  # members who subscribe, who post, and who read, like and follow
START_SECONDS = 60  # of load before memory is called that of the start
RECONNECT_SECONDS = 0.1, 1.0  # shortest and longest pause: all subscribers of a process that was killed come back


async def main(asked: argparse.Namespace) -> bool:
    """Run the benchmark, print its results, and return whether nothing was lost."""
    with contenders.temporary_folder() as folder:
        network = graph.generated(asked.members, asked.posts, asked.seed)
        async with stage.opened(Path(folder)) as opened:
            processors.pin(opened.process, processors.ALL)
            await opened.load(network)
            kind = replace(PERCH, settings={"PROCESSES": str(PROCESSES), "LOG_LEVEL": "ERROR"})
            async with contenders.running(opened, [kind], which=processors.ALL) as (perch,):
                held = await _soak(opened, perch, asked)
            verified = await _verify(opened.url)
    return held and verified


async def _soak(opened: Stage, perch: Contender, asked: argparse.Namespace) -> bool:
    people = await opened.readers(WATCHERS + AUTHORS + READERS, 0, asked.seed)
    watchers, authors, readers = people[:WATCHERS], people[WATCHERS : WATCHERS + AUTHORS], people[WATCHERS + AUTHORS :]
    posts = await opened.public_posts()
    load = MemberLoad(perch.port, readers, authors, list(opened.members), posts, asked.seed)
    for watcher in watchers:
        await load.follow_all(watcher, authors)
    await opened.work_off()
    log = PostLog(opened.db, await events.newest(opened.db))
    listening = subscribers(watchers, asked.subscriptions, log.cursor)
    trouble = Trouble(opened, perch, asked.every)
    memory = MemorySamples(opened, perch, trouble)
    load.is_troubled = trouble.is_near
    url = f"http://127.0.0.1:{perch.port}"
    beside = [asyncio.create_task(each.run(url)) for each in listening]
    beside += [asyncio.create_task(each) for each in (log.run(), memory.run(), _report(load, listening, memory))]
    began, seconds = time.monotonic(), asked.minutes * 60
    await asyncio.gather(load.run(asked.rate, seconds), trouble.run(seconds))
    await until_no_job_is_left(opened.db)
    await log.catch_up()
    await until_received(listening, len(log.posts))
    await memory.look()
    for task in beside:
        task.cancel()
    await asyncio.wait(beside)
    print(f"\n## {(time.monotonic() - began) / 60:.1f} minutes, {asked.rate:g} requests/s\n")
    return await _judge(opened, load, listening, log, trouble, memory)


def subscribers(watchers: Sequence[SignedIn], count: int, cursor: str) -> list[SubscribedClient]:
    """Return subscribers to all posts, half of them on websockets, half on event streams."""
    ways = [(query, kind) for query in QUERIES for kind in (SubscribedClient, EventStreamClient)]
    made: list[SubscribedClient] = []
    for number in range(count):
        (name, kind), watcher = ways[number % len(ways)], watchers[number % len(watchers)]
        how = "event stream" if kind is EventStreamClient else "websocket"
        one = kind(f"{name}, {how}", QUERIES[name], watcher.token, event_cursor(cursor))
        one.pauses = RECONNECT_SECONDS
        made.append(one)
    return made


async def _report(load: MemberLoad, listening: list[SubscribedClient], memory: MemorySamples) -> None:
    """Print a line a minute."""
    while True:
        await asyncio.sleep(60)
        behind = len(load.posted) - min(len(each.received) for each in listening)
        print(
            f"{time.strftime('%H:%M:%S')}  {sum(load.answered.values()):,} answered, "
            f"{sum(load.failed.values()):,} failed, {load.skipped:,} not sent; "
            f"{len(load.posted):,} posts, the slowest subscriber is {behind} behind; {memory.newest()}",
            flush=True,
        )


async def _judge(
    opened: Stage,
    load: MemberLoad,
    listening: list[SubscribedClient],
    log: PostLog,
    trouble: Trouble,
    memory: MemorySamples,
) -> bool:
    table(["ended", "times"], [[name, str(count)] for name, count in sorted(trouble.acts.items())])
    lines = [
        [kind, f"{load.answered[kind]:,}", *(f"{load.percentile(kind, share):.1f}" for share in (0.5, 0.99))]
        for kind in SHARES
    ]
    table(["requests", "answered", "p50 ms", "p99 ms"], lines)
    names = sorted({*load.failed, *load.failed_in_peace})
    lines = [[name, f"{load.failed[name]:,}", f"{load.failed_in_peace[name]:,}"] for name in names]
    table(["errors", "in all", "when nothing was restarting"], lines or [["none", "0", "0"]])
    print(f"\n{load.skipped:,} requests were not sent, because too many waited for their answers.\n")
    table(["memory, MiB", "start", "a quarter", "half", "three quarters", "end"], memory.rows(START_SECONDS))
    lost = await load.lost(opened.db)
    is_whole = set(log.posts) == load.posted and len(log.posts) == len(load.posted)
    print(f"\n{len(load.posted):,} posts answered, {len(log.posts):,} in the log: ", end="")
    print("the same." if is_whole else "NOT THE SAME.")
    print(f"{load.kept(LIKE):,} likes and {load.kept('follow'):,} follows answered, {lost:,} of them lost.\n")
    table(HEAD, rows(listening, log.posts))
    return is_whole and not lost and not any(losses(listening, log.posts, log.posts))


async def _verify(url: str) -> bool:
    environment = {**os.environ, "REDIS_URL": url, "SECRET_KEY": SECRET, "LOG_LEVEL": "ERROR"}
    environment["BIG_AUTHOR"] = str(ALL_PUSHED)  # as the servers had it
    command = [sys.executable, "server.py", "verify"]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=environment)
    print("\nverify:", flush=True)
    return await process.wait() == 0


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=float, default=300, help="seconds in which store and a process end once each")
    parser.add_argument("--rate", type=float, default=40, help="requests per second")
    parser.add_argument("--subscriptions", type=int, default=500)
    parser.add_argument("--members", type=int, default=1_000)
    parser.add_argument("--posts", type=int, default=5_000, help="that are there at the start")
    parser.add_argument("--seed", type=int, default=1)
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(0 if uvloop.run(main(parser.parse_args())) else 1)

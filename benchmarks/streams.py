"""Measures the stream of the whole site under load: delivery, subscribers who do not read, and filters.

Run it from a checkout with Perch installed, on Linux: `python -m benchmarks.streams`. Servers are processes of their
own on an embedded store in a folder that is removed at the end. All clients are one more process. With two cores, the
server under load has about one core, and store and clients share the other. So clients take as little time as they can,
and their share is printed. Times depend on the machine. Counts, gaps and ratios depend on it little or not at all.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import statistics
import tempfile
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.wire import Loop, Poster, Server, Subscriber, serving, sign_up

FIREHOSE = {
    "query": """subscription { stream { __typename ... on StreamEvent { cursor }
      ... on PostCreated { post { id text createdAt author { id login name } } } } }"""
}
FILTERED = """subscription($filter: StreamFilter) { stream(filter: $filter) { __typename
  ... on PostCreated { post { id text createdAt author { id login name } } } } }"""
READERS, STALLED, PER_MEMBER = 900, 100, 20  # Subscribers with a socket each, and sockets per member.
ROUNDS = 2  # Rounds of each kind of load.
SATURATING = 60  # Posts in a round at saturation.
POSTERS = 16  # Most connections over which posts are sent.
STEADY_SECONDS = 4  # Length of a round at half the rate of saturation.
USUAL = "a post about tea and time, as long as most are, and about nothing else that anybody follows"
LONGEST = "\N{TEACUP WITHOUT HANDLE}" * 450  # Nearly the most bytes that can be posted by default.
FILLING = 2_500  # So many of these posts fill the kernel's buffers, up to some MB per connection, and then the queue.
QUEUE = 1_000  # Most events that wait for a subscriber, by default.
OTHERS = (10, 100, 1_000, 10_000)  # Subscriptions that do not match.
PER_SOCKET = 50  # Subscriptions on a socket.
EVENTS = 100  # Events in a round against filters.
FILTER_ROUNDS = 7
QUIET_SECONDS = 0.2  # After so long without a delivery, all have arrived.
HEARTBEAT = 2  # Seconds between pings where the server has to notice a stalled subscriber.


@dataclass(frozen=True)
class Round:
    """The results of one round of posts; times in seconds."""

    posts: int
    deliveries: int
    seconds: float
    server_cpu: float
    own_cpu: float
    delays: list[float]


class Load:
    """Subscribers and posters of one server."""

    def __init__(self, server: Server) -> None:
        self.server, self.loop, self.delays = server, Loop(), array("d")
        self.tokens, _ = sign_up(server.port, (READERS + STALLED) // PER_MEMBER + 1)
        self.posters = [Poster(server.port, self.tokens[-1]) for _ in range(POSTERS)]
        for poster in self.posters:
            self.loop.add(poster)

    def subscribe(self, first: int, count: int, *, reading: bool = True) -> list[Subscriber]:
        """Return subscribers to all events, once the server delivers to them."""
        made = [
            Subscriber(self.server.port, self.tokens[i // PER_MEMBER], [FIREHOSE], self.delays, small=not reading)
            for i in range(first, first + count)
        ]
        self.server.wait_until_idle()
        if reading:
            for one in made:
                self.loop.add(one)
        return made

    def measure(self, readers: Sequence[Subscriber], posts: int, rate: float = 0) -> Round:
        """Post at a rate per second, or as fast as the server answers, until all readers have all posts."""
        had = -1
        while had < len(self.delays):  # what was posted before is still on its way
            had = len(self.delays)
            self.loop.turn(QUIET_SECONDS)
        del self.delays[:]
        due, sent, gaps = len(readers) * posts, 0, sum(one.gaps for one in readers)
        server, own, began = self.server.cpu, time.process_time(), time.monotonic()
        while len(self.delays) < due:
            for poster in self.posters:
                if sent < posts and poster.is_idle and (not rate or time.monotonic() >= began + sent / rate):
                    poster.post(USUAL)
                    sent += 1
            waits = began + sent / rate - time.monotonic() if rate and sent < posts else 1.0
            self.loop.turn(max(waits, 0))
        seconds = time.monotonic() - began
        assert sum(one.gaps for one in readers) == gaps, "readers were too slow"
        spent = self.server.cpu - server, time.process_time() - own
        return Round(posts, due, seconds, *spent, list(self.delays))

    def post(self, text: str, count: int) -> None:
        """Post as fast as the server answers."""
        sent = 0
        while sent < count or not all(poster.is_idle for poster in self.posters):
            for poster in self.posters:
                if poster.is_idle and sent < count:
                    poster.post(text)
                    sent += 1
            self.loop.turn(1)


def row(name: str, rounds: Sequence[Round]) -> list[object]:
    """Return a table row that combines the rounds of one kind."""
    delays = sorted(delay for one in rounds for delay in one.delays)
    seconds, deliveries = sum(one.seconds for one in rounds), sum(one.deliveries for one in rounds)
    cpu = sum(one.server_cpu for one in rounds)
    rates = [sum(one.posts for one in rounds) / seconds, deliveries / seconds]
    shares = [f"{100 * spent / seconds:.0f} %" for spent in (cpu, sum(one.own_cpu for one in rounds))]
    middle, late = (delays[int(len(delays) * share)] * 1000 for share in (0.5, 0.99))
    return [name, *rates, middle, late, 1e6 * cpu / deliveries, *shares]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table in Markdown."""
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for cells in rows:
        print("| " + " | ".join(f"{cell:,.1f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |")
    print(flush=True)


def delivery(folder: Path) -> None:
    """Measure deliveries to readers beside subscribers who do not read, and then to the same readers alone."""
    # No ping is sent meanwhile. It would end stalled subscribers before the measurement ends.
    with serving(folder, heartbeat_seconds=600) as server:
        load = Load(server)
        stalled, lines = stall(load)
        before = server.memory
        readers = load.subscribe(0, READERS)
        lines.insert(0, ["a subscriber that reads, KiB", (server.memory - before) / READERS / 1024])
        load.measure(readers, 10)
        beside = [load.measure(readers, SATURATING) for _ in range(ROUNDS)]
        rate = sum(one.posts for one in beside) / sum(one.seconds for one in beside) / 2
        steady = partial(load.measure, readers, int(rate * STEADY_SECONDS), rate)
        steady_beside = [steady() for _ in range(ROUNDS)]
        lines += resume(load, stalled)
        alone = [load.measure(readers, SATURATING) for _ in range(ROUNDS)]
        steady_alone = [steady() for _ in range(ROUNDS)]
    rounds = {
        f"{READERS} readers, as fast as can be": alone,
        f"beside {STALLED} who do not read": beside,
        f"{READERS} readers, half as fast": steady_alone,
        f"beside {STALLED} who do not read, half as fast": steady_beside,
    }
    head = [
        "subscribers",
        "posts/s",
        "deliveries/s",
        "p50 ms",
        "p99 ms",
        "server CPU µs a delivery",
        "server",
        "clients",
    ]
    table(head, [row(*one) for one in rounds.items()])
    table(["memory of the server, and gaps", ""], lines)


def stall(load: Load) -> tuple[list[Subscriber], list[list[object]]]:
    """Return subscribers for whom as much waits as ever can, and what they take."""
    server = load.server
    witness = load.subscribe(READERS + STALLED, 1)
    load.post(LONGEST, QUEUE + 100)  # what the process remembers of the newest events is nobody's alone
    server.wait_until_idle()
    before = server.memory
    stalled = load.subscribe(READERS, STALLED, reading=False)
    began = full = server.memory
    for _ in range(FILLING // 500):
        load.post(LONGEST, 500)
        full = max(full, server.memory)
    load.loop.drop(witness)
    return stalled, [
        ["one that does not read, nothing waiting yet, KiB", (began - before) / STALLED / 1024],
        ["one that does not read, the most beyond that, KiB", (full - began) / STALLED / 1024],
        [f"posts of {len(LONGEST.encode()):,} bytes that it let wait", FILLING],
    ]


def resume(load: Load, stalled: list[Subscriber]) -> list[list[object]]:
    """Let all stalled subscribers read on, return what they got, and close them."""
    for one in stalled:
        load.loop.add(one)
    load.loop.run(lambda: all(one.gaps for one in stalled))
    before = [one.received for one in stalled]
    load.post(USUAL, 1)
    load.loop.run(lambda: all(one.received > had for one, had in zip(stalled, before, strict=True)))
    lines: list[list[object]] = [
        ["reads on: gets what its connection had kept, posts", statistics.median(before)],
        ["then a gap each", max(one.gaps for one in stalled)],
        ["and the next post", sum(one.received > had for one, had in zip(stalled, before, strict=True))],
    ]
    load.loop.drop(stalled)
    return lines


def silence(folder: Path) -> None:
    """Measure how long a subscriber that reads nothing, not even pings, stays connected."""
    with serving(folder, heartbeat_seconds=HEARTBEAT) as server:
        load = Load(server)
        stalled = [
            Subscriber(server.port, load.tokens[i // PER_MEMBER], [FIREHOSE], load.delays, small=True)
            for i in range(STALLED)
        ]
        began = time.monotonic()
        # Their own ends hear of it only behind what they do not read. Connections to the store come meanwhile, but few.
        opened = server.descriptors
        while server.descriptors > opened - STALLED // 2:
            load.post(LONGEST, 10)
        print(f"\nWith a ping every {HEARTBEAT} s, {len(stalled)} who do not read are gone", end=" ")
        print(f"{time.monotonic() - began:.1f} s after they began.")


def filters(folder: Path) -> None:
    """Measure the cost of an event for a process with one subscription that matches and many that do not.

    Each row has its own process. All get the same posts from one more process, so they are measured at the same time.
    """
    dice = random.Random(1)  # noqa: S311  chance that can be repeated, no secret
    with contextlib.ExitStack() as stack:
        posting, loop = stack.enter_context(serving(folder)), Loop()
        tokens, ids = sign_up(posting.port, 1 + max(OTHERS) // PER_SOCKET // PER_MEMBER)
        poster = Poster(posting.port, tokens[0])
        loop.add(poster)
        rows: dict[int, tuple[Server, Subscriber]] = {}
        for count in OTHERS:
            # The cost of pings depends on time and not on events.
            server = stack.enter_context(
                serving(folder, run_worker=False, heartbeat_seconds=600, max_live_cost=1_000_000)
            )
            operations = [other(dice, number) for number in range(count)]
            for i in range(0, count, PER_SOCKET):
                token = tokens[1 + i // PER_SOCKET // PER_MEMBER]
                loop.add(Subscriber(server.port, token, operations[i : i + PER_SOCKET], array("d")))
                if i % (PER_SOCKET * PER_MEMBER) == 0:
                    server.wait_until_idle()
            matching = Subscriber(server.port, tokens[0], [subscription({"follow": ids[:1]})], array("d"))
            loop.add(matching)
            server.wait_until_idle()
            rows[count] = server, matching
        taken = {count: list[float]() for count in OTHERS}
        for _ in range(FILTER_ROUNDS + 1):
            for count, cost in one_round(dice, loop, poster, rows).items():
                taken[count].append(cost)
    first = statistics.median(taken[OTHERS[0]][1:])
    lines: list[list[object]] = []
    for count, (_, *costs) in taken.items():  # the first round warms up
        low, middle, high = statistics.quantiles(costs, n=4)
        lines.append([f"{count:,}", middle, f"{low:.0f} to {high:.0f}", f"{middle / first:.2f}"])
    print("\nAn event that one subscription of a process matches")
    table(["subscriptions that do not", "server CPU µs an event", "middle half", "ratio"], lines)


def one_round(
    dice: random.Random, loop: Loop, poster: Poster, rows: dict[int, tuple[Server, Subscriber]]
) -> dict[int, float]:
    """Post one by one, each when all matching subscriptions have the one before; returns the CPU time per event, µs."""
    began = {count: server.cpu for count, (server, _) in rows.items()}
    due = {count: matching.received for count, (_, matching) in rows.items()}
    for _ in range(EVENTS):
        poster.post(USUAL, {"latitude": dice.randint(-80, 80), "longitude": dice.randint(-179, 178)})
        due = {count: had + 1 for count, had in due.items()}
        loop.run(lambda: poster.is_idle and all(rows[count][1].received >= had for count, had in due.items()))  # noqa: B023  run at once
    return {count: 1e6 * (server.cpu - began[count]) / EVENTS for count, (server, _) in rows.items()}


def other(dice: random.Random, number: int) -> dict[str, Any]:
    """Return a subscription that no post matches, though its words and places occur in the posts."""
    if number % 3 == 0:
        return subscription({"follow": [f"user_{dice.getrandbits(53):014x}" for _ in range(20)]})
    if number % 3 == 1:
        return subscription({"track": [f"{dice.choice(USUAL.split())} w{number}x{i}" for i in range(5)]})
    south, west = dice.randint(-80, 80) + 0.1, dice.randint(-179, 178) + 0.1
    return subscription({"locations": [{"south": south, "west": west, "north": south + 0.8, "east": west + 0.8}]})


def subscription(wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the payload of a `subscribe` message with a filter."""
    return {"query": FILTERED, "variables": {"filter": wanted}}


PARTS: dict[str, Callable[[Path], None]] = {"delivery": delivery, "silence": silence, "filters": filters}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all of them by default")
    for name in parser.parse_args().parts or [*PARTS]:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](Path(folder))

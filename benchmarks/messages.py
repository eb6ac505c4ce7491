"""Measures conversations: live delivery to many members, what is stored, and pages of long conversations and lists.

Run it from a checkout with Perch installed, on Linux: `python -m benchmarks.messages`. The server is a process of its
own on an embedded store in a folder that is removed at the end. All clients are one more process.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

from benchmarks.streams import table
from benchmarks.wire import PATIENCE, STAMP, STAMP_DIGITS, End, Loop, Poster, Server, Subscriber, serving, sign_up
from resolvers.jobs.conversations import update
from resolvers.jobs.step import Budget
from resolvers.operation.inputs import batches
from store import jobs, keys
from store.client.database import Database
from store.conversations import messages as conversations
from store.conversations.messages import Draft
from store.embedded import attach
from store.settings import Settings

MEMBERS = 50  # of the live conversation, all of whom are connected
SENDERS = 25  # connections over which messages are sent
RATES = (50, 100, 200, 1_000)  # messages offered in a second
SECONDS = 5  # for which they are offered
QUIET_SECONDS = 0.5  # after so long without a delivery, all have arrived
TEXT = "a message as long as most are, about nothing that anybody else has to know"
BATCH = 500  # writes of one pipeline while the store is filled
LENGTHS = (100, 100_000)  # messages of a conversation
LISTS = (10, 10_000)  # conversations of a member
CROWD = 150  # members, who have enough pairs among them
PAGES = 30  # of which the middle time counts

LIVE = """subscription { messages { __typename ... on StreamEvent { cursor }
  ... on MessageReceived { message { id text createdAt sender { id login name } conversation { id } } } } }"""
START = "mutation($input: StartConversationInput!) { startConversation(input: $input) { conversation { id } } }"
SEND = """mutation($input: SendMessageInput!) { sendMessage(input: $input) {
  message { id } userErrors { message } } }"""
MESSAGES = """query($id: ID!) { node(id: $id) { ... on Conversation { messages(first: 30) { nodes {
  id text createdAt sender { id login name } } } } } }"""
CONVERSATIONS = """{ viewer { unreadMessageCount conversations(first: 20) { nodes {
  id unreadCount participants { id login name } lastMessage { id text sender { login } } } } } }"""


class Sender(Poster):
    """One connection over which a member sends messages, one at a time."""

    def send(self, conversation: str) -> None:
        """Send a message that carries this moment; the answer is taken when it comes."""
        given = {"conversationId": conversation, "text": f"{STAMP.decode()}{'0' * STAMP_DIGITS} {TEXT}"}
        head = self._request(SEND, {"input": given})
        stamp = f"{STAMP.decode()}{time.monotonic():0{STAMP_DIGITS}.6f}".encode()
        self.socket.sendall(head.replace(STAMP + b"0" * STAMP_DIGITS, stamp))
        self.is_idle = False


def live(folder: Path) -> None:
    """Offer messages to one conversation whose members are all connected, at several rates."""
    with serving(folder, conversations_per_hour=1_000_000) as server:
        tokens, ids = sign_up(server.port, MEMBERS)
        found = Poster(server.port, tokens[0]).ask(START, input={"userIds": ids[1:], "text": "hello"})
        clients = Clients(server, tokens, found["startConversation"]["conversation"]["id"])
        server.wait_until_idle()
        rows = [clients.offer(rate) for rate in RATES]
    columns = ["offered/s", "sent/s", "messages delivered/s", "deliveries/s", "p50, ms", "p99, ms", "gaps"]
    table([*columns, "CPU/delivery, µs"], rows)


class Clients:
    """Members of a conversation who are all connected, and connections over which some of them send."""

    def __init__(self, server: Server, tokens: Sequence[str], conversation: str) -> None:
        self.server, self.conversation, self.delays, self.loop = server, conversation, array("d"), Loop()
        self.subscribers = [Subscriber(server.port, token, [{"query": LIVE}], self.delays) for token in tokens]
        self.senders = [Sender(server.port, tokens[i % len(tokens)]) for i in range(SENDERS)]
        ends: list[End] = [*self.subscribers, *self.senders]
        for end in ends:
            self.loop.add(end)

    def offer(self, rate: int) -> list[object]:
        """Offer messages at a rate, as far as senders are answered, and return a table row about their delivery."""
        gaps = sum(one.gaps for one in self.subscribers)
        del self.delays[:]
        sent, cpu, began = 0, self.server.cpu, time.monotonic()
        while (now := time.monotonic()) < began + SECONDS:
            for sender in self.senders:
                if sender.is_idle and sent < rate * (now - began):
                    sender.send(self.conversation)
                    sent += 1
            self.loop.turn(0.001)
        sending = time.monotonic() - began
        seconds = self._drain(began)
        spent, found = self.server.cpu - cpu, sorted(self.delays)
        middle, late = (found[int(len(found) * share)] * 1000 for share in (0.5, 0.99))
        lost = sum(one.gaps for one in self.subscribers) - gaps
        rates = [sent / sending, len(found) / len(self.subscribers) / seconds, len(found) / seconds]
        return [rate, *rates, middle, late, lost, 1e6 * spent / len(found)]

    def _drain(self, began: float) -> float:
        """Wait until everything has arrived; returns the seconds from the beginning to the last arrival."""
        last = -1
        while len(self.delays) > last or not all(sender.is_idle for sender in self.senders):
            last, arrived = len(self.delays), time.monotonic()
            if arrived > began + PATIENCE:
                raise TimeoutError
            self.loop.turn(QUIET_SECONDS)
        return arrived - began


async def _fill(folder: Path, members: Sequence[int]) -> list[list[object]]:
    """Make conversations of two lengths and lists of two lengths; returns table rows of the memory that they take."""
    held = await attach.attach(folder)
    db = Database(held.url, Settings())
    me, friend, other, *crowd = members
    try:
        before = await db.used_memory()
        for with_, count in zip((friend, other), LENGTHS, strict=True):
            await _send(db, [([me, with_], me if turn % 2 else with_) for turn in range(count)])
        each = (await db.used_memory() - before) / sum(LENGTHS)
        trios = [[crowd[0], a, b] for a, b in itertools.combinations(crowd[2:], 2)][: LISTS[1]]
        before = await db.used_memory()
        await _send(db, [(trio, trio[1]) for trio in trios])
        whole = (await db.used_memory() - before) / len(trios)
        await _send(db, [([crowd[1], one], one) for one in crowd[2 : 2 + LISTS[0]]])
        entries = [await _memory(db, member) / count for member, count in zip(crowd[1::-1], LISTS, strict=True)]
    finally:
        await db.close()
        await held.close()
    return [
        ["a message of 74 characters, in a long conversation", each],
        ["a conversation of three with one message, its three entries included", whole],
        *([f"an entry of a participant with {count:,}", one] for count, one in zip(LISTS, entries, strict=True)),
    ]


async def _send(db: Database, messages: Sequence[tuple[Sequence[int], int]]) -> None:
    """Send messages, each given by the members of its conversation and its sender, in batches."""
    for some in batches(messages, BATCH):
        commands = [conversations.start_command(ids, Draft(sender, TEXT, ids)) for ids, sender in some]
        written = [job for reply in await db.ask(*commands) if (job := conversations.read_sent(reply).job)]
        touched = {int(str(job.body["conversation"])) for job in written}
        await asyncio.gather(*(update(db, one, Budget(float("inf"))) for one in touched))
        await db.ask(*map(jobs.finish, written))


async def _memory(db: Database, member: int) -> int:
    lists = (keys.conversations, keys.conversation_state, keys.unread_conversations)
    return sum(await db.ask(*(("MEMORY", "USAGE", key(member), "SAMPLES", 0) for key in lists)))


def stored(folder: Path) -> None:
    """Measure what conversations take in memory, and how long their pages take to read."""
    with serving(folder, max_participants=1_000) as server:
        tokens, ids = sign_up(server.port, CROWD)
        rows = asyncio.run(_fill(folder, [int(one.rpartition("_")[2], 16) for one in ids]))
        table(["stored", "bytes"], rows)
        first, *_ = members = [Poster(server.port, token) for token in tokens[:5]]
        pages = []
        for other, count in zip(ids[1:], LENGTHS, strict=False):
            found = first.ask(START, input={"userIds": [other], "text": TEXT})["startConversation"]["conversation"]
            time_of = _milliseconds(first, MESSAGES, id=found["id"])
            pages.append([f"30 messages of a conversation with {count:,}", time_of])
        for member, count in zip(members[4:2:-1], LISTS, strict=True):
            time_of = _milliseconds(member, CONVERSATIONS)
            pages.append([f"20 conversations of a member with {count:,}", time_of])
        table(["page", "ms"], pages)


def _milliseconds(member: Poster, query: str, **variables: object) -> float:
    """Return the middle time of an answer."""
    times = []
    for _ in range(PAGES):
        began = time.perf_counter()
        member.ask(query, **variables)
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def main() -> None:
    """Measure everything, and print tables."""
    for measure in (stored, live):
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder))


if __name__ == "__main__":
    main()

"""Measures conversations: live delivery to many members, what is stored, and pages of long conversations and lists.

Run it from a checkout with Perch installed, on Linux: `python -m benchmarks.messages`. The server is a process of its
own on an embedded store in a folder that is removed at the end. All clients are one more process.
"""

from __future__ import annotations

import tempfile
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

from benchmarks.streams import table
from benchmarks.wire import STAMP, STAMP_DIGITS, End, Loop, Poster, Server, Subscriber, serving, sign_up

MEMBERS = 50  # of the live conversation, all of whom are connected
SENDERS = 25  # connections over which messages are sent
RATES = (50, 100, 200, 1_000)  # messages offered in a second
SECONDS = 5  # for which they are offered
QUIET_SECONDS = 0.5  # after so long without a delivery, all have arrived
TEXT = "a message as long as most are, about nothing that anybody else has to know"
BATCH = 500  # writes of one pipeline while the store is filled
LENGTHS = (100, 100_000)  # messages of a conversation
LISTS = (10, 10_000)  # conversations of a member
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
            self.loop.turn(QUIET_SECONDS)
        return arrived - began


def main() -> None:
    """Measure everything, and print tables."""
    with tempfile.TemporaryDirectory() as folder:
        live(Path(folder))


if __name__ == "__main__":
    main()

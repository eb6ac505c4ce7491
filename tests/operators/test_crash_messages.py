"""kill -9 in the middle of sends: every answered message is in everybody's list and count, once."""

import asyncio
import os
import random
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from aiohttp import ClientError

from store import jobs
from tests.support import conversations
from tests.support.people import Member, sign_up
from tests.support.servers.load import moved
from tests.support.servers.processes import opened, perch, run, until, visiting

KILLS = int(os.environ.get("PERCH_TEST_KILLS", "3"))
MEMBERS = 4
LEAST, MOST = 3, 30  # answered messages after which Perch is killed
LIMITS: dict[str, Any] = {"job_lease_seconds": 1, "rate_limit": 0, "max_page": 1000, "access_token_seconds": 86_400}
SEND = """mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { id } userErrors { code } } }"""
READ = """query($id: ID!, $after: String) { node(id: $id) { ... on Conversation { unreadCount lastMessage { id }
  messages(first: 1000, after: $after) { nodes { id sender { login } } pageInfo { endCursor hasNextPage } } } } }"""


class Sending:
    """Members who send messages to conversations, one after the other, until the server is gone."""

    def __init__(self, conversations_of: dict[str, list[str]]) -> None:
        self.conversations_of = conversations_of
        self.answered: dict[str, list[str]] = {}  # conversation → messages
        self._left = 0
        self._reached = asyncio.Event()

    async def reaches(self, count: int) -> None:
        """Wait until as many more messages have been answered."""
        self._left = count
        self._reached.clear()
        await self._reached.wait()

    async def go_on(self, member: Member) -> None:
        """Send messages as a member."""
        while True:
            for conversation in self.conversations_of[member.login]:
                try:
                    payload = await member.ask(SEND, input={"conversationId": conversation, "text": "hello"})
                except ClientError:
                    return
                assert payload["userErrors"] == []
                self.answered.setdefault(conversation, []).append(payload["message"]["id"])
                self._left -= 1
                if self._left <= 0:
                    self._reached.set()


async def test_perch_killed(tmp_path: Path) -> None:
    """Perch dies in the middle of many sends, again and again: nothing that it answered is lost or there twice."""
    lot = random.Random(1)  # noqa: S311  chance that can be repeated
    members: list[Member] = []
    sending = Sending({})
    for kill in range(KILLS + 1):
        async with perch(tmp_path, "serve", **LIMITS) as running, visiting(await running.url()) as anonymous:
            if not members:
                members = [await sign_up(anonymous, f"member{i}") for i in range(MEMBERS)]
                sending = Sending(await begun(members))
            moved(members, anonymous)
            async with opened(tmp_path) as db:
                await until(partial(_is_finished, db))
            for member in members:
                await assert_whole(member, sending)
            if kill < KILLS:
                clients = [asyncio.create_task(sending.go_on(member)) for member in members for _ in range(2)]
                await sending.reaches(lot.randint(LEAST, MOST))
                running.process.kill()
                await asyncio.gather(*clients)
    status, out, _ = await run(tmp_path, "verify")
    assert status == 0, out


async def begun(members: list[Member]) -> dict[str, list[str]]:
    """Begin a conversation of all and one of each two neighbours; returns those of each member."""
    sets = [members, *([one, members[i - 1]] for i, one in enumerate(members))]
    ids = [await conversations.start(*some) for some in sets]
    return {member.login: [one for one, some in zip(ids, sets, strict=True) if member in some] for member in members}


async def assert_whole(member: Member, sending: Sending) -> None:
    """Assert that a member's conversations have every answered message once, and counts to match."""
    count, listed = await conversations.listed(member)
    assert {identity for identity, _, _ in listed} == set(sending.conversations_of[member.login])
    assert count == sum(unread > 0 for _, _, unread in listed)
    newest = []
    for conversation, _, unread in listed:
        nodes: list[Any] = []
        after, is_more = None, True
        while is_more:
            found = await member.ask(READ, id=conversation, after=after)
            nodes += found["messages"]["nodes"]
            after, is_more = found["messages"]["pageInfo"]["endCursor"], found["messages"]["pageInfo"]["hasNextPage"]
        there = Counter(node["id"] for node in nodes)
        assert set(there.values()) == {1}
        assert set(sending.answered.get(conversation, ())) <= there.keys()
        assert unread == sum(node["sender"]["login"] != member.login for node in nodes)
        newest.append(int(nodes[0]["id"].rpartition("_")[2], 16))
    assert newest == sorted(newest, reverse=True)


async def _is_finished(db: Any) -> bool:
    return await jobs.backlog(db) == (0, 0)

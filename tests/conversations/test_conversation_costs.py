"""Pages of conversations and messages take as many round trips however much there is."""

import asyncio
from itertools import pairwise

import pytest

from resolvers.process.services import Services
from store.settings import Settings
from tests.support.conversations import start, write
from tests.support.people import Member, crowd, shrunk

USER = "id login name followerCount viewerIsFollowing"
LIST = f"""query($first: Int) {{ viewer {{ unreadMessageCount conversations(first: $first) {{ nodes {{
  id createdAt unreadCount participants {{ {USER} }} lastMessage {{ id text sender {{ {USER} }} }} }} }} }} }}"""
MESSAGES = f"""query($id: ID!, $first: Int) {{ node(id: $id) {{ ... on Conversation {{
  participants {{ {USER} }} messages(first: $first) {{ nodes {{ id text createdAt sender {{ {USER} }} }} }} }} }} }}"""


class TestCold:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        """Without caches, and with room for a long query."""
        return shrunk(settings, records_kept=0, max_cost=10**9)

    async def test_a_page_of_conversations(self, services: Services, anonymous: Member, alice: Member) -> None:
        """Twenty conversations with participants, last messages and unread counts take as many round trips as two."""
        members = await crowd(anonymous, 21)
        for one, other in pairwise(members):
            await start(one, alice, other)
        await members[0].do("block", userIds=[members[2].id])
        await alice.ask(LIST)  # a query text that is new takes one more
        trips = {}
        for first in (2, 20):
            services.db.round_trips = 0
            assert len((await alice.ask(LIST, first=first))["conversations"]["nodes"]) == first
            trips[first] = services.db.round_trips
        assert trips == {2: 4, 20: 4}

    async def test_a_page_of_messages(self, services: Services, anonymous: Member, alice: Member) -> None:
        """Thirty messages with their senders take as many round trips as two."""
        members = await crowd(anonymous, 10)
        conversation = await start(alice, *members)
        await asyncio.gather(*(write(member, conversation) for member in members for _ in range(3)))
        await alice.ask(MESSAGES, id=conversation)  # a query text that is new takes one more
        trips = {}
        for first in (2, 30):
            services.db.round_trips = 0
            found = await alice.ask(MESSAGES, id=conversation, first=first)
            assert len(found["messages"]["nodes"]) == first
            trips[first] = services.db.round_trips
        assert trips == {2: 4, 30: 4}

    async def test_sending(self, services: Services, anonymous: Member, alice: Member) -> None:
        """A message takes as many round trips to thirty members as to two."""
        members = await crowd(anonymous, 30)
        trips = set()
        for others in (members[:2], members):
            conversation = await start(alice, *others)
            await write(alice, conversation)
            services.db.round_trips = 0
            await write(alice, conversation)
            trips.add(services.db.round_trips)
        assert trips == {8}

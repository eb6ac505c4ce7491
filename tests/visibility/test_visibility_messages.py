"""Visibility of live messages: what a member says and takes back reaches exactly the participants who see it."""

from contextlib import AsyncExitStack
from typing import Any

import pytest

from store import keys
from store.client.database import Database
from tests.support import conversations
from tests.support.people import Member
from tests.support.transport.live import MESSAGES, Stream, begun, subscribed
from tests.support.visibility.audience import LIVELY, OPEN, PRIVATE, SELF, Audience, Entities, audience
from tests.support.visibility.paths import BLOCKING, BLOCKS
from tests.support.visibility.sights import MEMBER, SUSPENDED, Cell, State

# A suspended viewer gets no message that says when all were delivered: `test_suspended_viewer` tests that.
TALKING = [cell for cell in LIVELY if cell.relation != SUSPENDED]


async def speak(site: Audience) -> tuple[dict[State, Entities], dict[str, Entities]]:
    """Have a public and a private member write to every conversation, and delete what they wrote before.

    Returns the messages to all viewers, with the friend's last one, and those to each viewer alone.
    """
    to_all: dict[State, Entities] = {}
    to_one: dict[str, Entities] = {}
    for state in (OPEN, PRIVATE):
        member, own = site.subjects[state], site.entities[state]
        for (relation, _), pair in ((key, pair) for key, pair in site.pairs.items() if key[1] == state):
            payload = await member.do("sendMessage", "message { id }", conversationId=pair["pair"], text="to you")
            sent = (payload["message"] or {"id": f"refused, {relation}"})["id"]
            to_one[f"{relation} {state}"] = {"sent": sent, "before": pair["pair_message"]}
            await member.do("deleteMessage", messageId=pair["pair_message"])
        to_all[state] = {"sent": await conversations.write(member, own["talk"], "to all"), "before": own["message"]}
        await conversations.delete(member, own["message"])
        to_all[state]["last"] = await conversations.write(site.friend, own["talk"], "the end")
    return to_all, to_one


async def delivered(stream: Stream, last: str) -> dict[str, Any]:
    """Return what came of each message, up to the last one: its sender, or that it was deleted."""
    found: dict[str, Any] = {}
    while last not in found:
        event = await stream.next()
        if event["__typename"] == "MessageDeleted":
            found[event["messageId"]] = "deleted"
        elif event["__typename"] == "MessageReceived":
            found[event["message"]["id"]] = event["message"]["sender"]
    return found


def assert_right(cell: Cell, site: Audience, came: dict[str, Any], to_all: Entities, to_one: Entities) -> None:
    """Assert that a viewer got a member's messages, and who sent them, as the cell says."""
    in_talk, in_pair = cell.relation not in BLOCKING, cell.relation not in BLOCKS
    there = {name: message in came for name, message in to_all.items() if name != "last"}
    assert there == {"sent": in_talk, "before": in_talk}, cell
    assert {name: message in came for name, message in to_one.items()} == {"sent": in_pair, "before": in_pair}, cell
    if in_talk:
        sender = came[to_all["sent"]]
        assert (sender is not None) == MEMBER.is_seen(cell), cell
        assert sender is None or sender["id"] == site.subjects[cell.state].id, cell


@pytest.mark.parametrize("is_live", [True, False])
async def test_message_events(db: Database, anonymous: Member, *, is_live: bool) -> None:
    """Messages and deletions reach the participants who see them, live and replayed, in conversations of any size."""
    site = await audience(db, anonymous)
    viewers = {id(viewer): (viewer, cell) for cell in TALKING for viewer in [site.viewer(cell)]}
    came: dict[int, dict[str, Any]] = {}
    async with AsyncExitStack() as stack:
        streams: dict[int, Stream] = {}
        for key, (viewer, _) in viewers.items():
            streams[key] = await stack.enter_async_context(subscribed(viewer, MESSAGES))
            await begun(db, viewer, keys.messages_channel)
        first = {
            state: await conversations.write(site.friend, site.entities[state]["talk"]) for state in (OPEN, PRIVATE)
        }
        cursors = {}
        for key, (_, cell) in viewers.items():
            await delivered(streams[key], first[cell.state if cell.relation == SELF else PRIVATE])
            cursors[key] = streams[key].cursor
        to_all, to_one = await speak(site)
        for key, (viewer, cell) in viewers.items():
            stream = streams[key]
            if not is_live:
                stream = await stack.enter_async_context(subscribed(viewer, MESSAGES, after=cursors[key]))
            came[key] = await delivered(stream, to_all[cell.state if cell.relation == SELF else PRIVATE]["last"])
    for cell in TALKING:
        pair = to_one[f"{cell.relation} {cell.state}"]
        assert_right(cell, site, came[id(site.viewer(cell))], to_all[cell.state], pair)

"""Visibility of live events: events of a member reach exactly the members who see them."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from resolvers import accounts
from resolvers.notifications import CURSOR
from resolvers.reading import paging
from store import keys, likes_and_comments
from store.client.database import Database
from store.refusals import accepted
from tests.support.people import Member
from tests.support.stored import sharded_channels
from tests.support.transport.live import ACTIVITY, HOME, NOTIFICATIONS, Stream, begun, now, subscribed, watching
from tests.support.visibility.audience import (
    ANONYMOUS,
    LIVELY,
    OPEN,
    PRIVATE,
    SELF,
    Audience,
    Entities,
    audience,
    comment,
    do,
    signed_in,
)
from tests.support.visibility.paths import FOLLOWING, PATHS
from tests.support.visibility.sightings import ids_in
from tests.support.visibility.sights import CELLS, POSTS, REPOSTS, SUSPENDED, TIMELINE, WANTED, Cell, State
from tests.support.work import number

LISTED = "{ viewer { notifications(first: 100) { nodes { id actor { id } post { id } comment { id } } } } }"
NAMED = [cell for cell in LIVELY if cell.relation != SUSPENDED]  # nobody can name a suspended member
NOTIFICATION_PATHS = [path for path in PATHS if path.field == "Viewer.notifications"]


async def act(site: Audience) -> tuple[dict[State, Entities], str]:
    """Have a public and a private member act; returns their posts and their pals' posts, and the last post."""
    made: dict[State, Entities] = {}
    for state in (OPEN, PRIVATE):
        member, pal = site.subjects[state], site.pals[state]
        made[state] = {"post": await member.post("live"), "passed on": site.entities[state]["late"]}
        if state == OPEN:  # nobody else can repost a private member's posts
            await pal.repost(made[state]["passed on"])
        await member.repost(await site.friend.post("to be passed on"))
    return made, await site.friend.post("the end")


def expected(cell: Cell) -> dict[str, bool]:
    """Return the posts of a member that must reach the home of a viewer in a cell."""
    follows = cell.relation in FOLLOWING
    return {
        "post": TIMELINE.is_seen(cell) and (follows or cell.relation == SELF),
        "passed on": TIMELINE.is_seen(cell) and cell.state == OPEN,
        "source": WANTED.is_seen(cell) and REPOSTS.is_seen(cell) and follows,
    }


async def reached(stream: Stream, last: str) -> tuple[set[str], set[str]]:
    """Return the delivered posts, and their named reposters, up to the last post."""
    posts, logins = set(), set()
    while True:
        kind, post, *by = await stream.brief()
        assert kind == "put"
        posts.add(post)
        logins.update(by)
        if post == last:
            return posts, logins


@pytest.mark.parametrize("is_live", [True, False])
async def test_home_events(db: Database, anonymous: Member, *, is_live: bool) -> None:
    """Posts and reposts are delivered to the homes of members who see and want them, live and replayed."""
    site = await audience(db, anonymous)
    before = await now(db)
    viewers = {id(viewer): viewer for viewer in map(site.viewer, LIVELY)}
    async with AsyncExitStack() as stack:
        streams = {
            key: await stack.enter_async_context(watching(viewer, db)) for key, viewer in viewers.items() if is_live
        }
        made, last = await act(site)
        for key, viewer in viewers.items():
            if not is_live:
                streams[key] = await stack.enter_async_context(subscribed(viewer, HOME, after=before))
        found = {key: await reached(stream, last) for key, stream in streams.items()}
    for cell in LIVELY:
        posts, logins = found[id(site.viewer(cell))]
        came = {name: post in posts for name, post in made[cell.state].items()}
        came["source"] = site.entities[cell.state]["login"] in logins
        assert came == expected(cell), cell


async def name_all(site: Audience) -> tuple[dict[State, Entities], str]:
    """Have a public and a private member mention all viewers; returns where, and the friend's last post."""
    viewers = {viewer.login for viewer in (*signed_in(site), *site.subjects.values())}
    names = " ".join(f"@{login}" for login in sorted(viewers))
    made = {
        state: {
            "post": await site.subjects[state].post(names),
            "remark": await comment(site.subjects[state], site.shared["friend_status"], names),
        }
        for state in (OPEN, PRIVATE)
    }
    return made, await site.friend.post(f"the end, {names}")


def assert_whole(shown: dict[str, Any] | None) -> None:
    """Assert that a notification shows its actor and act: a hidden one must not be delivered at all."""
    assert shown is None or (
        shown["actor"] and (shown["post"] or shown["kind"] in {"FOLLOW_REQUEST", "GROUP_INVITE"})
    ), shown


async def delivered_ids(stream: Stream, last: str) -> set[str]:
    """Return the ids of all events for a subscriber, up to a post."""
    found: set[str] = set()
    while last not in found:
        event = await stream.next()
        assert event["__typename"] != "StreamGap"
        assert_whole(event.get("notification"))
        found.update(ids_in(event))
    return found


async def test_notification_events(db: Database, anonymous: Member) -> None:
    """Live mentions are delivered to the members who see and want them."""
    site = await audience(db, anonymous)
    viewers = {id(viewer): viewer for viewer in map(site.viewer, NAMED)}
    async with AsyncExitStack() as stack:
        streams = {
            key: await stack.enter_async_context(subscribed(viewer, NOTIFICATIONS)) for key, viewer in viewers.items()
        }
        for viewer in viewers.values():
            await begun(db, viewer)
        made, last = await name_all(site)
        found = {key: await delivered_ids(stream, last) for key, stream in streams.items()}
    for cell in NAMED:
        came = {name: entity in found[id(site.viewer(cell))] for name, entity in made[cell.state].items()}
        others = cell.relation != SELF
        assert came == {"post": TIMELINE.is_seen(cell) and others, "remark": WANTED.is_seen(cell) and others}, cell


async def test_notifications_again(db: Database, anonymous: Member) -> None:
    """A replay of all of a member's events gives exactly the list of notifications."""
    site = await audience(db, anonymous)
    last = await site.friend.post("the end, " + " ".join(f"@{viewer.login}" for viewer in signed_in(site)))
    found: dict[str, set[str]] = {}
    for relation, viewer in site.viewers.items():
        if relation not in {ANONYMOUS, SUSPENDED}:
            start = paging.cursor(CURSOR, number(viewer.id))  # older than all their events
            async with subscribed(viewer, NOTIFICATIONS, after=start) as stream:
                found[relation] = await delivered_ids(stream, last)
            assert found[relation] == set(ids_in(await viewer.ask(LISTED)))
    for cell in CELLS:
        for path in NOTIFICATION_PATHS:
            for entity in path.entities.split() if cell.relation in found else ():
                came = site.entities[cell.state][entity] in found[cell.relation]
                assert came == path.leads(cell), f"{cell}: {entity}"


async def test_post_activity(db: Database, anonymous: Member) -> None:
    """A post's counts are delivered to viewers who see it; for others it does not exist."""
    site = await audience(db, anonymous)
    friend = number(site.friend.id)
    for cell in CELLS:
        viewer, post = site.viewer(cell), site.entities[cell.state]["status"]
        is_delivered = POSTS.is_seen(cell) and cell.relation != ANONYMOUS
        async with subscribed(viewer, ACTIVITY, post=post) as stream:
            if is_delivered:
                await wait_for_activity(db, post, by_anybody=True)
                liking = accepted(await likes_and_comments.like(db, number(post), friend))
                if not liking.is_changed:
                    liking = accepted(await likes_and_comments.unlike(db, number(post), friend))
                assert liking.is_changed
                assert (await stream.next())["post"] == {"id": post}, cell
            else:
                assert await stream.receive() == await answer_to_nothing(viewer), cell
        await wait_for_activity(db, post, by_anybody=False)


async def wait_for_activity(db: Database, post: str, *, by_anybody: bool) -> None:
    """Wait until the store delivers a post's activity, or no longer does."""
    channel = db.channel(keys.activity(number(post)))
    async with asyncio.timeout(10):
        while bool(await sharded_channels(db, channel)) != by_anybody:
            pass


async def answer_to_nothing(viewer: Member) -> dict[str, Any]:
    """Return the answer to a subscription to a post that does not exist."""
    async with subscribed(viewer, ACTIVITY, post="status_00000000000001") as stream:
        return await stream.receive()


@pytest.mark.parametrize("what", ["block", "hide", "private", "suspend"])
async def test_activity_out_of_sight(db: Database, alice: Member, bob: Member, carol: Member, what: str) -> None:
    """At the next change of a post that the viewer no longer sees, the subscription ends with NOT_FOUND."""
    post = await alice.post("for now")
    async with subscribed(bob, ACTIVITY, post=post) as stream:
        await wait_for_activity(db, post, by_anybody=True)
        await likes_and_comments.like(db, number(post), number(carol.id))
        assert (await stream.next())["likeCount"] == 1
        match what:
            case "block":
                await do(alice, "block", userIds=[bob.id])
            case "hide":
                await do(alice, "hidePost", postId=post)
            case "private":
                await do(alice, "updateProfile", isPrivate=True)
            case _:
                await accounts.set_suspension(db, alice.login, suspended=True)
        await likes_and_comments.unlike(db, number(post), number(carol.id))
        assert await stream.code() == "NOT_FOUND"

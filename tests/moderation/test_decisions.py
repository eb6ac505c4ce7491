"""Decisions on reports: what each action does, what the log keeps of it, and who may decide."""

import asyncio
from typing import Any

import pytest

from resolvers.process.services import Services
from store.credentials.records import Role
from tests.support.moderation.acts import NODE, appoint, listed, logged, notified, report, resolve
from tests.support.people import Member, log_in


@pytest.fixture
async def mona(services: Services, anonymous: Member) -> Member:
    """A moderator."""
    return await appoint(services.db, anonymous, "mona")


@pytest.fixture
async def ada(services: Services, anonymous: Member) -> Member:
    """An administrator."""
    return await appoint(services.db, anonymous, "ada", Role.ADMIN)


async def test_dismissed(alice: Member, bob: Member, carol: Member, mona: Member) -> None:
    """A dismissal resolves all reports of the subject, leaves it in place, and notifies each reporter once."""
    post = await bob.post("a post")
    mine, theirs = await report(alice, post), await report(carol, post)
    found = await resolve(mona, mine, "DISMISS", note="it is harmless")
    assert (found["state"], found["resolvedBy"], found["reportCount"]) == ("DISMISSED", {"login": "mona"}, 2)
    assert await listed(mona) == []
    assert [one["id"] for one in await listed(mona, "DISMISSED")] == [theirs, mine]
    assert await carol.ask(NODE, id=post) == {"__typename": "Status", "id": post}
    assert [await notified(member) for member in (alice, bob, carol)] == [["REPORT_RESOLVED"], [], ["REPORT_RESOLVED"]]
    (act,) = await logged(mona)
    assert (act["kind"], act["note"], act["report"], act["removedText"]) == (
        "REPORT_DISMISSED",
        "it is harmless",
        {"id": mine},
        None,
    )


@pytest.mark.parametrize("kind", ["status", "quote", "comment", "message"])
async def test_content_deleted(kind: str, alice: Member, bob: Member, carol: Member, mona: Member) -> None:
    """Deleted content is gone for everybody; the log keeps its text, but none of a private message."""
    post = await carol.post("tea")
    if kind == "status":
        subject, text = await bob.post("buy my #tea"), "buy my #tea"
    elif kind == "quote":
        subject, text = await bob.repost(post, "buy it"), "buy it"
    elif kind == "comment":
        subject = (await bob.do("comment", "comment { id }", postId=post, text="really"))["comment"]["id"]
        text = "really"
    else:
        sent = await bob.do("startConversation", "message { id }", userIds=[alice.id], text="psst")
        subject, text = sent["message"]["id"], None
    mine = await report(alice, subject)
    found = await resolve(mona, mine, "DELETE_CONTENT")
    assert (found["state"], found["subject"]) == ("ACTIONED", None)
    for member in (alice, bob, mona):
        assert await member.ask(NODE, id=subject) is None
    acts = [act for act in await logged(mona) if act["kind"] == "CONTENT_DELETED"]
    assert [(act["subject"], act["removedText"]) for act in acts] == [(None, text)]
    if kind == "message":
        assert [one["text"] for one in found["messages"]] == ["psst"]
    (again,) = await listed(mona, "ACTIONED")
    assert again["id"] == mine


async def test_group_hidden(alice: Member, bob: Member, carol: Member, mona: Member) -> None:
    """A reported group is hidden: strangers see nothing of it, its members that it exists, moderators all."""
    group = (await bob.do("createGroup", "group { id }", name="Tea", description="buy", kind="PUBLIC"))["group"]["id"]
    await carol.do("joinGroup", groupId=group)
    post = await carol.post("a post", groupId=group)
    await resolve(mona, await report(alice, group), "DELETE_CONTENT")
    shown = "name isHidden description memberCount timeline { nodes { __typename } }"
    seen = f"query($id: ID!) {{ node(id: $id) {{ ... on Group {{ {shown} }} }} }}"
    assert await alice.ask(seen, id=group) is None
    hidden = {"name": "Tea", "isHidden": True, "description": "", "memberCount": 0, "timeline": None}
    assert await carol.ask(seen, id=group) == hidden
    assert await bob.ask(seen, id=group) == hidden
    assert (await mona.ask(seen, id=group))["memberCount"] == 2
    for member in (alice, bob, carol):
        assert await member.ask(NODE, id=post) is None
    assert await carol.refused("post", text="more", groupId=group) == ("NOT_ALLOWED", ["groupId"])
    assert await alice.refused("joinGroup", groupId=group) == ("NOT_FOUND", ["groupId"])
    assert await alice.ask("{ groups { nodes { id } } }") == {"nodes": []}
    for _ in range(2):
        assert not (await mona.do("unhideGroup", groupId=group))["userErrors"]
    assert await alice.ask(NODE, id=post) == {"__typename": "Status", "id": post}
    assert await alice.ask("{ groups { nodes { id } } }") == {"nodes": [{"id": group}]}
    assert [act["kind"] for act in await logged(mona)] == ["CONTENT_DELETED", "GROUP_SHOWN"]
    assert (await logged(mona))[0]["removedText"] == "Tea\nbuy"


async def test_author_suspended(anonymous: Member, alice: Member, bob: Member, mona: Member) -> None:
    """A suspension ends the author's sessions; their post stays, for moderators only, until the suspension ends."""
    post = await bob.post("a post")
    found = await resolve(mona, await report(alice, post), "SUSPEND_AUTHOR")
    assert (found["state"], found["subject"]["id"]) == ("ACTIONED", post)
    assert await bob.fail("{ viewer { id } }") == "UNAUTHENTICATED"
    assert await alice.ask(NODE, id=post) is None
    payload = await mona.do("suspendUser", "user { isSuspended }", userId=bob.id, suspended=False, note="sorry")
    assert payload["user"] == {"isSuspended": False}
    assert await alice.ask(NODE, id=post) == {"__typename": "Status", "id": post}
    assert [(act["kind"], act["note"]) for act in await logged(mona)] == [
        ("USER_SUSPENDED", ""),
        ("USER_UNSUSPENDED", "sorry"),
    ]
    assert await (await log_in(anonymous, "bob")).home() == [post]


async def test_refusals(alice: Member, bob: Member, mona: Member) -> None:
    """Resolved reports, unknown ones, missing content and long notes are refused, and change nothing."""
    mine = await report(alice, bob.id)
    refusals = {
        ("DELETE_CONTENT", mine, ""): ("INVALID", ["action"]),
        ("DISMISS", mine, "x" * 1001): ("TOO_LONG", ["note"]),
        ("DISMISS", "report_00000000000001", ""): ("NOT_FOUND", ["reportId"]),
        ("DISMISS", bob.id, ""): ("NOT_FOUND", ["reportId"]),
        ("DISMISS", "nonsense", ""): ("INVALID", ["reportId"]),
    }
    for (action, identity, note), refusal in refusals.items():
        assert await mona.refused("resolveReport", reportId=identity, action=action, note=note) == refusal
    assert [one["state"] for one in await listed(mona)] == ["OPEN"]
    await resolve(mona, mine, "DISMISS")
    for action in ("DISMISS", "SUSPEND_AUTHOR"):
        assert await mona.refused("resolveReport", reportId=mine, action=action) == ("CONFLICT", ["reportId"])
    post = await bob.post("a post")
    mine = await report(alice, post)
    await bob.do("deletePost", postId=post)
    assert await mona.refused("resolveReport", reportId=mine, action="DELETE_CONTENT") == ("NOT_FOUND", ["action"])
    assert [one["subject"] for one in await listed(mona)] == [None]
    assert len(await logged(mona)) == 1


async def test_equals_and_superiors(
    services: Services, anonymous: Member, alice: Member, mona: Member, ada: Member
) -> None:
    """Nobody acts on an equal, a superior or themselves, by a report or directly; nothing changes or is logged."""
    max_ = await appoint(services.db, anonymous, "max")
    second = await appoint(services.db, anonymous, "zoe", Role.ADMIN)
    for actor, targets in ((mona, (max_, ada)), (ada, (second,))):
        for target in targets:
            post = await target.post("a post")
            comment = (await target.do("comment", "comment { id }", postId=post, text="so"))["comment"]["id"]
            group = (await target.do("createGroup", "group { id }", name="Tea", kind="PUBLIC"))["group"]["id"]
            not_allowed: dict[tuple[str, str, str], dict[str, Any]] = {
                ("suspendUser", "userId", target.id): {"suspended": True},
                ("deletePost", "postId", post): {},
                ("deleteComment", "commentId", comment): {},
                ("hideGroup", "groupId", group): {},
                **({("setRole", "userId", target.id): {"role": "MEMBER"}} if actor is ada else {}),
            }
            for (mutation, field, identity), more in not_allowed.items():
                assert await actor.refused(mutation, **{field: identity}, **more) == ("NOT_ALLOWED", [field])
            mine = await report(alice, post)
            for action in ("DELETE_CONTENT", "SUSPEND_AUTHOR"):
                refusal = await actor.refused("resolveReport", reportId=mine, action=action)
                assert refusal == ("NOT_ALLOWED", ["reportId"])
            await resolve(actor, mine, "DISMISS")
    for actor in (mona, ada):
        assert await actor.refused("suspendUser", userId=actor.id, suspended=True) == ("SELF", ["userId"])
        mine = await report(alice, actor.id)
        for action in ("DISMISS", "SUSPEND_AUTHOR"):
            assert await actor.refused("resolveReport", reportId=mine, action=action) == ("SELF", ["reportId"])
    assert await ada.refused("setRole", userId=ada.id, role="MEMBER") == ("SELF", ["userId"])
    assert {act["kind"] for act in await logged(mona)} == {"REPORT_DISMISSED"}


async def test_blocking_a_moderator(alice: Member, bob: Member, mona: Member) -> None:
    """Who blocks a moderator, or is private, or both, escapes no decision."""
    await bob.do("updateProfile", isPrivate=True)
    await alice.follow(bob)
    await bob.do("approveFollowRequests", userIds=[alice.id])
    post = await bob.post("a private post")
    mine = await report(alice, post)
    await bob.do("block", userIds=[mona.id])
    (found,) = await listed(mona)
    assert found["subject"] == {"__typename": "Status", "id": post, "text": "a private post"}
    assert await mona.ask(NODE, id=post) is None
    await resolve(mona, mine, "DELETE_CONTENT")
    assert await alice.ask(NODE, id=post) is None
    assert not (await mona.do("suspendUser", userId=bob.id, suspended=True))["userErrors"]


async def test_two_at_once(services: Services, anonymous: Member, alice: Member, bob: Member, mona: Member) -> None:
    """Of two moderators who decide at the same moment exactly one wins, and the log has one act."""
    max_ = await appoint(services.db, anonymous, "max")
    for number in range(10):
        mine = await report(alice, await bob.post(f"post {number}"))
        answers = await asyncio.gather(
            mona.do("resolveReport", "report { state }", reportId=mine, action="DISMISS"),
            max_.do("resolveReport", "report { state }", reportId=mine, action="DELETE_CONTENT"),
        )
        codes = [error["code"] for answer in answers for error in answer["userErrors"]]
        assert codes == ["CONFLICT"]
    assert len(await logged(mona)) == 10

"""What moderators and administrators do without a report, and the log of it."""

from typing import Any

import pytest

from resolvers.process.services import Services
from store.credentials.records import Role
from tests.support.moderation.acts import LOG, NODE, appoint, listed, logged, report
from tests.support.people import Member
from tests.support.promoting import CREATE, instant


@pytest.fixture
async def mona(services: Services, anonymous: Member) -> Member:
    """A moderator."""
    return await appoint(services.db, anonymous, "mona")


@pytest.fixture
async def ada(services: Services, anonymous: Member) -> Member:
    """An administrator."""
    return await appoint(services.db, anonymous, "ada", Role.ADMIN)


async def test_deletions(alice: Member, bob: Member, mona: Member) -> None:
    """A moderator deletes a post, a plain repost and a comment of others, once; the log keeps the texts."""
    post = await bob.post("a post by @alice")
    commented = await alice.post("tea")
    comment = (await bob.do("comment", "comment { id }", postId=commented, text="so @alice"))["comment"]["id"]
    repost = await bob.repost(commented)
    for mutation, field, identity in (
        ("deletePost", "postId", post),
        ("deletePost", "postId", repost),
        ("deleteComment", "commentId", comment),
    ):
        assert not (await mona.do(mutation, **{field: identity}))["userErrors"]
        assert await mona.refused(mutation, **{field: identity}) == ("NOT_FOUND", [field])
        assert await bob.ask(NODE, id=identity) is None
    assert [(act["kind"], act["removedText"], act["subject"]) for act in await logged(mona)] == [
        ("CONTENT_DELETED", "a post by @alice", None),
        ("CONTENT_DELETED", None, None),
        ("CONTENT_DELETED", "so @alice", None),
    ]
    assert await alice.ask("{ viewer { mentions { nodes { __typename } } } }") == {"mentions": {"nodes": []}}


async def test_own_content(alice: Member, mona: Member) -> None:
    """What moderators delete of their own is not logged, nor a comment on their own post."""
    post = await mona.post("mine")
    comment = (await alice.do("comment", "comment { id }", postId=post, text="so"))["comment"]["id"]
    assert not (await mona.do("deleteComment", commentId=comment))["userErrors"]
    assert not (await mona.do("deletePost", postId=post))["userErrors"]
    assert await logged(mona) == []


async def test_suspensions(alice: Member, bob: Member, mona: Member) -> None:
    """A suspension and its end are logged once each, however often they are repeated; members may do neither."""
    for suspended in (True, True, False, False):
        payload = await mona.do("suspendUser", "user { isSuspended }", userId=bob.id, suspended=suspended)
        assert payload["user"] == {"isSuspended": suspended}
    assert [act["kind"] for act in await logged(mona)] == ["USER_SUSPENDED", "USER_UNSUSPENDED"]
    assert await mona.refused("suspendUser", userId="user_00000000000001", suspended=True) == ("NOT_FOUND", ["userId"])
    query = f'mutation {{ suspendUser(input: {{userId: "{bob.id}", suspended: true}}) {{ user {{ id }} }} }}'
    assert await alice.fail(query) == "FORBIDDEN"


async def test_roles(alice: Member, bob: Member, mona: Member, ada: Member) -> None:
    """An administrator gives and takes roles from the next request on; moderators may not."""
    query = f'mutation {{ setRole(input: {{userId: "{bob.id}", role: MODERATOR}}) {{ user {{ id }} }} }}'
    for member in (alice, mona):
        assert await member.fail(query) == "FORBIDDEN"
    for role in ("MODERATOR", "MODERATOR", "MEMBER"):
        assert not (await ada.do("setRole", userId=bob.id, role=role, note="try"))["userErrors"]
        assert await bob.ask("{ viewer { role } }") == {"role": role}
    assert [(act["kind"], act["note"], act["subject"]["login"]) for act in await logged(ada)] == [
        ("ROLE_CHANGED", "MODERATOR: try", "bob"),
        ("ROLE_CHANGED", "MEMBER: try", "bob"),
    ]
    assert await bob.fail(LOG) == "FORBIDDEN"


async def test_dismissed_moderator(alice: Member, bob: Member, mona: Member, ada: Member) -> None:
    """A moderator whose role is taken away decides nothing from then on, and their acts stay in the log."""
    mine = await report(alice, bob.id)
    assert not (await mona.do("suspendUser", userId=bob.id, suspended=True))["userErrors"]
    await ada.do("setRole", userId=mona.id, role="MEMBER")
    query = f'mutation {{ resolveReport(input: {{reportId: "{mine}", action: DISMISS}}) {{ report {{ id }} }} }}'
    assert await mona.fail(query) == "FORBIDDEN"
    assert [one["state"] for one in await listed(ada)] == ["OPEN"]
    assert (await logged(ada))[0]["actor"] == {"login": "mona"}


async def test_promotions(bob: Member, ada: Member) -> None:
    """The beginning and the end of a promotion are logged once each; a refused one is not."""
    making: dict[str, Any] = {"sponsorId": bob.id, "subject": {"userId": bob.id}, "endsAt": instant(days=1)}
    made = (await ada.ask(CREATE, input=making))["promotion"]["id"]
    for _ in range(2):
        assert not (await ada.do("endPromotion", promotionId=made))["userErrors"]
    assert await ada.refused("endPromotion", promotionId="promotion_00000000000001") == ("NOT_FOUND", ["promotionId"])
    assert [(act["kind"], act["subject"]["login"]) for act in await logged(ada)] == [
        ("PROMOTION_CREATED", "bob"),
        ("PROMOTION_ENDED", "bob"),
    ]


async def test_messages_read(alice: Member, bob: Member, carol: Member, mona: Member, ada: Member) -> None:
    """A moderator reads a reported message and the four before it, nothing else; the log says so once for each."""
    sent = [
        (await bob.do("startConversation", "message { id }", userIds=[alice.id, carol.id], text=f"message {number}"))[
            "message"
        ]["id"]
        for number in range(7)
    ]
    await report(alice, sent[5])
    talk = "id unreadCount lastMessage { id } participants { id } messages { nodes { id } }"
    query = f"{{ reports {{ nodes {{ messages {{ id conversation {{ {talk} }} }} }} }} }}"
    nothing: dict[str, Any] = {"unreadCount": 0, "lastMessage": None, "participants": [], "messages": {"nodes": []}}
    for moderator in (mona, mona, ada):
        (found,) = (await moderator.ask(query))["nodes"]
        assert [one["id"] for one in found["messages"]] == sent[1:6]
        for one in found["messages"]:
            assert one["conversation"] == {"id": one["conversation"]["id"], **nothing}
        assert await moderator.ask(NODE, id=sent[5]) is None
    acts = await logged(mona)
    assert [(act["kind"], act["actor"]["login"]) for act in acts] == [
        ("MESSAGES_READ", "mona"),
        ("MESSAGES_READ", "ada"),
    ]
    assert await mona.refused("deleteMessage", messageId=sent[5]) == ("NOT_FOUND", ["messageId"])


async def test_pages_of_the_log(bob: Member, mona: Member) -> None:
    """The pages of the log, newest first, agree with the whole log."""
    for suspended in (True, False) * 3:
        await mona.do("suspendUser", userId=bob.id, suspended=suspended)
    whole = [act["id"] for act in (await mona.ask(LOG, first=100))["nodes"]]
    paged: list[str] = []
    after, goes_on = None, True
    while goes_on:
        page = await mona.ask(LOG, first=2, after=after)
        paged += [act["id"] for act in page["nodes"]]
        after, goes_on = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
    assert paged == whole
    assert len(whole) == 7  # an operator made mona a moderator

"""Every query of a site is answered by plan as by graphql-core alone."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import cast

import hypothesis
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as some
from hypothesis_graphql import nodes, queries
from strawberry.types import ExecutionResult

import schema
from resolvers.operation.context import Context
from resolvers.process.services import Services
from schema.execution.encoding import encode
from schema.execution.operations import Schema
from store.settings import Settings
from tests.homes import test_round_trips
from tests.support import conversations, groups
from tests.support.execution.zoo import answer
from tests.support.page_costs import HOME, PUBLIC
from tests.support.people import Member, crowd
from tests.support.transport.site_live import OWN_STREAM as STREAM

EXAMPLES = 40
ROOTS = ("homeTimeline", "publicTimeline", "nodes", "user", "viewer", "hashtag", "node", "groups")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """No limit on a query's cost or aliases."""
    return replace(
        settings, max_cost=10**9, max_aliases=10**6, max_tokens=10**6, max_query=10**6, max_fields=10**6, max_depth=100
    )


@pytest.fixture
def both(settings: Settings) -> list[Schema]:
    """The schema with plans where possible, and without any."""
    bare = replace(settings, data_dir=Path())
    return [schema.build(replace(bare, fast_execution=fast)) for fast in (True, False)]


async def agree(both: Sequence[Schema], services: Services, member: Member, query: str, **variables: object) -> None:
    """Assert that a member's query is answered equally by both."""
    claims = services.tokens.read(member.token) if member.token else None
    answers = []
    for one in both:
        context = Context(services, claims, address="::1", user_agent="", request_id="request")
        data, errors = answer(await one.execute(query, variables, context))
        answers.append((data, Counter(map(repr, errors))))  # the specification gives errors no order
        # graphql-core leaves garbage behind.
        for _ in range(10):
            await asyncio.sleep(0)
    assert answers[0] == answers[1], query


async def site(anonymous: Member, alice: Member) -> list[str]:
    """Fill a site with entities seen by everybody, by some and by nobody; return all their ids."""
    many = await crowd(anonymous, 8)
    await alice.follow(*many[:5])
    await test_round_trips.everything(alice, many)
    secret, blocked, gone = many[5], many[6], many[7]
    hidden = await many[0].post("hidden")
    private = await secret.post("private @alice #tea")
    ids = [hidden, private, *(member.id for member in many), alice.id]
    ids += [await blocked.post("blocked @alice")]
    comment = (await many[1].do("comment", "comment { id }", postId=ids[-1], text="a remark @one0"))["comment"]
    quoted = await gone.post("to be deleted")
    ids += [comment["id"], quoted, await many[1].repost(quoted, "what is it"), await many[2].repost(quoted)]
    ids += [await many[0].post("an answer to @one1", inReplyToId=private)]
    await gone.do("deletePost", postId=quoted)
    await many[0].do("hidePost", postId=hidden)
    await many[1].do("pinPost", postId=await many[1].post("pinned"))
    for kind, owner in (("PUBLIC", many[1]), ("PRIVATE", alice), ("PRIVATE", many[2])):
        group = await groups.create(owner, kind)
        await groups.join(group, alice, many[3])
        ids += [group, await owner.post(f"in a group, {kind}", groupId=group)]
    for others in ((many[0],), (many[1], blocked), (secret, gone), (blocked,)):
        talk = await conversations.start(alice, *others)
        ids += [talk, await conversations.write(others[-1], talk, "an answer")]
    await secret.do("updateProfile", isPrivate=True)
    await alice.do("block", userIds=[blocked.id])
    await alice.do("mute", userIds=[many[3].id])
    return [*ids, *(await alice.home()), "nothing"]


def texts(schema: Schema, ids: Sequence[str]) -> list[str]:
    """Return queries over the schema that name these ids, the same ones each time."""
    made: list[str] = []
    strategy = queries(
        schema.as_str(),
        fields=ROOTS,
        custom_scalars={
            "ID": some.sampled_from(ids).map(nodes.String),
            "String": some.sampled_from(["one0", "alice", "tea", "event.0-0"]).map(nodes.String),
            "DateTime": some.just(nodes.String("2026-01-01T00:00:00Z")),
        },
    )

    @hypothesis.settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(query: str) -> None:
        made.append(query)

    collect()
    return made


async def test_random_queries(both: list[Schema], services: Services, anonymous: Member, alice: Member) -> None:
    """Random queries by a member, and by nobody, have equal data, order of keys included, and equal errors."""
    ids = await site(anonymous, alice)
    for query in texts(both[0], ids):
        await agree(both, services, alice, query)
        await agree(both, services, anonymous, query)
    planner = both[0].planner
    assert planner
    assert planner.runs - planner.given_up > EXAMPLES // 2, (planner.runs, planner.given_up)


async def test_pages(both: list[Schema], services: Services, anonymous: Member, alice: Member) -> None:
    """Pages with authors, flags, sources, counts and originals run by plan, to the end."""
    ids = await site(anonymous, alice)
    planner = both[0].planner
    assert planner
    everything = (
        "query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Post { mentions { login } comments { edges { node { "
        "author { login } post { id } replyTo { id } } } } quotes { nodes { id } } } "
        "... on User { pinnedPost { id author { login } } } ... on Status { group { name } } "
        "... on Group { name description kind memberCount viewerRole viewerHasRequestedToJoin "
        "members { edges { role node { login } } } joinRequests { nodes { login } } "
        "timeline { nodes { ... on Status { text group { id } } } } } "
        "... on Conversation { participants { login } unreadCount lastMessage { text sender { login } } "
        "viewerLastRead { id } messages { edges { node { text sender { login } conversation { id } } } } } "
        "... on Message { text createdAt conversation { participants { id } } } } }"
    )
    talks = (
        "{ viewer { unreadMessageCount conversations { edges { cursor node { unreadCount createdAt "
        "participants { login } lastMessage { id sender { login } } } } } } }"
    )
    pages: list[tuple[str, dict[str, object]]] = [
        (HOME, {}),
        (PUBLIC, {}),
        (talks, {}),
        (everything, {"ids": ids[:-1]}),
    ]
    for query, variables in pages:
        await agree(both, services, alice, query, **variables)
    assert (planner.runs, planner.given_up) == (len(pages), 0)


async def test_what_is_kept_is_right_for_whoever_looks(
    both: list[Schema], services: Services, anonymous: Member, alice: Member, bob: Member
) -> None:
    """Rows written for one viewer differ for another, and differ again after a change."""
    post = await alice.post("one")
    await bob.post("two")
    query = (
        "{ publicTimeline { edges { cursor node { ... on Post { id text likeCount viewerHasLiked viewerHasReposted "
        "author { login name bio } again: author { id viewerIsFollowing followerCount } } } } } }"
    )
    members = (alice, bob, anonymous)
    for member in members * 2:
        await agree(both, services, member, query)
    await bob.do("like", postId=post)
    for member in members:
        await agree(both, services, member, query)
    await alice.do("updateProfile", name="Another")
    await alice.follow(bob)
    for member in members:
        await agree(both, services, member, query)
    assert both[0].planner
    assert both[0].planner.given_up == 0


async def test_events(both: list[Schema], services: Services, alice: Member, bob: Member) -> None:
    """Events of a subscription run by plan, too, and equal those of graphql-core."""
    await bob.post("one")
    delivered = []
    for one in both:
        claims = services.tokens.read(alice.token or "")
        context = Context(services, claims, address="::1", user_agent="", request_id="request")
        variables = {"after": "event.0-0", "filter": {"follow": [bob.id]}}
        async with aclosing(await one.stream(STREAM, variables, context)) as results:
            delivered.append(encode(cast("ExecutionResult", await anext(results)).data))  # parts of it are JSON already
    planner = both[0].planner
    assert planner
    assert (planner.runs, planner.given_up) == (1, 0)
    assert delivered[0] == delivered[1] != b"null"

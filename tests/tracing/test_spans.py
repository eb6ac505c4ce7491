"""The spans of operations, round trips, scripts and jobs."""

from dataclasses import replace

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from resolvers.jobs.worker import Worker
from resolvers.operation.context import Context
from resolvers.process.services import Services
from schema.execution.operations import Schema
from serving.http.app import create_app
from store import jobs
from store.client.database import Database
from store.client.tracing import SPAN, SpanKind
from store.ids import partition
from store.keys import jobs as jobs_key
from tests.support.people import Member, sign_up
from tests.support.spans import CALLER, NOT_SAMPLED, SAMPLED, TRACE, Spans, tree
from tests.support.transport.live import watching
from tests.support.work import number

# In a script, since the client sends `XREADGROUP` only from scripts and does not know where its key stands.
READ = "redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'STREAMS', KEYS[1], '>')"
HOME_PAGE = "query Home { homeTimeline(first: 5) { edges { node { __typename } } } }"


async def test_query(spans: Spans, services: Services, alice: Member) -> None:
    """A query is one trace, in which each of its round trips is a span with the names of its commands."""
    spans.take()
    before = services.db.round_trips
    await alice.send(HOME_PAGE)
    made = spans.take()
    (query,) = [span for span in made if span.kind is SpanKind.OPERATION]
    trips = [span for span in made if span.kind is SpanKind.ROUND_TRIP]
    assert (query.name, query.parent, query.facts["name"]) == ("query", 0, "Home")
    assert {span.trace for span in made} == {query.trace}
    assert len(trips) == services.db.round_trips - before == query.facts["round_trips"]
    assert {span.parent for span in trips} == {query.id}
    assert all(span.facts["commands"] for span in trips)
    assert all(query.began <= span.began <= span.ended <= query.ended for span in trips)


async def test_mutation_and_worker(spans: Spans, worker: Worker, alice: Member, bob: Member, carol: Member) -> None:
    """With `traceparent`, the post, its script, and the fan-out of the worker belong to the trace of the caller."""
    for follower in (bob, carol):
        await follower.follow(alice)
    await worker.run_once()
    spans.take()
    alice.headers = SAMPLED
    post = await alice.post("traced")
    in_request = spans.take()
    (mutation,) = [span for span in in_request if span.kind is SpanKind.OPERATION]
    assert mutation.parent == CALLER
    assert "mutation > round trip > create_post" in tree(in_request)
    assert "mutation > post" in tree(in_request)  # the job's first attempt, which reached one follower

    await worker.run_once()
    of_worker = spans.take()
    assert {span.trace for span in [*in_request, *of_worker]} == {TRACE}
    (attempt,) = [span for span in of_worker if span.kind is SpanKind.JOB]
    assert (attempt.name, attempt.parent, attempt.facts["outcome"]) == ("post", mutation.id, "done")
    assert any(path.startswith("post > round trip > deliver") for path in tree(of_worker)), tree(of_worker)
    assert await bob.home() == await carol.home() == [post]


async def test_other_jobs_are_not_traced(spans: Spans, worker: Worker, alice: Member, bob: Member) -> None:
    """The worker traces no job of an operation that was not traced, and no other work."""
    await bob.follow(alice)
    alice.headers = bob.headers = NOT_SAMPLED
    await alice.post("a trusted proxy decides alone, and this client is none")
    spans.take()
    await worker.run_once()
    assert spans.take()  # since the share is 100 %
    await worker.run_once()
    assert spans.take() == []


async def test_jobs_without_a_trace(spans: Spans, db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """A job whose entry has no trace, as older versions committed it, is done and not traced."""
    await bob.follow(alice)
    await worker.run_once()
    post = number(await alice.post("committed by an older version"))
    ((entry, pairs),) = await db.one("XRANGE", jobs_key(partition(post)), f"{post}-0", f"{post}-0")
    assert (pairs[4], len(pairs)) == ("trace", 6)
    spans.take()
    await db.ask(
        ("XACK", jobs_key(partition(post)), jobs.GROUP, entry),
        ("XDEL", jobs_key(partition(post)), entry),
    )
    other = f"{post + 1}-0"
    await db.ask(
        ("XADD", jobs_key(partition(post)), other, *pairs[:4]),
        ("EVAL", READ, 1, jobs_key(partition(post)), jobs.GROUP, jobs.CONSUMER),
    )
    (found,) = [job async for batch in jobs.waiting(db, partition(post)) for job in batch]
    assert found.trace == ""
    await jobs.hand_over(db, found)
    assert await worker.run_once() == 1
    assert spans.take() == []


async def test_subscription(spans: Spans, services: Services, worker: Worker, alice: Member) -> None:
    """A subscription is one span from its start to its end; its events add none."""
    async with watching(alice, services.db) as stream:
        spans.take()
        await alice.post("an event")
        await worker.run_once()
        await stream.next()
        (trace,) = {span.trace for span in spans.take()}
    (ended,) = spans.take()
    assert ended.name == "subscription"
    assert ended.trace != trace


async def test_faults(spans: Spans, alice: Member) -> None:
    """What a client does wrong is an outcome, and no error of the server."""
    spans.take()
    await alice.send("query Wrong { nothing }")
    (query,) = spans.take(SpanKind.OPERATION)
    assert (query.facts["outcome"], query.error) == ("GRAPHQL_VALIDATION_FAILED", "")


async def test_nothing_is_left_running(spans: Spans, alice: Member) -> None:
    """Once operations have ended, nothing is watched in the task of the connection or of the test."""
    await alice.send(HOME_PAGE)
    assert SPAN.get() is None
    await alice.client.get("/readyz")  # on the same connection: it makes round trips, but is no operation
    assert spans.take(SpanKind.OPERATION)[-1].name == "query"
    await alice.client.get("/readyz")
    assert spans.take() == []


async def test_share(services: Services, built: Schema, spans: Spans) -> None:
    """Without a share nothing is traced, whatever a client asks for, unless the client is a trusted proxy."""
    for networks, headers, count in (((), SAMPLED, 0), (("127.0.0.0/8",), SAMPLED, 1), (("127.0.0.0/8",), {}, 0)):
        services.settings = replace(services.settings, traces_percent=0.0, trusted_proxies=networks)
        app: web.Application = create_app(built, services, Context, take_span=spans.keep)
        async with TestClient(TestServer(app)) as client:
            spans.take()
            await Member(client, headers=dict(headers)).send("{ __typename }")
        assert len(spans.take(SpanKind.OPERATION)) == count


async def test_off(services: Services, built: Schema) -> None:
    """Without TRACES_URL nothing is watched, and jobs carry no trace."""
    app = create_app(built, services, Context)
    async with TestClient(TestServer(app)) as client:
        alice, bob = [await sign_up(Member(client, headers=SAMPLED), login) for login in ("alice", "bob")]
        await bob.follow(alice)  # otherwise the request does the whole job
        post = number(await alice.post("not traced"))
    ((_, pairs),) = await services.db.one("XRANGE", jobs_key(partition(post)), f"{post}-0", f"{post}-0")
    assert len(pairs) == 4

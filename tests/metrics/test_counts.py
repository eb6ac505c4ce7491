"""Each metric counts what its name says."""

from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from resolvers.jobs.worker import Worker
from resolvers.operation.context import Context
from resolvers.process.services import Services
from schema.execution.operations import Schema
from serving.http.app import RECORDER, create_app
from serving.metrics import catalogue, recorder
from serving.metrics.recorder import PrometheusRecorder
from serving.observing import NoRecorder
from store.client.database import Database
from store.settings import Settings
from tests.support.people import Member, sign_up
from tests.support.servers.processes import until
from tests.support.transport.live import HOME, subscribed

HOME_PAGE = "query Home { homeTimeline(first: 5) { edges { node { __typename } } } }"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, metrics_port=1, max_favourites=1)  # nothing listens on it here


class Shown:
    """The metrics of an application as Prometheus would store them now."""

    def __init__(self, app: web.Application) -> None:
        made = app[RECORDER]
        assert isinstance(made, PrometheusRecorder)
        made.collect()
        text = generate_latest(made.registry).decode()
        self.samples = [one for family in text_string_to_metric_families(text) for one in family.samples]

    def value(self, name: str, **labels: str) -> float:
        """Return the sum of the samples of a name that have these labels."""
        return sum(
            one.value for one in self.samples if one.name == f"perch_{name}" and labels.items() <= one.labels.items()
        )

    def labels(self, name: str, label: str) -> set[str]:
        """Return the values of a label."""
        return {one.labels[label] for one in self.samples if one.name == f"perch_{name}"}


async def test_operations(app: web.Application, alice: Member) -> None:
    """Operations are counted by name and outcome, and the time of each is in one histogram."""
    for _ in range(3):
        await alice.send(HOME_PAGE)
    await alice.send("query Wrong { nothing }")
    shown = Shown(app)
    assert shown.value("operations_total", operation="Home", outcome="ok") == 3
    assert shown.value("operation_seconds_count", operation="Home") == 3
    assert shown.value("operation_seconds_bucket", operation="Home", le="+Inf") == 3
    assert shown.value("operations_total", outcome="GRAPHQL_VALIDATION_FAILED") == 1
    assert "Wrong" not in shown.labels("operations_total", "operation")


async def test_round_trips(app: web.Application, services: Services, alice: Member) -> None:
    """The round trips of an operation are those that the database has counted, and commands are no fewer."""
    before = services.db.round_trips
    await alice.send(HOME_PAGE)
    made, shown = services.db.round_trips - before, Shown(app)
    assert made >= 1
    assert shown.value("operation_round_trips_total", operation="Home") == made
    assert shown.value("operation_commands_total", operation="Home") >= made


async def test_names_are_bounded(app: web.Application, anonymous: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names that come first become labels. Later ones, long ones and those of refused operations do not."""
    monkeypatch.setattr(recorder, "NAMES_KEPT", 3)
    await anonymous.send(f"query {'x' * 101} {{ __typename }}")
    monkeypatch.setattr(app[RECORDER], "_most", 4)
    for name in "abcde":
        await anonymous.send(f"query {name} {{ __typename }}")
    await anonymous.send("{ __typename }")
    names = Shown(app).labels("operations_total", "operation")
    assert {"a", "b"} <= names
    assert not {"e", "x" * 101} & names
    assert recorder.OTHER in names
    assert len(names) <= 5  # and the one of operations without a name


async def test_trusted_names(app: web.Application) -> None:
    """With trusted documents, every name may become a label, because the manifest bounds them."""
    made = app[RECORDER]
    assert isinstance(made, PrometheusRecorder)
    sources = made._sources  # noqa: SLF001  the same application
    assert PrometheusRecorder(sources, all_names=True)._most is None  # noqa: SLF001


async def test_refusals(app: web.Application, alice: Member) -> None:
    """A refusal is counted for the setting that refused, whether of the request or of a member's write."""
    before = Shown(app)
    await alice.send("{ " + " ".join(f"a{i}: __typename" for i in range(31)) + " }")
    await alice.do("favourite", postId=await alice.post("the only one"))
    assert await alice.refused("favourite", postId=await alice.post("one too many")) == ("LIMIT_REACHED", ["postId"])
    after = Shown(app)
    for limit in ("max_aliases", "max_favourites"):
        assert after.value("refusals_total", limit=limit) - before.value("refusals_total", limit=limit) == 1


async def test_jobs_and_fanout(
    app: web.Application, db: Database, worker: Worker, alice: Member, anonymous: Member
) -> None:
    """A post to one follower reaches one follower. One that names a member is a job, on a cluster every post is."""
    bob = await sign_up(anonymous, "bob")
    await bob.follow(alice)
    before = Shown(app)
    await alice.post("to one follower")
    await alice.post("to @bob, who follows")
    await worker.run_once()
    after = Shown(app)
    assert after.value("fanout_followers_total") - before.value("fanout_followers_total") == 2
    done = {"kind": "post", "outcome": "done"}
    assert after.value("jobs_total", **done) - before.value("jobs_total", **done) == 1 + db.is_cluster


async def test_cache(app: web.Application, alice: Member) -> None:
    """A page that is read again finds its values in the cache, and a change is reported as an invalidation."""
    await alice.post("to be read twice")
    query = "query Twice { homeTimeline(first: 5) { edges { node { ... on Post { id author { login } } } } } }"
    await alice.send(query)
    before = Shown(app)
    await alice.send(query)
    between = Shown(app)
    assert between.value("cache_hits_total") > before.value("cache_hits_total")
    await alice.post("which changes the home")
    await alice.send(query)
    assert Shown(app).value("cache_invalidations_total") > between.value("cache_invalidations_total")


async def test_plans(app: web.Application, alice: Member) -> None:
    """An operation that runs by plan is counted as such, and no fallback with it."""
    before = Shown(app)
    await alice.send(HOME_PAGE)
    after = Shown(app)
    assert after.value("plans_total") - before.value("plans_total") == 1
    assert after.value("plan_fallbacks_total") == before.value("plan_fallbacks_total")


async def test_live(app: web.Application, alice: Member) -> None:
    """A running subscription and its socket are counted while they are open."""

    async def is_counted() -> bool:
        shown = Shown(app)
        return (shown.value("subscriptions"), shown.value("sockets")) == (1, 1)

    async def is_gone() -> bool:
        shown = Shown(app)
        return (shown.value("subscriptions"), shown.value("sockets")) == (0, 0)

    async with subscribed(alice, HOME):
        await until(is_counted)
    await until(is_gone)


async def test_off(services: Services, built: Schema) -> None:
    """Without METRICS_PORT nothing is measured."""
    services.settings = replace(services.settings, metrics_port=0)
    assert isinstance(create_app(built, services, Context)[RECORDER], NoRecorder)


def test_every_metric_is_described() -> None:
    """Each metric has a name of its own with the prefix of Perch, and a meaning."""
    names: list[Any] = [one.name for one in catalogue.ALL]
    assert len(set(names)) == len(names)
    assert all(one.name.startswith("perch_") and one.meaning for one in catalogue.ALL)

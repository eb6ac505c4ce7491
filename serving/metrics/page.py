"""The page of metrics: an HTTP server of its own, which also asks the store how it is."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator

from aiohttp import hdrs, web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily

from serving.metrics import catalogue
from serving.metrics.catalogue import Metric
from serving.running import StartError
from store import jobs
from store.client import health
from store.client.database import Database, Unavailable
from store.client.health import NodeHealth
from store.ids import instant

PATH = "/metrics"


@contextlib.asynccontextmanager
async def served(
    db: Database, registry: CollectorRegistry, collect: Callable[[], None] = lambda: None
) -> AsyncIterator[None]:
    """Serve a registry's metrics and those of the store; `collect` is called before each answer.

    Raises StartError where the port cannot be listened on.
    """
    settings = db.settings
    page = _Page(db, registry, collect)
    app = web.Application()
    app.router.add_get(PATH, page.answer)
    runner = web.AppRunner(app, access_log=None, handle_signals=False)
    await runner.setup()
    try:
        await web.TCPSite(runner, settings.metrics_host, settings.metrics_port).start()
    except OSError as error:
        await runner.cleanup()
        reason = os.strerror(error.errno or 0).lower()
        raise StartError(f"cannot serve metrics on METRICS_PORT {settings.metrics_port}: {reason}") from error
    try:
        yield
    finally:
        await runner.cleanup()


class _Page:
    """What the page shows."""

    def __init__(self, db: Database, registry: CollectorRegistry, collect: Callable[[], None]) -> None:
        self._db = db
        self._registry = registry
        self._collect = collect

    async def answer(self, _: web.Request) -> web.Response:
        nodes = await health.look(self._db)
        backlog: tuple[int, int] | None = None
        oldest = 0
        with contextlib.suppress(Unavailable):  # without the store there are no such values
            backlog, oldest = await jobs.backlog(self._db), await jobs.oldest(self._db)
        self._collect()
        of_store = CollectorRegistry()
        of_store.register(_OfStore(nodes, backlog, oldest))
        body = generate_latest(self._registry) + generate_latest(of_store)
        return web.Response(body=body, headers={hdrs.CONTENT_TYPE: CONTENT_TYPE_LATEST})


class _OfStore:
    """The state of the store as metrics."""

    def __init__(self, nodes: list[NodeHealth], backlog: tuple[int, int] | None, oldest: int) -> None:
        self._nodes = nodes
        self._backlog = backlog
        self._oldest = oldest

    def collect(self) -> Iterator[GaugeMetricFamily]:
        if self._backlog is not None:
            waiting, dead = self._backlog
            age = max(time.time() - instant(self._oldest).timestamp(), 0.0) if self._oldest else 0.0
            for metric, value in (
                (catalogue.JOBS_WAITING, waiting),
                (catalogue.JOBS_OLDEST, age),
                (catalogue.JOBS_DEAD, dead),
            ):
                yield GaugeMetricFamily(metric.name, metric.meaning, value)
        for metric in (catalogue.STORE_UP, catalogue.STORE_MEMORY, catalogue.STORE_SECONDS):
            family = GaugeMetricFamily(metric.name, metric.meaning, labels=metric.labels)
            for node in self._nodes:
                if (found := _of_node(metric, node)) is not None:
                    family.add_metric([node.url], found)
            yield family


def _of_node(metric: Metric, node: NodeHealth) -> float | None:
    if metric is catalogue.STORE_UP:
        return float(node.memory is not None)
    if node.memory is None:
        return None
    return node.memory if metric is catalogue.STORE_MEMORY else node.seconds

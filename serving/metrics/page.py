"""The page of metrics: an HTTP server of its own, which also asks the store how it is."""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

from aiohttp import hdrs, web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily

from serving.metrics import catalogue
from serving.metrics.catalogue import Metric
from serving.running import StartError
from store import jobs
from store.client import clocks, health
from store.client.database import Database, Unavailable
from store.client.health import Health
from store.ids import instant

PATH = "/metrics"
ANSWER_SECONDS = 2.0  # A node that takes longer counts as away. Prometheus waits for the page for 10 s by default.
OK = "OK"  # the state of a node that answers and accepts writes


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
        nodes = await health.look(self._db.servers, ANSWER_SECONDS)
        of_site = await self._of_site() if all(node.reads for node in nodes) else {}
        self._collect()
        of_store = CollectorRegistry()
        of_store.register(_OfStore(nodes, of_site))
        body = generate_latest(self._registry) + generate_latest(of_store)
        return web.Response(body=body, headers={hdrs.CONTENT_TYPE: CONTENT_TYPE_LATEST})

    async def _of_site(self) -> Mapping[Metric, float]:
        """Return the values of the whole site; none where the store does not answer in time."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                (waiting, dead), oldest = await jobs.backlog(self._db), await jobs.oldest(self._db)
                ahead = await clocks.newest_id_ahead(self._db)
        except (TimeoutError, Unavailable):
            return {}
        age = max(time.time() - instant(oldest).timestamp(), 0.0) if oldest else 0.0
        values = {catalogue.JOBS_WAITING: waiting, catalogue.JOBS_OLDEST: age, catalogue.JOBS_DEAD: dead}
        return {**values, catalogue.NEWEST_ID: ahead}


class _OfStore:
    """The state of the store as metrics."""

    def __init__(self, nodes: Sequence[Health], of_site: Mapping[Metric, float]) -> None:
        self._nodes = nodes
        self._of_site = of_site

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for metric, value in self._of_site.items():
            yield GaugeMetricFamily(metric.name, metric.meaning, value)
        for metric, read in catalogue.OF_NODES.items():
            family = GaugeMetricFamily(metric.name, metric.meaning, labels=metric.labels)
            for node in self._nodes:
                if (measured := read(node)) is not None:
                    labels = {"node": node.server, "state": node.state or OK}
                    family.add_metric([labels[label] for label in metric.labels], measured)
            yield family

"""Measures a process while it runs: one that serves, or a worker."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from serving.metrics import page, sharing
from serving.metrics.catalogue import MetricSources
from serving.metrics.recorder import PrometheusRecorder
from serving.observing import NoRecorder
from store.client.database import Database
from store.client.metering import METER
from store.client.tasks import stop


@contextlib.asynccontextmanager
async def measuring(db: Database, recorder: PrometheusRecorder | NoRecorder) -> AsyncIterator[None]:
    """Measure this process, and serve its metrics unless its parent does that for all."""
    if isinstance(recorder, NoRecorder):
        yield
        return
    running_on = asyncio.create_task(recorder.run())
    try:
        if sharing.is_shared():
            yield
        else:
            async with page.served(db, recorder.registry, recorder.collect):
                yield
    finally:
        await stop(running_on)
        recorder.collect()


def of_worker(db: Database) -> contextlib.AbstractAsyncContextManager[None]:
    """Measure a process that only does deferred work. Its operations, plans and connections stay zero."""
    return measuring(db, PrometheusRecorder(MetricSources(METER), all_names=False))

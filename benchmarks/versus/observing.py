"""What metrics and traces cost: Perch without both, and with more and more of them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

from aiohttp import web

from benchmarks.versus.contenders import PERCH, Kind, free_port

PATH = "/v1/traces"
SAMPLED = 1  # share of operations that are traced, %
ALL = 100


@contextlib.asynccontextmanager
async def collector() -> AsyncIterator[str]:
    """Take traces and drop them; the value is where they are sent."""
    app = web.Application()
    app.router.add_post(PATH, _take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        yield f"http://127.0.0.1:{port}{PATH}"
    finally:
        await runner.cleanup()


async def _take(request: web.Request) -> web.Response:
    await request.read()
    return web.Response()


def kinds(url: str, settings: Mapping[str, str]) -> list[Kind]:
    """Return Perch with nothing measured, with metrics, and with metrics and traces, sampled and all."""
    plain = replace(PERCH, settings=settings)
    metrics = replace(plain, name="metrics", settings={**settings, "METRICS_PORT": str(free_port())})
    return [plain, metrics, *(_traced(metrics, url, share) for share in (SAMPLED, ALL))]


def _traced(kind: Kind, url: str, share: int) -> Kind:
    settings = {**kind.settings, "METRICS_PORT": str(free_port()), "TRACES_URL": url, "TRACES_PERCENT": str(share)}
    return replace(kind, name=f"metrics and {share} % traced", settings=settings)

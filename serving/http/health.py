"""Health checks for monitors and load balancers: the process lives, reads can be answered, writes are accepted."""

import asyncio

from aiohttp import web

from schema.execution.ports import Services

LIVES, READS, WRITES = "/healthz", "/readyz", "/readyz/writes"
PATHS = frozenset({LIVES, READS, WRITES})  # Asked every few seconds. Monitoring would restart a process that refuses.


class HealthChecks:
    """Answers the checks of one process. Once `stopping` is set, it is not ready, but still answers requests."""

    def __init__(self, services: Services, stopping: asyncio.Event) -> None:
        self._services = services
        self._stopping = stopping

    def add_routes(self, app: web.Application) -> None:
        """Add the routes of all checks."""
        app.router.add_get(LIVES, self._lives)
        app.router.add_get(READS, self._is_ready)
        app.router.add_get(WRITES, self._is_ready)

    async def _lives(self, _: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _is_ready(self, request: web.Request) -> web.Response:
        """Answer 200 if the store answers reads, or accepts writes where the path asks for that, else 503."""
        if self._stopping.is_set():
            return web.json_response({"reads": False, "writes": False, "states": ["STOPPING"]}, status=503)
        readiness = await self._services.readiness()
        body = {"reads": readiness.reads, "writes": readiness.writes, "states": readiness.states}
        can = readiness.writes if request.path == WRITES else readiness.reads
        return web.json_response(body, status=200 if can else 503)

"""A real store, the real application, and the members alice, bob and carol."""

import asyncio
import functools
import logging
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import structlog
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

import schema
from resolvers.jobs.worker import Worker
from resolvers.operation.context import Context
from resolvers.process.services import Services
from schema.execution.operations import Schema
from serving.http.app import create_app, spare_the_collector
from store.client.database import Database
from store.embedded.attach import Attachment, attach
from store.embedded.cluster import ClusterAttachment, attach_cluster
from store.keys.table import described
from store.limits import windows
from store.settings import Settings
from tests.support.people import (
    SECRET,
    Member,
    sign_up,
)
from tests.support.servers.cluster import STEADY_MS, lasting_cluster
from tests.support.servers.processes import REDIS
from tests.support.stored import empty, find

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


DESCRIBED = described()
OTHER_STORE = os.environ.get("PERCH_TEST_STORE", "")  # the kind of store to test on instead of the embedded server
LONG = ("tests/visibility/", "tests/relationships/test_late_jobs.py")  # single tests of more than ten seconds
SCHEMA_SETTINGS = (  # All that the schema reads. An AttributeError names one that is missing here.
    "documents_kept_mib",
    "fast_execution",
    "max_aliases",
    "max_anonymous_cost",
    "max_cost",
    "max_depth",
    "max_fields",
    "max_ids",
    "max_operations",
    "max_page",
    "max_query",
    "max_tokens",
    "max_values",
    "records_kept",
    "rows_kept_mib",
    "trusted_documents",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put long tests first. Leave out, on another kind of store, the tests that would not use it: they would repeat."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))  # one that begins last would run alone
    if not OTHER_STORE:
        return
    uses: list[pytest.Item] = []
    repeats: list[pytest.Item] = []
    for item in items:
        (uses if "store_url" in getattr(item, "fixturenames", ()) else repeats).append(item)
    config.hook.pytest_deselected(items=repeats)
    items[:] = uses


def pytest_collection_finish() -> None:
    """Spare the garbage collector what is imported and collected by now, as a server does when it starts."""
    spare_the_collector()


@pytest.fixture(scope="session")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The store of what runs on one core: an embedded one, or a database of the server that REDIS_URL names.

    PERCH_TEST_STORE=cluster makes it an embedded cluster, and PERCH_TEST_STORE=redis-cluster one of Redis servers.
    """
    if url := os.environ.get("REDIS_URL"):
        core = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        yield url if core == 0 else _numbered(url, core)
        return
    folder = tmp_path_factory.mktemp("store")
    match OTHER_STORE:
        case "":
            held: Attachment | ClusterAttachment = asyncio.run(attach(folder))
        case "cluster":
            held = asyncio.run(attach_cluster(folder, 3, node_timeout_ms=STEADY_MS))
        case "redis-cluster":
            with lasting_cluster(folder, REDIS) as url:
                yield url
            return
        case other:
            pytest.fail(f"PERCH_TEST_STORE must be cluster or redis-cluster, not {other!r}")
    yield held.url
    asyncio.run(held.close())


def _numbered(url: str, core: int) -> str:
    """Return the URL of a later database of the same server: as many later as the core's number."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        parameters = dict(parse_qsl(parts.query))
        return f"{url.partition('?')[0]}?{urlencode(parameters | {'db': int(parameters.get('db', 0)) + core})}"
    return parts._replace(path=f"/{int(parts.path.strip('/') or 0) + core}").geturl()


@pytest.fixture(autouse=True)
def lasting_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The windows in which limits count do not end within a test, even if it runs when an hour or a day ends."""
    began = int(time.time())
    monkeypatch.setattr(windows, "current", lambda seconds: began // seconds)


@pytest.fixture
def settings(store_url: str, tmp_path: Path) -> Settings:
    """Settings that tests shrink with `dataclasses.replace` in a fixture of their own."""
    return Settings(
        redis_url=store_url,
        secret_key=SECRET,
        data_dir=tmp_path,
        port=0,
        rate_limit=0,
        password_memory_kib=8,
        password_passes=1,
        job_lease_seconds=1,
        access_token_seconds=86_400,  # some tests restore a site that was made at the beginning of a slow run
    )


@pytest.fixture
async def db(settings: Settings) -> AsyncIterator[Database]:
    """An empty database. Every key that a test leaves in it must be documented."""
    database = Database(settings.redis_url, settings)
    await empty(database)
    yield database
    left = await find(database)
    await database.close()
    unknown = [key for key in left if not any(kind.pattern.fullmatch(key) for kind in DESCRIBED)]
    assert not unknown, f"no docstring in store.keys describes {unknown}"


@pytest.fixture
async def services(settings: Settings, db: Database) -> AsyncIterator[Services]:
    """The application's services. Only `worker` does deferred work."""
    made = Services(settings, Database(settings.redis_url, settings), settings.secret_key)
    await made.start()
    await made.pubsub.connected.wait()
    yield made
    await made.close()
    await made.db.close()


@pytest.fixture
def worker(services: Services) -> Worker:
    """Does the deferred work at `await worker.run_once()`."""
    return Worker(services.db)


@functools.cache
def _schema(*values: Any) -> Schema:
    # It keeps nothing but the documents it has read, and takes longer to build than most tests do.
    made = schema.build(cast("Settings", SimpleNamespace(**dict(zip(SCHEMA_SETTINGS, values, strict=True)))))
    spare_the_collector()
    return made


@pytest.fixture
def built(settings: Settings) -> Schema:
    """The schema that the application serves."""
    return _schema(*(getattr(settings, name) for name in SCHEMA_SETTINGS))


@pytest.fixture
async def app(services: Services, built: Schema) -> web.Application:
    return create_app(built, services, Context)


@pytest.fixture
async def client(app: web.Application) -> AsyncIterator[TestClient[web.Request, web.Application]]:
    async with TestClient(TestServer(app)) as made:
        yield made


@pytest.fixture
def anonymous(client: TestClient[Any, Any]) -> Member:
    """Somebody without a token."""
    return Member(client)


@pytest.fixture
async def alice(anonymous: Member) -> Member:
    return await sign_up(anonymous, "alice")


@pytest.fixture
async def bob(anonymous: Member) -> Member:
    return await sign_up(anonymous, "bob")


@pytest.fixture
async def carol(anonymous: Member) -> Member:
    return await sign_up(anonymous, "carol")

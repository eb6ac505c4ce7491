"""An application whose spans stay in memory."""

from dataclasses import replace

import pytest
from aiohttp import web

from resolvers.operation.context import Context
from resolvers.process.services import Services
from schema.execution.operations import Schema
from serving.http.app import create_app
from store.settings import Settings
from tests.support.spans import Spans


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, traces_percent=100.0, fanout_inline=0)


@pytest.fixture
def spans(services: Services) -> Spans:
    """Every span that has ended, of operations and of the worker."""
    made = Spans()
    services.db.take_span = made.keep
    return made


@pytest.fixture
async def app(services: Services, built: Schema, spans: Spans) -> web.Application:
    return create_app(built, services, Context, take_span=spans.keep)

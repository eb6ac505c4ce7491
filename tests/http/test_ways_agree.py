"""Requests of all kinds are answered the same by the lean path and by aiohttp's way."""

from dataclasses import replace

import pytest

from store.client.database import Database
from store.settings import Settings
from tests.support.slow import few
from tests.support.ways.comparing import compare
from tests.support.ways.drawing import Drawing
from tests.support.ways.plain import AUTHORIZATIONS, DOCUMENTS, STRICT, WIDE, PlainWays
from tests.support.ways.real import RealWays, town
from tests.support.work import EFFORT

MANY = max(3_000, 500 * EFFORT)
SETTINGS = {"strict": STRICT, "wide": WIDE}


@pytest.mark.parametrize("count", few([700, MANY]))
@pytest.mark.parametrize("settings", SETTINGS)
async def test_small_schema(settings: str, count: int) -> None:
    """Both ways give the same bytes, log records, counts, contexts and spans for all that a client may send."""
    drawing = Drawing(count, DOCUMENTS, AUTHORIZATIONS)
    await compare(PlainWays(**SETTINGS[settings]), drawing.case, count)


@pytest.mark.parametrize("count", few([300, MANY]))
async def test_real_schema(settings: Settings, db: Database, count: int) -> None:
    """The same holds over a store, which then has the same contents."""
    some = replace(settings, metrics_port=1, overload_delay_ms=0, traces_percent=100, max_body=65_536)
    made = await town(some, db)
    drawing = Drawing(count, made.documents, made.authorizations)
    await compare(RealWays(some, db, made.photo), drawing.case, count)

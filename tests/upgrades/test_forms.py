"""Stored forms: what the code writes looks as the newest layout says. A change of it needs a new layout.

`forms.json` has the forms of the newest layout. With PERCH_WRITE_FORMS=1, the test adds to it what is new. It changes
what the file has only after `NEWEST` was raised.
"""

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema

from resolvers import accounts
from resolvers.jobs import step
from resolvers.jobs.worker import Worker
from store import keys
from store.client.database import Database
from store.credentials.records import Role
from store.ids import partition
from store.layout import versions
from store.records.jobs import Job
from store.records.lists import read_pairs
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.upgrades import forms, stores
from tests.upgrades.acts import SETTINGS, Community

FILE = Path(__file__).with_name("forms.json")
SCHEMA = Path(__file__).parents[2] / "schema.graphql"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return shrunk(settings, **SETTINGS)


@pytest.fixture
def performed(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """All jobs that are performed, as they are stored."""
    performed: list[dict[str, str]] = []

    async def noted(steps: Any, db: Database, job: Job, budget: Any) -> Any:
        for _, fields in await db.one("XRANGE", keys.jobs(partition(job.id)), f"{job.id}-0", f"{job.id}-0"):
            performed.append(read_pairs(fields))
        return await steps(db, job, budget)

    for kind, steps in step.STEPS.items():
        monkeypatch.setitem(step.STEPS, kind, partial(noted, steps))
    return performed


async def test_forms(db: Database, anonymous: Member, worker: Worker, performed: list[dict[str, str]]) -> None:
    """What the code writes has the forms of the newest layout."""
    appoint = partial(accounts.set_role, db, role=Role.ADMIN)
    community = Community(anonymous, build_schema(SCHEMA.read_text()), appoint, worker.run_once)
    await community.make()
    written = forms.of_commands(await stores.dump(db), performed)
    known = json.loads(FILE.read_text())
    if os.environ.get("PERCH_WRITE_FORMS"):
        known = _write(known, written)
    assert known["layout"] == versions.NEWEST, "write the forms of the new layout"
    changed = {place: found for place, found in written.items() if known["forms"].get(place, found) != found}
    assert not changed, "stored forms have changed: raise NEWEST and migrate them"
    assert written.keys() == known["forms"].keys(), "write the forms of what is new"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("tea", "#tea"),
        ("tea cats", "#tea#cats"),
        ("374508:0", "374508:0:0"),
        ("LIKE:374508:374509:0", "LIKE:0:374509:0:20781"),
        ("OPEN", "open"),
        ("1795499", "2026-11-24"),
        ('{"token":"ab12","created":1}', '{"token":"ab12","created":"1"}'),
        ('{"token":"ab12"}', '{"token":"ab12","address":"1.2.3.4"}'),
        ("[[1,2]]", "[[1,2,3]]"),
    ],
)
def test_changes(was: str, now: str) -> None:
    """Another separator, number of parts, case, kind of value or name of a part makes another form."""
    assert forms.form(was) != forms.form(now)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("#tea#cats", "#news"),
        ("374508:1", "99:20781"),
        ("e5345380746a97a54a6b5206f92bdfe9", "0a9dd5345380746a97a54a6b5206f92b"),
        ("I-W4jcWB_T4DKACudFgtFe8K7oGqImjJJ-1jfxUREJA", "WQm9QEcNeFOBo27kUT0BrgXT27k3SJvrkezgueNvCc"),
        ('{"created":1,"token":"ab12cd34"}', '{"token":"99ff99ffa","created":20}'),
    ],
)
def test_contents(one: str, other: str) -> None:
    """Two values of one form have the same form, whatever they say."""
    assert forms.form(one) == forms.form(other)


def _write(known: dict[str, Any], written: forms.Forms) -> dict[str, Any]:
    kept = known["forms"] if known["layout"] == versions.NEWEST else {}
    made: dict[str, Any] = {
        "layout": versions.NEWEST,
        "forms": {**written, **{p: kept[p] for p in kept if p in written}},
    }
    lines = ",\n".join(f"{json.dumps(place)}: {json.dumps(found)}" for place, found in made["forms"].items())
    FILE.write_text(f'{{"layout": {versions.NEWEST}, "forms": {{\n{lines}\n}}}}\n')
    return made

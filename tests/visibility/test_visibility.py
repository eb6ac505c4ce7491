"""Visibility cannot be bypassed: every field that leads to a member, post or comment, in every cell."""

from pathlib import Path as FilePath

import pytest

import schema
from store.client.database import Database
from store.settings import Settings
from tests.support.people import Member
from tests.support.visibility.audience import audience, roomy
from tests.support.visibility.elsewhere import ELSEWHERE
from tests.support.visibility.paths import LIVE
from tests.support.visibility.picture_paths import PATHS
from tests.support.visibility.sightings import fields_of, ids_in, leading_fields, operation
from tests.support.visibility.sights import CELLS, KINDS, LISTS, Cell, Kind, table
from tests.support.visibility.writes import MENTION, WRITES


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for all paths in one query."""
    return roomy(settings)


WAYS = [(path, entity, path.query.replace("$it", f"${entity}")) for path in PATHS for entity in path.entities.split()]
QUERIES = list(dict.fromkeys(query for *_, query in WAYS))


def test_every_field_is_covered() -> None:
    """Every field of the schema that leads to an entity of a member has a path through it in one of the tables."""
    served = schema.build(Settings(data_dir=FilePath()))._schema  # noqa: SLF001  strawberry shows it to nobody
    covered = set(ELSEWHERE)
    for live in LIVE:
        covered |= fields_of(served, live)
    for write in (*WRITES, MENTION):
        covered |= fields_of(served, operation("mutation", [write.text]))
    for path in PATHS:
        through = fields_of(served, operation("query", [path.query]), path.field)
        assert through, f"the way of {path.field} does not go through it: {path.query}"
        covered |= through
    found = leading_fields(served)
    missing = sorted(found - covered)
    assert not missing, f"neither paths.py nor writes.py of tests/support/visibility has a way through {missing}"
    assert set(ELSEWHERE) <= found, "these fields are gone, or lead to nothing"


async def test_every_way_in_every_cell(db: Database, anonymous: Member) -> None:
    """Each path leads to each entity in exactly those cells of the table in which the viewer sees it."""
    site = await audience(db, anonymous)
    document = operation("query", QUERIES)
    wrong: list[tuple[Cell, Kind]] = []
    failures: list[str] = []
    for cell in CELLS:
        entities = site.named(cell)
        answer = (await site.viewer(cell).send(document, **entities))["data"]
        seen = {query: set(ids_in(answer[f"f{number}"])) for number, query in enumerate(QUERIES)}
        for path, entity, query in WAYS:
            found = entities[entity] in seen[query]
            if found != path.leads(cell):
                wrong.append((cell, path.kind))
                failures.append(f"{cell}: {entity} {'' if found else 'not '}seen through {path.field}: {query}")
    print(report(wrong))  # noqa: T201  with -s the table can be read
    assert not failures, "\n".join(failures)


async def test_a_count_of_what_is_not_shown(db: Database, anonymous: Member) -> None:
    """Only viewers who see the lists of both members get the number of their common followers."""
    site = await audience(db, anonymous)
    count = "node(id: $ONE) { ... on User { commonFollowerCount(withUser: $OTHER) } }"
    pairs = (("member", "friend"), ("friend", "member"))
    document = operation("query", [count.replace("ONE", one).replace("OTHER", other) for one, other in pairs])
    for cell in CELLS:
        answer = await site.viewer(cell).ask(document, **site.named(cell))
        shown = [bool(node and node["commonFollowerCount"]) for node in answer.values()]
        assert shown == [LISTS.is_seen(cell)] * 2, cell


def report(wrong: list[tuple[Cell, Kind]]) -> str:
    """Return the table as it was found, and the paths of its columns."""
    lines = ["", table(wrong), ""]
    for kind in KINDS:
        fields = sorted({path.field for path in PATHS if path.kind == kind})
        lines.append(f"{kind.name}: {', '.join(fields)}")
    reasons = {f"{path.field}, {path.only.reason}" for path in PATHS if path.only}
    return "\n".join([*lines, "", "Narrower are:", *sorted(reasons)])

"""Visibility of what is in groups: every path, for every standing in every kind of group."""

import re
from typing import Any

import pytest

from store.client.database import Database
from store.settings import Settings
from tests.support.people import Member, contents
from tests.support.visibility.audience import ANONYMOUS, OPEN, Entities, roomy
from tests.support.visibility.group_audience import BOUND, GroupAudience, group_audience, sees
from tests.support.visibility.group_sights import GROUP_CELLS, GroupCell
from tests.support.visibility.paths import MODERATORS, PATHS, Path
from tests.support.visibility.sightings import ids_in, operation
from tests.support.visibility.sights import Cell
from tests.support.visibility.writes import WRITES
from tests.support.work import number

LONG_AGO = 1 << 40  # subtracted from an id: three days earlier, before anything existed
NOWHERE = {"Query.publicTimeline", "Query.hashtag", "Query.trendingHashtags"}  # lists that posts in groups never reach
MORE = [  # what else hangs on a post; `paths` has it for other posts
    ("Status.likedBy", "node(id: $status) { ... on Status { likedBy { nodes { id } } } }", "liker"),
    ("Status.comments", "node(id: $status) { ... on Status { comments { nodes { id } } } }", "pals_comment"),
    ("Status.quotes", "node(id: $status) { ... on Status { quotes { nodes { id } } } }", "pals_quote"),
    ("Status.reposts", "node(id: $status) { ... on Status { reposts { nodes { id } } } }", "pals_repost"),
    ("Status.mentions", "node(id: $status) { ... on Status { mentions { id } } }", "named"),
    ("Group.members", "node(id: $friend_group) { ... on Group { members { nodes { id } } } }", "member"),
]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for all paths in one query."""
    return roomy(settings)


def is_bound(path: Path, entity: str, query: str, names: Entities) -> bool:
    """Return whether a path leads to what is in a group, or through it, and names nothing that the site lacks."""
    used = set(re.findall(r"\$(\w+)", query))
    return used <= names.keys() and entity in names and bool({entity, *used} & BOUND)


def ways(names: Entities) -> list[tuple[str, str, str, Path | None]]:
    """Return field, entity, query and path of every way to what is in a group."""
    found: list[tuple[str, str, str, Path | None]] = []
    for path in PATHS:
        for entity in path.entities.split():
            query = path.query.replace("$it", f"${entity}")
            if path.only is not MODERATORS and is_bound(path, entity, query, names):
                found.append((path.field, entity, query, path))
    return found + [(field, entity, query, None) for field, query, entity in MORE]


def leads(path: Path | None, cell: GroupCell) -> bool:
    """Return whether a path leads a viewer, who follows everybody, to the post of an open account."""
    relation = ANONYMOUS if cell.standing == ANONYMOUS else "follower"
    return path is None or (path.field not in NOWHERE and path.leads(Cell(relation, OPEN)))


async def site_of(db: Database, anonymous: Member) -> GroupAudience:
    """Return the site, where the owner likes every post."""
    site = await group_audience(db, anonymous)
    for entities in site.entities.values():
        await site.owner.do("like", postId=entities["status"])
        entities |= {"liker": site.owner.id, "named": site.viewers["member"].id}
    return site


async def test_every_way_in_every_cell(db: Database, anonymous: Member) -> None:
    """Each path leads to what is in a group in exactly those cells of the table in which the viewer sees it."""
    site = await site_of(db, anonymous)
    all_ways = ways(next(iter(site.entities.values())))
    assert len(all_ways) > 40
    document = operation("query", [query for _, _, query, _ in all_ways])
    failures: list[str] = []
    for cell in GROUP_CELLS:
        entities = site.entities[cell.kind]
        answer = (await site.viewer(cell).send(document, **entities))["data"]
        for count, (field, entity, query, path) in enumerate(all_ways):
            found = entities[entity] in set(ids_in(answer[f"f{count}"]))
            if found != (sees(cell) and leads(path, cell)):
                failures.append(f"{cell}: {entity} {'' if found else 'not '}seen through {field}: {query}")
    fields = sorted({field for field, *_ in all_ways})
    print(f"\n{len(GROUP_CELLS)} cells, {len(all_ways)} ways through {', '.join(fields)}")  # noqa: T201
    assert not failures, "\n".join(failures)


def _other(identity: str) -> str:
    kind, underscore, digits = identity.partition("_")
    return f"{kind}_{number(identity) - LONG_AGO:014x}" if underscore and digits else identity


async def remembered(db: Database) -> dict[str, Any]:
    """Return the contents of the store, without an index that may name too much."""
    return {key: value for key, value in (await contents(db)).items() if not key.startswith("discussed:")}


async def test_what_is_not_seen(db: Database, anonymous: Member) -> None:
    """A mutation of an unseen post or comment in a group answers exactly as for a missing one, and changes nothing."""
    site = await site_of(db, anonymous)
    names = next(iter(site.entities.values()))
    acts = [
        write.text.replace("$it", f"${entity}")
        for write in WRITES
        for entity in write.entities.split()
        if entity in BOUND and write.mutation != "unfavourite"
        if set(re.findall(r"\$(\w+)", write.input.replace("$it", f"${entity}"))) <= names.keys()
    ]
    assert len(acts) > 20
    document, before = operation("mutation", acts), await remembered(db)
    for cell in GROUP_CELLS:
        if sees(cell):
            continue
        viewer, entities = site.viewer(cell), site.entities[cell.kind]
        missing = {name: identity if name == "login" else _other(identity) for name, identity in entities.items()}
        real, made_up = await viewer.send(document, **entities), await viewer.send(document, **missing)
        assert real == made_up, cell
    assert await remembered(db) == before

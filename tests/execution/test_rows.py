"""Rows of records are kept as long as the records themselves, and within their memory."""

import gc
import tracemalloc
from pathlib import Path

import pytest
from msgspec import Struct

import schema
from resolvers.operation.context import Context
from resolvers.process.services import Services
from schema.execution.encoding import JsonResult
from schema.execution.operations import Schema
from schema.execution.plans import Rows
from schema.types.fields import is_a
from store.settings import Settings
from tests.support.people import Member, shrunk

PAGE = (
    '{ user(login: "bob") { name postCount isMutual timeline { nodes { ... on Post { '
    "id text createdAt hashtags likeCount viewerHasLiked again: viewerHasReposted author { id login name } } } } } }"
)


class Note(Struct, frozen=True):
    id: int
    text: str


class Draft(Struct):
    id: int


def keep(rows: Rows, *notes: Note, selection: int = 1) -> None:
    """Keep a row of each note."""
    records = {id(note): note for note in notes}
    rows.keep(selection, records, {key: {"text": note.text} for key, note in records.items()})


def kept(rows: Rows, *notes: Note, selection: int = 1) -> list[bool]:
    """Return whether notes have rows, which are then as if they had just been kept."""
    new = rows.of(selection)
    old = rows.renew(selection, {id(note): note for note in notes if id(note) not in new})
    return [id(note) in new or id(note) in old for note in notes]


def built(settings: Settings, **changed: int) -> Schema:
    """Return a schema of its own."""
    return schema.build(shrunk(settings, data_dir=Path(), **changed))


async def ask(one: Schema, services: Services, member: Member, query: str = PAGE) -> bytes:
    """Return the JSON of a member's query, always made anew."""
    claims = services.tokens.read(member.token) if member.token else None
    context = Context(services, claims, address="::1", user_agent="", request_id="request")
    context.is_momentary = True
    result = await one.execute(query, {}, context)
    assert isinstance(result, JsonResult), result.errors
    return result.json


def test_a_row_belongs_to_one_object() -> None:
    """Neither an equal record nor another selection has the row of a record."""
    rows, note = Rows(100_000), Note(1, "one")
    keep(rows, note)
    assert kept(rows, note) == [True]
    assert kept(rows, Note(1, "one")) == [False]
    assert kept(rows, note, selection=2) == [False]


def test_a_kept_record_has_its_identity_alone() -> None:
    """A record with a row is held, so that no later object is taken for it."""
    rows = Rows(10**7)
    for number in range(1_000):
        note = Note(number, str(number))
        assert kept(rows, note) == [False]
        keep(rows, note)
        del note


def test_memory_is_bounded_and_the_longest_unused_go() -> None:
    """Rows take no more memory than allowed. Those that are used again stay, and one that is too large is not kept."""
    rows, used = Rows(100_000), Note(0, "used")
    keep(rows, used)
    notes = [Note(number, "text" * 10) for number in range(1, 500)]
    for note in notes:
        keep(rows, note)
        assert kept(rows, used) == [True]
        assert rows.size <= 100_000
    assert kept(rows, notes[0], notes[-1]) == [False, True]
    huge = Note(1_000, "x" * 100_000)
    keep(rows, huge)
    assert kept(rows, huge) == [False]
    assert rows.size <= 100_000


@pytest.mark.parametrize("text", ["", "short", "a text of usual length " * 10, "é" * 500, "a" * 500 + "\N{WATER WAVE}"])
def test_rows_take_no_more_than_estimated(text: str) -> None:
    """Rows with their records take at most the estimated memory, and at least a sixth of it."""
    rows = Rows(10**8)
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(1_000):
            note = Note(10**15 + number, f"{text}{number}")
            rows.keep(1, {id(note): note}, {id(note): {"id": f"note_{number}", "text": note.text, "author": None}})
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert rows.size / 6 < taken <= rows.size, (taken, rows.size)


async def test_rows_serve_other_viewers_until_a_change(
    settings: Settings, services: Services, alice: Member, bob: Member, anonymous: Member
) -> None:
    """A page makes the rows of its records once for everybody, and again only those of records that have changed."""
    post = await bob.post("one #tea")
    await bob.post("two")
    one = built(settings)
    assert one.planner
    rows = one.planner.rows
    assert rows
    await ask(one, services, alice)
    size = rows.size
    assert size > 0
    for member in (alice, bob, anonymous):
        await ask(one, services, member)
    assert rows.size == size
    await alice.do("like", postId=post)
    assert b'"likeCount":1,"viewerHasLiked":true' in await ask(one, services, alice)
    assert b'"likeCount":1,"viewerHasLiked":false' in await ask(one, services, bob)
    assert size < rows.size < 2 * size


async def test_answers_do_not_change_kept_rows(settings: Settings, services: Services, alice: Member) -> None:
    """Answers with other fields around the same row are what they were when they are asked for again."""
    await alice.post("one")
    one = built(settings)
    pages = [PAGE.replace("bob", "alice"), "{ homeTimeline { nodes { ... on Post { id text } } } }"]
    first = [await ask(one, services, alice, page) for page in pages]
    assert [await ask(one, services, alice, page) for page in pages] == first


@pytest.mark.parametrize("none", ["rows_kept_mib", "records_kept"])
async def test_nothing_is_kept_where_nothing_may_be(
    settings: Settings, services: Services, bob: Member, none: str
) -> None:
    """No rows are made where their memory is 0, nor where no record is kept."""
    await bob.post("one")
    one = built(settings, **{none: 0})
    assert b'"text":"one"' in await ask(one, services, bob)
    assert one.planner
    assert one.planner.rows is None


def test_a_record_that_may_change_cannot_be_kept() -> None:
    """A type whose records are not frozen structs cannot be declared as kept."""
    is_a(Note, is_kept=True)
    for kind in (Draft, dict):
        with pytest.raises(TypeError, match="frozen"):
            is_a(kind, is_kept=True)

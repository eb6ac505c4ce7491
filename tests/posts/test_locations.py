"""Locations of posts: what is stored, refused, and given to the steps after the commit."""

from typing import Any

import pytest

from store import keys, posts
from store.client.database import Database
from store.posts import PostDraft
from store.records.posts import Location
from store.refusals import accepted
from tests.support.people import Member, contents
from tests.support.probes.posts import delete
from tests.support.work import number

PLACED = "status { id location { latitude longitude } }"
READ = "query($id: ID!) { node(id: $id) { ... on Status { location { latitude longitude } } } }"
LITERAL = """
mutation {{ post(input: {{ text: "hello", location: {{ latitude: {}, longitude: {} }} }}) {{
  status {{ id }} userErrors {{ code field message }} }} }}
"""


def at(latitude: float, longitude: float) -> dict[str, float]:
    return {"latitude": latitude, "longitude": longitude}


KEPT = {
    "plain": at(52.52, 13.405),
    "null island": at(0, 0),
    "whole numbers": at(-33, 151),
    "a pole and the date line": at(90, 180),
    "the other ones": at(-90, -180),
    "every digit": at(0.1 + 0.2, -179.99999999999997),
    "very small": at(5e-324, -1e-300),
    "negative zero": at(-0.0, 0.0),
}


@pytest.mark.parametrize("place", KEPT.values(), ids=KEPT)
async def test_a_place_is_kept_exactly(alice: Member, anonymous: Member, place: dict[str, float]) -> None:
    """A status has the place it was sent with, to the last digit, in its answer and ever after."""
    status = (await alice.do("post", PLACED, text="here", location=place))["status"]
    assert repr(status["location"]) == repr({name: float(degrees) for name, degrees in place.items()})
    assert repr((await anonymous.ask(READ, id=status["id"]))["location"]) == repr(status["location"])


@pytest.mark.parametrize("fields", [{}, {"location": None}])
async def test_a_status_need_not_have_a_place(alice: Member, fields: dict[str, Any]) -> None:
    """A status sent without a place, or with null, has none."""
    assert (await alice.do("post", PLACED, text="nowhere", **fields))["status"]["location"] is None


REFUSED = {
    "north of the pole": (at(90.00000000000001, 0), ["latitude"]),
    "south of the pole": (at(-91, 0), ["latitude"]),
    "east of the date line": (at(0, 180.5), ["longitude"]),
    "west of the date line": (at(0, -1e300), ["longitude"]),
    "both": (at(1000, 1000), ["latitude", "longitude"]),
}


@pytest.mark.parametrize(("place", "wrong"), REFUSED.values(), ids=REFUSED)
async def test_a_place_out_of_range_changes_nothing(
    db: Database, alice: Member, place: dict[str, float], wrong: list[str]
) -> None:
    """Every coordinate out of its range is named as INVALID with its rule, and nothing is written."""
    before = await contents(db)
    payload = await alice.do("post", PLACED, text="there", location=place, idempotencyKey="key")
    assert payload["status"] is None
    most = {"latitude": "90", "longitude": "180"}
    assert payload["userErrors"] == [
        {
            "code": "INVALID",
            "field": ["location", name],
            "message": f"location.{name}: must be from -{most[name]} to {most[name]} degrees",
        }
        for name in wrong
    ]
    assert await contents(db) == before


async def test_an_infinite_place_is_refused(db: Database, alice: Member) -> None:
    """A literal too large for a number is infinite, and refused as out of range."""
    before = await contents(db)
    payload = await alice.ask(LITERAL.format("1e999", "-1e999"))
    assert payload["status"] is None
    assert [error["field"] for error in payload["userErrors"]] == [["location", "latitude"], ["location", "longitude"]]
    assert {error["code"] for error in payload["userErrors"]} == {"INVALID"}
    assert await contents(db) == before


@pytest.mark.parametrize("place", [{"latitude": 1}, {"longitude": 1}, {}, at("1", 1), at(None, 1), [1, 2]])  # type: ignore[arg-type]
async def test_half_a_place_is_none(db: Database, alice: Member, place: Any) -> None:
    """A place that lacks a coordinate, or has one that is no number, is a wrong argument, and nothing is written."""
    before = await contents(db)
    query = "mutation($input: PostInput!) { post(input: $input) { status { id } } }"
    assert await alice.fail(query, input={"text": "there", "location": place}) == "BAD_USER_INPUT"
    assert await contents(db) == before


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_what_is_no_number_is_no_coordinate(db: Database, alice: Member, written: str) -> None:
    """A value that Python reads as a number but JSON or GraphQL doesn't is an error, and nothing is written."""
    before = await contents(db)
    query = "mutation($input: PostInput!) { post(input: $input) { status { id } } }"
    place = f'{{"latitude": {written}, "longitude": 0}}'
    body = f'{{"query": "{query}", "variables": {{"input": {{"text": "there", "location": {place}}}}}}}'
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {alice.token}"}
    async with alice.client.post("/graphql", data=body, headers=headers) as response:
        assert "errors" in await response.json()
    assert await contents(db) == before
    async with alice.client.post("/graphql", data=body.replace(written, "1"), headers=headers) as response:
        assert "errors" not in await response.json()  # the number alone caused the error


async def test_a_retry_names_the_same_place(alice: Member) -> None:
    """A key used again with the same place answers with the first status; with another place, or none, it conflicts."""
    first = await alice.post("here", location=at(1, 2), idempotencyKey="key")
    assert await alice.post("here", location=at(1.0, 2.0), idempotencyKey="key") == first
    for fields in ({"location": at(1, 2.5)}, {"location": None}, {}):
        refusal = await alice.refused("post", text="here", idempotencyKey="key", **fields)
        assert refusal == ("CONFLICT", ["idempotencyKey"])


async def test_a_deleted_status_takes_its_place_along(db: Database, alice: Member) -> None:
    """Once a status is deleted, only the log has its place, and forgets it as it grows."""
    await delete(alice, await alice.post("here", location=at(12.34567, 76.54321)))
    left = {key: value for key, value in (await contents(db)).items() if key != keys.events()}
    assert "12.34567" not in repr(left)


@pytest.mark.parametrize("place", [Location(0.1 + 0.2, -180.0), None])
async def test_the_steps_after_a_commit_know_text_and_place(
    db: Database, alice: Member, place: Location | None
) -> None:
    """The jobs that deliver and that delete a status carry its text and its place, which a filter needs."""
    author = number(alice.id)
    _, post_id, made = accepted(await posts.create(db, PostDraft(author, 'über "all"\n数据', location=place)))
    gone = await posts.delete(db, post_id, author)
    for job in (made, gone):
        assert job
        assert job.body.text == 'über "all"\n数据'
        assert Location.read(job.body.latitude, job.body.longitude) == place

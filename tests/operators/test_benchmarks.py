"""The benchmarks' queries are valid, and their networks are the same in every run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import schema
from benchmarks.versus import graph, homes, plots, queries
from store import keys
from store.client.database import Database
from store.homes import stored as stored_homes
from store.settings import Settings
from tests.support.people import Member
from tests.support.work import number

ROOT = Path(__file__).parents[2]
DEEPEST = 2  # authors within authors


@pytest.mark.parametrize(
    "document",
    [
        queries.HOME,
        queries.FEED,
        queries.PROFILE,
        queries.POST,
        queries.REPOST,
        queries.LIKE,
        queries.nested("", DEEPEST).document,
    ],
)
def test_documents_are_valid(document: str) -> None:
    """Every document sent to contenders is valid in Perch's schema and within its limits."""
    assert schema.build(Settings()).documents.get(document).errors == ()


def test_network_is_repeated() -> None:
    """One seed gives one network, another seed another; nobody follows themselves."""
    made = graph.generated(100, 10, 1)
    assert made == graph.generated(100, 10, 1)
    assert made.following != graph.generated(100, 10, 2).following
    assert all(login not in followed for login, followed in made.following.items())
    assert list(made.dealt()) == list(graph.generated(100, 10, 1).dealt())


def test_popularity_is_unequal() -> None:
    """A tenth of the members has more than a third of the followers, as in real networks."""
    made = graph.generated(1_000, 0, 1)
    followed = [other for others in made.following.values() for other in others]
    popular = set(made.members[:100])
    assert sum(other in popular for other in followed) > len(followed) / 3


async def test_homes_are_cut(db: Database, alice: Member, bob: Member) -> None:
    """A home is cut to its newest entries, including those in the buffer `newest`."""
    await alice.follow(bob)
    assert await alice.home() == []
    posts = [number(await bob.post(f"post {i}")) for i in range(6)]
    assert await db.one("EXISTS", keys.newest(number(alice.id)))
    await homes.cut(db, [number(alice.id)], 4)
    assert [entry.entity for entry in await stored_homes.home(db, number(alice.id))] == posts[:1:-1]
    assert not await db.one("EXISTS", keys.newest(number(alice.id)))


def test_wire_is_http() -> None:
    """A request is sent as GraphQL to contenders that speak it, and as a path to the others."""
    request = queries.profile("a.b.c", "alice")
    assert queries.encoded(request, graphql=True)["head"].startswith("POST /graphql HTTP/1.1\r\n")
    sent = queries.encoded(request, graphql=False)
    assert sent["head"].startswith("GET /users/alice?first=30 HTTP/1.1\r\n")
    assert sent["body"] == ""


def test_alterations_find_what_they_alter() -> None:
    """Each part of Perch that the benchmarks replace exists where they look for it."""
    program = (
        "from benchmarks.rivals.altered import ALTERATIONS\nfor alter in ALTERATIONS.values(): alter()\nprint('all')"
    )
    environment = {"CONSTANT_BYTES": "1"}
    done = subprocess.run(  # noqa: S603  own program
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "all\n"), done.stderr


@pytest.mark.parametrize("linear", [False, True])
def test_charts(linear: bool, tmp_path: Path) -> None:
    """A chart has a line for each series and a dot for each point, all within its frame; linear axes begin at zero."""
    points = [(0 if linear else 1, 75.0), (20_000, 83.25), (200_000, 91.5)]
    plots.lines(tmp_path / "charts/a.svg", "A < B", "pages", "MiB", {"Perch": points, "Node": points}, linear=linear)
    drawn = list(ET.parse(tmp_path / "charts/a.svg").iter())  # noqa: S314  own file
    circles = [(float(e.attrib["cx"]), float(e.attrib["cy"])) for e in drawn if e.tag.endswith("circle")]
    assert len(circles) == 2 * len(points)
    assert all(plots.LEFT <= x <= plots.WIDTH - plots.RIGHT and plots.TOP <= y <= plots.HEIGHT for x, y in circles)
    texts = [element.text for element in drawn if element.tag.endswith("text")]
    assert {"A < B", "Perch", "Node", "200,000"} <= set(texts)
    assert ("0" in texts) is linear

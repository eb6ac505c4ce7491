"""The capacity plan: its arithmetic, and the command on tiny sites."""

import math
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path

import msgspec
import pytest

from benchmarks.capacity import costs, limits
from benchmarks.capacity.activity import Activity, Machines
from benchmarks.capacity.costs import Costs, Cpu, Memory, Operations, Shared
from benchmarks.capacity.plan import Plan, dealt, follow_bytes, home_page
from benchmarks.capacity.shape import Shape, capped
from benchmarks.versus import graph
from tests.support.slow import slow

ROOT = Path(__file__).parents[2]
FREE = Cpu(0, 0)
MEMORY = Memory(
    empty=1e6, partitions=1e5, member=1_000, names=100, follow=50, long_side=100, post=500, like=200, entry=10,
    session=400, process=9e7, subscriber=3e4,
)  # fmt: skip
OPERATIONS = Operations(
    home=Cpu(400, 10), home_uncached=Cpu(600, 100), home_cold=Cpu(1_000, 200), big_author=FREE, profile=FREE,
    profile_cold=FREE, post=FREE, follower=FREE, like=FREE, follow=FREE, delivery=FREE, event=Cpu(20, 5),
)  # fmt: skip
COSTS = Costs(MEMORY, OPERATIONS, Shared(public=20, hashtag=30, append=40, names=50, promotions=30))


def plan(members: int, **activity: float) -> Plan:
    """Return a plan with the costs above."""
    return Plan(Shape(members, 40, 1.1, 0.05), replace(Activity(), **activity), Machines(), COSTS)


@pytest.mark.parametrize("members", [100, 5_000, 100_000_000])
def test_shape_has_all_follows(members: int) -> None:
    """The followers of all ranks add up to the follows, and nobody has more than the most followed may have."""
    shape = Shape(members, 20, 1.1, 0.3)
    assert sum(c.members for c in shape.classes) == members
    assert sum(c.members * c.followers for c in shape.classes) == pytest.approx(20 * members, rel=1e-6)
    assert max(c.followers for c in shape.classes) <= 0.3 * members


def test_shape_is_that_of_the_graph() -> None:
    """Followers by rank are those of the graph that benchmarks load, within a quarter for the hundred most followed."""
    network = graph.generated(2_000, 0, 1)
    counted = Counter(chain.from_iterable(network.following.values())).most_common(100)
    shape = Shape(2_000, network.edges / 2_000, graph.POPULARITY)
    rank, expected = 0, 0.0
    for c in shape.classes:
        expected += min(c.members, max(0, 100 - rank)) * c.followers
        rank += int(c.members)
    assert expected == pytest.approx(sum(count for _, count in counted), rel=0.25)


def test_shares_of_follows() -> None:
    """All follows lead to members with a follower, fewer to popular ones, and none to members beyond the most."""
    shape = Shape(10_000, 50, 1.1)
    shares = [shape.share_above(followers) for followers in (0, 100, 1_000, 20_000)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1
    assert shares[-1] == 0


def test_fan_out() -> None:
    """If all post alike, a post has as many followers as members follow; more if popular members post more."""
    shape = Shape(10_000, 50, 1.1)
    assert shape.fan_out(math.inf, 0) == pytest.approx(50, rel=1e-6)
    assert shape.fan_out(math.inf, 1) > shape.fan_out(math.inf, 0.5) > 50
    assert shape.fan_out(1_000, 0.5) < shape.fan_out(math.inf, 0.5)


def test_hit_ratio() -> None:
    """A cache of all records answers all reads, a smaller one more than its share of the records and fewer than all."""
    shape = Shape(10_000, 50, 1.1)
    assert shape.hit_ratio(10_000) == 1
    assert 0.1 < shape.hit_ratio(1_000) < shape.hit_ratio(5_000) < 1
    even = Shape(10_000, 50, 0.0)
    assert even.hit_ratio(1_000) == pytest.approx(0.1, rel=0.01)


def test_homes_are_capped() -> None:
    """Homes have their mean length where none is full, and are shorter where some are."""
    assert capped(10, 800) == pytest.approx(10, rel=0.02)
    assert 400 < capped(800, 800) < 800
    assert capped(1e6, 800) == pytest.approx(800, rel=0.01)


@pytest.mark.parametrize(("full", "nodes"), [(0, 1), (1, 1), (1.01, 2), (2.9, 3), (3, 4), (128, 128), (200, 256)])
def test_partitions_are_dealt(full: float, nodes: int) -> None:
    """The node with most partitions holds its share: 86 of 256 on one of three nodes, 64 on each of four."""
    assert dealt(full) == nodes


def test_follows_in_long_lists() -> None:
    """A follow costs more where the list of followers is long."""
    assert follow_bytes(Shape(1_000, 10, 0.5), COSTS) == pytest.approx(10 * 50)
    assert follow_bytes(Shape(1_000_000, 100, 1.1), COSTS) > 100 * 50


def test_home_page() -> None:
    """A home page costs what is measured where all or nothing is cached, and between these otherwise."""
    assert home_page(COSTS, 1, 1) == OPERATIONS.home
    assert home_page(COSTS, 0, 1) == OPERATIONS.home_uncached
    assert home_page(COSTS, 0, 0) == OPERATIONS.home_cold
    assert home_page(COSTS, 0.5, 1).server == 500


def test_plan_grows() -> None:
    """Ten times the members take ten times the posts, and more nodes and processes."""
    small, large = plan(1_000_000), plan(10_000_000)
    assert large.memory["posts"] == pytest.approx(10 * small.memory["posts"])
    assert large.nodes > small.nodes >= 1
    assert large.processes > small.processes
    assert small.nodes * small.machines.bytes >= sum(small.memory.values())


def test_processes_do_the_work() -> None:
    """Processes have as many processors as the pages take, at the share that may be busy."""
    busy = plan(1_000_000, profile_pages=0, live=0, visit=1, posts=0, new_follows=0)
    pages = 1_000_000 * 0.2 * 20 * 2 / 86_400
    each = home_page(COSTS, busy.hit_ratio, 0).server
    assert busy.processes == math.ceil(pages * each / 0.6e6)


def test_event_log_ends_growth() -> None:
    """No number of processes is enough when reading the event log takes all that a process may use."""
    made = plan(10_000_000)
    each = 0.7e6 / made.events
    reading = msgspec.structs.replace(OPERATIONS, event=Cpu(each, 10))
    slow = replace(made, costs=Costs(MEMORY, reading, COSTS.shared))
    assert slow.processes == math.inf
    assert limits.first(slow).name.startswith("event log")


@pytest.mark.parametrize("limit", limits.LIMITS, ids=lambda limit: limit.name)
def test_limits_bind(limit: limits.SiteLimit) -> None:
    """Each limit is used more by a larger site, and wholly where it is said to bind."""
    made = plan(1_000_000)
    assert limit.used(plan(4_000_000)) > limit.used(made)
    at = limits.binds_at(made, limit)
    if at < math.inf:
        assert limit.used(replace(made, shape=replace(made.shape, members=int(at * 1.01)))) >= 1
        assert limit.used(replace(made, shape=replace(made.shape, members=int(at * 0.9)))) < 1


def test_costs_are_kept(tmp_path: Path) -> None:
    """Costs that were written are read again as they were."""
    costs.write(tmp_path / "costs.json", COSTS)
    assert costs.read(tmp_path / "costs.json") == COSTS


@slow
def test_command(tmp_path: Path) -> None:
    """The command measures, plans, names a limit and checks itself, on sites of a hundred members."""
    sizes = "--size 150 --check 100 --requests 40 --rounds 1 --followers 10 60 --subscribers 5 --members 1e5 1e6"
    done = subprocess.run(  # noqa: S603  own program
        [sys.executable, "-m", "benchmarks.capacity", *sizes.split(), "--costs", str(tmp_path / "costs.json")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for title in ("The plan", "Limits that more nodes", "Bytes of each unit", "Prediction and measurement", "Assump"):
        assert f"\n### {title}" in done.stdout
    assert re.search(r"\| 100 \| store, MiB \| [\d.]+ \| [\d.]+ \| [+-][\d.]+% \|", done.stdout)
    assert costs.read(tmp_path / "costs.json").memory.post > 0

"""The limits that more nodes and more processes don't raise, and how much of each a site uses."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.capacity.plan import MICRO, Plan
from benchmarks.capacity.shape import halves
from store.ids import PARTITIONS

ROUNDS = 16  # of a search: exact to a part in ten thousand
MOST_MEMBERS = 1e10  # beyond which no limit is searched for


@dataclass(frozen=True, slots=True)
class SiteLimit:
    """A limit: the share of it that a plan uses, 1 when it binds, and what to do then."""

    name: str
    used: Callable[[Plan], float]
    remedy: str


def _names(plan: Plan) -> float:
    return plan.memory["names"] / plan.machines.bytes


def _node(plan: Plan, micros: float) -> float:
    return micros / (plan.machines.busy * MICRO)


def _events(plan: Plan) -> float:
    processes = min(plan.processes, MOST_MEMBERS)
    sent = processes * plan.events * plan.costs.operations.event.store
    return _node(plan, plan.events * plan.costs.shared.append + sent)


def _partition(plan: Plan) -> float:
    memory = plan.partitioned / PARTITIONS / plan.machines.bytes
    return max(memory, plan.store_cpu / PARTITIONS / plan.machines.busy)


def _promotions(plan: Plan) -> float:
    pages = plan.rate(plan.activity.home_pages)
    return _node(plan, pages * plan.costs.shared.promotions)


LIMITS = [
    SiteLimit(
        "index of names, memory of one node",
        _names,
        "give its slot to a node of its own with more memory; then divide the index by the first letters of names",
    ),
    SiteLimit(
        "events, received by each process",
        lambda plan: _node(plan, plan.events * plan.costs.operations.event.server),
        "divide the log by groups of partitions, so that a process receives only those that its subscribers follow",
    ),
    SiteLimit(
        "event log, its node",
        _events,
        "give its slot to a node of its own, then to processes that serve subscribers only, then divide the log",
    ),
    SiteLimit(
        "public timeline, its node",
        lambda plan: _node(plan, plan.rate(plan.activity.posts) * plan.costs.shared.public),
        "give its slot to a node of its own; then list a sample of all posts",
    ),
    SiteLimit(
        "promotions, their node, while some run",
        _promotions,
        "give their slot to a node of its own; then cache the running ones in each process",
    ),
    SiteLimit(
        "the most used hashtag, its node",
        lambda plan: _node(
            plan, plan.rate(plan.activity.posts) * plan.activity.top_hashtag * plan.costs.shared.hashtag
        ),
        "list a sample of its posts",
    ),
    SiteLimit(
        "one partition, a node of its own",
        _partition,
        "use nodes with more memory; then give new members ids with more bits of partition",
    ),
    SiteLimit(
        "followers of one member, memory of one node",
        lambda plan: plan.shape.classes[0].followers * plan.costs.memory.long_side / plan.machines.bytes,
        "divide the list of followers of big authors, which nobody reads whole",
    ),
]


def first(plan: Plan) -> SiteLimit:
    """Return the limit of which a plan uses most."""
    return max(LIMITS, key=lambda limit: limit.used(plan))


def binds_at(plan: Plan, limit: SiteLimit) -> float:
    """Return the number of members from which a limit binds, everything else alike; infinite beyond `MOST_MEMBERS`."""

    def is_reached(magnitude: float) -> bool:
        return limit.used(_of_size(plan, math.ceil(10**magnitude))) >= 1

    magnitude = halves(is_reached, 1, math.log10(MOST_MEMBERS), ROUNDS)
    return 10**magnitude if is_reached(magnitude) else math.inf


def _of_size(plan: Plan, members: int) -> Plan:
    """Return the same plan for another number of members; nobody follows a large part of a small site."""
    follows = min(plan.shape.follows, members / 4)
    return replace(plan, shape=replace(plan.shape, members=members, follows=follows))

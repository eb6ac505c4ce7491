"""Computes what a site of some members needs: memory, processor time, nodes and processes."""

import math
from dataclasses import dataclass
from functools import cached_property

from benchmarks.capacity.activity import Activity, Machines
from benchmarks.capacity.costs import Costs, Cpu
from benchmarks.capacity.shape import Shape, capped
from benchmarks.capacity.sites import LONG_LIST
from benchmarks.versus import queries
from store.ids import PARTITIONS
from store.settings import Settings

SETTINGS = Settings()
MICRO = 1e6  # µs in a second


@dataclass(frozen=True)
class Plan:
    """A site of some members on some machines, at its peak."""

    shape: Shape
    activity: Activity
    machines: Machines
    costs: Costs

    @property
    def members(self) -> int:
        return self.shape.members

    @cached_property
    def fan_out(self) -> float:
        """Homes that a post is pushed to, on average."""
        return self.shape.fan_out(SETTINGS.big_author, self.activity.posting) * self.activity.with_home

    @cached_property
    def big_followed(self) -> float:
        """Big authors that a member follows, on average."""
        return self.shape.follows * self.shape.share_above(SETTINGS.big_author)

    @cached_property
    def hit_ratio(self) -> float:
        """Share of the records of a home page that a process has cached."""
        return hits(self.shape, SETTINGS.records_kept, self.of_profiles)[0]

    @property
    def of_profiles(self) -> float:
        """Share of profile pages among all pages."""
        return self.activity.profile_pages / (self.activity.profile_pages + self.activity.home_pages)

    @cached_property
    def memory(self) -> dict[str, float]:
        """Bytes of the store by what takes them, all nodes together, without replicas."""
        each, doing, days = self.costs.memory, self.activity, self.activity.days
        made = self.members * doing.daily_active * days
        homes = self.members * doing.with_home
        received = doing.daily_active * self.members * doing.posts * days * self.fan_out / homes
        entries = capped(received, SETTINGS.home_size + SETTINGS.home_slack / 2)
        return {
            "members": self.members * each.member + homes * each.session,
            "names": self.members * each.names,
            "follows": self.members * follow_bytes(self.shape, self.costs),
            "posts": made * doing.posts * each.post,
            "likes": made * doing.likes * each.like,
            "homes": homes * entries * each.entry,
        }

    @property
    def partitioned(self) -> float:
        """Bytes of what lies in the 256 partitions."""
        return sum(self.memory.values()) - self.memory["names"]

    @property
    def events(self) -> float:
        """Events of the log in a second."""
        return self.rate(self.activity.posts + self.activity.new_follows)

    @property
    def subscribers(self) -> float:
        return self.members * self.activity.daily_active * self.activity.live

    @property
    def deliveries(self) -> float:
        """Events that reach a live home in a second: of a big author's post, too."""
        everyone = self.shape.fan_out(math.inf, self.activity.posting)
        return self.rate(self.activity.posts) * everyone * self.activity.daily_active * self.activity.live

    def rate(self, a_day: float) -> float:
        """Return how often in a second members do what an active one does so often a day."""
        return self.activity.a_second(self.members, a_day)

    @cached_property
    def cpu(self) -> dict[str, Cpu]:
        """Processor time in µs a second by what takes it, without receiving events."""
        of, doing = self.costs.operations, self.activity
        _, profiles = hits(self.shape, SETTINGS.records_kept, self.of_profiles)
        home = home_page(self.costs, self.hit_ratio, 1 - 1 / doing.visit) + of.big_author * self.big_followed
        return {
            "home pages": home * self.rate(doing.home_pages),
            "profile pages": profile_page(self.costs, profiles) * self.rate(doing.profile_pages),
            "posts": of.post * self.rate(doing.posts),
            "fan-out": of.follower * (self.rate(doing.posts) * self.fan_out),
            "likes": of.like * self.rate(doing.likes),
            "follows": of.follow * self.rate(doing.new_follows),
            "live homes": of.delivery * self.deliveries,
        }

    @cached_property
    def processes(self) -> float:
        """Perch processes; infinite if receiving events alone takes more than a process may use."""
        work = sum(cpu.server for cpu in self.cpu.values())
        left = self.machines.busy * MICRO - self.events * self.costs.operations.event.server
        if left <= 0:
            return math.inf
        return max(1, math.ceil(work / left), math.ceil(self.subscribers / self.machines.sockets))

    @property
    def process_bytes(self) -> float:
        """Bytes of one Perch process."""
        each = self.costs.memory
        return each.process + (self.subscribers / self.processes * each.subscriber if self.processes < math.inf else 0)

    @property
    def store_cpu(self) -> float:
        """Processors that the store's nodes need together at the peak."""
        spread = sum(cpu.store for cpu in self.cpu.values())
        return spread * (self.machines.cluster if self.nodes_for_memory > 1 else 1) / MICRO

    @cached_property
    def nodes_for_memory(self) -> int:
        """Primaries whose memory holds the site: the one with most partitions has its share, and all have the whole."""
        whole = math.ceil(sum(self.memory.values()) / self.machines.bytes)
        return max(whole, dealt(self.partitioned / self.machines.bytes))

    @property
    def nodes_for_cpu(self) -> int:
        """Primaries whose processors do the work."""
        return dealt(self.store_cpu / self.machines.busy)

    @property
    def nodes(self) -> int:
        """Primaries. There are no more than partitions, even if these are too few: see `limits`."""
        return min(max(self.nodes_for_memory, self.nodes_for_cpu), PARTITIONS)

    @property
    def servers(self) -> int:
        """Primaries and replicas."""
        return self.nodes * (1 + int(self.machines.replicas))


def dealt(nodes_full: float) -> int:
    """Return among how many nodes the partitions have to be dealt for work that fills so many nodes.

    The node with most partitions has one more than others may have. More nodes than partitions help no more.
    """
    for nodes in range(max(1, math.ceil(nodes_full)), PARTITIONS):
        if nodes_full * math.ceil(PARTITIONS / nodes) / PARTITIONS <= 1:
            return nodes
    return PARTITIONS


def follow_bytes(shape: Shape, costs: Costs) -> float:
    """Return the bytes of one member's follows, both sides."""
    long, each = shape.share_above(LONG_LIST), costs.memory
    return shape.follows * (each.follow * (1 - long / 2) + each.long_side * long)


def home_page(costs: Costs, cached: float, viewer_cached: float) -> Cpu:
    """Return the cost of a home page by the shares of what is cached: of its records, and of viewers."""
    of = costs.operations
    records, viewer = of.home_uncached - of.home, of.home_cold - of.home_uncached
    return of.home + records * (1 - cached) + viewer * (1 - viewer_cached)


def hits(shape: Shape, kept: int, of_profiles: float) -> tuple[float, float]:
    """Return the shares of records that a process has cached, of a home page and of a profile page.

    A home page has nearly as many authors as posts.
    """
    home, profile = shape.post_hits(kept, of_profiles, queries.PAGE)
    return (home + shape.hit_ratio(kept)) / 2, profile


def profile_page(costs: Costs, cached: float) -> Cpu:
    """Return the cost of a profile page by the share of its records that is cached."""
    of = costs.operations
    return of.profile + (of.profile_cold - of.profile) * (1 - cached)

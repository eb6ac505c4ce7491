"""What each unit costs: bytes, and processor time of the server and of the store."""

from pathlib import Path

import msgspec
from msgspec import Struct


class Cpu(Struct, frozen=True):
    """Processor time in µs: `server` of the Perch process, `store` of the Valkey server."""

    server: float
    store: float

    def __add__(self, other: "Cpu") -> "Cpu":
        return Cpu(self.server + other.server, self.store + other.store)

    def __sub__(self, other: "Cpu") -> "Cpu":
        """Return what this costs more, nothing where it costs less."""
        return Cpu(max(0.0, self.server - other.server), max(0.0, self.store - other.store))

    def __mul__(self, times: float) -> "Cpu":
        return Cpu(self.server * times, self.store * times)


class Memory(Struct, frozen=True):
    """Bytes of the store for each unit, and of the Perch process."""

    empty: float  # the store with no member
    partitions: float  # what the 256 partitions have beside what their members own
    member: float  # without the names
    names: float  # a member's entries in the index of names, all on one node
    follow: float  # both sides, in short lists
    long_side: float  # a follower in a long list
    post: float
    like: float
    entry: float  # of a home
    session: float
    process: float  # of Perch, with nobody connected
    subscriber: float  # of the process


class Operations(Struct, frozen=True):
    """Processor time of each operation; where it is cold, nothing that it reads is cached."""

    home: Cpu
    home_uncached: Cpu  # only the viewer's own data are cached
    home_cold: Cpu
    big_author: Cpu  # each author whose posts a home page pulls
    profile: Cpu
    profile_cold: Cpu
    post: Cpu  # without its followers
    follower: Cpu  # each home that a post is pushed to
    like: Cpu
    follow: Cpu
    delivery: Cpu  # of one event to one subscriber
    event: Cpu  # received by one process, whose subscribers do not want it


class Shared(Struct, frozen=True):
    """µs of the store for what all members share, each on one node."""

    public: float  # listing a post
    hashtag: float
    append: float  # an event to the log
    names: float  # indexing a member
    promotions: float  # reading those that run


class Costs(Struct, frozen=True):
    """Everything that was measured."""

    memory: Memory
    operations: Operations
    shared: Shared


def read(path: Path) -> Costs:
    """Return costs that were written earlier."""
    return msgspec.json.decode(path.read_bytes(), type=Costs)


def write(path: Path, costs: Costs) -> None:
    """Write costs, for a later plan with other numbers of members."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(costs), indent=1) + b"\n")

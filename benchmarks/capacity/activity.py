"""What the members of a site do, and the machines that it runs on: the assumptions of a plan."""

from dataclasses import dataclass, field, fields
from typing import Any

DAY = 86_400  # s


def _assumed(default: float, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class Activity:
    """The assumptions. Rates are those of one active member on one day."""

    # Twitter's last quarterly report (2022) has 238 million daily users, of more than a billion accounts.
    daily_active: float = _assumed(0.2, "share of members who are active on a day")
    # Myers et al., Information Network or Social Network (2014): some 20 billion follows of 175 million active members.
    follows: float = _assumed(100, "members that one follows, on average")
    # Twitter's own figures of 2013: 500 million posts a day by 230 million members who were active in a month.
    posts: float = _assumed(2, "posts of an active member a day")
    home_pages: float = _assumed(20, "home pages of an active member a day")
    visit: float = _assumed(4, "home pages of one visit; the process has cached the viewer after the first")
    profile_pages: float = _assumed(5, "profile pages of an active member a day")
    likes: float = _assumed(5, "likes of an active member a day")
    new_follows: float = _assumed(0.5, "follows of an active member a day")
    live: float = _assumed(0.1, "share of the active members who watch their home live at the peak")
    peak: float = _assumed(2, "requests at the peak, by the mean of a day")
    days: float = _assumed(365, "days of posts and likes that are stored")
    with_home: float = _assumed(0.4, "share of members who were active within HOME_IDLE_DAYS, and so have a home")
    posting: float = _assumed(0.5, "exponent of followers by which members post more: 0 all alike, 1 in proportion")
    top_hashtag: float = _assumed(0.01, "share of posts that carry the most used hashtag")

    def a_second(self, members: float, a_day: float) -> float:
        """Return how often in a second, at the peak, members do what one does so often a day."""
        return members * self.daily_active * a_day * self.peak / DAY


@dataclass(frozen=True, slots=True)
class Machines:
    """The machines. A store node uses one processor for commands, and a Perch process one for all."""

    node_memory: float = _assumed(64, "memory of a store node, GiB")
    used_memory: float = _assumed(0.6, "share of it that data may take: copy on write and fragmentation take more")
    busy: float = _assumed(0.6, "share of a processor that a node or a process may use at the peak")
    cluster: float = _assumed(1.6, "processor time of all nodes of a cluster, by that of one server: measured with 6")
    replicas: float = _assumed(1, "replicas of each primary")
    sockets: float = _assumed(4_000, "live subscribers of a process: four fifths of MAX_CONNECTIONS")

    @property
    def bytes(self) -> float:
        """Bytes that the data of a node may take."""
        return self.node_memory * self.used_memory * 2**30


def options(kind: type[Activity | Machines]) -> list[tuple[str, float, str]]:
    """Return name, default and meaning of each assumption."""
    return [(f.name, float(f.default), str(f.metadata["meaning"])) for f in fields(kind)]  # type: ignore[arg-type]

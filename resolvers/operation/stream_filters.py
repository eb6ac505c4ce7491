"""Who listens to the whole site: each event is handed to those who want it, and costs nobody else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from resolvers.rules.filters import Facts, Filter
from resolvers.rules.matching import Filters
from resolvers.rules.sampling import in_sample
from store.event_reader import Log, Subscriber
from store.events import Event

F = TypeVar("F", bound=Subscriber)


class StreamEventKind(Enum):
    """What happens on the site."""

    POST_CREATED = "POST_CREATED"
    POST_DELETED = "POST_DELETED"
    USER_FOLLOWED = "USER_FOLLOWED"
    USER_UNFOLLOWED = "USER_UNFOLLOWED"


KINDS = {  # of events in the log
    "post": StreamEventKind.POST_CREATED,
    "repost": StreamEventKind.POST_CREATED,
    "unhide": StreamEventKind.POST_CREATED,
    "delete": StreamEventKind.POST_DELETED,
    "unrepost": StreamEventKind.POST_DELETED,
    "hide": StreamEventKind.POST_DELETED,
    "follow": StreamEventKind.USER_FOLLOWED,
    "unfollow": StreamEventKind.USER_UNFOLLOWED,
}


def kind_of(event: Event) -> StreamEventKind | None:
    """Return what an event is to the whole site, None where it is nothing to all."""
    kind = KINDS.get(event.kind)
    about_post = kind in {StreamEventKind.POST_CREATED, StreamEventKind.POST_DELETED}
    return kind if event.is_public or not about_post else None


TAKEN_BACK = frozenset({"delete", "unrepost", "hide", "suspend"})  # events that make earlier ones tell less
ALL_KINDS = frozenset(StreamEventKind)
SAMPLED = frozenset({StreamEventKind.POST_CREATED, StreamEventKind.POST_DELETED})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a subscriber wants of the site: events of some kinds that pass a filter, or a share of all posts."""

    kinds: Collection[StreamEventKind] = ALL_KINDS
    filter: Filter | None = None
    percent: int | None = None

    def has(self, event: Event) -> bool:
        """Return whether an event is wanted."""
        if kind_of(event) not in self.kinds:
            return False
        if self.percent is not None:
            return in_sample(event.post, self.percent)
        return self.filter is None or self.filter.passes(facts_of(event))


def facts_of(event: Event) -> Facts:
    """Return what of an event decides whom it reaches."""
    return Facts(event.actor, event.text, event.place)


class Listener(Subscriber):
    """A place in the live log, and the members of whose bonds events may wait there.

    What such an event forbids counts for all that is yet to be decided, also for events before it.
    """

    def __init__(self, limit: int, since: str) -> None:
        super().__init__(limit, since)
        self._changed: set[int] = set()

    def change(self, event: Event) -> None:
        """Queue the event of a bond of the viewer's, and note the other member."""
        self._changed.add(event.member)
        self.offer(event)

    @property
    def has_changed(self) -> bool:
        """Whether members were noted since they were last asked for."""
        return bool(self._changed)

    def changed(self) -> set[int]:
        """Return the members noted since this was last asked."""
        changed, self._changed = self._changed, set()
        return changed


class Listeners:
    """The process's listeners to the whole site."""

    def __init__(self, log: Log, limit: int, forget: Callable[[], None]) -> None:
        """Begin to listen; `forget` is called when what is kept of earlier events may be wrong by now."""
        self._log = log
        self._limit = limit
        self._wanted: dict[Subscriber, Wanted] = {}
        self._filters = Filters[Subscriber]()
        self._samples: dict[int, set[Subscriber]] = defaultdict(set)
        self._members: dict[int, set[Listener]] = defaultdict(set)
        self._forget = forget
        log.watch(self)

    def __len__(self) -> int:
        return len(self._wanted)

    def listen(self, viewer: int | None, wanted: Wanted) -> Listener:
        """Return a place in the live log for what a subscriber wants, and for what changes how they stand to others."""
        subscriber = Listener(self._limit, self._log.cursor)
        self._wanted[subscriber] = wanted
        if wanted.percent is None:
            self._filters.add(subscriber, wanted.filter)
        else:
            self._samples[wanted.percent].add(subscriber)
        if viewer is not None:
            self._members[viewer].add(subscriber)
        return subscriber

    def ignore(self, viewer: int | None, subscriber: Listener) -> None:
        """Give a place up."""
        wanted = self._wanted.pop(subscriber)
        self._filters.remove(subscriber)
        if wanted.percent is not None:
            _discard(self._samples, wanted.percent, subscriber)
        if viewer is not None:
            _discard(self._members, viewer, subscriber)

    def offer(self, event: Event) -> None:
        """Hand an event to those who want it."""
        if event.kind == "bond":
            for listener in self._members.get(event.actor, ()):
                listener.change(event)
            return
        if event.kind in TAKEN_BACK:
            self._forget()
        kind = kind_of(event) if self._wanted else None
        if kind is None:
            return
        for subscriber in self._filters.match(facts_of(event)):
            if kind in self._wanted[subscriber].kinds:
                subscriber.offer(event)
        if kind in SAMPLED:
            self._offer_samples(event)

    def _offer_samples(self, event: Event) -> None:
        for percent, followers in self._samples.items():
            if in_sample(event.post, percent):
                for subscriber in followers:
                    subscriber.offer(event)

    def lose(self, cursor: str) -> None:
        """Let all know that events were lost."""
        for subscriber in self._wanted:
            subscriber.lose(cursor)


def _discard(places: dict[int, set[F]], key: int, subscriber: F) -> None:
    places[key].discard(subscriber)
    if not places[key]:
        del places[key]

"""Subscribers to the whole site's stream. Each event reaches those whose filter it passes, at no cost to the others."""

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum

from resolvers.process.broadcasts import Broadcasts, Listener
from resolvers.rules.filters import Facts, Filter
from resolvers.rules.matching import Filters
from resolvers.rules.sampling import in_sample
from store.events.log import NOTHING, Event
from store.events.reader import Log


class StreamEventKind(Enum):
    """The kind of an event in the site's stream."""

    POST_CREATED = "POST_CREATED"
    POST_DELETED = "POST_DELETED"
    USER_FOLLOWED = "USER_FOLLOWED"
    USER_UNFOLLOWED = "USER_UNFOLLOWED"


KINDS = {  # kind in the event log → kind in the stream
    "post": StreamEventKind.POST_CREATED,
    "repost": StreamEventKind.POST_CREATED,
    "unhide": StreamEventKind.POST_CREATED,
    "reveal": StreamEventKind.POST_CREATED,
    "delete": StreamEventKind.POST_DELETED,
    "unrepost": StreamEventKind.POST_DELETED,
    "hide": StreamEventKind.POST_DELETED,
    "conceal": StreamEventKind.POST_DELETED,
    "follow": StreamEventKind.USER_FOLLOWED,
    "unfollow": StreamEventKind.USER_UNFOLLOWED,
}


def kind_of(event: Event) -> StreamEventKind | None:
    """Return an event's kind in the site's stream; None if the stream does not have the event.

    Events about posts that are not public are not in the stream.
    """
    kind = KINDS.get(event.kind)
    about_post = kind in {StreamEventKind.POST_CREATED, StreamEventKind.POST_DELETED}
    return kind if event.is_public or not about_post else None


TAKEN_BACK = frozenset(
    {"delete", "unrepost", "hide", "conceal", "suspend"}
)  # events after which earlier ones show less
ALL_KINDS = frozenset(StreamEventKind)
SAMPLED = frozenset({StreamEventKind.POST_CREATED, StreamEventKind.POST_DELETED})


@dataclass(frozen=True, slots=True)
class WantedEvents:
    """A subscriber's selection: events of some kinds that pass a filter, or a sample of all posts."""

    kinds: Collection[StreamEventKind] = ALL_KINDS
    filter: Filter | None = None
    percent: int | None = None

    def has(self, event: Event) -> bool:
        """Return whether the selection has an event."""
        if kind_of(event) not in self.kinds:
            return False
        if self.percent is not None:
            return in_sample(event.post, self.percent)
        return self.filter is None or self.filter.passes(facts_of(event))


def facts_of(event: Event) -> Facts:
    """Return the facts of an event that filters decide on."""
    content = event.content or NOTHING
    is_unknown = event.content is None and event.kind in TAKEN_BACK
    return Facts(event.actor, content.text, content.place, is_unknown)


class Listeners:
    """The process's subscribers to the whole site's stream."""

    def __init__(self, log: Log, limit: int, forget: Callable[[], None]) -> None:
        """Watch the event log. `forget` is called when cached renderings of earlier events may be wrong."""
        self._log = log
        self._limit = limit
        self._wanted: dict[Listener, WantedEvents] = {}
        self._filters = Filters[Listener]()
        self._samples: dict[int, set[Listener]] = defaultdict(set)
        self._members: dict[int, set[Listener]] = defaultdict(set)
        self._broadcasts = Broadcasts()
        self._forget = forget
        log.watch(self)

    def __len__(self) -> int:
        return len(self._wanted)

    @property
    def reads_content(self) -> bool:
        """Whether any filter depends on the text or the place of a post."""
        return self._filters.reads_content

    async def close(self) -> None:
        """Stop sending events to idle subscribers."""
        await self._broadcasts.close()

    def listen(self, viewer: int | None, wanted: WantedEvents) -> Listener:
        """Return a new subscriber for a selection of events, and for changes of the viewer's relationships."""
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
        """Remove a subscriber."""
        wanted = self._wanted.pop(subscriber)
        self._filters.remove(subscriber)
        if wanted.percent is not None:
            _discard(self._samples, wanted.percent, subscriber)
        if viewer is not None:
            _discard(self._members, viewer, subscriber)

    def offer(self, event: Event) -> None:
        """Queue an event for the subscribers whose selection has it."""
        if event.kind == "relationship":
            for listener in self._members.get(event.actor, ()):
                listener.change(event)
            return
        if event.kind in TAKEN_BACK:
            self._forget()
        kind = kind_of(event) if self._wanted else None
        if kind is None:
            return
        passed = self._filters.match(facts_of(event))
        wanting = [subscriber for subscriber in passed if kind in self._wanted[subscriber].kinds]
        if kind in SAMPLED:
            for percent, followers in self._samples.items():
                if in_sample(event.post, percent):
                    wanting += followers
        self._broadcasts.send(event, wanting)

    def lose(self, cursor: str) -> None:
        """Report to all subscribers that events were lost."""
        for subscriber in self._wanted:
            subscriber.lose(cursor)


def _discard(places: dict[int, set[Listener]], key: int, subscriber: Listener) -> None:
    places[key].discard(subscriber)
    if not places[key]:
        del places[key]

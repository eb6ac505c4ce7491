"""What this process has counted since it started, for whoever shows metrics. Counting is one addition.

Nothing here knows how metrics are shown. The numbers only rise, and nobody resets them.
"""

from collections import Counter
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class Meter:
    """The counts of one process."""

    round_trips: int = 0  # to the store
    commands: int = 0  # sent to the store
    cache_hits: int = 0  # values found in the cache
    cache_reads: int = 0  # values read from the store for the cache
    answers: int = 0  # whole answers found in the cache
    invalidations: int = 0  # changed keys that the store has reported
    clearings: int = 0  # times that the whole cache was dropped
    followers: int = 0  # followers reached by fan-out
    events: int = 0  # events of the log handed to subscribers and watchers
    gaps: int = 0  # gaps reported to subscribers
    images: int = 0  # pictures that were processed
    image_seconds: float = 0.0  # that their processing has taken
    jobs: Counter[tuple[str, str]] = field(default_factory=Counter)  # by kind and outcome
    refusals: Counter[str] = field(default_factory=Counter)  # by the setting that refused
    shed: Counter[str] = field(default_factory=Counter)  # requests refused for too much to do, by kind
    uploads: Counter[str] = field(default_factory=Counter)  # by outcome
    media: Counter[str] = field(default_factory=Counter)  # requests for pictures, by outcome


@dataclass(slots=True)
class StoreWork:
    """What one operation has asked of the store."""

    round_trips: int = 0
    commands: int = 0


METER = Meter()
WORK: ContextVar[StoreWork | None] = ContextVar("work", default=None)  # of the running operation, if it is measured

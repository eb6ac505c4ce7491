"""A simulated event loop that answers requests, with a clock of its own, to try the limit on requests in no time."""

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from serving.overload.controller import Controller
from serving.overload.shedding import READ

STAGES = (0.12e-3, 0.35e-3, 0.35e-3, 0.3e-3)  # processor time of a request between its round trips, s
READING, REFUSING = 20e-6, 45e-6  # processor time of each request, and of one that is refused, s
CAPACITY = 1 / (sum(STAGES) + READING)  # requests per second


@dataclass(order=True, slots=True)
class _Request:
    number: int
    due: float
    stage: int = 0


@dataclass
class SimulatedLoop:
    """Requests at random moments, answered by one thread; `round_trip` is that of the store, s."""

    rate: Callable[[float], float]  # requests per second, by the time
    round_trip: float = 0.3e-3
    seed: int = 1
    controller: Controller = field(default_factory=lambda: Controller(0.008, 256))
    times: list[float] = field(default_factory=list)  # until each was answered, s
    refused: list[float] = field(default_factory=list)  # when requests were refused
    now: float = 0.0
    running: int = 0
    _worked: float = 0.0
    _probe: float | None = None  # since when
    _turns: int = 0  # that the probe still waits for

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)  # noqa: S311  chance that can be repeated
        self._ready: deque[_Request | None] = deque()  # None: the callback that measures its delay
        self._away: list[tuple[float, _Request]] = []  # at the store, until when
        self._numbers = itertools.count()
        self._next = 0.0

    def run(self, seconds: float) -> None:
        """Go on for some time of the simulated clock."""
        end = self.now + seconds
        while self.now < end:
            if not self._ready:
                self.now = max(self.now, min([self._next, *(until for until, _ in self._away[:1])]))
            self._arrive()
            while self._away and self._away[0][0] <= self.now:
                self._ready.append(heapq.heappop(self._away)[1])
            for _ in range(len(self._ready)):
                self._step(self._ready.popleft())

    def _arrive(self) -> None:
        due = []
        while self._next <= self.now:
            due.append(self._next)
            self._next += self._dice.expovariate(self.rate(self._next))
        for moment in due:
            self._work(READING)
            if self.controller.arrive(self.now, self.running):
                self.controller.adjust(self.now, self._worked)
            if self._probe is None:
                self._probe, self._turns = self.now, 2
                self._ready.append(None)
            if self.running >= READ.share * self.controller.limit:
                self.controller.refused += 1
                self.refused.append(self.now)
                self._work(REFUSING - READING)
            else:
                self.running += 1
                self._ready.append(_Request(next(self._numbers), moment))

    def _step(self, request: _Request | None) -> None:
        if request is None:
            assert self._probe is not None
            self._turns -= 1
            if self._turns:
                self._ready.append(None)
                return
            self.controller.delayed(self.now - self._probe)
            self._probe = None
            return
        self._work(STAGES[request.stage])
        request.stage += 1
        if request.stage == len(STAGES):
            self.running -= 1
            self.times.append(self.now - request.due)
        else:
            heapq.heappush(self._away, (self.now + self.round_trip * self._dice.uniform(0.7, 2), request))

    def _work(self, seconds: float) -> None:
        seconds *= self._dice.uniform(0.7, 1.3)
        self.now += seconds
        self._worked += seconds

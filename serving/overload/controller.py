"""Decides how many requests may be answered at a time.

A single thread answers all requests. While it keeps up, some callback of the event loop soon runs at once. So the least
delay within an interval tells whether a queue stands, as in CoDel (RFC 8289). A burst that drains does not count.

While a queue stands, the limit falls to a share of the requests that are being answered. Once requests are refused, it
goes on falling as long as the thread has no idle time, since more requests at a time would only answer each later. It
rises when the thread has idle time, for example because requests wait for a slow store, or when few are refused.

It never falls below the requests that arrive and are answered within the target. By Little's law each then takes
just that long. Fewer would cost more each, because round trips to the store are shared.
"""

import math
from dataclasses import dataclass, field

INTERVAL_SECONDS = 0.1  # between two adjustments
STANDING = 3  # intervals in a row with a queue, from which the limit falls
FEW = 5  # requests in an interval, below which a delay is no queue but a slow request
FALL = 0.7  # of the limit, in an interval with a queue
SLOW_FALL = 0.9  # of the limit, in an interval without one
RISE, LEAST_RISE = 1.1, 1.0  # of the limit, and of requests, in an interval
IDLE, BUSY = 0.9, 0.97  # shares of an interval for which the thread has worked
MANY = 0.05  # share of the requests that are refused, from which the limit is not raised without need
LEAST = 5.0  # requests that may always be answered at a time
MOST_STEPS = 100  # intervals that are made up for after a time without requests


@dataclass(slots=True)
class Controller:
    """The limit on requests that are answered at a time; times in s, by clocks that the caller reads."""

    target: float  # delay above which a queue stands, and time that a request may take while others are refused, s
    most: int  # requests
    limit: float = field(init=False)
    refused: int = 0  # requests in this interval; the caller counts them
    _arrived: int = 0
    _least_delay: float = math.inf
    _running: int = 0  # most requests at a time in this interval
    _standing: int = 0  # intervals in a row
    _began: float = -math.inf
    _worked: float = 0.0

    def __post_init__(self) -> None:
        self.limit = float(self.most)

    @property
    def is_standing(self) -> bool:
        """Whether a queue stood in the last interval."""
        return self._standing > 0

    def delayed(self, seconds: float) -> None:
        """Note how long a callback has waited for its turn."""
        self._least_delay = min(self._least_delay, seconds)

    def arrive(self, now: float, running: int) -> bool:
        """Note that a request has arrived while others are being answered; returns whether an interval has ended."""
        self._arrived += 1
        self._running = max(self._running, running)
        return now >= self._began + INTERVAL_SECONDS

    def adjust(self, now: float, worked: float) -> None:
        """Adjust the limit at the end of an interval; `worked` is the processor time of the thread so far."""
        passed = now - self._began
        is_queue = self.target < self._least_delay < math.inf and self._arrived >= FEW
        self._standing = self._standing + 1 if is_queue else 0
        if self._standing >= STANDING:
            self.limit = FALL * min(self.limit, self._running)
        elif not self._standing:
            self._change(passed, (worked - self._worked) / passed)
        within_target = self.target * (self._arrived - self.refused) / passed
        self.limit = min(max(self.limit, within_target, LEAST), self.most)
        self._least_delay, self._running, self._arrived, self.refused = math.inf, 0, 0, 0
        self._began, self._worked = now, worked

    def _change(self, passed: float, busy: float) -> None:
        if self.refused > MANY * self._arrived:
            self.limit *= SLOW_FALL if busy > BUSY else 1 + max(0, IDLE - busy)
            return
        for _ in range(int(min(passed / INTERVAL_SECONDS, MOST_STEPS))):
            self.limit = max(RISE * self.limit, self.limit + LEAST_RISE)

"""The queue M/D/1: requests arrive at random, and each takes the same time, on one processor. No server does better."""

from __future__ import annotations

import math

CLOSE = 1e-6  # share of a response time to which it is computed


def response_time(share: float, service: float, rate: float) -> float:
    """Return the time within which a share of requests is answered, in the unit of `service`; infinite when overloaded.

    `rate` is that of arrivals, per the same unit of time. Source: A. K. Erlang's formula of 1909 for the waiting time.
    """
    if rate * service >= 1:
        return math.inf
    low, high = 0.0, service
    while _waits_at_most(high, service, rate) < share:
        low, high = high, 2 * high
    while high - low > CLOSE * service:
        middle = (low + high) / 2
        low, high = (low, middle) if _waits_at_most(middle, service, rate) >= share else (middle, high)
    return service + high


def _waits_at_most(time: float, service: float, rate: float) -> float:
    """Return the share of requests that wait at most that long."""
    terms = (
        (rate * (k * service - time)) ** k / math.factorial(k) * math.exp(-rate * (k * service - time))
        for k in range(int(time // service) + 1)
    )
    return (1 - rate * service) * math.fsum(terms)

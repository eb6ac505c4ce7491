"""The queue M/D/1: requests arrive at random moments, and each takes equally long. No server answers them sooner."""

import math

_PRECISION = 1e-6  # of a time, in service times


def sojourn(load: float, share: float) -> float:
    """Return the time within which a share of all requests is answered, waiting included, in service times.

    `load` is the share of time for which the server is busy, below 1. The distribution is Erlang's, of 1909. Its sum
    has terms of changing signs, so it is exact enough for up to 30 service times or so.
    """
    low, high = 0.0, 1.0
    while _waiting(load, high) < share:
        low, high = high, high * 2
    while high - low > _PRECISION:
        middle = (low + high) / 2
        low, high = (middle, high) if _waiting(load, middle) < share else (low, middle)
    return 1 + high


def _waiting(load: float, time: float) -> float:
    """Return the share of requests that wait no longer than some service times."""
    left = [(k, load * (time - k)) for k in range(int(time) + 1)]
    return (1 - load) * sum((-x) ** k / math.factorial(k) * math.exp(x) for k, x in left)

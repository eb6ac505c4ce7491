"""The limit on requests that are answered at a time, tried on a simulated loop whose clock costs no time."""

import statistics

import pytest

from serving.overload.controller import LEAST, Controller
from tests.support.queueing import CAPACITY, SimulatedLoop

FAST, SLOW = 0.3e-3, 0.02  # round trips to the store, s


@pytest.mark.parametrize("round_trip", [FAST, SLOW])
def test_nothing_is_refused_at_half_load(round_trip: float) -> None:
    """At half the capacity no request is refused, whether the store is fast or slow."""
    loop = SimulatedLoop(lambda _: CAPACITY / 2, round_trip)
    loop.run(20)
    assert not loop.refused


@pytest.mark.parametrize(("round_trip", "share"), [(FAST, 0.9), (SLOW, 0.88)])
def test_twice_the_load(round_trip: float, share: float) -> None:
    """After two seconds at twice the capacity, most of it is served, 99 % within five times the usual time."""
    half, twice = SimulatedLoop(lambda _: CAPACITY / 2, round_trip), SimulatedLoop(lambda _: CAPACITY * 2, round_trip)
    half.run(10)
    twice.run(2)
    twice.times.clear()
    twice.run(15)
    assert len(twice.times) > share * 15 * CAPACITY
    assert sorted(twice.times)[int(len(twice.times) * 0.99)] < 5 * statistics.median(half.times)


def test_recovery() -> None:
    """Half a second after the load has halved nothing is refused, and later bursts are let in again."""
    loop = SimulatedLoop(lambda now: CAPACITY * (2 if now < 10 else 0.5))
    loop.run(20)
    assert max(loop.refused) < 10.5
    assert loop.controller.limit == loop.controller.most


def test_burst_that_drains() -> None:
    """A burst of four times the capacity for a twentieth of a second is answered."""
    loop = SimulatedLoop(lambda now: CAPACITY * (4 if 1 <= now < 1.05 else 0.3))
    loop.run(3)
    assert not loop.refused


def test_few_slow_requests_are_no_queue() -> None:
    """Single requests that hold the loop for long do not lower the limit."""
    controller = Controller(target=0.005, most=256)
    for turn in range(50):
        assert controller.arrive(turn * 0.2, running=1)
        controller.adjust(turn * 0.2, worked=turn * 0.2)
        controller.delayed(0.15)
    assert controller.limit == 256


def test_queue_that_stands() -> None:
    """A delay of three intervals lowers the limit to a share of what is running, but never below the least."""
    controller = Controller(target=0.005, most=256)
    limits = []
    for turn in range(20):
        now = turn * 0.1 + 0.001 * turn
        controller.adjust(now, worked=now)
        limits.append(controller.limit)
        for _ in range(10):
            controller.arrive(now, running=100)
        controller.delayed(0.02)
    assert limits[:3] == [256, 256, 256]
    assert limits[3] == pytest.approx(70)
    assert limits[-1] == LEAST


def test_queue_of_fast_requests() -> None:
    """However long a queue stands, the limit allows what is answered within the target."""
    controller = Controller(target=0.008, most=256)
    for turn in range(20):
        now = turn * 0.1
        controller.adjust(now, worked=now)
        for _ in range(300):
            controller.arrive(now, running=100)
        controller.refused = 100
        controller.delayed(0.02)
    controller.adjust(2.0, worked=2.0)
    assert controller.limit == pytest.approx(0.008 * 2_000)


def test_time_without_requests() -> None:
    """After a pause the limit has risen as if requests had come meanwhile."""
    controller = Controller(target=0.005, most=256)
    controller.limit = LEAST
    controller.arrive(0.0, running=0)
    controller.adjust(0.0, worked=0.0)
    controller.arrive(10.0, running=0)
    controller.adjust(10.0, worked=0.1)
    assert controller.limit == 256

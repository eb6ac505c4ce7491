"""Sends cases to servers of both ways, and finds the smallest ones at which they differ."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from tests.support.ways.cases import Case, smaller
from tests.support.ways.way import Record, differences

BLOCK = 400  # cases that a server gets from its start to its end
SHOWN = 12  # lines that say what differs
WIDTH = 1_000  # characters of a line that are shown; a body may have a megabyte
TRIES = 100  # smaller forms of what gives a difference, at most


class Ways(Protocol):
    """Servers that answer in either way."""

    async def record(self, cases: Sequence[Case], *, is_lean: bool) -> Record:
        """Serve in one of the ways, and return what was observed."""


async def compare(ways: Ways, draw: Callable[[int], Case], count: int) -> None:
    """Send so many requests, in cases drawn by number.

    Raises AssertionError with how the ways differ, and with the smallest form of the first cases that show it.
    """
    number = 0
    while count > 0:
        cases = [draw(number + place) for place in range(min(BLOCK, count))]
        number += len(cases)
        count -= sum(case.count for case in cases)
        if how := await _differ(ways, cases):
            raise AssertionError(await _smallest(ways, cases, how))


async def _differ(ways: Ways, cases: Sequence[Case]) -> str:
    lean, other = [await ways.record(cases, is_lean=is_lean) for is_lean in (True, False)]
    return "\n".join(differences(lean, other))


async def _smallest(ways: Ways, cases: Sequence[Case], how: str) -> str:
    tries, forms = 0, _smaller(cases)
    while tries < TRIES and (less := next(forms, None)) is not None:
        tries += 1
        if found := await _differ(ways, less):
            cases, how, forms = less, found, _smaller(less)
    lines = [*how.splitlines()[:SHOWN], *(line for case in cases for line in str(case).splitlines())]
    return "\n".join(line[:WIDTH] for line in lines)


def _smaller(cases: Sequence[Case]) -> Iterator[Sequence[Case]]:
    half = len(cases) // 2
    if half:
        yield from (cases[:half], cases[half:])
        yield from ([*cases[:place], *cases[place + 1 :]] for place in range(len(cases)))
    for place, case in enumerate(cases):
        yield from ([*cases[:place], less, *cases[place + 1 :]] for less in smaller(case))

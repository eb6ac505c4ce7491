"""Charts as SVG, drawn by hand: lines over a growing quantity, on logarithmic axes or on linear ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 40, 50  # margins
COLOURS = ("#0b6e99", "#d9730d", "#448361", "#9065b0", "#c14c8a", "#787774")

MOST_MARKS = 8  # on an axis
MOST_DOTS = 40  # of a line; one with more points has none

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: the numbers at its ends, those marked on it, and how it is divided."""

    low: float
    high: float
    marks: Sequence[float]
    divide: Callable[[float], float]

    def share(self, value: float) -> float:
        """Return how far along the axis a number lies, from 0 to 1."""
        low, high = self.divide(self.low), self.divide(self.high)
        return (self.divide(value) - low) / ((high - low) or 1)


def lines(
    path: Path, title: str, across: str, upwards: str, series: Mapping[str, Points], *, linear: bool = False
) -> None:
    """Draw a line for each series; all numbers are above zero, unless the axes are linear: then some may be zero."""
    xs = sorted({x for points in series.values() for x, _ in points})
    ys = [y for points in series.values() for _, y in points]
    right, top = WIDTH - RIGHT, HEIGHT - BOTTOM
    round_marks = [mark for mark in _linear(xs[-1]).marks if xs[0] <= mark <= xs[-1]] if len(xs) > MOST_DOTS else None
    along = Axis(xs[0], xs[-1], round_marks or xs[:: 1 + len(xs) // MOST_MARKS], float if linear else math.log)
    up = _linear(max(ys)) if linear else _logarithmic(min(ys), max(ys))

    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + along.share(x) * (right - LEFT), top - up.share(y) * (top - TOP)

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        _text(LEFT, TOP - 22, title, size=15),
        _text((LEFT + right) / 2, HEIGHT - 12, across, anchor="middle"),
        _text(LEFT, TOP - 6, upwards),
    ]
    drawn += [_text(at(x, up.low)[0], top + 18, f"{x:,g}", anchor="middle") for x in along.marks]
    for mark in up.marks:
        height = at(xs[0], mark)[1]
        drawn.append(f'<path d="M{LEFT} {height:.1f}H{right}" stroke="#ddd"/>')
        drawn.append(_text(LEFT - 6, height + 4, f"{mark:,g}", anchor="end"))
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        places = [at(x, y) for x, y in points]
        drawn.append(
            f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" fill="none" stroke="{colour}"'
            ' stroke-width="2"/>'
        )
        if len(places) <= MOST_DOTS:
            drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        drawn.append(_text(right + 12, TOP + 10 + 18 * i, name, colour=colour))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*drawn, "</svg>", ""]), "utf-8")


def _logarithmic(least: float, most: float) -> Axis:
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most * 1.001))
    return Axis(10**first, 10**last, [10**power for power in range(first, last + 1)], math.log)


def _linear(most: float) -> Axis:
    most = most or 1
    step = 10 ** math.floor(math.log10(most))
    while most / step < MOST_MARKS / 2:
        step /= 2
    count = math.ceil(most / step)
    return Axis(0, step * count, [step * i for i in range(count + 1)], float)


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, colour: str = "#333") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"'
    return f"<text {place}>{escape(text)}</text>"

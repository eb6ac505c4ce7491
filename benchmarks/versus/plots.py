"""Charts as SVG, drawn by hand: lines over a growing quantity, on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 40, 50  # margins
COLOURS = ("#0b6e99", "#d9730d", "#448361", "#9065b0", "#c14c8a", "#787774")

Points = Sequence[tuple[float, float]]


def lines(path: Path, title: str, across: str, upwards: str, series: Mapping[str, Points]) -> None:
    """Draw a line for each series; all numbers are above zero."""
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points]
    right, top = WIDTH - RIGHT, HEIGHT - BOTTOM
    low, high = 10 ** math.floor(math.log10(min(ys))), 10 ** math.ceil(math.log10(max(ys) * 1.001))

    def at(x: float, y: float) -> tuple[float, float]:
        share = math.log(x / min(xs)) / (math.log(max(xs) / min(xs)) or 1)
        height = math.log(y / low) / math.log(high / low)
        return LEFT + share * (right - LEFT), top - height * (top - TOP)

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        _text(LEFT, TOP - 22, title, size=15),
        _text((LEFT + right) / 2, HEIGHT - 12, across, anchor="middle"),
        _text(LEFT, TOP - 6, upwards),
    ]
    drawn += [_text(at(x, low)[0], top + 18, f"{x:,g}", anchor="middle") for x in sorted(set(xs))]
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        height = at(min(xs), 10**power)[1]
        drawn.append(f'<path d="M{LEFT} {height:.1f}H{right}" stroke="#ddd"/>')
        drawn.append(_text(LEFT - 6, height + 4, f"{10**power:,g}", anchor="end"))
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        places = [at(x, y) for x, y in points]
        drawn.append(
            f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" fill="none" stroke="{colour}"'
            ' stroke-width="2"/>'
        )
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        drawn.append(_text(right + 12, TOP + 10 + 18 * i, name, colour=colour))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*drawn, "</svg>", ""]), "utf-8")


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, colour: str = "#333") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"'
    return f"<text {place}>{escape(text)}</text>"

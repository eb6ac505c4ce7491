"""Tables in Markdown."""

import statistics
from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table."""
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Return the median of some values, and the smallest and largest."""
    if min(values) == max(values):
        return f"{values[0]:,.{digits}f}"
    low, middle, high = (f"{value:,.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low} to {high})"


def ratio(values: Sequence[float], first: Sequence[float]) -> str:
    """Return the median of the ratios in each round: a machine that slows down slows both of a round."""
    return f"{statistics.median(value / other for value, other in zip(values, first, strict=True)):.2f}"

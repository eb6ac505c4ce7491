"""What coordinates can be."""

from __future__ import annotations

LATITUDE_MOST = 90  # degrees north or south
LONGITUDE_MOST = 180  # degrees east or west


def flaw(coordinate: float, most: int) -> str | None:
    """Return the rule that a coordinate breaks, None where it breaks none; what is not a number breaks it, too."""
    return None if -most <= coordinate <= most else f"must be from -{most} to {most} degrees"

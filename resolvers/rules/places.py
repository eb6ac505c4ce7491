"""Rules for coordinates, and boxes between them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, product

from store.records.posts import Location

LATITUDE_MOST = 90  # degrees north or south
LONGITUDE_MOST = 180  # degrees east or west: 180 and -180 are both the date line

Cell = tuple[float, int, int]  # of a grid: its size in degrees, row and column


def flaw(coordinate: float, most: int) -> str | None:
    """Return the rule that a coordinate breaks; None if it breaks none. NaN breaks it, too."""
    return None if -most <= coordinate <= most else f"must be from -{most} to {most} degrees"


@dataclass(frozen=True, slots=True)
class Box:
    """The area between two latitudes and, going east, two longitudes, edges included.

    A box whose west is greater than its east crosses the date line, which has the longitudes 180 and -180. At a pole,
    too, only the longitudes of the box belong to it.
    """

    south: float
    west: float
    north: float
    east: float

    def holds(self, place: Location) -> bool:
        """Return whether a place lies in the box."""
        return self.south <= place.latitude <= self.north and any(map(self._has, longitudes(place)))

    def _has(self, longitude: float) -> bool:
        if self.west <= self.east:
            return self.west <= longitude <= self.east
        return longitude >= self.west or longitude <= self.east

    def cells(self, size: float) -> tuple[int, Iterator[Cell]]:
        """Return the number of grid cells that the box touches, and the cells. Some cells may occur twice in both."""
        rows = _range(self.south, self.north, size)
        if self.west <= self.east:
            columns = [_range(self.west, self.east, size)]
        else:
            columns = [_range(self.west, LONGITUDE_MOST, size), _range(-LONGITUDE_MOST, self.east, size)]
        return len(rows) * sum(map(len, columns)), ((size, *at) for at in product(rows, chain(*columns)))


def cells_at(place: Location, size: float) -> list[Cell]:
    """Return the grid cell that holds a place; on the date line, the cells on both sides."""
    row = _number(place.latitude, size)
    return [(size, row, _number(longitude, size)) for longitude in longitudes(place)]


def longitudes(place: Location) -> tuple[float, ...]:
    """Return the longitude of a place; on the date line, both 180 and -180."""
    if abs(place.longitude) == LONGITUDE_MOST:
        return (-LONGITUDE_MOST, LONGITUDE_MOST)
    return (place.longitude,)


def _number(coordinate: float, size: float) -> int:
    return math.floor(coordinate / size)


def _range(low: float, high: float, size: float) -> range:
    return range(_number(low, size), _number(high, size) + 1)

"""Places on earth."""

from __future__ import annotations

import strawberry


@strawberry.type(description="In degrees, north and east positive.")
class Location:
    latitude: float
    longitude: float


@strawberry.input(description="In degrees, north and east positive: latitude -90 to 90, longitude -180 to 180.")
class LocationInput:
    latitude: float
    longitude: float

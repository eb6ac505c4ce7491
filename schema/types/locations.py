"""Places on earth."""

from __future__ import annotations

import strawberry


@strawberry.type(description="A place on earth.")
class Location:
    latitude: float = strawberry.field(description="Degrees, -90 to 90, north positive.")
    longitude: float = strawberry.field(description="Degrees, -180 to 180, east positive.")


@strawberry.input(description="A place on earth.")
class LocationInput:
    latitude: float = strawberry.field(description="Degrees, -90 to 90, north positive.")
    longitude: float = strawberry.field(description="Degrees, -180 to 180, east positive.")

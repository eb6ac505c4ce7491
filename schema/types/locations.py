"""Places on earth."""

import strawberry

from schema.types.fields import field


@strawberry.type(description="A place on earth.")
class Location:
    latitude: float = field("Degrees, -90 to 90, north positive.", cached=True, shared=True)
    longitude: float = field("Degrees, -180 to 180, east positive.", cached=True, shared=True)


@strawberry.input(description="A place on earth.")
class LocationInput:
    latitude: float = strawberry.field(description="Degrees, -90 to 90, north positive.")
    longitude: float = strawberry.field(description="Degrees, -180 to 180, east positive.")

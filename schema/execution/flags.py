"""Flags of fields, set where a field is declared. Without a flag, what a field shows is never used again.

- `CACHED`: whole answers with the field may be cached. The field depends on nothing but the viewer and stored values
  that data loaders with a cache have read. It does not depend on the time, or on a read beside the batcher.
- `SHARED`: one rendering of a site-wide event with the field may serve all viewers who would get the same result. The
  field depends on the viewer only through visibility, and takes no argument, so that variables make no difference.
"""

from graphql import GraphQLField
from strawberry.schema.schema_converter import GraphQLCoreConverter

CACHED = "cached"
SHARED = "shared"
ALL = frozenset({CACHED, SHARED})


def of(name: str, definition: GraphQLField) -> frozenset[str]:
    """Return the flags of a field. `__typename` has all of them, the other fields of introspection have none."""
    if name == "__typename":
        return ALL
    declared = definition.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    return ALL & getattr(declared, "metadata", {}).keys()

"""The objects that introspection shows of a schema, and the results of their fields, all read once."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeAlias

from graphql import (
    GraphQLField,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    get_named_type,
    get_nullable_type,
    introspection_types,
    is_leaf_type,
    is_list_type,
    is_type,
)
from msgspec import Struct

from schema.execution.encoding import encode

ROOTS = MappingProxyType({"__schema": "__Schema", "__type": "__Type"})  # fields of the query, and their types
DEPRECATED = "includeDeprecated"  # the only argument of introspection's own fields

Places: TypeAlias = tuple[int, ...] | None  # of the objects that a field leads to, among all of their type


class Leaves(Struct, frozen=True):
    """The JSON of a field without a selection, for each object."""

    results: Sequence[bytes]


class Links(Struct, frozen=True):
    """What a field leads to from each object: objects of a type, or null. Without a list, it is one object."""

    type: GraphQLObjectType
    is_list: bool
    targets: Sequence[Places]

    @property
    def longest(self) -> int:
        """The most objects that the field leads to from one object."""
        return max((len(one) for one in self.targets if one), default=0)


class SchemaGraph:
    """The objects of introspection by type. An object is known by its place, from zero."""

    def __init__(self, schema: GraphQLSchema) -> None:
        """Read everything that introspection can show; takes some 20 ms for Perch's schema."""
        self._info: Any = SimpleNamespace(schema=schema)
        self._types = {name: one for name, one in introspection_types.items() if isinstance(one, GraphQLObjectType)}
        self._objects: dict[str, list[Any]] = {name: [] for name in self._types}
        self._places: dict[Hashable, int] = {}
        self.schema = self._place("__Schema", schema)
        for one in schema.type_map.values():
            self._place("__Type", one)
        self._find()
        self._columns = {
            (kind.name, name, includes): self._read(kind, field, includes=includes)
            for kind in self._types.values()
            for name, field in kind.fields.items()
            for includes in ((False, True) if DEPRECATED in field.args else (False,))
        }
        self._wrapped = list(self._count_wrapped())

    def count(self, kind: str) -> int:
        """Return how many objects of an introspection type there are."""
        return len(self._objects[kind])

    def find(self, one: GraphQLSchema | GraphQLNamedType) -> tuple[str, int]:
        """Return the introspection type and the place of the schema or a named type."""
        return (
            ("__Schema", self.schema)
            if isinstance(one, GraphQLSchema)
            else ("__Type", self._places["__Type", one.name])
        )

    def type(self, name: str) -> GraphQLObjectType:
        """Return an introspection type."""
        return self._types[name]

    def column(self, kind: str, name: str, arguments: Mapping[str, Any]) -> Leaves | Links:
        """Return the results of a field of an introspection type, for each of its objects."""
        return self._columns[kind, name, bool(arguments.get(DEPRECATED, False))]

    def most(self, kind: str, name: str) -> int:
        """Return the most objects that a field leads to from one object of an introspection type."""
        links = self._columns.get((kind, name, True)) or self._columns[kind, name, False]
        return links.longest if isinstance(links, Links) else 0

    def wrapped(self, times: int) -> int:
        """Return how many types there are so many times within others, by `ofType`."""
        return self._wrapped[min(times, len(self._wrapped) - 1)]

    def _count_wrapped(self) -> Iterator[int]:
        links = self._columns["__Type", "ofType", False]
        assert isinstance(links, Links)
        within = set(range(self.count("__Type")))
        while within:
            yield len(within)
            within = {inner for outer in within for inner in links.targets[outer] or ()}
        yield 0

    def _find(self) -> None:
        """Give a place to every object that a field leads to. Those that are found on the way are visited, too."""
        found = -1
        while found != len(self._places):
            found = len(self._places)
            for kind in self._types.values():
                for field in kind.fields.values():
                    if not is_leaf_type(get_named_type(field.type)):
                        self._read(kind, field, includes=DEPRECATED in field.args)

    def _read(self, kind: GraphQLObjectType, field: GraphQLField, *, includes: bool) -> Leaves | Links:
        assert field.resolve
        given = {DEPRECATED: includes} if DEPRECATED in field.args else {}
        values = [field.resolve(one, self._info, **given) for one in self._objects[kind.name]]
        named = get_named_type(field.type)
        if is_leaf_type(named):
            return Leaves([encode(_leaf(value, field.type)) for value in values])
        assert isinstance(named, GraphQLObjectType)
        is_list = is_list_type(get_nullable_type(field.type))
        lists = values if is_list else [None if value is None else (value,) for value in values]
        targets = [None if some is None else tuple(self._place(named.name, one) for one in some) for some in lists]
        return Links(named, is_list, targets)

    def _place(self, kind: str, one: Any) -> int:
        objects = self._objects[kind]
        place = self._places.setdefault((kind, _identity(one)), len(objects))
        if place == len(objects):
            objects.append(one)
        return place


def _identity(one: Any) -> Hashable:
    """Return what tells an object from others of its type. Fields, arguments and values are pairs made at each read."""
    if isinstance(one, tuple):
        return one[0], id(one[1])
    return str(one) if is_type(one) else id(one)


def _leaf(value: Any, kind: GraphQLOutputType) -> object:
    if value is None:
        return None
    nullable: Any = get_nullable_type(kind)
    if is_list_type(nullable):
        items: Iterable[Any] = value
        return [_leaf(one, nullable.of_type) for one in items]
    return nullable.coerce_output_value(value)

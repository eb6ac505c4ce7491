"""The fields by which a schema leads to members and their entities, and the fields that a document selects."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from graphql import (
    FieldNode,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    get_named_type,
    parse,
    visit,
)

ENTITIES = {
    "User",
    "Post",
    "Status",
    "Repost",
    "Comment",
    "Notification",
    "Message",
    "Image",
}  # the types of members and their entities
TEXTS = {"login", "logins"}  # arguments that name members by other than an id
_NAME = re.compile(r"\$(\w+)")


def leading_fields(schema: GraphQLSchema) -> set[str]:
    """Return every field, as `Type.field`, whose type is one of the entities or leads to one.

    Interfaces are left out: the fields of the implementing types count instead.
    """
    leading = set(ENTITIES)
    while more := {kind.name for kind in schema.type_map.values() if _leads(schema, kind, leading)} - leading:
        leading |= more
    return {
        f"{kind.name}.{name}"
        for kind in schema.type_map.values()
        if isinstance(kind, GraphQLObjectType) and not kind.name.startswith("__")
        for name, field in kind.fields.items()
        if get_named_type(field.type).name in leading
    }


def _leads(schema: GraphQLSchema, kind: GraphQLNamedType, leading: set[str]) -> bool:
    if isinstance(kind, GraphQLUnionType | GraphQLInterfaceType):
        return any(member.name in leading for member in schema.get_possible_types(kind))
    if isinstance(kind, GraphQLObjectType):
        return any(get_named_type(field.type).name in leading for field in kind.fields.values())
    return False


def operation(kind: str, fields: Iterable[str]) -> str:
    """Return an operation with these fields, aliased `f0` and so on; each `$name` in them becomes an ID variable."""
    text = " ".join(f"f{number}: {field}" for number, field in enumerate(fields))
    names = dict.fromkeys(_NAME.findall(text))
    taken = ", ".join(f"${name}: {'ID' if name not in TEXTS else 'String'}!" for name in names)
    return f"{kind}{f'({taken})' if taken else ''} {{ {text} }}"


class _Fields(Visitor):
    def __init__(self, types: TypeInfo, start: str | None) -> None:
        super().__init__()
        self.found: set[str] = set()
        self._types = types
        self._start = start
        self._inside = 0  # how many fields lie above this one, counted from the start field

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        parent = self._types.get_parent_type()
        assert parent, node.name.value
        name = f"{parent.name}.{node.name.value}"
        if self._inside or self._start in {None, name}:
            self._inside += 1
            self.found.add(name)

    def leave_field(self, _node: FieldNode, *_: Any) -> None:
        self._inside = max(0, self._inside - 1)


def fields_of(schema: GraphQLSchema, document: str, start: str | None = None) -> set[str]:
    """Return every field, as `Type.field`, that a document selects, or that it selects below a start field."""
    types = TypeInfo(schema)
    fields = _Fields(types, start)
    visit(parse(document), TypeInfoVisitor(types, fields))
    return fields.found


def ids_in(answer: Any) -> Iterator[str]:
    """Yield every id anywhere in an answer."""
    if isinstance(answer, dict):
        for name, value in answer.items():
            if name == "id":
                yield value
            else:
                yield from ids_in(value)
    elif isinstance(answer, list):
        for value in answer:
            yield from ids_in(value)

"""Random documents over a schema: most are valid, and the others have a mistake or two."""

from random import Random
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    is_composite_type,
    is_leaf_type,
)

DEPTH = 4
_WRONG = ("1.5", "-1", "true", "null", '"text"', "RED", "[1]", "{a: 1}", "$nothing", "9" * 20, "1e999", "{userIds: 1}")
_WRONG_CONSTANTS = tuple(value for value in _WRONG if "$" not in value)  # a variable there would not even parse
_RIGHT = {
    "Int": ("1", "20"),
    "Float": ("1", "2.5"),
    "Boolean": ("true", "false"),
    "String": ('"text"', '"""block"""'),
    "ID": ('"1"', "2"),
    "DateTime": ('"2026-01-01T00:00:00Z"',),
}


class RandomDocuments:
    """Generates documents over one schema, the same ones for the same seed."""

    def __init__(self, schema: GraphQLSchema, seed: int) -> None:
        self._schema = schema
        self._random = Random(seed)  # noqa: S311  nothing secret
        self._composites = [
            kind for name, kind in schema.type_map.items() if is_composite_type(kind) and not name.startswith("__")
        ]
        self._relatives: dict[str, list[Any]] = {}
        self._mistakes = 0.0
        self._variables: dict[str, str] = {}
        self._fragments: dict[str, str] = {}

    def document(self) -> str:
        """Return one document."""
        self._mistakes = self._random.choice([0, 0, 0.01, 0.04])
        self._fragments = {}
        count = self._random.choice([1, 1, 1, 2])
        operations = [self._operation(place, count) for place in range(count)]
        parts = [*operations, *self._fragments.values()]
        if self._errs():
            parts.append(self._random.choice([*parts, "fragment Unused on Query { __typename }", "{ __typename }"]))
        return "\n".join(parts)

    def _errs(self) -> bool:
        return self._random.random() < self._mistakes

    def _chance(self, likelihood: float) -> bool:
        return self._random.random() < likelihood

    def _operation(self, place: int, count: int) -> str:
        kinds = [("query", self._schema.query_type)] * 4 + [("mutation", self._schema.mutation_type)]
        kinds += [("subscription", self._schema.subscription_type)]
        kind, root = self._random.choice([one for one in kinds if one[1]])
        assert root
        self._variables = {}
        fields = self._selections(root, DEPTH, only=1 if kind == "subscription" and not self._errs() else 0)
        declared = " ".join(f"${name}: {kind}" for name, kind in self._variables.items() if not self._errs())
        if self._errs():
            declared += " $extra: Int"
        name = f" O{0 if self._errs() else place}" if count > 1 and not self._errs() else ""
        return f"{kind}{name}{f'({declared})' if declared else ''}{self._directives()} {fields}"

    def _selections(self, parent: Any, depth: int, only: int = 0) -> str:
        return "{ " + " ".join(self._selection(parent, depth) for _ in range(only or self._random.randint(1, 4))) + " }"

    def _selection(self, parent: Any, depth: int) -> str:
        if depth > 0 and self._chance(0.15):
            return f"... on {self._related(parent)}{self._directives()} " + self._selections(self._last, depth - 1)
        if depth > 0 and self._chance(0.15):
            return self._spread(parent, depth)
        fields = dict(getattr(parent, "fields", {}))
        names = [name for name, one in fields.items() if depth > 0 or is_leaf_type(get_named_type(one.type))]
        if depth < 0 or not names or self._chance(0.1):
            return "__typename" + (" { id }" if self._errs() else "")
        name = self._random.choice(names)
        kind = get_named_type(fields[name].type)
        alias = f"{self._random.choice('ab')}: " if self._chance(0.2) else ""
        text = f"{alias}{'nothing' if self._errs() else name}{self._arguments(fields[name].args)}{self._directives()}"
        if is_composite_type(kind) is not self._errs():
            text += " " + self._selections(kind, depth - 1)
        return text

    def _related(self, parent: GraphQLNamedType) -> str:
        if parent.name not in self._relatives:
            found = [one for one in self._composites if self._objects(one) & self._objects(parent)]
            self._relatives[parent.name] = found or [parent]
        possible = self._relatives[parent.name]
        self._last: Any = self._random.choice(self._composites if self._errs() else possible)
        return "Nothing" if self._errs() else self._last.name

    def _objects(self, kind: Any) -> set[str]:
        if isinstance(kind, GraphQLObjectType):
            return {kind.name}
        return {one.name for one in self._schema.get_possible_types(kind)}

    def _spread(self, parent: Any, depth: int) -> str:
        name = f"F{len(self._fragments)}"
        mine = [one for one, text in self._fragments.items() if text.startswith(f"fragment {one} on {parent.name} ")]
        if mine and self._chance(0.5):
            name = self._random.choice(mine)
        else:
            self._fragments[name] = f"fragment {name} on {parent.name} {{ ...{name} }}"  # spreading it makes a cycle
            head = f"fragment {name} on {self._related(parent)}{self._directives()}"
            self._fragments[name] = f"{head} {self._selections(self._last, depth - 1)}"
        return f"...{'Nowhere' if self._errs() else name}{self._directives()}"

    def _directives(self) -> str:
        text = ""
        if self._chance(0.05):
            condition = self._value(GraphQLNonNull(self._schema.type_map["Boolean"]))
            text += f" @{self._random.choice(['skip', 'include'])}(if: {condition})"
        if self._errs():
            text += self._random.choice([" @skip(if: true) @skip(if: false)", " @nothing", " @skip", " @deprecated"])
        return text

    def _arguments(self, declared: Any) -> str:
        given = [
            f"{'nothing' if self._errs() else name}: {self._value(one.type)}"
            for name, one in declared.items()
            if self._chance(0.3) or (isinstance(one.type, GraphQLNonNull) and not self._errs())
        ]
        if given and self._errs():
            given.append(given[0])
        return f"({', '.join(given)})" if given else ""

    def _value(self, kind: Any, depth: int = 2) -> str:
        if self._errs():
            return self._random.choice(_WRONG)
        if self._chance(0.15):
            name = f"v{len(self._variables)}"
            if self._variables and self._chance(0.3):
                name = self._random.choice(list(self._variables))
            self._variables.setdefault(name, self._declared(kind))
            return f"${name}"
        return self._literal(kind.of_type if isinstance(kind, GraphQLNonNull) else kind, depth)

    def _literal(self, kind: Any, depth: int) -> str:
        if isinstance(kind, GraphQLList):
            items = [self._value(kind.of_type, depth) for _ in range(self._random.randint(0, 2))]
            return f"[{', '.join(items)}]" if len(items) != 1 or self._chance(0.5) else items[0]
        if isinstance(kind, GraphQLEnumType):
            return str(self._random.choice(list(kind.values)))
        if isinstance(kind, GraphQLInputObjectType):
            return self._object(kind, depth)
        return self._random.choice(_RIGHT[kind.name])

    def _declared(self, kind: Any) -> str:
        text = str(kind)
        if self._errs():
            text = self._random.choice(["Int", "String!", "Nothing", "Query", "[ID!]"])
        if text.endswith("!") and self._chance(0.2):
            text = text[:-1]  # nullable, which is wrong unless the argument has a default
        if self._errs():
            text += f" = {self._random.choice(_WRONG_CONSTANTS)}"
        elif self._chance(0.1) and str(kind).rstrip("!") in _RIGHT:
            text += f" = {self._random.choice(_RIGHT[str(kind).rstrip('!')])}"
        return text

    def _object(self, kind: GraphQLInputObjectType, depth: int) -> str:
        fields = [
            f"{'nothing' if self._errs() else name}: {self._value(one.type, depth - 1)}"
            for name, one in kind.fields.items()
            if (isinstance(one.type, GraphQLNonNull) and not self._errs()) or (depth and self._chance(0.2))
        ]
        if fields and self._errs():
            fields.append(fields[0])
        return f"{{{', '.join(fields)}}}"

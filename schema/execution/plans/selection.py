"""Selections: the fields of one object type. Each object gets a row, which is filled field by field."""

from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

from graphql import (
    GraphQLAbstractType,
    GraphQLList,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLSchema,
    get_nullable_type,
    is_leaf_type,
)
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetails, GroupedFieldSet, collect_subfields
from graphql.pyutils import Path

from schema.execution import flags
from schema.execution.flags import CACHED
from schema.execution.plans.completing import Completion, LeafCompletion, ListCompletion
from schema.execution.plans.resolving import FORWARD, LazyInfo, Resolver, attribute, declaration, resolver_of_root
from schema.execution.plans.rows import Row, Rows
from schema.execution.plans.run import Paths, Run, Unusual, begun, close
from schema.execution.weights import Weight

BATCHED = "batched"  # Key in the metadata of a field with a batched resolver.
BY_CLASS = "by_class"  # an attribute of an `is_type_of` function that depends on the class of the value alone
IS_KEPT = "is_kept"  # an attribute of an `is_type_of` function whose values are immutable and are used again

SELECTION_BYTES, FIELD_BYTES = 2_500, 1_700  # Bytes of a selection, and of each field in it.

_INTROSPECTION = {"__schema", "__type"}
_NUMBERS = count(1)  # of selections


class Parents(list[Any]):
    """All objects of a level. A batched resolver gets them in place of one parent, and returns a list."""


class Selection:
    """The fields that a query selects on the objects of one type."""

    def __init__(
        self,
        executor: Executor[Any],
        parent: GraphQLObjectType,
        fields: GroupedFieldSet,
        weight: Weight,
    ) -> None:
        names = {key: details[0].node.name.value for key, details in fields.items()}
        if not _INTROSPECTION.isdisjoint(names.values()):
            raise Unusual
        self._row = {key: parent.name if name == "__typename" else None for key, name in names.items()}
        weight.grow(SELECTION_BYTES + FIELD_BYTES * len(fields))
        asked = (key for key, name in names.items() if name != "__typename")
        self._fields = [Field(executor, parent, key, fields[key], weight) for key in asked]
        self._number = next(_NUMBERS)
        self._is_kept = bool(getattr(parent.is_type_of, IS_KEPT, False))
        self._leaves = [field for field in self._fields if field.is_leaf(of_kept=self._is_kept)]
        self._others = [field for field in self._fields if field not in self._leaves]

    def __del__(self) -> None:
        """Break the reference cycles between fields and completions, so that they are freed without a collection.

        No run can use the plan any more: a run holds the root selection, which holds all others.
        """
        for field in getattr(self, "_fields", ()):
            field.take_apart()

    def begin(self, run: Run, objects: list[Any], paths: Paths) -> list[Row]:
        """Return a row for each object. Awaited results are put into it later."""
        if not objects:
            return []
        if self._is_kept and run.rows is not None:
            rows = self._kept(run, run.rows, objects)
        else:
            rows = self._make(run, objects)
        for field in self._others:
            field.begin(run, objects, rows, paths)
        return rows

    def _make(self, run: Run, objects: list[Any]) -> list[Row]:
        """Return a row for each object, with the leaves that need no resolver."""
        template = self._row
        rows = [template.copy() for _ in objects]
        for field in self._leaves:
            key = field.key
            for row, value in zip(rows, field.column(run, objects), strict=True):
                row[key] = value
        return rows

    def _kept(self, run: Run, kept: Rows, objects: list[Any]) -> list[Row]:
        """Return what `_make` returns, from the kept rows where they are there."""
        identities = list(map(id, objects))
        found: Any = list(map(kept.of(self._number).get, identities))
        if not all(found):
            missing = {key: one for key, one, row in zip(identities, objects, found, strict=True) if row is None}
            more = kept.renew(self._number, missing)
            new = {key: one for key, one in missing.items() if key not in more}
            if new:
                made = dict(zip(new, self._make(run, list(new.values())), strict=True))
                kept.keep(self._number, new, made)
                more |= made
            found = [row or more[key] for key, row in zip(identities, found, strict=True)]
        return list(map(dict.copy, found)) if self._others else found

    @property
    def size(self) -> int:
        """The number of fields, without `__typename`."""
        return len(self._fields)

    def steps(self) -> Iterator[str]:
        """Yield the fields whose values are resolved, not read from attributes, here and below."""
        for field in self._fields:
            yield from field.steps()

    def have_effects(self) -> None:
        """Make the run remember the outcomes of the fields, since they must not be resolved twice."""
        for field in self._fields:
            field.has_effects = True


class Field:
    """One key of all rows of a selection."""

    def __init__(
        self,
        executor: Executor[Any],
        parent: GraphQLObjectType,
        key: str,
        details: list[FieldDetails],
        weight: Weight,
    ) -> None:
        self.key = key
        self._weight = weight
        self._parent = parent
        self._details = details
        self._nodes = [one.node for one in details]
        definition = executor.schema.get_field(parent, self._nodes[0].name.value)
        declared = declaration(definition) if definition else None
        if definition is None or declared is None:
            raise Unusual
        self._definition = definition
        self._resolver = Resolver(executor, definition, declared, self._nodes[0], weight)
        self._completion = _completion(definition.type, executor.schema, self)
        self._selections: dict[str, Selection] = {}
        self._is_batched = BATCHED in declared.metadata
        act = None if definition.args else declared.metadata.get(FORWARD)
        self._act = act.call if act and act.has_parent else None
        self._attribute = attribute(declared)
        self._of_root = resolver_of_root(declared)
        self.has_effects = False

    def is_leaf(self, *, of_kept: bool) -> bool:
        """Return whether the values are leaves that need no resolver. Those of a kept object depend on it alone."""
        if not self._completion.is_leaf:
            return False
        if of_kept:
            its_flags = flags.of(self._nodes[0].name.value, self._definition)
            return CACHED in its_flags and bool(self._attribute or self._of_root)
        return self._attribute is not None

    def column(self, run: Run, objects: list[Any]) -> list[Any]:
        """Return the results of this field, which is a leaf, for some objects."""
        values: Any = list(map(self._attribute or self._of_root, objects))  # type: ignore[arg-type]
        return self._completion.complete(run, values, list)

    def take_apart(self) -> None:
        """Drop the completion, which refers back to this field."""
        del self._completion

    def steps(self) -> Iterator[str]:
        """Yield this field, if it is resolved, and those below it. Names are the schema's, never a client's."""
        if not self._attribute:
            how = "at once" if self._of_root else "batched" if self._is_batched else "for each"
            yield f"{self._parent.name}.{self._nodes[0].name.value}: {how}"
        for selection in self._selections.values():
            yield from selection.steps()

    def begin(self, run: Run, objects: list[Any], rows: list[Row], paths: Paths) -> None:
        """Fill the rows with this field of the objects, at once or when its values have been awaited."""
        if self._attribute:
            self._fill(run, rows, paths, list(map(self._attribute, objects)))
            return
        if self._is_batched:
            self._fill_from(run, rows, paths, begun(self._answer(run, objects)))
            return
        fill = partial(self._fill, run, rows, paths)
        if self.has_effects:
            resolve = run.once(self.key, self._resolver.bound(run.asked))
            run.take([resolve(objects[0], self._lazy_info(run))], fill)
        elif self._of_root:
            run.take(map(self._of_root, objects), fill)
        elif self._act:
            run.take(map(partial(self._act, run.asked.context), objects), fill)
        else:
            resolve, places = self._resolver.bound(run.asked), zip(objects, paths(), strict=True)
            run.take((resolve(one, self._lazy_info(run, path)) for one, path in places), fill)

    def _fill_from(self, run: Run, rows: list[Row], paths: Paths, answers: Any) -> None:
        """Fill the rows with what a batched resolver has returned, at once or when it has been awaited."""
        if type(answers) is not list:
            run.take([answers], lambda awaited: self._fill(run, rows, paths, *awaited))
            return
        try:
            self._fill(run, rows, paths, answers)
        except Exception:
            close(answers)
            raise

    def _answer(self, run: Run, objects: list[Any]) -> Any:
        """Return what the batched resolver returns."""
        if self._act:
            return self._act(run.asked.context, objects)
        return self._resolver.bound(run.asked)(Parents(objects), self._lazy_info(run))

    def _fill(self, run: Run, rows: list[Row], above: Paths, values: list[Any]) -> None:
        if not isinstance(values, list):
            raise Unusual
        key, parent = self.key, self._parent.name
        results = self._completion.complete(run, values, lambda: [Path(path, key, parent) for path in above()])
        for row, result in zip(rows, results, strict=True):
            row[key] = result

    def selection(self, run: Run, name: str) -> Selection:
        """Return the selection of objects of the type with this name."""
        if name not in self._selections:
            executor = run.asked.executor
            schema, variables = executor.schema, executor.variable_values
            parent = schema.get_type(name)
            assert isinstance(parent, GraphQLObjectType)
            fields = collect_subfields(schema, executor.fragments, variables, executor.operation, parent, self._details)
            self._selections[name] = Selection(executor, parent, fields.grouped_field_set, self._weight)
        return self._selections[name]

    def _lazy_info(self, run: Run, above: Path | None = None) -> Any:
        return LazyInfo(run.asked.context, partial(self._inform, run, above))

    def _inform(self, run: Run, above: Path | None) -> Any:
        return self._resolver.inform(self.info(run, above))

    def info(self, run: Run, above: Path | None = None) -> GraphQLResolveInfo[Any]:
        """Return the info of a resolver. Without a single parent path, its path is the field alone."""
        path = Path(above, self.key, self._parent.name)
        return run.asked.executor.build_resolve_info(self._definition, self._nodes, self._parent, path)


class ObjectCompletion(Completion):
    """Resolves the type of each object, and runs the selection of that type."""

    def __init__(self, declared: GraphQLObjectType | GraphQLAbstractType, schema: GraphQLSchema, field: Field) -> None:
        super().__init__()
        self._field = field
        self._abstract = None if isinstance(declared, GraphQLObjectType) else declared
        possible = [declared] if isinstance(declared, GraphQLObjectType) else schema.get_possible_types(declared)
        self._possible = {one.name: one for one in possible}
        # A value of a concrete type without `is_type_of` needs no check.
        is_given = self._abstract is None and possible[0].is_type_of is None
        self._goes_by_class = is_given or all(hasattr(one.is_type_of, BY_CLASS) for one in possible)
        self._names: dict[type, str] = {}
        self._selections: dict[type, Selection] = {}  # of classes seen before, alone in a column

    def complete(self, run: Run, values: list[Any], paths: Paths) -> list[Any]:
        """Return a result for each value, as every completion does. Most columns have objects of one known class."""
        kinds = set(map(type, values))
        if len(kinds) == 1 and (selection := self._selections.get(kinds.pop())):
            return selection.begin(run, values, paths)
        return super().complete(run, values, paths)

    def _complete(self, run: Run, values: list[Any], kinds: set[type], paths: Paths) -> list[Any]:
        if len(kinds) == 1 and self._goes_by_class:
            selection = self._selections[kinds.pop()] = self._field.selection(run, self._name(run, values[0]))
            return selection.begin(run, values, paths)
        rows: list[Any] = [None] * len(values)
        names = [self._name(run, value) for value in values]
        for name in dict.fromkeys(names):
            places = [place for place, one in enumerate(names) if one == name]
            part = [values[place] for place in places]

            def below(places: list[int] = places) -> list[Path | None]:
                above = paths()
                return [above[place] for place in places]

            for place, row in zip(places, self._field.selection(run, name).begin(run, part, below), strict=True):
                rows[place] = row
        return rows

    def _name(self, run: Run, value: Any) -> str:
        """Return the name of an object's type; raises Unusual where it is not a possible type."""
        known = self._names.get(type(value))
        if known is not None:
            return known
        info, abstract = self._field.info(run), self._abstract
        name: Any = next(iter(self._possible))
        if abstract is not None:
            name = (abstract.resolve_type or run.asked.executor.type_resolver)(value, info, abstract)
        kind = self._possible.get(name) if isinstance(name, str) else None
        agrees: Any = kind is not None and (not kind.is_type_of or kind.is_type_of(value, info))
        if agrees is not True:
            close([name, agrees])
            raise Unusual
        if self._goes_by_class:
            self._names[type(value)] = name
        return str(name)


def _completion(kind: GraphQLOutputType, schema: GraphQLSchema, field: Field) -> Completion:
    """Return the completion of the values of a field, or of the elements of its lists."""
    made: Completion
    nullable: Any = get_nullable_type(kind)
    if isinstance(nullable, GraphQLList):
        made = ListCompletion(_completion(nullable.of_type, schema, field))
    elif is_leaf_type(nullable):
        made = LeafCompletion(nullable)
    else:
        made = ObjectCompletion(nullable, schema, field)
    made.is_nullable = nullable is kind
    return made

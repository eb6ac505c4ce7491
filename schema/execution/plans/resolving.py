"""Calls resolvers, without strawberry's wrapper where that would only pass on its arguments."""

from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, cast

from graphql import FieldNode, GraphQLField, GraphQLResolveInfo, VariableNode
from graphql.execution import Executor
from graphql.execution.values import get_argument_values
from graphql.pyutils import Undefined
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.types.field import StrawberryField

from schema.execution.plans.arguments import Parameter, parameters
from schema.execution.plans.run import PlannedOperation
from schema.execution.weights import CHARACTERS_KEPT, IMMUTABLE, WeighedCache, Weight

Arguments: TypeAlias = dict[str, Any]

ENTRY_BYTES = 1_000  # Bytes of a cached entry, and again of each variable in it.
ARGUMENTS_KEPT = 16  # Cached entries of one field. The key is the values of its variables.

FORWARD = "forward"  # Key in the metadata of a field that forwards to a function.


class Forward(NamedTuple):
    """The function that a field forwards to. It takes the context, the parent or all parents, and the arguments."""

    call: Callable[..., Any]
    defaults: Arguments
    has_parent: bool = True


class LazyInfo:
    """The info of a resolver: the context at once, and the rest when it is asked for, which is rare."""

    __slots__ = ("_inform", "context")

    def __init__(self, context: Any, inform: Callable[[], GraphQLResolveInfo[Any]]) -> None:
        self.context = context
        self._inform = inform

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inform(), name)


class Resolver:
    """The resolver of one field of a selection."""

    def __init__(
        self,
        executor: Executor[Any],
        definition: GraphQLField,
        declared: StrawberryField,
        node: FieldNode,
        weight: Weight,
    ) -> None:
        self._definition = definition
        self._node = node
        self._resolve = definition.resolve or executor.field_resolver
        self._variables = [
            argument.value.name.value for argument in node.arguments or () if isinstance(argument.value, VariableNode)
        ]
        self._cached: WeighedCache[tuple[Any, ...], Arguments | None] = WeighedCache(ARGUMENTS_KEPT, weight)
        self._entry = ENTRY_BYTES * (1 + len(self._variables))  # Bytes of one cached entry.
        self._declared = declared if _is_bare(declared) else None
        self._parameters = parameters(definition) if self._declared else None
        if self._declared:
            self._direct = _direct(self._declared)
            self._info_class = executor.schema.extensions[GraphQLCoreConverter.DEFINITION_BACKREF].config.info_class

    def bound(self, asked: PlannedOperation) -> Callable[[Any, Any], Any]:
        """Return a function of object and info that calls the resolver with the field's arguments in this operation."""
        if self._parameters is None:
            resolve, given = self._resolve, self._coerced
            return lambda one, info: resolve(one, info, **given(asked))
        simple = self._simple(asked, self._parameters)
        if simple is not None:
            return partial(self._direct, simple)
        direct, known = self._direct, self._parameters
        return lambda one, info: direct(_converted(known, self._coerced(asked)), one, info)

    def inform(self, info: GraphQLResolveInfo[Any]) -> Any:
        """Return the info that the resolver expects: strawberry's, unless its wrapper makes that of graphql-core's."""
        return info if self._parameters is None else self._info_class(info, self._declared)

    def _simple(self, asked: PlannedOperation, known: Mapping[str, Parameter]) -> Arguments | None:
        """Return the arguments by the resolver's parameter names; None where the cache cannot hold them.

        The cache holds immutable values only, since a resolver may change what it gets.
        """
        if not self._definition.args:
            return {}
        coerced = asked.variables.coerced
        key = tuple([coerced.get(name, Undefined) for name in self._variables])
        try:
            return self._cached[key]
        except KeyError:
            pass
        except TypeError:  # an unhashable value: a list or an input object
            return None
        given = self._coerced(asked)
        if any(isinstance(value, str) and len(value) > CHARACTERS_KEPT for value in key):
            return None
        simple = None
        if all(isinstance(value, IMMUTABLE) for value in given.values()):
            simple = {known[name].name: value for name, value in given.items()}
        self._cached.make_room(self._entry)
        self._cached[key] = simple
        return simple

    def _coerced(self, asked: PlannedOperation) -> Arguments:
        """Return new arguments at each call, since a resolver may change what it gets."""
        if not self._definition.args:
            return {}
        return get_argument_values(self._definition, self._node, asked.variables)


def declaration(definition: GraphQLField) -> StrawberryField | None:
    """Return strawberry's definition of a field."""
    declared = definition.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    return declared if isinstance(declared, StrawberryField) else None


def attribute(declared: StrawberryField) -> Callable[[Any], Any] | None:
    """Return an attribute getter for a field without a resolver; None for other fields."""
    is_one = declared.is_basic_field and declared.default_resolver is getattr and not declared.is_subscription
    return attrgetter(declared.python_name) if is_one else None


def resolver_of_root(declared: StrawberryField) -> Callable[[Any], Any] | None:
    """Return the resolver of a field that takes the parent object as its only parameter; None for other fields."""
    resolver = declared.base_resolver
    if resolver is None or not _is_bare(declared) or len(resolver.signature.parameters) != 1:
        return None
    root = resolver.root_parameter or resolver.self_parameter or resolver.parent_parameter
    if root is None or root.kind is root.KEYWORD_ONLY:
        return None
    return cast("Callable[[Any], Any]", resolver.wrapped_func)


def _is_bare(declared: StrawberryField) -> bool:
    """Return whether a field has a resolver function, without extensions around it."""
    resolver = declared.base_resolver
    return bool(
        resolver and not declared.extensions and not declared.is_subscription and callable(resolver.wrapped_func)
    )


def _converted(known: Mapping[str, Parameter], given: Arguments) -> Arguments:
    """Return arguments by the resolver's parameter names, converted."""
    named = [(known[name], value) for name, value in given.items()]
    return {parameter.name: parameter.take(value) for parameter, value in named}


def _direct(declared: StrawberryField) -> Callable[[Arguments, Any, Any], Any]:
    """Return a function that calls the resolver of a field with arguments, object and info."""
    act: Forward | None = declared.metadata.get(FORWARD)
    if act:
        return _acting(*act)
    resolver: Any = declared.base_resolver
    function = resolver.wrapped_func
    informed = resolver.info_parameter.name if resolver.info_parameter else None
    takers = [one.name for one in (resolver.parent_parameter, resolver.root_parameter) if one]
    first = bool(resolver.self_parameter)

    def resolve(given: Arguments, one: Any, info: Any) -> Any:
        named = given.copy()
        for taker in takers:
            named[taker] = one
        if informed:
            named[informed] = info
        return function(one, **named) if first else function(**named)

    return resolve


def _acting(call: Callable[..., Any], defaults: Arguments, has_parent: bool) -> Callable[[Arguments, Any, Any], Any]:
    if not has_parent:
        return lambda given, _, info: call(info.context, **defaults | given)
    return lambda given, one, info: call(info.context, one, **defaults | given)

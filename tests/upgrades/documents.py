"""Documents that ask for everything a member sees, made of a schema.

They leave out what depends on the moment or the process: cursors, links, sessions and trends.
"""

from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

LEFT_OUT = {
    "Query": {"node", "nodes", "trendingHashtags", "upload", "viewer"},
    "Viewer": {"sessions", "homeReadUpTo", "homeUnreadCount"},
    "Report": {"reportCount"},  # only moderators see more than one
    "Image": {"url"},
    "*": {"cursor", "pageInfo", "edges"},  # edges only add cursors, but for those of KEPT
}
KEPT = {"Timeline", "GroupMemberConnection", "LikeConnection", "FollowConnection"}  # whose edges say more than nodes
DEPTH = 5  # levels of objects without an id below an entity


def document(schema: GraphQLSchema) -> str:
    """Return the query for what a viewer sees of the whole site, with the variables `ids` and `tags`."""
    assert schema.query_type
    entities = "\n".join(
        f"... on {kind.name} {selection(schema, kind, prefix=f'{kind.name}_')}"
        for kind in entity_types(schema)
        if kind.name != "Viewer"
    )
    viewer = selection(schema, object_type(schema, "Viewer"))
    roots = selection(schema, schema.query_type)[1:-1]
    return f"query($ids: [ID!]!) {{ nodes(ids: $ids) {{ __typename {entities} }} viewer {viewer} {roots} }}"


def hashtag_document(schema: GraphQLSchema) -> str:
    """Return the query for a hashtag, with the variable `name`."""
    return f"query($name: String!) {{ hashtag(name: $name) {selection(schema, object_type(schema, 'Hashtag'))} }}"


def object_type(schema: GraphQLSchema, name: str) -> GraphQLObjectType:
    """Return an object type by its name."""
    found = schema.type_map[name]
    assert isinstance(found, GraphQLObjectType)
    return found


def entity_types(schema: GraphQLSchema) -> list[GraphQLObjectType]:
    """Return the types that have an id."""
    node = schema.type_map["Node"]
    assert isinstance(node, GraphQLInterfaceType)
    return sorted(schema.get_possible_types(node), key=lambda kind: kind.name)


def selection(schema: GraphQLSchema, kind: GraphQLObjectType, depth: int = DEPTH, prefix: str = "") -> str:
    """Return the selection of all fields of a type. Entities are named by their ids, others by all their fields.

    A prefix names the fields in the answer, where fields of several types would differ in type.
    """
    left_out = LEFT_OUT.get(kind.name, set()) | (LEFT_OUT["*"] - ({"edges"} if kind.name in KEPT else set()))
    found = (
        _field(schema, name, field, depth)
        for name, field in sorted(kind.fields.items())
        if name not in left_out and not any(map(is_required_argument, field.args.values()))
    )
    named = f"{prefix}{{}}: {{}}" if prefix else "{1}"
    return f"{{ {' '.join(named.format(text.split()[0].partition('(')[0], text) for text in found if text)} }}"


def _field(schema: GraphQLSchema, name: str, field: GraphQLField, depth: int) -> str:
    kind = get_named_type(field.type)
    asked = f"{name}(first: 100)" if "first" in field.args else name
    if is_leaf_type(kind):
        return asked
    if isinstance(kind, GraphQLInterfaceType | GraphQLUnionType):
        return f"{asked} {{ __typename ... on Node {{ id }} }}"
    assert isinstance(kind, GraphQLObjectType)
    if "id" in kind.fields and kind.name != "Hashtag":
        return f"{asked} {{ id }}"
    return f"{asked} {selection(schema, kind, depth - 1)}" if depth else ""

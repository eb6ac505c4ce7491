"""Validation agrees with graphql-core's, and takes few steps."""

import pytest
from graphql import GraphQLSchema, build_schema, parse, specified_rules, validate
from graphql.validation.rules.max_introspection_depth_rule import MaxIntrospectionDepthRule
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

import schema
from schema.execution.validation import TooMuchWork, Validator, walk
from schema.execution.validation.faults import MOST_FAULTS
from store.settings import Settings
from tests.support.execution.documents import SDL
from tests.support.execution.random_documents import RandomDocuments
from tests.support.slow import few

DOCUMENTS = 100  # of each seed
SEEDS = range(2)
RULES = (
    *(rule for rule in specified_rules if rule is not MaxIntrospectionDepthRule),  # `Limits` have that
    MaybeNullValidationRule,
    OneOfInputValidationRule,
)
PERCH = schema.build(Settings())._schema  # noqa: SLF001  graphql-core's own
SMALL = build_schema(
    SDL
    + """
    input Choice @oneOf { a: Int b: [String!] }
    extend type Query { choose(choice: Choice, limit: Int! = 1, words: [[String]]): [User!] }
    extend type User { name2: String odd: [Int] node: Item }
    type Subscription { user: User note(first: Int): Note }
    """
)


def verdicts(of: GraphQLSchema, text: str) -> tuple[bool, bool]:
    """Return whether graphql-core and the project's own validation refuse a document."""
    document = parse(text)
    return bool(validate(of, document, RULES)), bool(Validator(of).check(document).errors)


@pytest.mark.parametrize("seed", few(SEEDS))
@pytest.mark.parametrize("of", [PERCH, SMALL], ids=["perch", "small"])
def test_verdicts_are_those_of_graphql_core(of: GraphQLSchema, seed: int) -> None:
    """Random documents with and without errors are valid exactly when graphql-core says so."""
    made, counts = RandomDocuments(of, seed), {True: 0, False: 0}
    for _ in range(DOCUMENTS):
        text = made.document()
        theirs, ours = verdicts(of, text)
        assert theirs == ours, text
        counts[ours] += 1
    assert min(counts.values()) > DOCUMENTS // 10, counts


@pytest.mark.parametrize(
    "text",
    [
        "{ user { name: id } }",
        "{ user { name: id name } }",
        "{ user { ...A ...B } } fragment A on User { x: id } fragment B on User { x: name }",
        "{ user { ...A } user { ...B } } fragment A on User { x: id } fragment B on User { x: name }",
        "{ home { nodes { ... on User { x: id } ... on Note { x: text } } } }",
        "{ home { nodes { ... on User { x: id } ... on Note { x: author { id } } } } }",
        "{ home { nodes { ... on User { x: node { __typename } } ... on Note { x: author { id } } } } }",
        "{ home { nodes { ... on User { x: friends { y: id } } ... on Note { x: author { y: name } } } } }",
        "{ home(first: 1) { total } home(first: 1) { total } }",
        "{ home(first: 1) { total } home(first: 2) { total } }",
        "{ home(first: 1, last: 2) { total } home(last: 2, first: 1) { total } }",
        "{ choose(choice: {a: 1}) { id } choose(choice: {a: 1}) { name } }",
        "{ choose(choice: {a: 1, b: []}) { id } }",
        "{ choose(choice: {a: null}) { id } }",
        "query($a: Int) { choose(choice: {a: $a}) { id } }",
        "query($a: Int!) { choose(choice: {a: $a}) { id } }",
        "query($limit: Int) { choose(limit: $limit) { id } }",
        "query($limit: Int = null) { choose(limit: $limit) { id } }",
        "query($limit: Int) { nodes(ids: [$limit]) { id } }",
        "{ choose(limit: null) { id } }",
        '{ choose(words: "a") { id } }',
        '{ choose(words: [["a", null], null, ["b"]]) { id } }',
        "{ choose(words: {a: 1}) { id } }",
        "subscription { user { id } }",
        "subscription { user { id } note { id } }",
        "subscription { ...A } fragment A on Subscription { user { id } __typename }",
        "subscription { user @include(if: true) { id } }",
        "subscription { __typename }",
        "subscription A { user { id } } subscription A { user { name } }",
        "{ user { id } } query A { user { id } }",
        "{ user { ...A } } fragment A on User { friends { ...B } } fragment B on User { friends { ...A } }",
        "{ user { ...A } } fragment A on User { id } fragment A on User { name }",
        "{ user { ...A } } fragment A on Int { id }",
        "{ user { ...A } } fragment A on Note { id }",
        "{ user }",
        "{ user { id { id } } }",
        "{ user { } }",
        "{ nodes { id } }",
        "{ user(login: 1) { id } }",
        "{ __type { name } }",
        '{ __type(name: "User") { name } }',
        "{ user { __schema { types { name } } } }",
        "type User { id: ID }",
        "{ user { id } } type Other { id: ID }",
        "query($a: Int, $a: Int) { home(first: $a) { total } }",
        "query($a: User) { home(first: $a) { total } }",
        "query @skip(if: true) { user { id } }",
        "query($a: Int @deprecated) { home(first: $a) { total } }",
        "{ user @skip { id } }",
        "{ user @skip(if: true, if: true) { id } }",
        "{ user @skip(unless: true, if: true) { id } }",
    ],
)
def test_rules_one_by_one(text: str) -> None:
    """Each rule of the specification is judged as by graphql-core."""
    theirs, ours = verdicts(SMALL, text)
    assert theirs == ours


def test_errors_say_where_and_keep_nothing() -> None:
    """Errors have messages and places, are bounded in number, and hold neither text nor nodes."""
    (error,) = Validator(SMALL).check(parse("{\n  user { nane }\n}")).errors
    assert error.message == "Cannot query field 'nane' on type 'User'. Did you mean 'name', 'name2', or 'node'?"
    assert [tuple(place) for place in error.locations or ()] == [(2, 10)]
    assert (error.nodes, error.source) == (None, None)
    many = " ".join(f"f{number}" for number in range(100))
    assert len(Validator(SMALL).check(parse(f"{{ {many} }}")).errors) == MOST_FAULTS


@pytest.mark.parametrize("text", ["query({}) {{ __typename }}", "{{ {} }}"], ids=["variables", "conditions"])
def test_suggestions_are_searched_for_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document with many unknown types compares the first one with the schema's names, by a search that is fast."""
    searched: list[str] = []

    def search(name: str, *_: object) -> list[str]:
        searched.append(name)
        return ["Notification"]

    monkeypatch.setattr(walk, "get_close_matches", search)
    part = "$v{0}: NotificationConnec{0}" if "(" in text else "... on NotificationConnec{0} {{ id }}"
    errors = Validator(PERCH).check(parse(text.format(" ".join(part.format(place) for place in range(240))))).errors
    assert errors[0].message == "Unknown type 'NotificationConnec0'. Did you mean 'Notification'?"
    assert searched == ["NotificationConnec0"]


def test_merging_that_takes_too_long_is_given_up() -> None:
    """Fragments that all spread each other are merged in few steps, or not at all."""
    fragments = " ".join(
        f"fragment F{one} on User {{ friends {{ {' '.join(f'...F{other}' for other in range(one + 1, 60))} id }} }}"
        for one in range(60)
    )
    with pytest.raises(TooMuchWork):
        Validator(SMALL).check(
            parse(f"{{ user {{ ...F0 {' '.join(f'...F{one}' for one in range(60))} }} }} {fragments}")
        )

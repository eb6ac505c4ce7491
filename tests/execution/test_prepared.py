"""Repeated operations are prepared once, and never with the values of other variables."""

from typing import Any

import pytest

from schema.execution.documents import PREPARED_KEPT, Prepared
from schema.execution.weights import CHARACTERS_KEPT
from tests.support.execution.zoo import Context, answer, differ, zoo

SCHEMA = zoo(fast=True)
DOUBLE = "query($times: Int! = 3, $wish: Wish) { animals { double(times: $times, wish: $wish) } }"


def prepared(query: str, variables: dict[str, Any] | None, name: str | None = None) -> Prepared:
    """Return an operation of the zoo, prepared."""
    found = SCHEMA.documents.get(query).prepared(name, variables)
    assert found
    return found


@pytest.mark.parametrize("variables", [None, {}, {"times": 2}, {"wish": None}, {"times": 1, "wish": None}])
def test_the_usual_is_prepared_once(variables: dict[str, Any] | None) -> None:
    """The same variables are coerced once."""
    assert prepared(DOUBLE, variables) is prepared(DOUBLE, variables and dict(variables))


@pytest.mark.parametrize("variables", [{"wish": {"atLeast": 2}}, {"times": [2]}, {"times": "two"}, {"times": True}])
def test_what_can_be_changed_is_prepared_anew(variables: dict[str, Any]) -> None:
    """Each operation gets its own objects and lists, and its own errors."""
    assert prepared(DOUBLE, variables) is not prepared(DOUBLE, variables)


async def test_equal_is_not_the_same() -> None:
    """Python takes 1, 1.0 and true for equal; a type tells them apart, in any order."""
    for values in ((1, 1.0, True), (True, 1, 1.0)):
        for value in values:
            await differ(DOUBLE, times=value)
            await differ("query($skip: Boolean!) { animals { number @skip(if: $skip) late } }", skip=value)


async def test_errors_are_told_again() -> None:
    """Variables of a wrong type are refused alike each time, with the code of a client's error."""
    found = [answer(await SCHEMA.execute(DOUBLE, {"times": "two"}, Context())) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0][1][0][-1] == "BAD_USER_INPUT"


def test_operations_are_told_apart() -> None:
    """Each operation of a document is prepared separately."""
    query = "query A { animals { number } } query B { animals { late } }"
    assert [prepared(query, None, name).operation.name.value for name in "ABA"] == ["A", "B", "A"]  # type: ignore[union-attr]
    assert SCHEMA.documents.get(query).prepared(None, None) is None


def test_what_is_prepared_is_bounded() -> None:
    """The number of prepared operations is bounded, and none with a long text is kept."""
    query = "query($name: String!) { animals(name: $name) { number } }"
    first = prepared(query, {"name": "0"})
    assert prepared(query, {"name": "0"}) is first
    for number in range(1, PREPARED_KEPT + 1):
        prepared(query, {"name": str(number)})
    assert prepared(query, {"name": "0"}) is not first
    long = {"name": "x" * (CHARACTERS_KEPT + 1)}
    assert prepared(query, long) is not prepared(query, long)


def test_mutations_are_prepared_anew() -> None:
    """The variables of a mutation are not kept, because a text or an id is hardly ever sent twice."""
    query = "mutation($skip: Boolean!) { act @skip(if: $skip) { number } }"
    assert prepared(query, {"skip": False}) is not prepared(query, {"skip": False})

"""The marker of tests that the README's command leaves out. They cost most of the time, and find little more."""

from collections.abc import Iterable
from typing import Any

import pytest

slow = pytest.mark.slow


def few(values: Iterable[Any], *fast: Any) -> list[Any]:
    """Return the values of a parameter. All but the named ones are slow, or all but the first if none is named."""
    some = list(values)
    chosen = fast or some[:1]
    return [value if value in chosen else _slow(value) for value in some]


def _slow(value: Any) -> Any:
    return pytest.param(*value if isinstance(value, tuple) else (value,), marks=slow)

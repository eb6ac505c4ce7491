"""Declares the keys of an entity, and those of a partition. A key of any other form is a function of its own.

The text below a declaration documents its key, as the docstring of a function does.
"""

from collections.abc import Callable
from inspect import Parameter, Signature

from store.ids import LAST_PARTITION, SEQUENCE_BITS

Key = Callable[[int], str]

OWNED: dict[str, Key] = {}  # keys of an entity, by their names
OF_PARTITION: dict[str, Key] = {}  # the same of a partition


def owned_by(noun: str, within: int | None = None) -> Callable[..., Key]:
    """Return what declares a key that each entity of a kind has. The stem is the name, unless given.

    The key lies in the owner's partition, or in the one `within` which all owners are. The partition is computed as
    `store.ids.partition` does. A call would add a tenth to each key's cost.
    """

    def declare(name: str, stem: str = "") -> Key:
        before = f"{stem or _spelled(name)}:{{"
        OWNED[name] = key = (
            (lambda owner: f"{before}{owner >> SEQUENCE_BITS & LAST_PARTITION}}}:{owner}")
            if within is None
            else (lambda owner: f"{before}{within}}}:{owner}")
        )
        return _named(name, noun, key)

    return declare


def of_partition(name: str) -> Key:
    """Declare a key that each partition has."""
    before = f"{_spelled(name)}:{{"
    OF_PARTITION[name] = key = lambda p: f"{before}{p}}}"
    return _named(name, "p", key)


def _spelled(name: str) -> str:
    return name.replace("_", "-")


def _named(name: str, parameter: str, key: Key) -> Key:
    """Return a key that shows its name and its parameter, as scripts and the table of keys have them."""
    key.__name__ = name
    named = Parameter(parameter, Parameter.POSITIONAL_ONLY, annotation=int)
    key.__signature__ = Signature([named], return_annotation=str)  # type: ignore[attr-defined]
    return key

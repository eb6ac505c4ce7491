"""Descriptions shared by many elements of the schema, and the limits that they state."""

from dataclasses import fields
from enum import EnumMeta
from typing import Any

import strawberry

from store.settings import Settings

USER_ERRORS = "Why the mutation was refused. Empty when everything was done."
POST_ID = "The id of a status or repost. A plain repost acts for its original."
IDEMPOTENCY_KEY = (
    "1 to 64 characters, the member's own. A retry with the same key and input within a day returns the first result "
    "instead of acting again. With other input it is refused with CONFLICT."
)

_DEFAULTS: dict[str, Any] = {setting.name: setting.default for setting in fields(Settings)}


def limit(setting: str) -> str:
    """Return a limit as descriptions state it: a setting's default and its name, as in "500 (`MAX_TEXT`)"."""
    return f"{_DEFAULTS[setting]:,} (`{setting.upper()}`)"


def enum(kind: EnumMeta, description: str, **values: str) -> Any:
    """Declare an enum with a description of each value; raises ValueError when values and descriptions differ."""
    if set(kind.__members__) != values.keys():
        raise ValueError(f"{kind.__name__} has the values {', '.join(kind.__members__)}, and each has a description")
    declared: Any = strawberry.enum(kind, description=description)
    for value in declared.__strawberry_definition__.values:
        value.description = values[value.name]
    return declared

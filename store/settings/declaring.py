"""How a setting is declared, and how its value is read from the environment."""

import math
from collections.abc import Mapping
from dataclasses import Field, field
from pathlib import Path
from typing import Any

_TRUTH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class SettingError(ValueError):
    """A setting has an invalid value; the message is one line and names the variable."""


def setting(
    default: Any,
    meaning: str,
    *,
    least: int | None = 1,
    most: int | None = None,
    choices: tuple[str, ...] = (),
    is_secret: bool = False,
) -> Any:
    """Return the field of a setting. Its meaning names the unit; `least` and `most` bound a number, if not None."""
    metadata = {"meaning": meaning, "least": least, "most": most, "choices": choices}
    return field(default=default, metadata=metadata, repr=not is_secret)


def read(declared: Field[Any], text: str) -> Any:
    """Return the value of a setting that a text gives; raises SettingError."""
    name, rules = declared.name.upper(), declared.metadata
    default: Any = declared.default
    kind = type(default)
    if kind is bool:
        if text.lower() not in _TRUTH:
            raise SettingError(f"{name} must be true or false, not {text!r}")
        return _TRUTH[text.lower()]
    if kind in {int, float}:
        return _read_number(name, rules, text, kind)
    if kind is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if rules["choices"] and text not in rules["choices"]:
        raise SettingError(f"{name} must be one of {', '.join(rules['choices'])}, not {text!r}")
    return kind(text) if kind is str else Path(text)


def _read_number(name: str, rules: Mapping[str, Any], text: str, kind: type[int | float]) -> int | float:
    least, most = rules["least"], rules["most"]
    try:
        number = kind(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise SettingError(f"{name} must be a {'whole ' if kind is int else ''}number, not {text!r}")
    if least is not None and number < least:
        raise SettingError(f"{name} must be at least {least}, not {number}")
    if most is not None and number > most:
        raise SettingError(f"{name} must be at most {most}, not {number}")
    return number

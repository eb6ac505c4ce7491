"""Settings from a file in TOML, such as `port = 8000`. The environment overrides it."""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from store.settings import Settings
from store.settings.declaring import SettingError, read

CONFIG = "PERCH_CONFIG"  # the variable that names the file
DEFAULT = "perch.toml"  # in the current directory, where the variable names none


def load(environment: Mapping[str, str]) -> Settings:
    """Return the settings of the file and the environment; raises SettingError."""
    given = {name: value for name, value in environment.items() if value}
    return Settings.from_environment(_of_file(path) | given if (path := _path(given)) else given)


def _path(environment: Mapping[str, str]) -> Path | None:
    """Return the file to read, None without one. A file that the environment names must exist."""
    if named := environment.get(CONFIG):
        return Path(named)
    return Path(DEFAULT) if Path(DEFAULT).exists() else None


def _of_file(path: Path) -> dict[str, str]:
    """Return the settings of a file as an environment has them."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{path}: {error.strerror}") from error
    except ValueError as error:  # of TOML, or of UTF-8
        raise SettingError(f"{path}: {error}") from error
    declared = {field.name: field for field in fields(Settings)}
    values = {}
    for name, value in given.items():
        if name not in declared:
            near = difflib.get_close_matches(name.lower(), declared, n=1)
            raise SettingError(f"{path}: there is no setting {name!r}" + (f"; {near[0]!r} is one" if near else ""))
        values[name.upper()] = text = _text(path, name, value)
        try:
            if text:
                read(declared[name], text)
        except SettingError as error:
            raise SettingError(f"{path}: {error}") from error
    return values


def _text(path: Path, name: str, value: Any) -> str:
    """Return a value as an environment has it: lists with commas, truth in words."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ",".join(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise SettingError(f"{path}: {name} must be a text, a number, true, false or a list of texts")

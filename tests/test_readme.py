"""The README says what is so."""

from __future__ import annotations

from pathlib import Path

from schema.channels import close_codes_table
from store.layout import layout_table
from store.settings import settings_table

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_every_setting_is_listed() -> None:
    """The table of settings is the one that `server.py print-tables` prints."""
    assert settings_table() in README


def test_every_key_is_listed() -> None:
    """The data layout is the one that `server.py print-tables` prints."""
    assert layout_table() in README


def test_every_close_code_is_listed() -> None:
    """The table of close codes is the one that `server.py print-tables` prints."""
    assert close_codes_table() in README

"""How members are found by the beginning of their login or name: one definition for indexing and for looking up."""

from __future__ import annotations

from unicodedata import normalize

INDEXED = 32  # characters of a folded name that the index has; what comes after them is compared with the record
_SIGNS = "@\uff20"  # what a login is mentioned with


def fold(text: str) -> str:
    """Return a login, a name or the beginning of one without case and in NFC; a sign of mention before it is dropped.

    Nothing is left of a text that is only such a sign.
    """
    # Case folding may leave what composes, hence NFC once more.
    return normalize("NFC", normalize("NFC", text).casefold()).lstrip(_SIGNS)


def indexed(login: str, name: str) -> list[str]:
    """Return what a member is found by."""
    return sorted({folded[:INDEXED] for text in (login, name) if (folded := fold(text))})


def begins(login: str, name: str, prefix: str) -> bool:
    """Return whether a login or name begins with a folded prefix."""
    return any(fold(text).startswith(prefix) for text in (login, name))

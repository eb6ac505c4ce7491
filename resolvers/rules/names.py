"""Prefix search of members by login or name: one definition for indexing and for searching."""

from unicodedata import normalize

INDEXED = 32  # characters of a folded name that the index holds; the rest of a prefix is compared with the record
_SIGNS = "@\uff20"  # signs of a mention


def fold(text: str) -> str:
    """Return a login, a name or a prefix of one, case-folded, in NFC, and without signs of a mention before it.

    The result is empty for a text of such signs alone.
    """
    # Case folding may leave characters that compose, hence NFC once more.
    return normalize("NFC", normalize("NFC", text).casefold()).lstrip(_SIGNS)


def indexed(login: str, name: str) -> list[str]:
    """Return a member's entries in the search index: folded login and name, cut to `INDEXED` characters."""
    return sorted({folded[:INDEXED] for text in (login, name) if (folded := fold(text))})


def begins(login: str, name: str, prefix: str) -> bool:
    """Return whether a login or name begins with a folded prefix."""
    return any(fold(text).startswith(prefix) for text in (login, name))

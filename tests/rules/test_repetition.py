"""When two texts are the same to those who get them unasked."""

import pytest

from resolvers.rules.text import SHORT, fingerprint

TEXT = "Buy the very best tea of the whole world!"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.upper(),
        TEXT.replace(" ", ""),
        f"\n  {TEXT} ?!",
        f"@alice @bob_2 {TEXT}",
        f"{TEXT} \uff20alice",
        TEXT.replace("tea", "t-e-a"),
        TEXT.replace("B", "\uff22"),
        f"{TEXT}\U0001f600\u200d",
    ],
)
def test_the_same(text: str) -> None:
    """Texts that differ in case, spaces, punctuation, emoji, mentions or the width of letters are the same."""
    assert fingerprint(text) == fingerprint(TEXT) != ""


@pytest.mark.parametrize("text", [f"{TEXT} 2", TEXT.replace("tea", "cocoa"), TEXT[::-1]])
def test_another(text: str) -> None:
    """Other letters or digits make another text."""
    assert fingerprint(text) != fingerprint(TEXT)


@pytest.mark.parametrize("text", ["", "Thank you!", "a" * (SHORT - 1), "@" + "a" * 50, "\U0001f600" * 50, " - " * 50])
def test_short(text: str) -> None:
    """A text with few letters and digits has no fingerprint."""
    assert fingerprint(text) == ""


@pytest.mark.parametrize("text", ["a" * SHORT, "\u7121\u6599" * (SHORT // 2), "1" * SHORT])
def test_long_enough(text: str) -> None:
    """Letters of any script and digits count."""
    assert len(fingerprint(text)) == 16

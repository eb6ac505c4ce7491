"""The rules of texts and logins."""

import pytest

from resolvers.rules.text import TextRefused, is_login, normalise
from tests.support.texts import FAMILY, LONG


def refusal(text: str, *, limit: int = 10, multiline: bool = True) -> TextRefused:
    with pytest.raises(TextRefused) as caught:
        normalise(text, limit=limit, multiline=multiline)
    return caught.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("perch", "perch"),
        ("  perch \t\n", "perch"),
        ("\u3000\u00a0perch\u2003\u2028", "perch"),
        ("\u200b\ufeffperch\u2060", "perch"),
        ("\ufeff \u200b perch \u200b \ufeff", "perch"),
        ("a  b", "a  b"),
        ("a\u200bb", "a\u200bb"),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("a\r\r\nb", "a\n\nb"),
        ("a\tb", "a\tb"),
        ("cafe\u0301", "caf\u00e9"),
        ("\u1112\u1161\u11ab", "\ud55c"),
        ("\u2126", "\u03a9"),
        ("\u2764\ufe0f", "\u2764\ufe0f"),
        ("\u2067abc\u2069", "\u2067abc\u2069"),
        ("0123456789", "0123456789"),
        (" 0123456789 ", "0123456789"),
        ("\U0001f41f" * 10, "\U0001f41f" * 10),
        ("e\u0301" * 10, "\u00e9" * 10),
        ("\u03b1\u0313\u0300\u0345" * 10, "\u1f82" * 10),
        ("\r\n".join("abcde"), "a\nb\nc\nd\ne"),
        (" " * LONG + "perch" + "\n" * LONG, "perch"),
    ],
)
def test_normalises(text: str, expected: str) -> None:
    """A text is composed and trimmed, its line ends are unified, and its length then counts code points."""
    assert normalise(text, limit=10) == expected
    assert normalise(expected, limit=10) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\r\n\t",
        "\u3000",
        "\u200b",
        "\ufeff\u2060",
        "\u200c\u200d",
        "\u00ad",
        "\u3164",
        "\u2800",
        "\ufe0f",
        "\u202e\u2066",
        "\u200d" * LONG,
    ],
)
def test_blank(text: str) -> None:
    """A text of invisible characters alone is blank, which is valid if a text may be empty."""
    assert refusal(text).code == "BLANK"
    assert str(refusal(text, multiline=False)) == "must not be blank"
    assert normalise(text, limit=10, may_be_empty=True) == ""


@pytest.mark.parametrize("text", ["a" * 11, "\U0001f41f" * 11, "e\u0301" * 11, " " + "a\u0301" * 11 + "\u200b"])
def test_too_long(text: str) -> None:
    """One code point more than the limit is refused with both numbers."""
    error = refusal(text)
    assert error.code == "TOO_LONG"
    assert str(error) == "must be at most 10 characters, is 11"


@pytest.mark.parametrize("text", ["a" * 41, "a" * LONG, "a\0" * LONG, "e\u0301" * LONG, FAMILY * LONG])
def test_far_too_long(text: str) -> None:
    """A text that no normalisation could bring under the limit is refused by its raw length alone."""
    error = refusal(text)
    assert error.code == "TOO_LONG"
    assert str(error) == "must be at most 10 characters, is far longer"


def test_too_long_by_composition() -> None:
    """The length is taken after NFC even if that makes a text longer."""
    assert normalise("\ufb2c" * 3, limit=9) == "\u05e9\u05bc\u05c1" * 3
    assert str(refusal("\ufb2c" * 4)) == "must be at most 10 characters, is 12"


@pytest.mark.parametrize(
    ("character", "rule"),
    [
        ("\0", "control character U+0000"),
        ("\a", "control character U+0007"),
        ("\v", "control character U+000B"),
        ("\x1b", "control character U+001B"),
        ("\x1f", "control character U+001F"),
        ("\x7f", "control character U+007F"),
        ("\x85", "control character U+0085"),
        ("\ud800", "lone surrogate U+D800"),
        ("\udfff", "lone surrogate U+DFFF"),
        ("\ufdd0", "noncharacter U+FDD0"),
        ("\ufdef", "noncharacter U+FDEF"),
        ("\ufffe", "noncharacter U+FFFE"),
        ("\uffff", "noncharacter U+FFFF"),
        ("\U0001fffe", "noncharacter U+1FFFE"),
        ("\U0010ffff", "noncharacter U+10FFFF"),
    ],
)
@pytest.mark.parametrize("multiline", [True, False])
def test_invalid(character: str, rule: str, multiline: bool) -> None:
    """No text holds a control character, half a surrogate pair or a noncharacter."""
    error = refusal(f"a{character}b", multiline=multiline)
    assert error.code == "INVALID"
    assert str(error) == f"must not contain the {rule}"


@pytest.mark.parametrize("text", ["\0", "\x1f", "\ud83d", "perch\0", "\x1cperch"])
def test_invalid_at_the_ends(text: str) -> None:
    """Control characters that are no white space are not trimmed away but refused."""
    assert refusal(text).code == "INVALID"


@pytest.mark.parametrize(
    ("character", "rule"),
    [
        ("\n", "control character U+000A"),
        ("\r", "control character U+000D"),
        ("\t", "control character U+0009"),
        ("\u2028", "line break U+2028"),
        ("\u2029", "line break U+2029"),
        ("\u202a", "bidirectional control U+202A"),
        ("\u202e", "bidirectional control U+202E"),
        ("\u2066", "bidirectional control U+2066"),
        ("\u2069", "bidirectional control U+2069"),
    ],
)
def test_invalid_in_a_single_line(character: str, rule: str) -> None:
    """A name neither breaks the line nor reverses the text around it; longer texts may."""
    error = refusal(f"a{character}b", multiline=False)
    assert error.code == "INVALID"
    assert str(error) == f"must not contain the {rule}"
    assert normalise(f"a{character}b", limit=10) == f"a{character}b".replace("\r", "\n")


@pytest.mark.parametrize("name", ["Ann O'Perch", "\u0646\u06cc\u200c\u0645\u0627", "\u200fabc", f"Ann {FAMILY}"])
def test_single_line_keeps(name: str) -> None:
    """Joiners and direction marks are allowed in names."""
    assert normalise(name, limit=20, multiline=False) == name
    assert normalise(f" {name}\r\n", limit=20, multiline=False) == name


@pytest.mark.parametrize("login", ["a", "Z", "0", "_", "Ann_Perch_2", "_" * 20])
def test_is_login(login: str) -> None:
    """A login has 1 to 20 ASCII letters, digits or underscores."""
    assert is_login(login)


@pytest.mark.parametrize(
    "login",
    [
        "",
        "a" * 21,
        "ann\n",
        "\nann",
        "ann ",
        "an n",
        "ann-b",
        "ann.b",
        "@ann",
        "\u00e9",
        "\uff41",
        "\u0661",
        "\u212a",
        "a\0",
    ],
)
def test_is_no_login(login: str) -> None:
    """Any other text is no login, not even one with a line end after it."""
    assert not is_login(login)

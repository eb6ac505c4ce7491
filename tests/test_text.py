"""The rules of texts, logins, mentions and hashtags."""

# Letters of other scripts are what these cases are about:
# ruff: noqa: RUF001

from __future__ import annotations

import unicodedata

import pytest

from resolvers.rules.text import TextRefused, hashtag_name, hashtags, is_login, mentions, normalise

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"  # one emoji of three, joined by U+200D
LONG = 100_000  # characters, of adversarial texts


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
    """A text is composed, trimmed, its line ends are unified and its length counts code points after that."""
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
    """A text of nothing but invisible characters is blank, which is an answer where a text may be empty."""
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
    """A text that no normalisation could bring under the limit is refused by its raw length, whatever it holds."""
    error = refusal(text)
    assert error.code == "TOO_LONG"
    assert str(error) == "must be at most 10 characters, is far longer"


def test_too_long_by_composition() -> None:
    """The length is taken after NFC also where that makes a text longer."""
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
    """A name neither breaks the line nor turns the direction of what stands around it; longer texts may."""
    error = refusal(f"a{character}b", multiline=False)
    assert error.code == "INVALID"
    assert str(error) == f"must not contain the {rule}"
    assert normalise(f"a{character}b", limit=10) == f"a{character}b".replace("\r", "\n")


@pytest.mark.parametrize("name", ["Ann O'Perch", "\u0646\u06cc\u200c\u0645\u0627", "\u200fabc", f"Ann {FAMILY}"])
def test_single_line_keeps(name: str) -> None:
    """Joiners and marks of direction are part of names."""
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
    """Anything else is no login, a line end after one included."""
    assert not is_login(login)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("no one", ""),
        ("@", ""),
        ("@ ann", ""),
        ("@ann", "ann"),
        ("hi @ann!", "ann"),
        ("@Ann and @ANN, @bob.", "ann ann bob"),
        ("@bob\n@ann\t@bob", "bob ann bob"),
        ("(@ann) [@bob] \u300c@cy\u300d", "ann bob cy"),
        (".@ann -@bob +@cy /@di :@ed", "ann bob cy di ed"),
        ("\uff20ann \uff20Bob", "ann bob"),
        ("@_ @__ @2 @a_2", "_ __ 2 a_2"),
        ("@ann's @bob-ish", "ann bob"),
        ("@ann/lists @bob/@cy", "ann bob cy"),
        # characters before
        ("a@ann 1@ann _@ann", ""),
        ("!@ann #@ann $@ann %@ann &@ann *@ann", ""),
        ("@@ann \uff20@ann @\uff20ann", ""),
        ("\u00e9@ann \u307e@bob \ud55c@cy \U0001f41f@di", "ann bob cy di"),
        # characters after
        ("@ann@bob", ""),
        ("@ann\uff20bob", ""),
        ("@a@b @c", "c"),
        ("@jos\u00e9 @jose\u0301 @\u00fcli @ann\u1ebf", ""),
        ("@ann\u307e\u3059 @bob\u306f", "ann bob"),
        ("@ann\ud55c\uad6d @bob\u0e01", "ann bob"),
        ("@ann\u00d7", "ann"),
        ("@https://example.org", ""),
        ("@ann:// @bob:/ @cy:", "bob cy"),
        # the longest
        ("@" + "a" * 20, "a" * 20),
        ("@" + "a" * 21, "a" * 20),
        ("@" + "a" * 20 + "b@c", "a" * 20),
        ("@" + "a" * 20 + "@", ""),
        # repeats
        ("RT@ann rt@bob Rt@cy rT@di", "ann bob cy di"),
        ("RT:@ann rt: @bob (RT@cy)", "ann bob cy"),
        ("art@ann 1RT@ann _rt@ann", ""),
        ("a.rt@ann a+rt@ann a-rt@ann a~rt@ann", ""),
        ("RTT@ann R@ann RT.@bob", "bob"),
        ("@rt@ann", ""),
        # e-mail addresses
        ("a@b.com", ""),
        ("mail ann.perch@example.org or @bob", "bob"),
        ("@ann@example.org", ""),
        # web addresses
        ("https://example.org/@ann", ""),
        ("HTTP://Example.org:8080/a(@b)?c=@d#@e", ""),
        ("example.org/@ann @bob", "bob"),
        ("https://example.org/, @ann", "ann"),
        ("(https://example.org/a)@ann", "ann"),
        ("https://example.org\u306e@ann", "ann"),
        ("no.Really?@ann yes/@bob", "ann bob"),
        # much of one thing
        ("@" * LONG, ""),
        ("@a" * LONG, ""),
        ("@a " * 1000, "a " * 1000),
        ("rt" * LONG + "@ann", ""),
        ("rt@" * LONG, ""),
        ("\u00e9" * LONG + "@ann", "ann"),
        ("a.b/(" * LONG + "@ann", "ann"),
        ("https://" * LONG + "@ann", "ann"),
    ],
)
def test_mentions(text: str, expected: str) -> None:
    """Mentions are found in order and as often as they stand there, and not inside other things."""
    assert mentions(text) == tuple(expected.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("none", ""),
        ("#", ""),
        ("# tag", ""),
        ("#tag", "tag"),
        ("a #tag here", "tag"),
        ("#b #a\n#b\t#A", "b a b a"),
        ("\uff03tag \uff03Tag", "tag tag"),
        ("#a1 #1a #2026a #a_b #_a #a_", "a1 1a 2026a a_b _a a_"),
        ("#1 #2026 #_ #__ #1_2 #\u3003 #\u00b7 #\u200d #\u0662\u0663", ""),
        # punctuation after and before
        ("#a. #b, #c! #d? #e; #f: #g) #h' #i\u3002 #j\u2026 #k-l", "a b c d e f g h i j k"),
        (".#a ,#b !#c (#d [#e \"#f '#g -#h /#i \u3002#j \uff01#k *#l $#m %#n @#o", "a b c d e f g h i j k l m n o"),
        ("a#b 1#b _#b \u00e9#b \u307e#b \ud55c#b \u0e32#b \u30fc#b \u200d#b \u00b7#b", ""),
        ("&#b &#39;b &#x27;", ""),
        # signs in a row
        ("##a", "a"),
        ("###a \uff03#b", "a b"),
        ("#a#b", ""),
        ("#a\uff03b", ""),
        ("#a# #b", "b"),
        ("#a##b", "b"),
        # emoji
        ("\u270c#a \u270c\ufe0e#b \u270c\ufe0f#c \u270c\U0001f3ff#d \u270c\U0001f3ff\ufe0f#e", "a b c d e"),
        (f"{FAMILY}#a \U0001f1eb\U0001f1f7#b", "a b"),
        ("#a\U0001f41f #\U0001f41f #\U0001f41fb", "a"),
        ("#\ufe0f\u20e3 #\ufe0fa #\u20e3a", ""),
        # letters of all sorts
        (
            "#Za\u017c\u00f3\u0142\u0107 #\u0141\u00d3D\u0179 #stra\u00dfe",
            "za\u017c\u00f3\u0142\u0107 \u0142\u00f3d\u017a stra\u00dfe",
        ),
        ("#\u0420\u044b\u0431\u0430 #\u039f\u0394\u039f\u03a3", "\u0440\u044b\u0431\u0430 \u03bf\u03b4\u03bf\u03c2"),
        ("#\u0130zmir #\u0131\u015f\u0131k", "i\u0307zmir \u0131\u015f\u0131k"),
        (
            "#さかな #サカナ #ｻｶﾅ #魚\uff5e店 #人々、#ラーメン・ライス。",
            "さかな サカナ ｻｶﾅ 魚\uff5e店 人々 ラーメン・ライス",
        ),
        ("今日は#さかな", ""),
        ("#물고기 맛있다, #한국_요리!", "물고기 한국_요리"),
        ("#น้ำปลา #ก๋วยเตี๋ยว", "น้ำปลา ก๋วยเตี๋ยว"),
        ("#سمكة #بحر_كبير، #٢٠٢٦سنة", "سمكة بحر_كبير ٢٠٢٦سنة"),
        ("#می\u200cخواهم", "می\u200cخواهم"),
        ("#मछली #हिन्दी_२ #१२", "मछली हिन्दी_२"),
        ("#דג־ים #ק׳ #רמב״ם", "דג־ים ק׳ רמב״ם"),
        ("#ཉ་ #ශ්\u200dරී #மீன் #মাছ", "ཉ་ ශ්\u200dරී மீன் মাছ"),
        ("#goril\u00b7la #goril\u0387la", "goril\u00b7la goril\u00b7la"),
        ("#\U00020bb7 #\U00010400b #a\U0001d7d8 #\U0001d7d8", "\U00020bb7 \U00010428b a\U0001d7d8"),
        ("#\uff21\uff22\uff11", "\uff41\uff42\uff11"),
        ("#cafe\u0301 #caf\u00e9 #CAFE\u0301", "caf\u00e9 caf\u00e9 caf\u00e9"),
        # web addresses
        ("#https://example.org #b://", ""),
        ("#b:/ #c:", "b c"),
        ("https://example.org/#a http://example.org/?b=#b&c(#c) #d", "d"),
        ("example.org/#a example.org:80/b#c www.example.org/caf\u00e9#d #e", "e"),
        ("https://example.org#a", ""),
        ("https://example.org/ #a", "a"),
        ("(https://example.org/a)#b", "b"),
        ("no.Really?#a and/or/#b", "a b"),
        # the longest, also where lower case is longer
        ("#" + "a" * 100, "a" * 100),
        ("#" + "a" * 101 + " #b", "b"),
        ("#" + "\u0130" * 50, "i\u0307" * 50),
        ("#" + "\u0130" * 51, ""),
        ("#" + "e\u0301" * 100, "\u00e9" * 100),
        # much of one thing
        ("#" * LONG + "a", "a"),
        ("#_" * LONG, ""),
        ("#" + "_" * LONG + "a #b", "b"),
        ("#" + "1" * LONG, ""),
        ("#a" * LONG, ""),
        ("#a " * 1000, "a " * 1000),
        ("\u00e9" * LONG + " #a", "a"),
        ("https://a.b/" + "(" * LONG + "#a", "a"),
        ("a." * LONG + "/#a", "a"),
    ],
)
def test_hashtags(text: str, expected: str) -> None:
    """Tags are found in normal form, in order and as often as they stand there, and not inside other things."""
    assert hashtags(text) == tuple(expected.split())
    assert hashtags(unicodedata.normalize("NFD", text)) == tuple(expected.split())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tag", "tag"),
        ("#tag", "tag"),
        ("\uff03Tag", "tag"),
        ("\u0130n", "i\u0307n"),
        ("Cafe\u0301", "caf\u00e9"),
        ("1\u0e01", "1\u0e01"),
        ("a_1", "a_1"),
        ("\U00010400", "\U00010428"),
        ("A" * 100, "a" * 100),
    ],
)
def test_hashtag_name(name: str, expected: str) -> None:
    """A tag is looked up under the name it is found by in a text, which is its own normal form."""
    assert hashtag_name(name) == expected
    assert hashtag_name(expected) == expected
    assert hashtags("#" + name.removeprefix("#")) == (expected,)
    assert hashtags("#" + expected) == (expected,)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "#",
        "1",
        "_",
        "##a",
        "a#",
        "a b",
        "a ",
        " a",
        "a\n",
        "a-b",
        "a.b",
        "\ufe0f\u20e3",
        "\U0001f41f",
        "a" * 101,
        "\ud800",
        "a\0",
    ],
)
def test_no_hashtag_name(name: str) -> None:
    """What no text could yield as one tag is no name of a tag."""
    assert hashtag_name(name) is None

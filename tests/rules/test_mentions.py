"""The rules of mentions."""

import pytest

from resolvers.rules.text import mentions
from tests.support.texts import LONG


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
        # long repetitions
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
    """Mentions are found in order and as often as they occur, and not inside other text."""
    assert mentions(text) == tuple(expected.split())

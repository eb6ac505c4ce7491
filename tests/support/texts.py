"""Texts on which several rules are tested."""

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"  # one emoji of three, joined by U+200D
LONG = 100_000  # characters in an adversarial text

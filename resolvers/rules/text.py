"""Rules for texts, logins, mentions and hashtags: one definition for writing, reading and indexing.

Mentions and hashtags follow the rules of twitter-text 3 (https://github.com/twitter/twitter-text), in our own words.
Beside these, a topic between two signs is a hashtag, as on Weibo: `#话题#`.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from unicodedata import category, normalize

import regex

SHORT = 20  # letters and digits: shorter texts, such as thanks and wishes, may be sent to anybody
LOGIN_MAX = 20  # characters
HASHTAG_MAX = 100  # characters in normal form, without the sign

# NFC composes at most four code points into one. This holds because len(raw) <= len(NFD(raw)) = len(NFD(NFC(raw))), and
# no canonical decomposition has more than four. "\r\n", two code points, becomes one. So a trimmed text of more than
# 4 * limit code points is too long in any case, and is refused without normalising it.
_MAX_SHRINKAGE = 4

# Unicode white space and zero-width spaces. The joiners (U+200C, U+200D), variation selectors and marks of direction
# are not trimmed. At the end of a text they may belong to the last word or emoji.
_TRIMMED = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\u200b\u2060\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# Characters that leave no mark on the screen: white space, default ignorables, the Braille blank and the anchors of
# interlinear annotation.
_INVISIBLE = regex.compile(r"[\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]*+")

_UNFIT = r"\p{Cs}\p{Noncharacter_Code_Point}"
_UNFIT_IN_TEXT = regex.compile(rf"[{_UNFIT}]|[^\P{{Cc}}\t\n]")
# Directional overrides and isolates make a name spill over the text around it; U+2028 and U+2029 end the line.
_UNFIT_IN_NAME = regex.compile(rf"[{_UNFIT}\p{{Cc}}\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_KINDS = {"Cc": "control character", "Cs": "lone surrogate", "Cn": "noncharacter", "Cf": "bidirectional control"}

_NO_LETTER = re.compile(r"@\w*|[^\w@]+|_+")  # not of `regex`, whose \w has marks, too
_DIGEST_BYTES = 8

_LOGIN = regex.compile(rf"[a-zA-Z0-9_]{{1,{LOGIN_MAX}}}")

# Letters, marks and digits of every script, and signs that occur inside words: Hebrew maqaf, Japanese wave dash, ...
_LETTER = r"\p{L}\p{M}"
_TAGGED = (
    _LETTER + r"\p{Nd}_\u200c\u200d\ua67e\u05be\u05f3\u05f4\uff5e\u301c\u309b\u309c\u30a0\u30fb\u3003\u0f0b\u0f0c\u00b7"
)
# At least one letter; "#" and U+FE0F or U+20E3 are the keycap emoji.
_NAME = rf"(?![\ufe0f\u20e3])[{_TAGGED}]*[{_LETTER}][{_TAGGED}]*+"
# A topic may have spaces and punctuation, and has at least one letter of Chinese, Japanese or Korean. No space comes
# before its last sign, and that sign begins no tag of twitter-text. Braces are excluded: they have a meaning in keys.
_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}"
_IN_TOPIC = r"[^#\uff03{}\p{Cc}\p{Zl}\p{Zp}]"
_TOPIC = rf"(?=[^#\uff03\n]{{0,{HASHTAG_MAX}}}?[{_CJK}])(?!\s){_IN_TOPIC}{{1,{HASHTAG_MAX}}}+(?<!\s)"
_HASHTAG_NAME = regex.compile(rf"(?:{_NAME})|{_TOPIC}")

# URLs are matched, too, because "#" and "@" inside them name neither tag nor member. A URL without a scheme is a dotted
# name that ends in letters, followed by a path: "?#" after a word is punctuation. Matching takes linear time, because
# quantifiers are possessive and a dotted name is tried only at its beginning.
_HOST = r"\p{Latin}\p{Cyrillic}0-9_\-"
_PATH = r"\p{Latin}\p{Cyrillic}0-9_\-!*';:=+,.$/%#\[\]\u2013~@|&?"
_URL = (
    r"(?<![a-zA-Z0-9@\uff20$#\uff03])"
    rf"(?:(?i:https?)://[{_HOST}.]++|(?<![{_HOST}./])(?:[{_HOST}]++\.)++[a-zA-Z]{{2,}}+(?=(?::[0-9]++)?/))"
    rf"(?::[0-9]++)?(?:[/?](?:[{_PATH}]++|\([{_PATH}]*+\))*+)?"
)
_HASHTAG = regex.compile(
    rf"{_URL}|(?:(?<![&{_TAGGED}])|(?<=[{_CJK}]))[#\uff03](?P<topic>{_TOPIC})"
    rf"(?!(?<![&{_TAGGED}])[#\uff03]{_NAME})[#\uff03]"
    rf"|(?:(?<![&{_TAGGED}])|(?<=[\ufe0e\ufe0f]))[#\uff03](?P<name>{_NAME})"
)
_HASHTAG_SIGNS, _MENTION_SIGNS = ("#", "\uff03"), ("@", "\uff20")  # most texts have none, and are not searched
_AFTER_NO_HASHTAG = (*_HASHTAG_SIGNS, "://")

# "RT@login" repeats a post. "cart@host" and "a.rt@host" are e-mail addresses, and "@rt@host" names a federated member.
# The login is the first LOGIN_MAX characters of a longer run, as in twitter-text.
_MENTION = regex.compile(
    rf"{_URL}|(?:(?<![a-zA-Z0-9_!#$%&*@\uff20])|(?<=(?<![a-zA-Z0-9_+~.\-@\uff20])[rR][tT]))"
    rf"[@\uff20]([a-zA-Z0-9_]{{1,{LOGIN_MAX}}}+)"
)
_AFTER_NO_MENTION = regex.compile(
    r"[@\uff20\xc0-\xd6\xd8-\xf6\xf8-\u024f\u0253\u0254\u0256\u0257\u0259\u025b\u0263\u0268\u026f\u0272\u0289\u028b"
    r"\u02bb\u0300-\u036f\u1e00-\u1eff]|://"
)


class TextRefused(ValueError):
    """A text breaks a rule. `code` is the user error's code, and the message names the rule."""

    def __init__(self, code: Literal["BLANK", "TOO_LONG", "INVALID"], message: str) -> None:
        super().__init__(message)
        self.code = code


def normalise(text: str, *, limit: int, multiline: bool = True, may_be_empty: bool = False) -> str:
    """Return the text in NFC, without white space around it, and with line feeds as its only line ends.

    Raises TextRefused with one of three codes:
    - BLANK if nothing visible is left, unless the text may be empty,
    - TOO_LONG if more than `limit` code points are left,
    - INVALID if it has a character that is not allowed in a text, or not in a single line.
    """
    if _INVISIBLE.fullmatch(text):
        if may_be_empty:
            return ""
        raise TextRefused("BLANK", "must not be blank")
    # Canonical composition neither makes nor removes white space, so the text can be trimmed first, where it is cheap.
    text = text.strip(_TRIMMED)
    if len(text) > limit * _MAX_SHRINKAGE:
        raise TextRefused("TOO_LONG", f"must be at most {limit} characters, is far longer")
    if multiline:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if unfit := (_UNFIT_IN_TEXT if multiline else _UNFIT_IN_NAME).search(text):
        kind = _KINDS.get(category(unfit[0]), "line break")
        raise TextRefused("INVALID", f"must not contain the {kind} U+{ord(unfit[0]):04X}")
    text = normalize("NFC", text)
    if len(text) > limit:
        raise TextRefused("TOO_LONG", f"must be at most {limit} characters, is {len(text)}")
    return text


def on_one_line(text: str) -> str:
    """Return a text for a terminal, with runs of white space as one space.

    Control characters, bidirectional controls and the like, which could affect other output, become U+FFFD.
    """
    return _UNFIT_IN_NAME.sub("\ufffd", " ".join(text.split()))


def fingerprint(text: str) -> str:
    """Return a digest of a text's letters and digits, without mentions and in one case; "" for a short text.

    Texts with equal ones are the same to those who get them unasked.
    """
    plain = _NO_LETTER.sub("", text if text.isascii() else normalize("NFKC", text)).casefold()
    return hashlib.blake2b(plain.encode(), digest_size=_DIGEST_BYTES).hexdigest() if len(plain) >= SHORT else ""


def is_login(login: str) -> bool:
    """Return whether the text can be a login: 1 to 20 ASCII letters, digits or underscores."""
    return _LOGIN.fullmatch(login) is not None


@dataclass(frozen=True, slots=True)
class TextReference:
    """A mention or hashtag in a text: the login or tag in normal form, and its position, the sign included."""

    name: str
    start: int
    end: int


def mentions(text: str) -> tuple[str, ...]:
    """Return the logins that a text mentions, in lower case, in order and with repetitions."""
    return tuple(mention.name for mention in mentions_at(normalize("NFC", text)))


def mentions_at(text: str) -> Iterator[TextReference]:
    """Yield the mentions in a text, which must be in NFC."""
    if not any(sign in text for sign in _MENTION_SIGNS):
        return
    for match in _MENTION.finditer(text):
        if match[1] and not _AFTER_NO_MENTION.match(text, match.end()):
            yield TextReference(match[1].lower(), *match.span())


def hashtag_name(name: str) -> str | None:
    """Return the normal form of a tag, given with or without its signs; None if it cannot be a tag."""
    name = normalize("NFC", name)
    if name.startswith(_HASHTAG_SIGNS):
        name = name[1:-1] if name.endswith(_HASHTAG_SIGNS) else name[1:]
    if not _HASHTAG_NAME.fullmatch(name):
        return None
    # lower(), not casefold(), which would turn "Maße" into "masse", another word. Both turn U+0130, as in "İn", into
    # "i" and U+0307, so a tag may grow. Lower-casing may leave characters that compose, hence NFC once more.
    name = normalize("NFC", name.lower())
    # Tags become keys of the database. Cutting a longer tag off would make it another tag, so it is no tag at all.
    return name if len(name) <= HASHTAG_MAX else None


def hashtags(text: str) -> tuple[str, ...]:
    """Return the tags in a text in normal form, in order and with repetitions."""
    return tuple(tag.name for tag in hashtags_at(normalize("NFC", text)))


def hashtags_at(text: str) -> Iterator[TextReference]:
    """Yield the hashtags in a text, which must be in NFC."""
    if not any(sign in text for sign in _HASHTAG_SIGNS):
        return
    for match in _HASHTAG.finditer(text):
        found = match["topic"] or match["name"]
        if found and (match["topic"] or not text.startswith(_AFTER_NO_HASHTAG, match.end())):
            name = hashtag_name(found)
            if name is not None:
                yield TextReference(name, *match.span())

"""Words of a text and phrases of words, which the `track` part of a filter compares.

A word is a maximal run of letters, marks, digits and underscores. Words are compared in NFKC and case-folded, so
full-width forms, ligatures and circled numbers equal their plain forms. Everything else separates words, including
apostrophes and the punctuation of URLs. So "Alice's" has the word alice, and a URL has the words between its dots and
slashes. Characters that leave no mark on the screen (soft hyphens, joiners, marks of direction, variation selectors)
are ignored. An emoji is a word, together with everything joined to it. So a family doesn't match its members, and hands
of different colours don't match each other.

In scripts written without spaces, each character with its marks is a word, and a *run* is a sequence of adjacent ones.
A space or a sign ends a run. A zero-width space, which only allows a line break, is ignored.
"""

from dataclasses import dataclass
from itertools import pairwise
from unicodedata import normalize

import regex

from resolvers.rules.text import hashtags_at, mentions_at

_PASSED_OVER = r"\p{Default_Ignorable_Code_Point}"
_UNSPACED = (
    r"[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Bopo}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tale}"
    r"\p{sc=Talu}\p{sc=Lana}\p{sc=Tavt}]&&[\p{L}\p{N}]]"
)
_CHARACTER = rf"{_UNSPACED}[\p{{M}}{_PASSED_OVER}]*+"
_WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--{_UNSPACED}]"
_PICTURE = r"[\p{Extended_Pictographic}\p{Emoji_Modifier}][\ufe0e\ufe0f\p{Emoji_Modifier}\U000e0020-\U000e007f]*+"
_EMOJI = rf"[0-9#*]\ufe0f?\u20e3|\p{{Regional_Indicator}}{{1,2}}+|{_PICTURE}(?:\u200d{_PICTURE})*+"

_ANY = regex.compile(
    rf"(?V1)(?P<emoji>{_EMOJI})|(?P<run>(?:{_CHARACTER})++)|(?P<word>{_WORD}(?:{_WORD}|[{_PASSED_OVER}--\u200b])*+)"
)
_EACH_CHARACTER = regex.compile(rf"(?V1){_CHARACTER}")
_GOES_ON = regex.compile(rf"(?V1)[{_PASSED_OVER}--\u200b]*+{_WORD}")
_NO_MARK = regex.compile(_PASSED_OVER)
_STYLES = regex.compile("[\ufe0e\ufe0f]")  # of an emoji: as text or as a picture
_BESIDE = "\0"  # placed before, between and after the characters of a run; no word contains it
_PAIR = 2


@dataclass(frozen=True, slots=True)
class TextTerms:
    """Terms of a text: words, `#tag` and `@login` of hashtags and mentions, and characters and pairs of runs."""

    terms: frozenset[str]
    runs: str  # all runs, to search for adjacent characters


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words to search for, in any order. The characters of a run must be adjacent."""

    terms: frozenset[str]
    runs: frozenset[str]  # of three characters and more: terms suffice for shorter ones

    def is_in(self, words: TextTerms) -> bool:
        """Return whether a text contains every word of the phrase."""
        return self.terms <= words.terms and all(run in words.runs for run in self.runs)


def words_of(text: str) -> TextTerms:
    """Return the terms of a text. Hashtags and mentions are among them with and without their sign."""
    text = normalize("NFC", text)
    terms, runs = _split(text)
    terms.update("#" + _fold(tag.name) for tag in hashtags_at(text))
    terms.update("@" + mention.name for mention in mentions_at(text))
    for run in runs:
        terms.update(run, map("".join, pairwise(run)))
    return TextTerms(frozenset(terms), "".join(map(_side_by_side, runs)))


def phrase_of(text: str) -> Phrase:
    """Return the phrase of a text; without words it has no terms.

    A hashtag or mention in the phrase matches only a hashtag or mention. A word without a sign matches all three.
    """
    text = normalize("NFC", text)
    names = [("#" + _fold(tag.name), tag) for tag in hashtags_at(text)]
    names += [("@" + mention.name, mention) for mention in mentions_at(text)]
    # If a word goes on after a name, as it does after a login that is cut off, the phrase has the whole word.
    names = [(term, named) for term, named in names if not _GOES_ON.match(_compatible(text[named.end :]))]
    rest = list(text)
    for _, named in names:
        rest[named.start : named.end] = " " * (named.end - named.start)
    terms, runs = _split("".join(rest))
    for run in runs:
        terms.update(map("".join, pairwise(run)) if len(run) >= _PAIR else run)
    longer = (_side_by_side(run) for run in runs if len(run) > _PAIR)
    return Phrase(frozenset(terms.union(term for term, _ in names)), frozenset(longer))


def _split(text: str) -> tuple[set[str], list[list[str]]]:
    """Return words and emoji, and runs as lists of their characters."""
    words, runs = set(), []
    for match in _ANY.finditer(_compatible(text)):
        if match.lastgroup == "emoji":
            words.add(_STYLES.sub("", match[0]))
        elif match.lastgroup == "run":
            runs.append([_visible(character) for character in _EACH_CHARACTER.findall(match[0])])
        elif word := _visible(match[0]):
            words.add(word)
    return words, runs


def _visible(word: str) -> str:
    return word if word.isascii() else _NO_MARK.sub("", word)


def _compatible(text: str) -> str:
    # Case folding may leave characters that compose, hence NFKC once more.
    return normalize("NFKC", normalize("NFKC", text).casefold())


def _fold(name: str) -> str:
    return _visible(_compatible(name))


def _side_by_side(run: list[str]) -> str:
    return _BESIDE + _BESIDE.join(run) + _BESIDE

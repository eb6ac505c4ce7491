"""The words of a text, and phrases of words: what the `track` of a filter compares.

A word is as long a run of letters, marks, digits and underscores as there is, compared in NFKC and without case:
full-width forms, ligatures and circled numbers are what they stand for. Everything else separates words, apostrophes
and the signs in web addresses included, so "Alice's" has the word alice, and an address the words between its dots and
slashes. What leaves no mark on the screen (soft hyphens, joiners, marks of direction, variation selectors) is passed
over. An emoji is a word, with all that is joined to it: a family is not its members, nor a hand one of another colour.

In scripts written without spaces each character, with its marks, is a word, and a *run* is what stands side by side of
them: not with a space or a sign between, though a zero-width space, which only allows a line to break, is passed over.
"""

from __future__ import annotations

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
_BESIDE = "\0"  # stands before, between and after the characters of a run; no word has it
_PAIR = 2


@dataclass(frozen=True, slots=True)
class TextTerms:
    """What a text says: its words, `#tag` and `@login` of its hashtags and mentions, and pairs of characters."""

    terms: frozenset[str]
    runs: str  # all runs, so that what stands side by side can be looked for


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words to be looked for: in any order, the characters of a run side by side."""

    terms: frozenset[str]
    runs: frozenset[str]  # of three characters and more: of shorter ones the terms say all

    def stands_in(self, words: TextTerms) -> bool:
        """Return whether every word of the phrase stands in a text."""
        return self.terms <= words.terms and all(run in words.runs for run in self.runs)


def words_of(text: str) -> TextTerms:
    """Return the words of a text; those of its hashtags and mentions stand in it with their sign and without."""
    text = normalize("NFC", text)
    terms, runs = _split(text)
    terms.update("#" + _fold(tag.name) for tag in hashtags_at(text))
    terms.update("@" + mention.name for mention in mentions_at(text))
    for run in runs:
        terms.update(run, map("".join, pairwise(run)))
    return TextTerms(frozenset(terms), "".join(map(_side_by_side, runs)))


def phrase_of(text: str) -> Phrase:
    """Return a phrase; one without words has no terms.

    A hashtag or mention in it, as posts have them, is looked for as such; a word without a sign in any form.
    """
    text = normalize("NFC", text)
    names = [("#" + _fold(tag.name), tag) for tag in hashtags_at(text)]
    names += [("@" + mention.name, mention) for mention in mentions_at(text)]
    # Where a word goes on behind a name, as after a login that is cut off, the whole word is looked for.
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
    # Case folding may leave what composes, hence NFKC once more.
    return normalize("NFKC", normalize("NFKC", text).casefold())


def _fold(name: str) -> str:
    return _visible(_compatible(name))


def _side_by_side(run: list[str]) -> str:
    return _BESIDE + _BESIDE.join(run) + _BESIDE

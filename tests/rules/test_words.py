"""When a phrase matches a text: the truth table of `track`. `pytest -s` prints it."""
# Letters and signs of other scripts are what these cases are about:
# ruff: noqa: RUF001

import random
import sys
from collections.abc import Sequence
from unicodedata import east_asian_width

import pytest

from resolvers.rules.words import phrase_of, words_of

Case = tuple[str, str, bool]  # phrase, text, whether it matches
FAMILY, WOMAN = "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f469"
THUMB, DARK_THUMB = "\U0001f44d", "\U0001f44d\U0001f3ff"

TABLE: dict[str, Sequence[Case]] = {
    "case and order": [
        ("redis", "Redis is fast", True),
        ("REDIS", "redis is fast", True),
        ("redis fast", "how fast is Redis", True),
        ("redis slow", "Redis is fast", False),
        ("redis redis", "Redis", True),
        ("straße", "STRASSE", True),
        ("ΣΊΣΥΦΟΣ", "σίσυφος", True),
    ],
    "punctuation": [
        ("redis", "redis, and more", True),
        ("redis", "(redis)", True),
        ("redis", "“Redis”…", True),
        ("redis", "redis/valkey", True),
        ("redis,", "redis", True),
        ("redis-py", "py or redis", True),
        ("redis", "re-dis", False),
        ("alice", "Alice's book", True),
        ("don't", "I don’t know", True),
        ("dont", "I don't know", False),
        ("c++", "plan c", True),
    ],
    "whole words only": [
        ("art", "party", False),
        ("art", "article", False),
        ("art", "art_house", False),
        ("art", "art2", False),
        ("art", "art house", True),
        ("redis", "newredis #redisconf @redis_news", False),
        ("1", "11", False),
        ("cafe", "café", False),
        ("café", "cafe\u0301", True),
    ],
    "hashtags and mentions": [
        ("tea", "#tea", True),
        ("tea", "@tea", True),
        ("Tea", "#TEA!", True),
        ("#tea", "#Tea, please", True),
        ("#tea", "tea", False),
        ("#tea", "@tea", False),
        ("#tea", "#teatime", False),
        ("#tea", "https://example.org/#tea", False),
        ("@tea", "@TEA!", True),
        ("@tea", "tea", False),
        ("@tea", "#tea", False),
        ("@tea", "mail@tea.org", False),
        ("@tea", "@tea_house", False),
        ("\uff03tea", "#tea", True),
        ("#tea @ann cup", "cup @Ann #Tea", True),
        ("#tea @ann cup", "cup ann #Tea", False),
        ("#1", "number 1", True),
        ("# tea", "tea", True),
        ("#日本", "#日本", True),
        ("#日本", "#日本語", False),
        ("日本", "#日本語", True),
    ],
    "web addresses": [
        ("example", "https://example.com/redis", True),
        ("redis", "https://example.com/redis?x=1", True),
        ("example.com", "see https://www.example.com/", True),
        ("exam", "https://example.com/redis", False),
    ],
    "Chinese and Japanese": [
        ("数据", "我的数据库很快", True),
        ("数据库", "我的数据库很快", True),
        ("据数", "我的数据库很快", False),
        ("数库", "我的数据库很快", False),
        ("数 库", "我的数据库很快", True),
        ("数据库", "数据。据库", False),
        ("数据", "数，据", False),
        ("数据", "数 据", False),
        ("数据", "数\u200b据", True),
        ("库 数据", "数据 快 库", True),
        ("redis 数据库", "数据库：Redis", True),
        ("redis 数据库", "数据：Redis", False),
        ("iPhone手机", "新iphone和手机", True),
        ("手机", "我的iPhone手机", True),
        ("東京タワー", "今日は東京タワーへ", True),
        ("東京ワー", "今日は東京タワーへ", False),
        ("すし", "おすしが好き", True),
        ("しす", "おすしが好き", False),
        ("か", "が", False),
        ("データ", "ﾃﾞｰﾀ", True),
        ("一々", "一々言う", True),
    ],
    "other scripts": [
        ("ไทย", "ภาษาไทยสวย", True),
        ("ทย", "ภาษาไทย", True),
        ("น", "น้ำ", False),
        ("ខ្មែរ", "ភាសាខ្មែរ", True),
        ("မြန်မာ", "မြန်မာစာ", True),
        ("데이터", "데이터 저장소", True),
        ("데이", "데이터 저장소", False),
        ("می‌خواهم", "میخواهم", True),
        ("привет", "ПРИВЕТ, мир", True),
        ("הזה", "הספר הזה", True),
    ],
    "emoji": [
        (THUMB, f"well done{THUMB}", True),
        (THUMB, THUMB * 3, True),
        (f"done {THUMB}", f"{THUMB} well done", True),
        (THUMB, DARK_THUMB, False),
        (DARK_THUMB, f"x{DARK_THUMB}x", True),
        (FAMILY, f"my {FAMILY}!", True),
        (WOMAN, FAMILY, False),
        ("❤", "I ❤️ it", True),
        ("🇩🇪", "🇫🇷🇩🇪", True),
        ("🇪🇫", "🇩🇪🇫🇷", False),
        ("1️⃣", "1", False),
    ],
    "compatible forms": [
        ("redis", "ＲＥＤＩＳ", True),
        ("ｒｅｄｉｓ", "Redis", True),
        ("ﬁsh", "fish", True),
        ("cooperate", "co\u00adoperate", True),
    ],
}
CASES = [case for cases in TABLE.values() for case in cases]


@pytest.mark.parametrize(("phrase", "text", "matches"), CASES, ids=[f"{p}-{t}" for p, t, _ in CASES])
def test_truth_table(phrase: str, text: str, matches: bool) -> None:
    """A phrase matches a text exactly when the text has each of its words."""
    assert phrase_of(phrase).is_in(words_of(text)) is matches


def test_the_table_can_be_read() -> None:
    """The table is printed on request."""
    for title, cases in TABLE.items():
        sys.stdout.write(f"\n{title}\n")
        for phrase, text, matches in cases:
            sys.stdout.write(f"  {padded(phrase, 16)} {padded(text, 36)} {'yes' if matches else 'no'}\n")


def padded(text: str, width: int) -> str:
    """Return a text padded with spaces to some columns of a terminal."""
    return text + " " * max(0, width - sum(1 + (east_asian_width(character) in {"W", "F"}) for character in text))


@pytest.mark.parametrize("text", ["", "!?", " . ", "#", "@ @", "…", "\u200d\ufe0f", "+-=", "、。「」"])
def test_punctuation_has_no_words(text: str) -> None:
    """A text of signs alone has no words, and makes a phrase without terms."""
    assert not words_of(text).terms
    assert not phrase_of(text).terms


PIECES = [
    *"abcéßжاक한数据かカไทน้ำ_7#@.'-/ \n",
    "#tea",
    "@ann",
    "@" + "x" * 25,
    "https://a.bc/d",
    "RT@ann",
    FAMILY,
    "❤️",
    "\u200b",
    "\u200d",
]


def test_every_text_matches_itself() -> None:
    """With any neighbours, a phrase matches the text that equals it, and the same text among others."""
    dice = random.Random(1)  # noqa: S311  the same texts each time
    for _ in range(3_000):
        text = "".join(dice.choices(PIECES, k=dice.randint(1, 12)))
        phrase = phrase_of(text)
        assert phrase.is_in(words_of(text)), ascii(text)
        assert phrase.is_in(words_of(f"before {text} after")), ascii(text)


@pytest.mark.parametrize(
    "text", ["数" * 100_000, "a\u200d" * 50_000, "@a#b" * 25_000, FAMILY * 20_000, "\ufdfa" * 50_000]
)
def test_reads_in_linear_time(text: str) -> None:
    """Any text at the limit of length is read at once."""
    assert words_of(text).terms

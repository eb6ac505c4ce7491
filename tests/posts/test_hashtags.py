"""The rules of hashtags."""
# Letters of other scripts are what these cases are about:
# ruff: noqa: RUF001

import unicodedata

import pytest

from resolvers.rules.text import hashtag_name, hashtags
from tests.support.people import Member
from tests.support.texts import FAMILY, LONG


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
        ("a#b 1#b _#b \u00e9#b \u307e#b, \u0e32#b \u30fc#b \u200d#b \u00b7#b", ""),
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
        # long repetitions
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
    """Tags are found in normal form, in order and as often as they occur, and not inside other text."""
    assert hashtags(text) == tuple(expected.split())
    assert hashtags(unicodedata.normalize("NFD", text)) == tuple(expected.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#话题#", ["话题"]),
        ("今天#话题#很好", ["话题"]),
        ("#今天 天气#", ["今天 天气"]),
        ("#你好，世界！#", ["你好，世界！"]),
        ("＃话题＃", ["话题"]),
        ("#iPhone 15 发布# #tea", ["iphone 15 发布", "tea"]),
        ("#话题##另一个#", ["话题", "另一个"]),
        ("#東京#大阪", ["東京"]),
        ("#ひらがな# #カタカナ# #한국어 주제#", ["ひらがな", "カタカナ", "한국어 주제"]),
        ("#" + "话" * 100 + "#", ["话" * 100]),
        ("#" + "话" * 101 + "# #茶#", ["茶"]),
        # not topics: twitter-text's rules alone hold
        ("#云々 #学問のすゝめ", ["云々", "学問のすゝめ"]),
        ("#东京 很好玩", ["东京"]),
        ("#东京 \n很好玩#", ["东京"]),
        ("# 话题#", []),
        ("#话题 #", ["话题"]),
        ("#人々、#ラーメン", ["人々", "ラーメン"]),
        ("#tea time#", ["tea"]),
        ("#tea#", []),
        ("C#语言和F#", []),
        ("#话{题#", ["话"]),
        ("https://example.org/#话题#", []),
        ("#" * LONG + "话#", ["话"]),
        ("#话" * LONG, ["话"] * (LONG // 2)),
    ],
)
def test_topics(text: str, expected: list[str]) -> None:
    """A topic between two signs, with a letter of Chinese, Japanese or Korean, is a tag, spaces and all."""
    assert hashtags(text) == tuple(expected)
    assert hashtags(unicodedata.normalize("NFD", text)) == tuple(expected)


async def test_a_topic_from_end_to_end(alice: Member) -> None:
    """A topic with a space is listed, counted and found by its name, with and without signs."""
    post = await alice.post("#今天 天气# and #tea")
    shown = "name postCount timeline { nodes { ... on Status { id hashtags } } }"
    query = f"query($name: String!) {{ hashtag(name: $name) {{ {shown} }} }}"
    for name in ("今天 天气", "#今天 天气#"):
        assert await alice.ask(query, name=name) == {
            "name": "今天 天气",
            "postCount": 1,
            "timeline": {"nodes": [{"id": post, "hashtags": ["今天 天气", "tea"]}]},
        }
    await alice.do("deletePost", postId=post)
    assert await alice.ask(query, name="今天 天气") is None


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
    """A tag is looked up by the name that a text yields for it, which is its own normal form."""
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
    """Text that yields no single tag is no name of a tag."""
    assert hashtag_name(name) is None


async def test_identity(alice: Member) -> None:
    """A hashtag has one id however its name is written, and `node` does not take that."""
    await alice.post("#Tea")
    found = await alice.ask('{ plain: hashtag(name: "tea") { id } written: hashtag(name: "#TEA") { id } }')
    assert found == {"plain": {"id": "hashtag_tea"}, "written": {"id": "hashtag_tea"}}
    assert await alice.fail('{ node(id: "hashtag_tea") { id } }') == "BAD_USER_INPUT"

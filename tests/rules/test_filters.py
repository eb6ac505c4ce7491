"""Filters: accepted and refused values, the points in a box, and the index that finds matching filters."""

import random
from dataclasses import dataclass
from math import inf, nan

import pytest

from resolvers.rules.filters import BOXES_MOST, FOLLOW_MOST, TRACK_MOST, Facts, Filter, FilterRefused, read
from resolvers.rules.matching import BoxIndex, Filters, PhraseIndex
from resolvers.rules.places import Box
from resolvers.rules.words import phrase_of, words_of
from store.records.posts import Location
from tests.support.slow import few


@dataclass
class Sent:
    """A box in the form that the API gives."""

    south: float
    west: float
    north: float
    east: float


WORLD = Sent(-90, -180, 90, 180)
LONGEST = "x" * 60


def test_reads_all_parts() -> None:
    """A filter keeps its values, and equal phrases or boxes once."""
    found = read([1, 2, 1], ["Tea, cup", "cup tea", "#tea", LONGEST, "  " + "e\u0301" * 60 + " "], [WORLD, WORLD])
    phrases = frozenset(map(phrase_of, ["tea cup", "#tea", LONGEST, "é" * 60]))
    assert found == Filter(frozenset({1, 2}), phrases, frozenset({Box(-90, -180, 90, 180)}))
    assert read(None, ["tea"], None) == Filter(track=frozenset({phrase_of("tea")}))


def test_reads_as_many_as_may_be() -> None:
    """A filter can have 5,000 members, 400 phrases and 25 boxes."""
    boxes = [Sent(i, 0, i, 0) for i in range(BOXES_MOST)]
    found = read(range(FOLLOW_MOST), [f"word{i}" for i in range(TRACK_MOST)], boxes)
    assert (len(found.follow), len(found.track), len(found.boxes)) == (5_000, 400, 25)


REFUSED: dict[str, tuple[object, object, object, str]] = {
    "nothing": (None, None, None, "filter: must have follow, track or locations"),
    "no members": ([], None, None, "filter.follow: must have 1 to 5000 entries, has 0"),
    "no phrases": ([1], [], None, "filter.track: must have 1 to 400 entries, has 0"),
    "no boxes": ([1], ["tea"], [], "filter.locations: must have 1 to 25 entries, has 0"),
    "too many members": (range(5_001), None, None, "filter.follow: must have 1 to 5000 entries, has 5001"),
    "too many phrases": (None, ["tea"] * 401, None, "filter.track: must have 1 to 400 entries, has 401"),
    "too many boxes": (None, None, [WORLD] * 26, "filter.locations: must have 1 to 25 entries, has 26"),
    "empty phrase": (None, ["tea", ""], None, "filter.track[1]: must not be blank"),
    "blank phrase": (None, [" \u3000"], None, "filter.track[0]: must not be blank"),
    "punctuation": (None, ["?!"], None, "filter.track[0]: must have a word"),
    "61 characters": (None, ["x" * 61], None, "filter.track[0]: must be at most 60 characters, is 61"),
    "control": (None, ["a\0"], None, "filter.track[0]: must not contain the control character U+0000"),
    "upside down": (None, None, [Sent(2, 0, 1, 0)], "filter.locations[0]: south must not be above north"),
    "south": (None, None, [WORLD, Sent(-90.1, 0, 0, 0)], "filter.locations[1].south: must be from -90 to 90 degrees"),
    "north": (None, None, [Sent(0, 0, 91, 0)], "filter.locations[0].north: must be from -90 to 90 degrees"),
    "west": (None, None, [Sent(0, -181, 0, 0)], "filter.locations[0].west: must be from -180 to 180 degrees"),
    "east": (None, None, [Sent(0, 0, 0, 180.5)], "filter.locations[0].east: must be from -180 to 180 degrees"),
    "not a number": (None, None, [Sent(nan, 0, 0, 0)], "filter.locations[0].south: must be from -90 to 90 degrees"),
    "infinite": (None, None, [Sent(0, 0, 0, inf)], "filter.locations[0].east: must be from -180 to 180 degrees"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refuses(case: tuple[object, object, object, str]) -> None:
    """A filter that breaks a rule is refused with the name of the argument and the rule."""
    *parts, message = case
    with pytest.raises(FilterRefused) as caught:
        read(*parts)  # type: ignore[arg-type]
    assert str(caught.value) == message


GERMANY = Box(47.3, 5.9, 55.1, 15.0)
FIJI = Box(-21, 177, -12, -178)  # across the date line
INSIDE = [
    (GERMANY, 52.5, 13.4, True),
    (GERMANY, 47.3, 5.9, True),
    (GERMANY, 55.1, 15.0, True),
    (GERMANY, 55.100001, 15.0, False),
    (GERMANY, 52.5, 5.8, False),
    (FIJI, -18, 178, True),
    (FIJI, -18, -179, True),
    (FIJI, -18, 180, True),
    (FIJI, -18, -180, True),
    (FIJI, -21, -178, True),
    (FIJI, -18, 176.9, False),
    (FIJI, -18, -177.9, False),
    (FIJI, -18, 0, False),
    (Box(-90, -180, 90, 180), 90, -180, True),
    (Box(-90, -180, 90, 180), -90, 180, True),
    (Box(80, 10, 90, 20), 90, 10, True),
    (Box(80, 10, 90, 20), 90, 30, False),
    (Box(0, 170, 10, 180), 5, -180, True),
    (Box(0, -180, 10, -170), 5, 180, True),
    (Box(0, 180, 10, -180), 5, 180, True),
    (Box(0, 180, 10, -180), 5, 179.9, False),
    (Box(0, 10, 10, 5), 5, 7, False),
    (Box(0, 10, 10, 5), 5, -7, True),
    (Box(1, 2, 1, 2), 1, 2, True),
]


@pytest.mark.parametrize(("box", "latitude", "longitude", "inside"), INSIDE)
def test_boxes(box: Box, latitude: float, longitude: float, inside: bool) -> None:
    """A box holds the points in it, on its edges and across the date line; its index finds the same."""
    place, index = Location(latitude, longitude), BoxIndex[str]()
    index.add(box, "one")
    assert box.holds(place) is inside
    assert index.match(place) == ({"one"} if inside else set())
    index.remove(box, "one")
    assert index.match(place) == set()


# Repeatable chance, no secret:
# ruff: noqa: S311


def some_degrees(dice: random.Random, most: int) -> int:
    """Return whole degrees, often at an edge of the world or of a cell."""
    return dice.choice([-most, most, 0, 16, -16, dice.randint(-most, most), dice.randint(-5, 5)])


def some_box(dice: random.Random) -> Box:
    south, north = sorted(some_degrees(dice, 90) for _ in range(2))
    return Box(south, some_degrees(dice, 180), north, some_degrees(dice, 180))


def around(box: Box) -> set[int]:
    """Return the whole meridians of a box, counted from 0 to 359."""
    west, east = int(box.west), int(box.east)
    return {longitude % 360 for longitude in range(west, (east if west <= east else east + 360) + 1)}


def test_boxes_by_counting_meridians() -> None:
    """A box holds the places whose meridian lies on the way east from its west to its east."""
    dice = random.Random(3)
    for _ in range(1_000):
        box, place = some_box(dice), Location(some_degrees(dice, 90), some_degrees(dice, 180))
        expected = box.south <= place.latitude <= box.north and place.longitude % 360 in around(box)
        assert box.holds(place) is expected, (box, place)


VOCABULARY = [
    "tea",
    "cup",
    "#tea",
    "@ann",
    "ann",
    "redis",
    "数",
    "数据",
    "数据库",
    "据",
    "库",
    "👍",
    "ไทย",
    "iphone手机",
]


def some_filter(dice: random.Random, scale: float = 1) -> Filter | None:
    """Return a filter with some of the three parts, or none at all."""
    if dice.random() < 0.05:
        return None
    phrases = (" ".join(dice.choices(VOCABULARY, k=dice.randint(1, 3))) for _ in range(dice.randint(0, 3)))
    boxes = (some_box(dice) for _ in range(dice.randint(0, 2) // 2))
    return Filter(
        frozenset(dice.choices(range(20), k=dice.randint(0, 2))),
        frozenset(map(phrase_of, phrases)),
        frozenset(Box(b.south * scale, b.west * scale, b.north * scale, b.east * scale) for b in boxes),
    )


def some_facts(dice: random.Random, scale: float = 1) -> Facts:
    text = "".join(word + dice.choice(["", " ", ", "]) for word in dice.choices(VOCABULARY, k=dice.randint(0, 6)))
    place = Location(some_degrees(dice, 90) * scale, some_degrees(dice, 180) * scale)
    return Facts(dice.randrange(40), text, place if dice.random() < 0.5 else None)


@pytest.mark.parametrize("scale", [1, 1 / 8, 1 / 512])
@pytest.mark.parametrize("seed", few(range(2)))
def test_the_index_finds_what_each_filter_passes(seed: int, scale: float) -> None:
    """However filters are added, changed and removed, those found for an event are exactly those that match it."""
    dice = random.Random(seed)
    filters, expected = Filters[int](), dict[int, Filter | None]()
    found = 0
    for _ in range(600):
        subscriber = dice.randrange(60)
        if dice.random() < 0.3:
            filters.remove(subscriber)
            expected.pop(subscriber, None)
        else:
            expected[subscriber] = some_filter(dice, scale)
            filters.add(subscriber, expected[subscriber])
        facts = some_facts(dice, scale)
        passing = {one for one, wanted in expected.items() if wanted is None or wanted.passes(facts)}
        assert filters.match(facts) == passing
        found += len(passing)
    assert found > 600  # or nothing was tested


def test_nothing_is_left_behind() -> None:
    """After all are removed, the indexes are as empty as at the start."""
    dice, filters = random.Random(4), Filters[int]()
    for subscriber in range(200):
        filters.add(subscriber, some_filter(dice))
    for subscriber in range(200):
        filters.remove(subscriber)
    filters.remove(7)  # a repetition changes nothing
    fresh = Filters[int]()
    assert (filters._filters, filters._all, filters._authors) == (fresh._filters, fresh._all, fresh._authors)  # noqa: SLF001
    assert vars(filters._phrases) == vars(fresh._phrases)  # noqa: SLF001
    assert vars(filters._boxes) == vars(fresh._boxes)  # noqa: SLF001


def test_any_part_is_enough_and_each_subscriber_has_an_event_once() -> None:
    """Author, phrase and box each select an event, all three together select it once, and an event may have neither."""
    filters = Filters[str]()
    filters.add("all three", read([1], ["tea", "cup"], [Sent(0, 0, 1, 1)]))
    filters.add("author", read([1], None, None))
    filters.add("phrase", read(None, ["tea"], None))
    filters.add("box", read(None, None, [Sent(0, 0, 1, 1)]))
    filters.add("everything", None)
    assert filters.match(Facts(1, "a cup of tea", Location(1, 1))) == {
        "all three",
        "author",
        "phrase",
        "box",
        "everything",
    }
    assert filters.match(Facts(1)) == {"all three", "author", "everything"}
    assert filters.match(Facts(2, "tea")) == {"all three", "phrase", "everything"}
    assert filters.match(Facts(2, "", Location(0, 0.5))) == {"all three", "box", "everything"}
    assert filters.match(Facts(2, "party", Location(0, 1.5))) == {"everything"}


def test_phrases_that_share_a_word_are_filed_apart() -> None:
    """Phrases with a common word are filed under other words, so that a text with that word checks one of them."""
    index = PhraseIndex[int]()
    for number in range(1_000):
        index.add(phrase_of(f"redis w{number}"), number)
    assert max(map(len, index._filed.values())) == 1  # noqa: SLF001
    assert index.match(words_of("redis w7")) == {7}

"""The rules of a home: which sources add a post, at which place, and what a higher floor leaves of it."""

import pytest

from resolvers.rules import merging
from resolvers.rules.merging import Added, Home, PlaceFacts
from store.records.lists import Published, Source
from store.records.posts import Status

LIFT = 10
ANN, BEN, CAT, DAN = 1, 2, 3, 4


def sources(*reposts: int) -> tuple[Source, ...]:
    """Return plain reposts by Cat."""
    return tuple(Source(repost, CAT) for repost in reposts)


@pytest.mark.parametrize(
    ("ids", "lift", "place"),
    [
        ((), LIFT, None),
        ((5,), LIFT, 5),
        ((5, 15), LIFT, 5),
        ((5, 16), LIFT, 16),
        ((5, 16, 26), LIFT, 16),
        ((5, 16, 26, 27), LIFT, 27),
        ((5, 10, 16), LIFT, 16),
        ((5, 1_000), 0, 5),
        ((5, 6, 7), 1, 7),
    ],
)
def test_place(ids: tuple[int, ...], lift: int, place: int | None) -> None:
    """The first source is the place, until one comes more than the lift after it. A lift of 0 turns that off."""
    assert merging.place(ids, lift) == place


def test_the_order_of_sources() -> None:
    """The reposts since the last lift are named before those that came earlier."""
    assert merging.in_order_of_lifts(sources(1, 5, 9), 5) == sources(5, 9, 1)


@pytest.mark.parametrize(
    ("author", "answered", "follows", "is_shown"),
    [
        (BEN, None, False, True),
        (BEN, CAT, False, False),
        (BEN, CAT, True, True),
        (BEN, BEN, False, True),
        (BEN, ANN, False, True),
        (ANN, CAT, False, True),
    ],
)
def test_replies(author: int, answered: int | None, follows: bool, is_shown: bool) -> None:
    """Ann's home shows a reply that she wrote, and one to her, to its own author, or to a member whom she follows."""
    post = Status(9, author, "", (), (), 0, 0, 0, 0, 0, False, answered, None, None, reply_to_author=answered)
    assert merging.shows_reply(post, ANN, lambda _: follows) == is_shown


@pytest.mark.parametrize(
    ("added", "floor", "place"),
    [
        (Added(None, False, (), ()), 0, None),
        (Added(5, True, (), ()), 4, 5),
        (Added(5, True, (), ()), 5, None),
        (Added(5, True, (), sources(16)), 5, 16),
        (Added(5, True, (), sources(15)), 5, None),
        (Added(5, False, (), sources(15)), 0, None),
        (Added(5, False, (), sources(16)), 0, 16),
        (Added(None, False, (3,), sources(13)), 5, None),
        (Added(None, False, (3,), sources(14)), 5, 14),
    ],
)
def test_listed_place(added: Added, floor: int, place: int | None) -> None:
    """A home lists a post at its place, unless that is up to the floor, or is a post that readers pull."""
    assert added.place(floor, LIFT) == place


def test_place_below() -> None:
    """Below the floor, a post has the place that its own id and the reposts up to the floor give it."""
    assert Added(5, True, (), sources(20)).below(5, LIFT) == 5
    assert Added(6, True, (), sources(20)).below(5, LIFT) is None
    assert Added(None, True, (3, 5), sources(20)).below(5, LIFT) == 3
    assert Added(5, True, (15,), ()).below(15, LIFT) == 5
    assert Added(5, True, (16,), ()).below(16, LIFT) == 16


def test_candidates() -> None:
    """The place for other readers can be a repost more than the lift after the post, and near the last one."""
    assert Added(5, True, (), sources(15, 16, 20)).candidates(None, LIFT) == {16, 20}
    assert Added(5, True, (), sources(16, 20)).candidates(16, LIFT) == {20}
    assert Added(None, True, (), sources(9, 10, 20)).candidates(None, LIFT) == {10, 20}
    assert Added(5, True, (), sources(20)).candidates(None, 0) == set()
    assert Added(5, True, (), ()).candidates(None, LIFT) == set()


def test_pull() -> None:
    """A home has the posts of followed members and their reposts, and none of groups or up to its floor."""
    profiles = {
        ANN: [Published(20), Published(21, original=12, original_author=BEN)],
        BEN: [Published(3), Published(12), Published(13, group=7), Published(14, original=20, original_author=ANN)],
        CAT: [
            Published(19, original=6, original_author=DAN),
            Published(18, original=7, original_author=DAN),
            Published(24, original=12, original_author=BEN),
        ],
        DAN: [Published(17, original=7, original_author=DAN)],
    }
    home = merging.pull(ANN, {BEN, CAT}, profiles, 3, LIFT)
    assert home.places == {20: 20, 12: 24, 6: 19, 7: 17}
    assert home.added == {
        20: Added(20, True, (), (Source(14, BEN),)),
        6: Added(None, False, (), sources(19)),
        7: Added(None, False, (), (Source(17, DAN), Source(18, CAT))),
        12: Added(12, True, (), sources(24)),
    }


@pytest.mark.parametrize(("size", "horizon"), [(0, 9), (1, 7), (2, 5), (3, 0), (4, 0)])
def test_horizon(size: int, horizon: int) -> None:
    """Above the horizon are as many posts as wanted, each once, without those in groups and own reposts."""
    profiles = {
        ANN: [Published(5), Published(8, original=1, original_author=BEN)],
        BEN: [Published(9, original=2, original_author=DAN), Published(7), Published(6, group=3)],
        CAT: [Published(4, original=2, original_author=DAN)],
    }
    assert merging.horizon(ANN, profiles, size) == horizon


def test_a_higher_floor() -> None:
    """A higher floor drops the posts up to it, and remembers which reposts it has passed. No floor falls."""
    known = {5: Added(5, True, (), sources(6, 8)), 4: Added(None, False, (2,), sources(7))}
    home = Home({5: 5, 9: 9, 7: 7}, known, 3, LIFT)
    risen = home.above(7)
    assert (risen.places, risen.floor) == ({9: 9}, 7)
    assert risen.added == {5: Added(5, True, (6,), sources(8))}
    assert home.above(1).floor == 3
    assert home.newest(3) is home
    assert home.newest(2) == home.above(5)


def test_what_adds() -> None:
    """A post without known reposts is added by itself where it is listed, and else by nothing."""
    known = Added(None, False, (), sources(8))
    home = Home({5: 5, 6: 8}, {6: known}, 0, LIFT)
    assert (home.what_adds(6), home.what_adds(5)) == (known, Added(5, True, (), ()))
    assert home.what_adds(7) == Added(None, False, (), ())


def test_earlier_reposts() -> None:
    """An earlier repost takes a post off the home that a later one has put there, unless the later one lifts it."""
    home = Home(
        {1: 14, 2: 14}, {1: Added(None, False, (), sources(14)), 2: Added(None, False, (), sources(14))}, 5, LIFT
    )
    found = home.with_earlier({1: sources(4), 2: sources(3)})
    assert found.places == {2: 14}
    assert found.added[1].earlier == (4,)
    assert home.places == {1: 14, 2: 14}


def test_a_merged_place() -> None:
    """A post is at the place of all its sources if a page finds it there, and else where it is stored."""
    assert merging.listed_place(PlaceFacts(5, (16,), 5, {16}, LIFT)) == 16
    assert merging.listed_place(PlaceFacts(5, (16,), 5, (), LIFT)) == 5
    assert merging.listed_place(PlaceFacts(5, (15,), None, {5}, LIFT)) == 5
    assert merging.listed_place(PlaceFacts(None, (15,), None, {15}, LIFT)) == 15

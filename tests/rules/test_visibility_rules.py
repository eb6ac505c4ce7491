"""The rule of visibility by itself: the pure function in every cell of the table, without a store."""

import pytest

from resolvers.rules.visibility import UNSEEN, Permissions, Sight, permissions, seen, sees
from store.records.members import NO_RELATIONSHIP, Relationship, User
from store.records.posts import Comment, Repost, Status
from tests.support.visibility.sights import (
    CELLS,
    LISTS,
    MEMBER,
    POSTS,
    REPOSTS,
    SUSPENDED,
    TIMELINE,
    WANTED,
    WORDS,
    Cell,
    State,
)

MEMBER_ID, OTHER_ID, VIEWER_ID = 1, 2, 3
RELATIONSHIPS = {
    "follower": Relationship(follows=True),
    "blocked by": Relationship(is_blocked=True),
    "blocking": Relationship(blocks=True),
    "mutual block": Relationship(blocks=True, is_blocked=True),
    "muting": Relationship(mutes=True),
    "muting follower": Relationship(follows=True, mutes=True),
    SUSPENDED: Relationship(follows=True),
}
OPEN = State(private=False, suspended=False, hidden=False)
CLOSED = State(private=True, suspended=True, hidden=True)
VIEWERS = {"self": MEMBER_ID, "anonymous": None}
OTHER = User(OTHER_ID, "other", "Other", "", 0, 0, 0)


def status(entity: int, author: int, *, hidden: bool = False) -> Status:
    return Status(entity, author, "words", (), (), 0, 0, 0, 0, 0, hidden, None, None, None)


def repost(entity: int, author: int, original: Status, text: str = "", *, hidden: bool = False) -> Repost:
    return Repost(
        entity,
        author,
        text,
        (),
        (),
        0,
        0,
        0,
        0,
        0,
        hidden,
        None,
        None,
        None,
        None,
        None,
        (),
        original.id,
        original.author,
    )


def comment(entity: int, author: int, post: Status) -> Comment:
    return Comment(entity, author, "words", post.id, None)


def member(cell: Cell) -> User:
    return User(MEMBER_ID, "member", "Member", "", 0, 0, 0, cell.state.private, cell.state.suspended)


def sight(cell: Cell, *posts: Status, relationship: Relationship | None = None) -> Sight:
    """Return the sight of a cell: of its member and another one, public, whom nobody blocks or mutes."""
    viewer, is_moderator = VIEWERS.get(cell.relation, VIEWER_ID), cell.relation == "moderator"
    relationships = {
        MEMBER_ID: relationship or RELATIONSHIPS.get(cell.relation, NO_RELATIONSHIP),
        OTHER_ID: NO_RELATIONSHIP,
    }
    users = [member(cell), OTHER]
    is_suspended = cell.relation == SUSPENDED
    found = {
        user.id: permissions(user, relationships[user.id], viewer, is_moderator, is_suspended=is_suspended)
        for user in users
    }
    return Sight(viewer, is_moderator, found, {post.id: post for post in posts}, {})


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_the_rule(cell: Cell) -> None:
    """Every function of the rule agrees with the table in every cell, for entities of all kinds."""
    mine, theirs = status(10, MEMBER_ID, hidden=cell.state.hidden), status(11, OTHER_ID)
    facts = sight(cell, mine, theirs)
    assert sees(facts, member(cell)) == MEMBER.is_seen(cell)
    kinds = (MEMBER, WORDS, LISTS, REPOSTS, WANTED)
    assert facts.of(MEMBER_ID) == Permissions(*(kind.is_seen(cell) for kind in kinds))
    quote = repost(12, MEMBER_ID, theirs, "words", hidden=cell.state.hidden)
    plain = repost(13, OTHER_ID, mine)
    answers = [comment(14, MEMBER_ID, mine), comment(15, OTHER_ID, mine)]
    hangs_on_it: list[Status | Comment] = [mine, quote, plain, *answers]
    for entity in hangs_on_it:
        assert sees(facts, entity) == POSTS.is_seen(cell)
    page = [theirs, mine, None, quote]
    assert seen(facts, page) == (page if POSTS.is_seen(cell) else [theirs, None, None, None])
    assert seen(facts, page, wanted=True) == (page if TIMELINE.is_seen(cell) else [theirs, None, None, None])
    assert sees(facts, repost(16, MEMBER_ID, theirs)) == REPOSTS.is_seen(cell)
    assert sees(facts, comment(17, MEMBER_ID, theirs)) == WORDS.is_seen(cell)


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_a_quote_stays(cell: Cell) -> None:
    """Another member's own text in a quote is seen, even by viewers who may not see the original."""
    mine = status(10, MEMBER_ID, hidden=cell.state.hidden)
    assert sees(sight(cell, mine), repost(11, OTHER_ID, mine, "words"))


@pytest.mark.parametrize(
    ("relationship", "is_moderator", "state", "expected"),
    [
        (Relationship(blocks=True, is_blocked=True), False, OPEN, UNSEEN),
        (Relationship(mutes=True, blocks=True), False, OPEN, Permissions(member=True, lists=True)),
        (Relationship(is_blocked=True), True, OPEN, UNSEEN),
        (Relationship(blocks=True), True, CLOSED, Permissions(member=True)),
        (
            Relationship(follows=True),
            True,
            CLOSED,
            Permissions(member=True, words=True, lists=True, posts=True, is_wanted=True),
        ),
    ],
)
def test_several_at_once(
    relationship: Relationship, state: State, expected: Permissions, *, is_moderator: bool
) -> None:
    """If several relations hold at once, each takes away permissions, even from moderators."""
    cell = Cell("moderator" if is_moderator else "stranger", state)
    facts = sight(cell, relationship=relationship)
    assert facts.of(MEMBER_ID) == expected
    assert sees(facts, member(cell)) == expected.member


def test_what_is_not_there() -> None:
    """Nothing deleted is seen: a record, its author, the post below a comment, the original of a repost."""
    facts = sight(Cell("stranger", OPEN))
    gone = status(10, 99)
    assert not sees(facts, None)
    assert not sees(facts, gone)
    assert not sees(facts, comment(11, MEMBER_ID, gone))
    assert not sees(facts, repost(12, MEMBER_ID, gone))
    assert facts.of(99) == permissions(None, NO_RELATIONSHIP, VIEWER_ID, is_moderator=True) == UNSEEN

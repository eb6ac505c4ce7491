"""The rule of visibility by itself: the pure function in every cell of the table, without a store."""

import pytest
from msgspec.structs import replace

from resolvers.rules import visibility
from resolvers.rules.visibility import UNSEEN, Permissions, Sight, permissions, seen, sees
from store.groups.records import Group, GroupKind
from store.records.members import NO_RELATIONSHIP, MessageAudience, Relationship, User
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
    assert seen(facts, [plain]) == [plain if POSTS.is_seen(cell) else None]
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


@pytest.mark.parametrize("is_hidden", [False, True])
@pytest.mark.parametrize("kind", GroupKind)
def test_groups(kind: GroupKind, is_hidden: bool) -> None:
    """What is in a private group is for its members, in a hidden one for moderators, and never for who is banned."""
    group = Group(20, "Birds", "", kind, is_hidden)
    for is_member in (False, True):
        for is_moderator in (False, True):
            is_open = visibility.opens_group(group, is_member=is_member, is_banned=False, is_moderator=is_moderator)
            assert is_open == ((is_member or kind is not GroupKind.PRIVATE) and (is_moderator or not is_hidden))
            assert not visibility.opens_group(group, is_member=is_member, is_banned=True, is_moderator=is_moderator)
            exists = visibility.sees_group(group, is_member=is_member, is_moderator=is_moderator)
            assert exists == (is_member or is_moderator or not is_hidden)
    facts = sight(Cell("stranger", OPEN))
    assert sees(facts, group) == (not is_hidden)
    assert sees(replace(facts, is_moderator=True), group)
    assert not visibility.opens_group(None, is_member=True, is_banned=False)
    assert not visibility.sees_group(None, is_member=True, is_moderator=True)


@pytest.mark.parametrize(
    ("is_member", "is_suspended", "counts"), [(False, False, False), (True, False, True), (True, True, False)]
)
def test_memberships_that_count(is_member: bool, is_suspended: bool, counts: bool) -> None:
    """A membership shows nothing to a suspended viewer."""
    assert visibility.counts_as_member(is_member=is_member, is_suspended=is_suspended) == counts


def test_posts_in_groups() -> None:
    """A post in a group is seen where the group is, and by nobody if that is not known."""
    post = replace(status(10, MEMBER_ID), group=20)
    facts = sight(Cell("stranger", OPEN), post)
    for groups, is_seen in (({20: True}, True), ({20: False}, False), ({21: True}, False)):
        within = replace(facts, groups=groups)
        assert sees(within, post) == is_seen
        assert seen(within, [post]) == [post if is_seen else None]
        assert sees(within, comment(11, OTHER_ID, post)) == is_seen


@pytest.mark.parametrize(
    ("relationship", "is_shown"),
    [
        (NO_RELATIONSHIP, True),
        (Relationship(follows=True), True),
        (Relationship(is_blocked=True), True),
        (Relationship(blocks=True), False),
        (Relationship(mutes=True), False),
    ],
)
def test_promotions(relationship: Relationship, is_shown: bool) -> None:
    """Promotions are shown unless the viewer blocks or mutes the sponsor; what others do, without any block or mute."""
    assert visibility.allows_promotions(relationship) == is_shown
    assert visibility.is_wanted(relationship) == (is_shown and not relationship.is_blocked)


def test_whom_to_block() -> None:
    """Of a member who blocks the viewer, id and login are shown, and nothing where they would not be seen anyway."""
    user = replace(OTHER, bio="a bio", follower_count=3)
    shown = User(OTHER_ID, "other", "other", "", 0, 0, 0)
    suspended = replace(user, is_suspended=True)
    assert visibility.to_block(user, is_moderator=False) == shown
    assert visibility.to_block(suspended, is_moderator=True) == shown
    assert visibility.to_block(suspended, is_moderator=False) is None
    assert visibility.to_block(None, is_moderator=True) is None


def test_whom_a_report_leads_to() -> None:
    """A moderator sees who it is that a report leads to, and no more than before of what they do."""
    assert visibility.granted(UNSEEN) == Permissions(member=True)


@pytest.mark.parametrize(
    ("audience", "by_strangers", "by_followed"),
    [
        (MessageAudience.EVERYONE, True, True),
        (MessageAudience.FOLLOWED, False, True),
        (MessageAudience.NOBODY, False, False),
    ],
)
def test_messages(audience: MessageAudience, by_strangers: bool, by_followed: bool) -> None:
    """Members are written to by everyone, by those whom they follow, or by nobody, as they have chosen."""
    user = replace(OTHER, messages_from=audience)
    assert visibility.allows_messages(user, follows=False) == by_strangers
    assert visibility.allows_messages(user, follows=True) == by_followed


def test_notifications() -> None:
    """Nobody is notified of a muted or blocked member's act, nor of an act on what they do not see."""
    post, cell = status(10, OTHER_ID), Cell("stranger", OPEN)
    facts = sight(cell, post)
    assert visibility.notifies(facts, MEMBER_ID, post)
    assert visibility.notifies(facts, 0, post)
    assert visibility.notifies(facts, MEMBER_ID)
    assert not visibility.notifies(facts, MEMBER_ID, post, None)
    assert not visibility.notifies(facts, 0, None)
    for relationship in (Relationship(mutes=True), Relationship(blocks=True), Relationship(is_blocked=True)):
        assert not visibility.notifies(sight(cell, post, relationship=relationship), MEMBER_ID, post)

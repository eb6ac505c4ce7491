"""Data loaders of one operation: records by id, and the viewer's relationships and flags."""

from collections.abc import Callable, Hashable
from functools import cached_property, partial
from itertools import chain
from operator import is_not
from typing import Any, Generic, TypeVar

from resolvers.loading.batcher import Batcher, sound
from resolvers.loading.dataloader import ANY, DataLoader, constant, each, fetch, records, together
from resolvers.loading.relationships import Likes, Relationships, Sources
from resolvers.process.answers import NO_FACTS, Facts
from resolvers.process.cached_kinds import CachedKinds
from resolvers.rules import visibility
from resolvers.rules.merging import EARLIER_REPOSTS
from store import (
    account_names,
    accounts,
    big_authors,
    favourites,
    follows,
    likes_and_comments,
    posts,
    promotions,
    timelines,
)
from store.client.caching.values import CachedRelations, Mark
from store.client.database import Command
from store.conversations import entries, messages
from store.conversations.records import Conversation, Message, Summary
from store.credentials.records import Credentials
from store.groups import reads as groups
from store.groups.records import Group, GroupRole
from store.homes import stored
from store.homes.stored import StoredHome
from store.ids import partition
from store.notifications import Notification, look_up, read_notifications, read_until_command
from store.promotions import Promotion
from store.records.lists import Entry, Source
from store.records.members import NO_RELATIONSHIP, Relationship, User
from store.records.posts import Comment, Post, read_post

AnyLoader = TypeVar("AnyLoader", bound=DataLoader[Any])

_is_there: Callable[[Any], bool] = partial(is_not, None)


def _number(reply: Any) -> int | None:
    return int(float(reply)) if reply else None


class _marked(Generic[AnyLoader]):  # noqa: N801  used as a decorator
    """Declares a data loader, which is made when it is first used, and is then an attribute, and listed by its kind."""

    kind = "own"

    def __init__(self, make: "Callable[[DataLoaders], AnyLoader]") -> None:
        self._make = make

    def __get__(self, loaders: "DataLoaders", _: "type[DataLoaders]") -> AnyLoader:
        attributes, name = vars(loaders), self._make.__name__
        made = attributes[name] = attributes[self.kind][name] = self._make(loaders)
        return made


class _public(_marked[AnyLoader]):  # noqa: N801  used as a decorator
    """Declares a data loader whose values are the same for every viewer."""

    kind = "public"


class _fact(_marked[AnyLoader]):  # noqa: N801  used as a decorator
    """Declares a data loader of facts about the viewer. An answer that depends on no more serves all who share them."""

    kind = "factual"


class DataLoaders:
    """Data loaders for records by id, and for the viewer's relationships and flags.

    Each value is read once per operation, in the batcher's pipelines.
    """

    def __init__(self, batcher: Batcher, cached_kinds: CachedKinds, viewer: int | None) -> None:
        self._batcher = batcher
        self._cached = cached_kinds
        self._viewer = viewer
        self._me = viewer or 0
        self.all = partial(fetch, batcher)  # loads ids of several data loaders in one round trip
        # Those whose values an answer may depend on: the same for every viewer, facts about the viewer, and others.
        self.public: dict[Hashable, DataLoader[Any]] = {}
        self.factual: dict[str, DataLoader[Any]] = {}
        self.own: dict[Hashable, DataLoader[Any]] = {}
        self.decided: dict[int, Any] = {}  # member → the viewer's permissions, as the rules decided them
        self.granted: set[int] = set()  # members whom a moderator sees in this operation, even if blocked by them
        self.open_groups: dict[int, bool] = {}  # group → whether the viewer sees what is in it, as the rules decided

    @property
    def members(self) -> dict[int, User | None]:
        """All members loaded so far."""
        return {member: user for member, user in self.user.found.items() if not isinstance(user, Exception)}

    @_public
    def user(self) -> DataLoader[User | None]:
        return records(self._batcher, accounts.user_command, User.read, self._cached.users)

    @_public
    def post(self) -> DataLoader[Post | None]:
        return records(self._batcher, posts.post_command, read_post, self._cached.posts)

    @_public
    def comment(self) -> DataLoader[Comment | None]:
        return records(self._batcher, likes_and_comments.comment_command, Comment.read, self._cached.comments)

    @_marked
    def group(self) -> DataLoader[Group | None]:
        return records(self._batcher, groups.group_command, Group.read, self._cached.groups)

    @_marked
    def is_in_group(self) -> DataLoader[bool]:
        return self._about(groups.joined_command)

    @_marked
    def is_banned(self) -> DataLoader[bool]:
        """Whether groups ban the viewer."""
        return self._about(groups.ban_command)

    @_marked
    def has_asked_group(self) -> DataLoader[bool]:
        return self._about(groups.requested_command)

    @_marked
    def has_bans(self) -> DataLoader[bool]:
        """Whether groups ban anybody."""
        return each(self._batcher, groups.has_bans_command, bool)

    @_marked
    def group_role(self) -> DataLoader[GroupRole]:
        """The viewer's role in groups that they are in."""
        me = self._viewer
        if me is None:
            return constant(self._batcher, GroupRole.MEMBER)
        return each(self._batcher, lambda group: groups.role_command(group, me), groups.read_role)

    @_marked
    def group_size(self) -> DataLoader[int]:
        return each(self._batcher, groups.member_count_command, int)

    @_marked
    def promotion(self) -> DataLoader[Promotion | None]:
        return records(self._batcher, promotions.promotion_command, Promotion.read)

    @_marked
    def conversation(self) -> DataLoader[Conversation | None]:
        return records(self._batcher, messages.conversation_command, Conversation.read)

    @_marked
    def message(self) -> DataLoader[Message | None]:
        return records(self._batcher, messages.message_command, Message.read, self._cached.messages)

    @_marked
    def read_mark(self) -> DataLoader[int]:
        """The viewer's read marks, by conversation."""
        return together(self._batcher, partial(entries.read_marks_command, self._me), entries.read_mark)

    @_marked
    def summary(self) -> DataLoader[Summary]:
        """What the viewer sees of conversations.

        The conversations, the viewer's read marks, and their relationships to all participants are loaded before.
        """
        me, batcher, relationships = self._me, self._batcher, self.relationship.found
        conversations, read_marks = self.conversation, self.read_mark

        def ask(ids: list[int]) -> list[Command]:
            rows = zip(conversations.loaded(ids), read_marks.loaded(ids), strict=True)
            is_suspended = batcher.is_suspended
            return [
                messages.summary_command(
                    one,
                    me,
                    mark,
                    visibility.hidden_senders(one, me, relationships, is_suspended=is_suspended),
                    visibility.muted_senders(one, me, relationships),
                )
                for one, mark in rows
                if one
            ]

        return DataLoader(batcher, ask, lambda ids, replies: map(Summary.read, ids, sound(replies)))

    @_marked
    def credentials(self) -> DataLoader[Credentials | None]:
        return records(self._batcher, accounts.credentials_command, lambda _, fields: Credentials.read(fields))

    @_fact
    def has_liked(self) -> DataLoader[bool]:
        me = self._viewer
        if me is None:
            return constant(self._batcher, False)
        return Likes(self._batcher, me, self._cached.likes.of(me), self._cached.newest_likes.of(me))

    @_fact
    def has_reposted(self) -> DataLoader[bool]:
        return self._flag(posts.reposted_command, self._cached.reposted)

    @_fact
    def has_favourited(self) -> DataLoader[bool]:
        return self._flag(favourites.favourited_command, self._cached.favourites)

    @_marked
    def has_requested(self) -> DataLoader[bool]:
        return self._flag(follows.requested_command)

    @_marked
    def followed_by(self) -> DataLoader[bool]:
        return self._flag(follows.followed_by_command)

    def _about(self, command: Callable[[int, int], Command]) -> DataLoader[bool]:
        """Return the data loader of whether a key of each entity names the viewer; none names an anonymous viewer."""
        me = self._viewer
        if me is None:
            return constant(self._batcher, False)
        return each(self._batcher, lambda entity_id: command(entity_id, me), _is_there)

    def _flag(
        self, command: Callable[[int, list[int]], Command], cached: CachedRelations | None = None
    ) -> DataLoader[bool]:
        """Return the data loader of whether a key of the viewer names entities; an anonymous viewer has none."""
        me = self._viewer
        if me is None:
            return constant(self._batcher, False)
        return together(self._batcher, partial(command, me), _is_there, cached.of(me) if cached else None)

    @_fact
    def relationship(self) -> DataLoader[Relationship]:
        if self._viewer is None:
            return constant(self._batcher, NO_RELATIONSHIP)
        return Relationships(self._batcher, self._viewer, self._cached.relationships.of(self._viewer))

    @_public
    def login(self) -> DataLoader[int | None]:
        return each(self._batcher, account_names.holder_command, _number, self._cached.logins)

    @_marked
    def home(self) -> DataLoader[StoredHome]:
        """The viewer's stored home, by the number of newest entries to read."""
        me = self._me

        def read(counts: list[int], replies: list[Any]) -> list[StoredHome]:
            parts = zip(*[iter(sound(replies))] * 3, strict=True)
            return [stored.read_stored(timelines.newest_of(c), *part) for c, part in zip(counts, parts, strict=True)]

        return DataLoader(
            self._batcher,
            lambda counts: list(chain.from_iterable(stored.read_home(me, timelines.newest_of(c)) for c in counts)),
            read,
            self._cached.homes.of(me),
        )

    @cached_property
    def read_on(self) -> DataLoader[int | None]:
        """The day on which members last read their homes; members of the viewer's partition only.

        No answer depends on it: it stays today until the day ends, but its key changes with each other member.
        """
        p = partition(self._me)
        return together(self._batcher, partial(stored.read_on_command, p), _number, self._cached.days.of(str(p)))

    @_marked
    def big_version(self) -> DataLoader[str]:
        return each(self._batcher, lambda _: big_authors.VERSION, lambda reply: reply or "", self._cached.big_version)

    @_marked
    def promoted_until(self) -> DataLoader[int]:
        """The end of the last running promotion, in ms since 1970; 0 if none runs."""
        return each(self._batcher, lambda _: promotions.LAST, promotions.read_last, self._cached.promoted_until)

    @_marked
    def big_followed(self) -> DataLoader[tuple[int, ...]]:
        """The big authors that the viewer follows, by the tuple of all big authors."""
        me = self._me
        return DataLoader(
            self._batcher,
            lambda groups: [follows.follows_command(me, members) for members in groups],
            lambda groups, replies: [
                tuple(member for member, edge in zip(members, scores, strict=True) if edge is not None)
                for members, scores in zip(groups, sound(replies), strict=True)
            ],
            self._cached.big_followed.of(me),
        )

    def published(self, member: int) -> DataLoader[list[Entry]]:
        """Return the data loader of a member's newest posts, by the number of posts to read."""
        command = partial(timelines.newest_published_command, member)
        made = each(self._batcher, command, timelines.read_profile_entries, self._cached.profiles.of(member))
        self.public["published", member] = made
        return made

    def first_reposts(self, below: int | None) -> DataLoader[tuple[Source, ...]]:
        """Return the data loader of the oldest plain reposts of posts, of those before an id."""
        made = each(
            self._batcher,
            lambda post: posts.first_reposts(post, EARLIER_REPOSTS, below),
            posts.read_reposts,
            self._cached.reposts.of(below),
        )
        self.own["first_reposts", below] = made
        return made

    @_marked
    def place(self) -> DataLoader[int | None]:
        return together(self._batcher, partial(stored.places, self._me), _number)

    @_marked
    def sources(self) -> DataLoader[tuple[Source, ...]]:
        return Sources(self._batcher, self._me, self._cached.sources.of(self._me))

    @_marked
    def notification(self) -> DataLoader[Notification | None]:
        me = self._me
        return DataLoader(
            self._batcher,
            lambda ids: look_up(me, ids),
            lambda _, replies: [next(iter(read_notifications(reply)), None) for reply in replies],
        )

    @_marked
    def read_until(self) -> DataLoader[int]:
        return each(self._batcher, read_until_command, lambda reply: int(reply or 0))

    def facts(self) -> Facts:
        """Return the facts about the viewer that were loaded, if nothing else that was loaded depends on the viewer.

        There are none for a viewer who is among the members themselves.
        """
        if self.own or not self._me or self._me in self.relationship.found:
            return NO_FACTS
        return {
            name: {entity_id: value for entity_id, value in loader.found.items() if entity_id != ANY}
            for name, loader in self.factual.items()
        }

    async def ask_facts(self, facts: Facts) -> None:
        """Load the viewer's own values of the same facts; one round trip."""
        await self.all(*[(getattr(self, name), list(values)) for name, values in facts.items()])

    def agrees(self, facts: Facts) -> bool:
        """Return whether the viewer's own values of facts are loaded and the same."""
        loaders = vars(self)
        return self._me not in facts["relationship"] and all(
            name in loaders and values.items() <= loaders[name].found.items() for name, values in facts.items()
        )

    def marks(self, facts: Facts) -> list[Mark] | None:
        """Return marks that are all true until a value loaded so far has changed; None if one is not cached now.

        An answer with facts needs no marks of them. The loader `read_on` has none: it is not `marked`.
        """
        found: list[Mark] = []
        for loader in (*self.public.values(), *self.own.values(), *(() if facts else self.factual.values())):
            marks = loader.marks()
            if marks is None:
                return None
            found += marks
        return found

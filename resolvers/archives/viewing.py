"""Reading for an export, and naming in it: everything as the exported member sees it, with the ids of the API.

What only a role would show is left out.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from resolvers.loading.batcher import Batcher
from resolvers.loading.loaders import DataLoaders
from resolvers.operation.context import Context
from resolvers.process.services import Services
from resolvers.process.session_check import SessionCheck
from resolvers.process.tokens import Claims
from resolvers.reading import global_ids, groups, hydrate
from resolvers.reading.named_members import See
from store.client.caching.values import Reading
from store.groups.records import Group
from store.ids import instant
from store.kinds import List
from store.records.lists import Entry, read_entries
from store.records.members import User
from store.records.posts import Post
from store.timelines import Slice, read_slice

BATCH = 100  # Entries of a list read per page. Each page has a view of its own, so memory does not grow.

Written = dict[str, Any]  # one entry of an export, ready to be written as JSON
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Export:
    """An export of one member. `session` is the one that asked for it, None for the operator's command.

    With a session, its check finds whether the member is suspended. An operator's command says it as `is_suspended`.
    """

    services: Services
    member: int
    session: str | None = None
    request_id: str = ""
    is_suspended: bool = False

    def view(self) -> "ExportContext":
        """Return a new view, which has read nothing. Its first round trip checks the session again."""
        return ExportContext(self)


Read = Callable[[Export], AsyncIterator[list[Written]]]  # reads a section, a page of entries at a time


class ExportContext(Context):
    """The context of one page of an export. It raises Unauthenticated as soon as the session has ended."""

    def __init__(self, export: Export) -> None:
        claims = Claims(export.member, export.session or "", 0)
        super().__init__(
            export.services, claims, address="", user_agent="", request_id=export.request_id, counted=False
        )
        if export.session is None:
            cached = export.services.cached
            self._session_check = _Operator(claims, "", 0, cached.sessions.of(claims.member), export.services.db.counts)
            self._session_check.is_suspended = export.is_suspended
            self.batcher = Batcher(export.services.db, self._session_check)
            self.load = DataLoaders(self.batcher, cached, claims.member)

    @property
    def is_moderator(self) -> bool:
        """Always False: what a role shows belongs to the site and not to the member."""
        return False


class _Operator(SessionCheck):
    """The session check of an operator, who needs no session."""

    def reading(self) -> Reading | None:
        """Return None: there is no session to read."""
        return None

    def judge(self) -> bool:
        """Return True: operators may read everything."""
        return True


def pages(export: Export, listed: List, owner: int, after: int = 0) -> AsyncIterator[tuple[ExportContext, list[Entry]]]:
    """Yield the pages of a list, oldest entry first, each with a new view. One round trip a page."""
    return pages_of(export, listed, owner, read_entries, after)


async def pages_of(
    export: Export, listed: List, owner: int, read: Callable[[Sequence[str]], Found], after: int = 0
) -> AsyncIterator[tuple[ExportContext, Found]]:
    """Yield the pages of a list as `read` returns them, each with a new view."""
    while True:
        view = export.view()
        part = Slice(after, None, newest_first=False, count=BATCH)
        (reply,) = await view.batcher.run([read_slice(listed.key(owner), part)])
        if not reply:
            return
        after = int(reply[-1])
        yield view, read(reply)


def moment(when: datetime) -> str:
    """Return a time in ISO 8601, in UTC to the millisecond."""
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def made(entity: int) -> str:
    """Return the time at which an id was made."""
    return moment(instant(entity))


async def people(view: ExportContext, members: Iterable[int], see: See = hydrate.users) -> dict[int, Written | None]:
    """Return how entries name some members; one round trip. `see` returns what the exported member sees of them."""
    wanted = list(dict.fromkeys(members))
    return dict(zip(wanted, map(_person, await see(view, wanted)), strict=True))


def _person(user: User | None) -> Written | None:
    return {"id": global_ids.of(user), "login": user.login, "name": user.name} if user else None


async def group_names(view: ExportContext, ids: Iterable[int]) -> dict[int, Written | None]:
    """Return how entries name some groups. Everybody sees that a group exists, and its name."""
    wanted = list(dict.fromkeys(ids))
    return dict(zip(wanted, map(_group_name, await groups.groups(view, wanted)), strict=True)) if wanted else {}


def _group_name(group: Group | None) -> Written | None:
    return {"id": global_ids.of(group), "name": group.name} if group else None


async def seen_posts(view: ExportContext, ids: Iterable[int]) -> dict[int, Written]:
    """Return id, author and text of those of some posts that the member sees; three round trips."""
    wanted = list(dict.fromkeys(ids))
    posts = [post for post in await hydrate.posts(view, wanted) if post]
    authors = await people(view, [post.author for post in posts])
    return {post.id: _shown(post, authors) for post in posts}


def _shown(post: Post, authors: Mapping[int, Written | None]) -> Written:
    return {
        "id": global_ids.of(post),
        "authorId": global_ids.user_id(post.author),
        "author": authors[post.author],
        "text": post.text,
        "createdAt": moment(post.created_at),
    }

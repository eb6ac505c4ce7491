"""Reading for an export: everything as the member sees it who is exported, without what only a role would show."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from resolvers.loading.batcher import Batcher
from resolvers.loading.loaders import DataLoaders
from resolvers.operation.context import Context
from resolvers.process.services import Services
from resolvers.process.session_check import SessionCheck
from resolvers.process.tokens import Claims
from store.client.caching.values import Reading
from store.kinds import List
from store.records.lists import Entry, read_entries
from store.timelines import Slice, read_slice

BATCH = 100  # Entries of a list read per page. Each page has a view of its own, so memory does not grow.

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

    def judge(self, counted: Sequence[Any]) -> bool:
        """Return True: operators may read everything."""
        return not counted


async def pages(
    export: Export, listed: List, owner: int, after: int = 0
) -> AsyncIterator[tuple[ExportContext, list[Entry]]]:
    """Yield the pages of a list, oldest entry first, each with a new view. One round trip a page."""
    async for view, found, _ in pages_of(export, listed, owner, read_entries, after):
        yield view, found


async def pages_of(
    export: Export, listed: List, owner: int, read: Callable[[Sequence[str]], Found], after: int = 0
) -> AsyncIterator[tuple[ExportContext, Found, int]]:
    """Yield the pages of a list as `read` returns them, each with a new view and the score of its last entry."""
    while True:
        view = export.view()
        part = Slice(after, None, newest_first=False, count=BATCH)
        (reply,) = await view.batcher.run([read_slice(listed.key(owner), part)])
        if not reply:
            return
        after = int(reply[-1])
        yield view, read(reply), after

"""Shared renderings of site-wide events: one rendering serves all viewers who would get the same result.

A selection can be shared when each of its fields is flagged as `SHARED`: it depends on the viewer only through
visibility. It is rendered for a viewer who has no relationships. The rendering notes the members that it read. It is
right for a viewer if none of these members is private or blocks the viewer, and the viewer blocks and mutes none. All
other viewers get a rendering of their own. A rendering that names a group with bans is not shared.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from strawberry.types import ExecutionResult

from resolvers.process.broadcasts import Rendering
from schema.execution.executor import PerEventExecutor
from schema.execution.results import JsonResult, NoResult


class EventRenderer:
    """Renders events of one subscription whose results viewers may share."""

    def __init__(self, selection: object, build: Callable[[], PerEventExecutor]) -> None:
        """Begin with what `build` returns when it is first needed: the subscription's executor without a context."""
        self.selection = selection
        self._build = build

    @cached_property
    def _executor(self) -> PerEventExecutor:
        return self._build()

    async def for_all(self, context: Any, event: object) -> Rendering | None:
        """Return the rendering of an event for all viewers without relationships, None where they differ."""
        nobody = context.nobody()
        nobody.fields, load = context.fields, nobody.load
        result = await self._executor.of_event(event, nobody).execute_operation()
        looked_at = load.members
        if (
            result.errors
            or isinstance(result, NoResult)
            or any(user is None or user.is_private or user.is_suspended for user in looked_at.values())
            or any(await load.has_bans.load_many(list(load.open_groups)))  # then members see different things
        ):
            return None
        return Rendering(JsonResult.of(result.data), frozenset(looked_at), self.selection)

    async def for_viewer(self, context: Any, event: object) -> ExecutionResult | None:
        """Return the result of an event for one viewer, None where it has errors, which name their request."""
        async with context.looks:
            result = await self._executor.of_event(event, context.fresh(counted=False)).execute_operation()
        if isinstance(result, NoResult):
            return result
        return None if result.errors else JsonResult.of(result.data)

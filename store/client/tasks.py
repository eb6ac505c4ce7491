"""Cancels a task and makes sure that it ends."""

from __future__ import annotations

import asyncio

AGAIN_SECONDS = 0.1  # a task that has not ended after this is cancelled again


async def stop(task: asyncio.Task[None] | None) -> None:
    """Cancel a task and wait until it has ended. The task's own errors are ignored.

    redis-py may mistake a cancellation for a time-out of the reply that it awaits. Then the task goes on and has to be
    cancelled again.
    """
    while task is not None and not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=AGAIN_SECONDS)
    if task is not None and not task.cancelled():
        task.exception()

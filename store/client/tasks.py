"""Ending tasks for certain."""

from __future__ import annotations

import asyncio

AGAIN_SECONDS = 0.1  # after which a task that has not ended is cancelled once more


async def stop(task: asyncio.Task[None] | None) -> None:
    """Cancel a task and wait until it has ended; its errors are its own.

    redis-py may take a cancellation for a time-out of the reply it is waiting for: the task goes on then, and has to be
    cancelled again.
    """
    while task is not None and not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=AGAIN_SECONDS)
    if task is not None and not task.cancelled():
        task.exception()

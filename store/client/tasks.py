"""Cancels tasks and makes sure that they end."""

import asyncio
from typing import Any

AGAIN_SECONDS = 0.1  # a task that has not ended after this is cancelled again


async def stop(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks and wait until all have ended. The tasks' own errors are ignored.

    redis-py may mistake a cancellation for a time-out of the reply that it awaits. Then the task goes on and has to be
    cancelled again. The caller may be cancelled meanwhile. That is raised here once the tasks have ended.
    """
    known = [task for task in tasks if task]
    cancelled: asyncio.CancelledError | None = None
    while running := [task for task in known if not task.done()]:
        for task in running:
            task.cancel()
        try:
            await asyncio.wait(running, timeout=AGAIN_SECONDS)
        except asyncio.CancelledError as error:
            cancelled = error
    for task in known:
        if not task.cancelled():
            task.exception()
    if cancelled:
        raise cancelled

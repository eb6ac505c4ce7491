"""Runs the steps of a long command, a few at once: the store works on one while another is prepared."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

IN_FLIGHT = 2  # steps at once

Result = TypeVar("Result")


async def run_all(steps: Iterable[Coroutine[Any, Any, Result]], take: Callable[[Result], object]) -> None:
    """Run steps, and hand over their results in their order. Each begins before the next one, which may overtake it.

    After an error or a cancellation, no step begins. Those that have begun come to their end.
    """
    running: deque[asyncio.Task[Result]] = deque()
    try:
        for step in steps:
            running.append(asyncio.create_task(step))
            if len(running) == IN_FLIGHT:
                take(await running.popleft())
        while running:
            take(await running.popleft())
    finally:
        await asyncio.gather(*running, return_exceptions=True)

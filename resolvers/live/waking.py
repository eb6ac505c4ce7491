"""Wake-ups: a subscription that reads what has changed at each message of a Pub/Sub channel."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from store.client.pubsub import PubSub


async def wakes(pubsub: PubSub, channel: str, longest: float | None = None) -> AsyncGenerator[None, None]:
    """Yield at once, and then whenever something was published since, or after `longest` seconds.

    The first time is for changes between the caller's first read and this subscription.
    """
    changed = asyncio.Event()

    def wake(_: str) -> None:
        changed.set()

    try:
        pubsub.listen(channel, wake)
        changed.set()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(longest):
                    await changed.wait()
            changed.clear()
            yield
    finally:
        pubsub.ignore(channel, wake)

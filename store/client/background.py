"""Work in the background gives way to requests while the process has too much to do."""

import asyncio
import time

PAUSE_SECONDS = 0.025  # for which one step gives way. Longer, what waits would grow, and take more time once it is done
LASTING_SECONDS = 0.3  # for which one sign of too much to do holds


class Background:
    """Whether requests wait in this process."""

    def __init__(self) -> None:
        self._until = 0.0  # by the monotonic clock

    def note_load(self) -> None:
        """Note that requests wait, or are being refused."""
        self._until = time.monotonic() + LASTING_SECONDS

    @property
    def must_wait(self) -> bool:
        """Whether requests wait."""
        return time.monotonic() < self._until

    async def give_way(self, pause: float = PAUSE_SECONDS) -> None:
        """Wait for some time, s, if requests wait."""
        if self.must_wait:
            await asyncio.sleep(pause)


BACKGROUND = Background()

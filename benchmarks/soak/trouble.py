"""Ends the store and Perch's processes, and watches the memory of all."""

import asyncio
import contextlib
import signal
import time
from collections import Counter

import psutil

from benchmarks.clients import until
from benchmarks.versus.contenders import Contender
from benchmarks.versus.load import MIB
from benchmarks.versus.stage import Stage
from store.client.database import Unavailable

PEACE_SECONDS = 15.0  # after the store or a process was ended, in which errors are expected
SAMPLE_SECONDS = 15.0
QUARTERS = (0.25, 0.5, 0.75)
SIGNALS = (signal.SIGKILL, signal.SIGTERM)


class Trouble:
    """Ends store and processes, by SIGKILL and by SIGTERM in turn."""

    def __init__(self, stage: Stage, perch: Contender, period: float) -> None:
        self._stage, self._perch, self._period = stage, perch, period
        self._last = -PEACE_SECONDS
        self.acts: Counter[str] = Counter()

    def is_near(self) -> bool:
        """Return whether something was ended a short time ago."""
        return time.monotonic() - self._last < PEACE_SECONDS

    async def run(self, seconds: float) -> None:
        """End the store in the middle of each period and a process at its end, for as long as is said."""
        began, turn = time.monotonic(), 0
        acts = (self._end_store, self._end_process)
        while (due := began + (turn + 1) * self._period / len(acts)) < began + seconds:
            await asyncio.sleep(due - time.monotonic())
            self._last = time.monotonic()
            await acts[turn % len(acts)](SIGNALS[turn // len(acts) % len(SIGNALS)])
            self._last = time.monotonic()
            turn += 1

    async def _end_store(self, number: signal.Signals) -> None:
        old = await store_process(self._stage)
        old.send_signal(number)
        self.acts[f"store, {number.name}"] += 1

        async def is_back() -> bool:
            with contextlib.suppress(Unavailable, psutil.NoSuchProcess):
                return (await store_process(self._stage)).pid != old.pid
            return False

        await until(is_back)

    async def _end_process(self, number: signal.Signals) -> None:
        """End the process that has served longest, and wait until it has a successor."""
        serving = sorted(self._perch.process.children(), key=lambda process: process.create_time())
        serving[0].send_signal(number)
        self.acts[f"process of Perch, {number.name}"] += 1

        async def is_replaced() -> bool:
            now = self._perch.process.children()
            return serving[0] not in now and len(now) == len(serving)

        await until(is_replaced)


class MemorySamples:
    """The resident memory of the processes, sampled."""

    def __init__(self, stage: Stage, perch: Contender, trouble: Trouble) -> None:
        self._stage, self._perch, self._trouble = stage, perch, trouble
        self._began = time.monotonic()
        self._samples: list[tuple[float, float, float]] = []  # s since the start, MiB of Perch, MiB of the store

    async def run(self) -> None:
        """Sample until cancelled."""
        while True:
            if not self._trouble.is_near():  # else a process may be missing, or just starting
                await self.look()
            await asyncio.sleep(SAMPLE_SECONDS)

    async def look(self) -> None:
        """Take one sample, if everything is there."""
        with contextlib.suppress(Unavailable, psutil.NoSuchProcess):
            store = (await store_process(self._stage)).memory_info().rss / MIB
            self._samples.append((time.monotonic() - self._began, self._perch.memory / MIB, store))

    def newest(self) -> str:
        """Return the newest sample as words."""
        _, perch, store = self._samples[-1] if self._samples else (0.0, 0.0, 0.0)
        return f"Perch {perch:.0f} MiB, store {store:.0f} MiB"

    def rows(self, start: float) -> list[list[str]]:
        """Return table rows: the memory some seconds after the start, at the quarters, and at the end."""
        end = self._samples[-1][0]
        moments = [min(start, end), *(end * share for share in QUARTERS), end]
        chosen = [min(self._samples, key=lambda sample: abs(sample[0] - moment)) for moment in moments]
        names = ("all processes of Perch", "store")
        return [[name, *(f"{sample[place]:.0f}" for sample in chosen)] for place, name in enumerate(names, 1)]


async def store_process(stage: Stage) -> psutil.Process:
    """Return the process of the store that runs now. Raises Unavailable, psutil.NoSuchProcess."""
    info = str(await stage.db.one("INFO", "server"))
    return psutil.Process(int(next(line for line in info.splitlines() if line.startswith("process_id:")).split(":")[1]))

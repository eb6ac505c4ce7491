"""Progress bars of long commands, and what each phase costs."""

import contextlib
import time
from collections.abc import AsyncIterator
from typing import NoReturn

from tqdm import tqdm

from store.client.database import Database


def bar(name: str, total: int, *, hidden: bool = False) -> "tqdm[NoReturn]":
    """Return a progress bar with a name and a total."""
    return tqdm(total=total, desc=name, unit="", mininterval=0.5, disable=hidden)


class Phases:
    """Shows the progress of a long command, and measures each phase's time and the database's memory."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._rows: list[tuple[str, int, float, int]] = []

    @contextlib.asynccontextmanager
    async def phase(self, name: str, total: int) -> "AsyncIterator[tqdm[NoReturn]]":
        """Run one phase under a progress bar, and measure it."""
        before, began = await self._db.used_memory(), time.monotonic()
        with bar(name, total) as shown:
            yield shown
        spent = time.monotonic() - began
        self._rows.append((name, total, spent, await self._db.used_memory() - before))

    def report(self, **entries: int) -> str:
        """Return a table with a row for each phase; `entries` gives counts that replace a phase's total."""
        rows = [f"{'':8} {'count':>11} {'seconds':>9} {'per second':>11} {'MiB':>8} {'bytes each':>11}"]
        for name, total, seconds, memory in self._rows:
            count = entries.get(name, total)
            rate, each = count / max(seconds, 1e-3), memory / max(count, 1)
            rows.append(f"{name:8} {count:>11,} {seconds:>9.1f} {rate:>11,.0f} {memory / 2**20:>8.1f} {each:>11.1f}")
        return "\n".join(rows)

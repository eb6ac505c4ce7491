"""Jobs that this process left unfinished when it lost the connection. They're handed over to workers soon after."""

import asyncio
from collections.abc import Sequence
from typing import Any

from store import keys
from store.ids import PARTITIONS
from store.records.jobs import Job

_LEASING = {"EVALSHA", "XAUTOCLAIM"}
_PARTITIONS = {keys.jobs(p): p for p in range(PARTITIONS)}


class Unfinished:
    """Jobs whose steps were interrupted, and partitions in which a commit may have succeeded without a reply."""

    def __init__(self) -> None:
        self.jobs: dict[int, Job] = {}  # by id
        self.partitions: set[int] = set()
        self.filled = asyncio.Event()

    def __bool__(self) -> bool:
        return bool(self.jobs or self.partitions)

    def add(self, *jobs: Job) -> None:
        """Remember jobs that were interrupted."""
        self.jobs |= {job.id: job for job in jobs}
        self._fill()

    def add_lost(self, commands: Sequence[tuple[Any, ...]]) -> None:
        """Remember the partitions in which commands without a reply may have committed or leased jobs."""
        for command in commands:
            if command[0] in _LEASING:
                names = command[3 : 3 + command[2]] if command[0] == "EVALSHA" else command[1:2]
                self.partitions |= {_PARTITIONS[name] for name in names if name in _PARTITIONS}
        self._fill()

    def take(self) -> tuple[list[Job], set[int]]:
        """Return jobs and partitions, and forget them."""
        taken = list(self.jobs.values()), self.partitions
        self.jobs, self.partitions = {}, set()
        self.filled.clear()
        return taken

    def put_back(self, jobs: list[Job], partitions: set[int]) -> None:
        """Remember jobs and partitions that could not be handed over yet."""
        self.partitions |= partitions
        self.add(*jobs)

    def _fill(self) -> None:
        if self:
            self.filled.set()

"""One measurement: requests sent to one contender by a process of its own, and what they cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from benchmarks.versus import processors, queries
from benchmarks.versus.contenders import BenchmarkError, Contender
from benchmarks.versus.queries import Request

SCRIPT = Path(__file__).with_name("load.mjs")
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Plan:
    """How load is made: times in s; `rate` in requests per second, 0 for as many as are answered.

    With an `amount` that many requests are made instead, however long they take.
    """

    connections: int
    warmup: float
    seconds: float
    rate: float = 0
    amount: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """The results of one measurement: response times in ms, processor time in s, memory in MiB."""

    seconds: float
    answered: int
    unanswered: int  # at the end
    p50: float
    p99: float
    server_cpu: float
    store_cpu: float
    load_cpu: float
    processor: float  # time for which the server's processor was busy with any process
    memory: float

    @property
    def throughput(self) -> float:
        return self.answered / self.seconds

    @property
    def server_ms(self) -> float:
        """Processor time of the server for one request, ms."""
        return self.server_cpu / self.answered * 1000

    @property
    def store_ms(self) -> float:
        """Processor time of the store for one request, ms."""
        return self.store_cpu / self.answered * 1000

    @property
    def server_share(self) -> float:
        return self.server_cpu / self.seconds

    @property
    def foreign_share(self) -> float:
        """Part of the server's processor that others used."""
        return max(0.0, self.processor - self.server_cpu) / self.seconds

    @property
    def load_share(self) -> float:
        """Part of a processor that store and load generator used together."""
        return (self.load_cpu + self.store_cpu) / self.seconds


async def run(
    contender: Contender, store: psutil.Process, requests: Sequence[Request], plan: Plan, scratch: Path
) -> Result:
    """Measure one contender; raises BenchmarkError when a request fails."""
    encoded_requests = [queries.encoded(request, graphql=contender.kind.graphql) for request in requests]
    path = scratch / "plan.json"
    path.write_text(json.dumps({**asdict(plan), "port": contender.port, "requests": encoded_requests}), "utf-8")
    process = await asyncio.create_subprocess_exec("node", str(SCRIPT), str(path), stdout=asyncio.subprocess.PIPE)
    assert process.stdout
    processors.pin(psutil.Process(process.pid), processors.ALL if contender.which is None else processors.LOAD)
    await process.stdout.readline()  # `begin`
    before = _spent(contender, store)
    line = await process.stdout.readline()
    server_cpu, store_cpu, processor = (now - then for now, then in zip(_spent(contender, store), before, strict=True))
    await process.wait()
    if not line:
        raise BenchmarkError(f"{contender.kind.name}: the load could not be made")
    found = json.loads(line)
    if found["failures"] or not found["answered"]:
        counts = f"{found['answered']} requests answered, {found['failures']} failed"
        raise BenchmarkError(f"{contender.kind.name}: {counts}: {found['example']}")
    return Result(
        seconds=found["seconds"],
        answered=found["answered"],
        unanswered=found["unanswered"],
        p50=found["p50"],
        p99=found["p99"],
        server_cpu=server_cpu,
        store_cpu=store_cpu,
        load_cpu=found["cpu"],
        processor=processor,
        memory=contender.memory / MIB,
    )


def _spent(contender: Contender, store: psutil.Process) -> tuple[float, float, float]:
    times = store.cpu_times()
    return contender.cpu, float(times.user + times.system), processors.busy(processors.SERVER)

"""One measurement: requests sent to one contender by a process of its own, and what they cost."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from benchmarks.versus import processors, queries
from benchmarks.versus.contenders import ROOT, BenchmarkError, Contender
from benchmarks.versus.generator import LoadPlan
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import Stage

GENERATOR = [sys.executable, "-m", "benchmarks.versus.generator"]
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Result:
    """The results of one measurement: response times in ms, processor time in s, memory in MiB."""

    seconds: float
    answered: int
    unanswered: int  # at the end
    p50: float
    p99: float
    late: float  # p99 of how late the generator was, ms
    server_cpu: float
    store_cpu: float
    load_cpu: float
    processor: float  # time for which the server's processor was busy with any process
    memory: float
    commands: float  # that the store executed for one request

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


async def run(contender: Contender, stage: Stage, requests: Sequence[Request], plan: LoadPlan, scratch: Path) -> Result:
    """Measure one contender; raises BenchmarkError when a request fails."""
    encoded = [*map(queries.encoded, requests)]
    path = scratch / "plan.json"
    path.write_text(json.dumps({**asdict(plan), "port": contender.port, "requests": encoded}), "utf-8")
    process = await asyncio.create_subprocess_exec(*GENERATOR, str(path), cwd=ROOT, stdout=PIPE, stderr=PIPE)
    assert process.stdout
    assert process.stderr
    processors.pin(psutil.Process(process.pid), processors.ALL if contender.which is None else processors.LOAD)
    await process.stdout.readline()  # `begin`
    before = await _spent(contender, stage)
    line = await process.stdout.readline()
    after = await _spent(contender, stage)
    server_cpu, store_cpu, processor, commands = (now - then for now, then in zip(after, before, strict=True))
    said, status = (await process.stderr.read()).decode().strip(), await process.wait()
    if not line or status:
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        raise BenchmarkError(f"{contender.kind.name}: the load ended with {how}: {said or 'no message'}")
    report = json.loads(line)
    if report["failures"] or not report["answered"]:
        counts = f"{report['answered']} requests answered, {report['failures']} failed"
        raise BenchmarkError(f"{contender.kind.name}: {counts}: {report['example']}")
    del report["failures"], report["example"]
    return Result(
        **report,
        server_cpu=server_cpu,
        store_cpu=store_cpu,
        processor=processor,
        memory=contender.memory / MIB,
        commands=commands / report["answered"],
    )


async def _spent(contender: Contender, stage: Stage) -> tuple[float, float, float, int]:
    times = stage.process.cpu_times()
    used = contender.cpu, float(times.user + times.system), processors.busy(processors.SERVER)
    return *used, await stage.commands()

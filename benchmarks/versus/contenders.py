"""The contenders as processes, each pinned to a processor."""

import asyncio
import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from benchmarks.versus import processors, queries
from benchmarks.versus.queries import Request
from benchmarks.versus.stage import ALL_PUSHED, SECRET, Stage

ROOT = Path(__file__).parents[2]
JAVASCRIPT = ROOT / "benchmarks" / "rivals" / "javascript"
BUN_FILES = "node_modules/@oven/bun-*/bin/bun"  # those that npm finds to fit the machine
START_SECONDS = 60
LEAST_NODE = 20  # major version
LIMITS = ("POSTS_PER_HOUR", "LIKES_PER_HOUR", "FOLLOWS_PER_HOUR", "MAX_LIVE_COST")
NO_LIMIT = "1000000000"  # writes are counted, as on a site, but never refused


class BenchmarkError(Exception):
    """The benchmark cannot be run, or would not be fair; the text says why."""


@dataclass(frozen=True, slots=True)
class ContenderKind:
    """How a contender is started."""

    name: str
    command: Sequence[str]
    folder: Path = ROOT
    settings: Mapping[str, str] = field(default_factory=dict)  # beside those that all have


PYTHON = "python"  # In a command: the one that runs Perch.
PERCH = ContenderKind("Perch", [PYTHON, "server.py", "serve"])
PERCH_ANEW = replace(PERCH, name="Perch, nothing kept", settings={"RECORDS_KEPT": "0"})
MERCURIUS = ContenderKind("Node, Mercurius", ["node", "mercurius.js"], JAVASCRIPT)
BUN = ContenderKind("Bun, graphql-jit", ["bun", "bun.js"], JAVASCRIPT)
ALL = {"perch": PERCH, "anew": PERCH_ANEW, "mercurius": MERCURIUS, "bun": BUN}
CHECKOUT = (PERCH, PERCH_ANEW)  # those that this checkout is
AS_SHIPPED = (PERCH, MERCURIUS, BUN)  # those with nothing turned off


# Debian optimises by a profile, too, but by its own rules. The scheme `deb_system` is in its Pythons only.
WHICH_PYTHON = """import platform, sysconfig
configured = sysconfig.get_config_var("CONFIG_ARGS") or ""
optimised = "--enable-optimizations" in configured or "deb_system" in sysconfig.get_scheme_names()
print(platform.python_version(), "optimised build" if optimised else "build without optimisations", sep=", ")"""


def of_checkout(folder: Path) -> ContenderKind:
    """Return Perch as another checkout has it. Its own environment runs it, if it has one."""
    own = folder / ".venv" / "bin" / "python"
    python = str(own.absolute()) if own.exists() else PYTHON
    return replace(PERCH, name=f"Perch of {folder.name}", folder=folder, command=[python, *PERCH.command[1:]])


def python_of(kind: ContenderKind, python: str) -> str:
    """Return the version of the Python that runs a contender, and whether its build is optimised."""
    command = [_command(kind, python)[0], "-c", WHICH_PYTHON]
    return subprocess.run(command, cwd=kind.folder, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


@dataclass(frozen=True, slots=True)
class Contender:
    """A contender that is running."""

    kind: ContenderKind
    port: int
    process: psutil.Process
    which: int | None = processors.SERVER  # processor that it may use

    @property
    def processes(self) -> list[psutil.Process]:
        """The process that was started, and those that it has started."""
        return [self.process, *self.process.children(recursive=True)]

    @property
    def memory(self) -> int:
        """Resident memory of all of them, bytes; what they share counts for each."""
        return sum(process.memory_info().rss for process in self.processes)

    @property
    def cpu(self) -> float:
        """Processor time that all of them have had, s."""
        times = [process.cpu_times() for process in self.processes]
        return float(sum(each.user + each.system for each in times))

    @property
    def exact_cpu(self) -> float:
        """The same of the threads that run now: exact where Linux counts it, else in steps of 10 ms."""
        paths = [path for each in self.processes for path in Path("/proc").glob(f"{each.pid}/task/*/schedstat")]
        try:
            spent = [int(path.read_text().split()[0]) for path in paths]
        except OSError:  # a thread has ended meanwhile
            return self.exact_cpu
        return sum(spent) / 1e9 if spent else self.cpu

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection for many requests."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_SECONDS)

    def ask(self, request: Request, connection: http.client.HTTPConnection | None = None) -> bytes:
        """Return the body of an answer; raises BenchmarkError unless its status is 200."""
        with contextlib.ExitStack() as stack:
            used = connection or stack.enter_context(contextlib.closing(self.connect()))
            used.request("POST", queries.PATH, queries.body(request), queries.headers(request))
            response = used.getresponse()
            body = response.read()
        if response.status != http.client.OK or b'"errors":' in body:
            raise BenchmarkError(f"{self.kind.name} answers {response.status}: {body[:600].decode()}")
        return body


@contextlib.asynccontextmanager
async def running(
    stage: Stage, kinds: Sequence[ContenderKind], *, which: int | None = processors.SERVER
) -> AsyncIterator[list[Contender]]:
    """Start contenders on a processor, with the stage's store, and stop them at the end."""
    if MERCURIUS in kinds or BUN in kinds:
        install_packages()
    started: list[tuple[Contender, subprocess.Popen[bytes]]] = []
    try:
        for kind in kinds:
            begun = await _start(kind, stage, which)
            started.append(begun)
        yield [contender for contender, _ in started]
    finally:
        for _, process in started:
            process.terminate()
        for _, process in started:
            process.wait(START_SECONDS)


async def _start(kind: ContenderKind, stage: Stage, which: int | None) -> tuple[Contender, subprocess.Popen[bytes]]:
    port = free_port()
    environment = {
        **os.environ,
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "REDIS_URL": stage.url,
        "SECRET_KEY": SECRET,
        "RATE_LIMIT": "0",
        **dict.fromkeys(LIMITS, NO_LIMIT),
        "REQUEST_HEAD_SECONDS": "3600",  # at half load, connections wait
        "KEEP_ALIVE_SECONDS": "3600",
        "CONNECTIONS_PER_ADDRESS": "0",  # the load has one
        "OVERLOAD_DELAY_MS": "0",  # a contender that refuses would be measured by its refusals
        "BIG_AUTHOR": str(ALL_PUSHED),
        "LOG_LEVEL": "WARNING",  # no contender writes a line per request
        "NODE_ENV": "production",
        **kind.settings,
    }
    command = _command(kind, stage.python)
    process = subprocess.Popen(command, cwd=kind.folder, env=environment, stdout=subprocess.DEVNULL)  # noqa: ASYNC220, S603
    for _ in range(START_SECONDS * 20):
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                contender = Contender(kind, port, psutil.Process(process.pid), which)
                for each in contender.processes:
                    processors.pin(each, which)
                return contender, process
        await asyncio.sleep(0.05)
    process.kill()
    how = f"within {START_SECONDS} s" if process.returncode is None else f"and ends with {process.returncode}"
    raise BenchmarkError(f"{kind.name} does not start {how}")


@contextlib.asynccontextmanager
async def alone(stage: Stage, kind: ContenderKind) -> AsyncIterator[Contender]:
    """Start a contender that has the machine to itself, and do the work that it leaves at the end.

    Processes of the same program differ by several percent. So each turn has a process of its own.
    """
    async with running(stage, [kind]) as (contender,):
        yield contender
    await stage.work_off()


def free_port() -> int:
    """Return a port that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def check_equal(contenders: Sequence[Contender], requests: Sequence[Request]) -> int:
    """Return how many bytes all contenders answer alike; raises BenchmarkError where their bodies differ."""
    first, *others = contenders
    total = 0
    for request in requests:
        expected = first.ask(request)
        total += len(expected)
        for other in others:
            if (answer := other.ask(request)) != expected:
                at = next((i for i, (a, b) in enumerate(zip(expected, answer, strict=False)) if a != b), len(expected))
                shown = [f"{body[max(0, at - 60) : at + 60]!r}" for body in (expected, answer)]
                raise BenchmarkError(
                    f"{first.kind.name} and {other.kind.name} answer differently at byte {at}:\n" + "\n".join(shown)
                )
    return total


def need_node() -> str:
    """Return the version of Node; raises BenchmarkError unless it is there and new enough."""
    node = shutil.which("node")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout if node else ""  # noqa: S603
    if not node or int(version[1:].split(".")[0]) < LEAST_NODE:
        raise BenchmarkError(f"Node {LEAST_NODE} or newer is needed, this is {version.strip() or 'none'}")
    return version.strip().removeprefix("v")


def install_packages() -> None:
    """Fetch the packages of the rivals written in JavaScript, Bun among them, once."""
    if not (JAVASCRIPT / "node_modules" / "bun").is_dir():
        npm = shutil.which("npm") or "npm"
        options = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run([npm, "install", *options], cwd=JAVASCRIPT, check=True, stdout=sys.stderr)  # noqa: S603


def _command(kind: ContenderKind, python: str) -> list[str]:
    """Return the command that starts a contender. npm's own launcher of Bun needs a script to have run."""
    program, *arguments = kind.command
    if kind is not BUN:
        return [python if program == PYTHON else program, *arguments]
    for file in JAVASCRIPT.glob(BUN_FILES):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            subprocess.run([file, "--version"], check=True, stdout=subprocess.DEVNULL)  # noqa: S603
            return [str(file), *arguments]
    raise BenchmarkError("npm has no Bun for this machine")


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for the store; it is removed when it is closed."""
    return tempfile.TemporaryDirectory(prefix="perch-versus-")

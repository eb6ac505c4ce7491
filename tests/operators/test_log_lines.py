"""The log: one line of JSON per record from any library, bounded, and without possible secrets."""

import asyncio
import gc
import io
import logging
import os
import re
import sys
import warnings
from asyncio.subprocess import PIPE
from collections.abc import Iterator, MutableMapping
from contextlib import closing
from typing import Any

import pytest
import structlog
from graphql import GraphQLError, parse

from serving import logs
from tests.support.people import Member
from tests.support.servers import lines
from tests.support.servers.forking import SERVER

PASSPHRASE = "a pass phrase of somebody"
UNCAUGHT = """
import threading
from serving import logs

class Broken:
    def __del__(self):
        passphrase = "a pass phrase of somebody"
        raise ValueError("in a finaliser")

def fail():
    passphrase = "a pass phrase of somebody"
    raise ValueError("in a thread")

logs.configure("INFO")
logs.catch_the_rest()
Broken()
thread = threading.Thread(target=fail)
thread.start()
thread.join()
passphrase = "a pass phrase of somebody"
raise ValueError("in the process")
"""

log = structlog.get_logger()


@pytest.fixture
def text() -> Iterator[io.StringIO]:
    """All log lines of a test."""
    with lines.written("INFO") as collected:
        yield collected


async def _fail(passphrase: str) -> None:
    if len(passphrase) > 1:
        try:
            await _fail(passphrase[:1])
        except ValueError as error:
            raise LookupError("the outer one") from error
    raise ValueError("the inner one")


@pytest.mark.parametrize("name", ["aiohttp.server", "aiohttp.access", "asyncio", "redis"])
def test_other_libraries(text: io.StringIO, name: str) -> None:
    """Records of aiohttp, asyncio and redis-py are lines like all others, and name their logger."""
    logging.getLogger(name).warning("%s of %s\nin two lines", 1, 2)
    (record,) = lines.read(text)
    assert record.pop("timestamp")
    assert record == {
        "event": "1 of 2\nin two lines",
        "level": "warning",
        "logger": name,
        "process": os.getpid(),
    }


def test_records_that_cannot_be_put_together(text: io.StringIO) -> None:
    """A record is logged even if its arguments do not fit its text, or its level has no name."""
    for level, message in ((logging.ERROR, "%d replies"), (35, "between two levels")):
        logs.Forwarding().emit(logging.LogRecord("redis", level, __file__, 1, message, ("no",), None))
    assert [(record["event"], record["level"]) for record in lines.read(text)] == [
        ("%d replies", "error"),
        ("between two levels", "warning"),
    ]


def test_level() -> None:
    """Records below LOG_LEVEL are not logged, for any library."""
    with lines.written("WARNING") as text:
        for level in (logging.DEBUG, logging.INFO):
            logging.getLogger("asyncio").log(level, "of no interest")
        log.info("of no interest")
        assert text.getvalue() == ""


def test_warnings(text: io.StringIO) -> None:
    """Python's warnings are lines, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("something is odd", RuntimeWarning, stacklevel=1)
    (record,) = lines.read(text)
    assert (record["logger"], record["level"]) == ("py.warnings", "warning")
    assert "something is odd" in record["event"]


async def test_tasks_that_nobody_awaits(text: io.StringIO) -> None:
    """The failure of a task that nobody awaited is a line, without local variables."""
    await asyncio.wait([asyncio.create_task(_fail(PASSPHRASE))])
    gc.collect()
    (record,) = lines.read(text)
    assert record["event"].startswith("Task exception was never retrieved")
    assert [one["exc_value"] for one in record["exception"]] == ["the outer one", "the inner one"]
    assert PASSPHRASE not in text.getvalue()


async def test_exceptions(text: io.StringIO) -> None:
    """An exception is described with its causes: class, message and places, and no local variable."""
    try:
        await _fail(PASSPHRASE)
    except LookupError:
        log.exception("something failed")
    (record,) = lines.read(text)
    assert [(one["exc_type"], one["exc_value"]) for one in record["exception"]] == [
        ("LookupError", "the outer one"),
        ("ValueError", "the inner one"),
    ]
    for one in record["exception"]:
        assert re.fullmatch(rf"{__file__}:\d+ _fail", one["frames"][-1])
    assert PASSPHRASE not in text.getvalue()


def test_groups_of_exceptions(text: io.StringIO) -> None:
    """Of a group of exceptions a few are described, and of a long chain the newest."""
    log.error("a group", exc_info=ExceptionGroup("several", [ValueError(str(number)) for number in range(100)]))
    error = ValueError("0")
    for number in range(1, 100):
        (following := ValueError(str(number))).__cause__ = error
        error = following
    log.error("a chain", exc_info=error)
    group, chain = lines.read(text)
    assert [one["exc_value"] for one in group["exception"]] == ["several (100 sub-exceptions)", "0", "1", "2", "3"]
    assert [one["exc_value"] for one in chain["exception"]] == ["99", "98", "97", "96", "95"]


def test_documents(text: io.StringIO) -> None:
    """An error of GraphQL is logged without the document, which may have a password as a literal."""
    document = parse(f'mutation {{ deleteAccount(input: {{password: "{PASSPHRASE}"}}) {{ deletedUserId }} }}')
    error = GraphQLError("no such thing", [document.definitions[0]])
    assert PASSPHRASE in str(error)
    log.error("an operation failed", exc_info=error)
    (record,) = lines.read(text)
    assert record["exception"][0]["exc_value"] == "no such thing"
    assert PASSPHRASE not in text.getvalue()


@pytest.mark.parametrize("line", ["Authorization: Bearer {}\0", "Authorization{}", "Authorization : Bearer {}"])
async def test_malformed_requests(text: io.StringIO, anonymous: Member, line: str) -> None:
    """A request that is not HTTP is logged without its content: it may be a token."""
    server = anonymous.client.server
    reader, writer = await asyncio.open_connection(server.host, server.port)
    with closing(writer):
        writer.write(
            b"POST /graphql HTTP/1.1\r\nHost: perch\r\n" + line.format("averysecrettoken").encode() + b"\r\n\r\n"
        )
        assert await reader.read()
    assert "averysecrettoken" not in text.getvalue()
    assert lines.read(text)


def test_size(text: io.StringIO) -> None:
    """A line is bounded for names, paths and messages of any length; short ones are not cut."""

    def deep(left: int) -> None:
        if not left:
            raise ValueError("x" * 1_000_000)
        deep(left - 1)

    name = "o" * 1_000
    log.info("request", operation=name)
    log.info("request", operation="o" * 1_000_000, path=["p" * 1_000] * 1_000, ms=1.5)
    try:
        deep(500)
    except ValueError:
        log.exception("x" * 1_000_000, fields={f"key{number}": "v" * 1_000 for number in range(1_000)})
    short, long, longest = lines.read(text)
    assert short["operation"] == name
    assert (long["ms"], len(long["path"])) == (1.5, logs.ITEMS_MOST)
    assert long["operation"].endswith("… (1000000 characters)")
    assert longest["level"] == "error"
    assert all(len(line) < 2 * logs.LINE_MOST for line in text.getvalue().splitlines())


async def test_what_nothing_catches() -> None:
    """An exception in a thread, in a finaliser or of the whole process is a line, without local variables."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", UNCAUGHT, cwd=SERVER.parent, stdout=PIPE, stderr=PIPE
    )
    out, err = (stream.decode() for stream in await process.communicate())
    assert (process.returncode, out) == (1, "")
    assert [(record["exception"][0]["exc_value"], record["process"]) for record in lines.read(err)] == [
        ("in a finaliser", process.pid),
        ("in a thread", process.pid),
        ("in the process", process.pid),
    ]
    assert PASSPHRASE not in err


@pytest.mark.parametrize("facts", [{"ms": 1.5, "operation": None, "path": "/é\ud800"}, {"exc_info": ValueError("no")}])
def test_structlogs_own_processors(text: io.StringIO, facts: dict[str, object]) -> None:
    """A line is byte for byte what structlog's own processors make of the record."""
    log.warning("an event", **facts)
    line = text.getvalue().removesuffix("\n")
    stamp = lines.read(text)[0]["timestamp"]
    record: MutableMapping[str, Any] = {**facts, "event": "an event"}
    for processor in (structlog.processors.add_log_level, structlog.processors.ExceptionRenderer(logs.described)):
        record = processor(None, "warning", record)
    described: dict[str, Any] = {"exception": record.pop("exception")} if "exception" in record else {}
    record.update({"process": os.getpid(), "timestamp": stamp}, **described)
    assert line == structlog.processors.JSONRenderer()(None, "warning", record)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", stamp)

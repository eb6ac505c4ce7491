"""The benchmarks' queries are valid, and their networks are the same in every run."""

import contextlib
import json
import platform
import socketserver
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import schema
from benchmarks import pages
from benchmarks.pages import PageError
from benchmarks.versus import contenders, events, generator, graph, queries, queueing
from store.settings import Settings


@pytest.mark.parametrize(
    "document",
    [
        queries.HOME,
        queries.FEED,
        queries.PROFILE,
        queries.VISIT,
        queries.POST,
        queries.REPOST,
        queries.LIKE,
        events.STREAM,
    ],
)
def test_documents_are_valid(document: str) -> None:
    """Every document sent to contenders is valid in Perch's schema and within its limits."""
    assert schema.build(Settings()).documents.get(document).errors == ()


def test_network_is_repeated() -> None:
    """One seed gives one network, another seed another; nobody follows themselves."""
    made = graph.generated(100, 10, 1)
    assert made == graph.generated(100, 10, 1)
    assert made.following != graph.generated(100, 10, 2).following
    assert all(login not in followed for login, followed in made.following.items())
    assert list(made.dealt()) == list(graph.generated(100, 10, 1).dealt())


def test_popularity_is_unequal() -> None:
    """A tenth of the members has more than a third of the followers, as in real networks."""
    made = graph.generated(1_000, 0, 1)
    followed = [other for others in made.following.values() for other in others]
    popular = set(made.members[:100])
    assert sum(other in popular for other in followed) > len(followed) / 3


def test_requests_are_http() -> None:
    """A request is sent with its token, its length and its variables."""
    head, body = queries.encoded(queries.profile("a.b.c", "alice")).split("\r\n\r\n")
    assert head.startswith("POST /graphql HTTP/1.1\r\n")
    assert {"Authorization: Bearer a.b.c", f"Content-Length: {len(body)}"} <= set(head.split("\r\n"))
    assert json.loads(body)["variables"] == {"login": "alice", "first": 30}


def test_page_is_filled(tmp_path: Path) -> None:
    """The output takes the place of an earlier one of the same command, and the rest of the page stays."""
    begin, other = pages.BEGIN.format("this"), f"{pages.BEGIN.format('that')}\nkept\n{pages.END}"
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{begin}\nold\n{pages.END}\n\n{other}\n", "utf-8")
    for _ in range(2):
        with pages.filling(page, "this"):
            sys.stdout.write("\nnew\n\n\n\nlines\n")
        assert page.read_text("utf-8") == f"before\n\n{begin}\n\nnew\n\nlines\n\n{pages.END}\n\n{other}\n"
    with pytest.raises(PageError, match="has no marks"), pages.filling(page, "neither"):
        pass


@pytest.mark.parametrize(("load", "share", "times"), [(0.5, 0.5, 1.0), (0.5, 0.99, 4.336), (0.8, 0.99, 11.356)])
def test_queue(load: float, share: float, times: float) -> None:
    """The queue M/D/1 answers a share of its requests within the times that simulations give."""
    assert queueing.sojourn(load, share) == pytest.approx(times, rel=1e-3)


def test_pythons(tmp_path: Path) -> None:
    """Perch runs on the Python that was asked for, another checkout on the one of its environment if it has one."""
    assert contenders.python_of(contenders.PERCH, sys.executable).startswith(platform.python_version())
    assert contenders.of_checkout(tmp_path).command == contenders.PERCH.command
    own = tmp_path / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.executable)
    assert contenders.of_checkout(tmp_path).command == [str(own), "server.py", "serve"]


class Answering(socketserver.BaseRequestHandler):
    """Answers each request with what it has sent, in three parts."""

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            while received := self.request.recv(1_000):
                for part in (b"HTTP/1.1 200 OK\r\nContent", b"-Length: %d\r\n\r\n" % len(received), received):
                    self.request.sendall(part)


def generated(tmp_path: Path, requests: Sequence[str], **plan: float) -> Any:
    """Return what the load generator finds about a server that answers requests with what they are."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answering) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever).start()
        path = tmp_path / "plan.json"
        wanted = {"warmup": 0, "seconds": 0, "port": server.server_address[1], "requests": requests, **plan}
        path.write_text(json.dumps(wanted), "utf-8")
        command = [sys.executable, "-m", generator.__name__, str(path)]
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603
        server.shutdown()
    begun, found = said.splitlines()
    assert begun == "begin"
    return json.loads(found)


@pytest.mark.parametrize("rate", [0, 2_000])
def test_load_is_measured(tmp_path: Path, rate: float) -> None:
    """As many answers are measured as were asked for, at a rate and without one. At a rate, the lateness is, too."""
    found = generated(tmp_path, ["one", "another"], connections=4, rate=rate, amount=100)
    assert (found["answered"], found["failures"], found["example"]) == (100, 0, None)
    assert 0 < found["p50"] <= found["p99"]
    assert (found["late"] > 0) == (rate > 0)


def test_failures_are_counted(tmp_path: Path) -> None:
    """An answer with errors is a failure and is shown."""
    found = generated(tmp_path, ["fine", '{"errors":[{}]}'], connections=1, amount=4)
    assert (found["answered"], found["failures"]) == (2, 2)
    assert found["example"].endswith('{"errors":[{}]}')


def test_waiting_for_a_connection_counts(tmp_path: Path) -> None:
    """Requests that wait for the only connection are measured from when they were due, so the last take longest."""
    found = generated(tmp_path, ["one"], connections=1, rate=100_000, amount=200)
    assert found["unanswered"] > 0
    assert found["p99"] > found["seconds"] * 1_000 / 2

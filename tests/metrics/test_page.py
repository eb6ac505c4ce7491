"""The page of metrics: of one process, of several together, and of the store."""

import os
import signal
import socket
from functools import partial
from pathlib import Path

from aiohttp import ClientSession
from prometheus_client.parser import text_string_to_metric_families

from serving.metrics import catalogue
from tests.support.people import sign_up
from tests.support.servers.outages import outage
from tests.support.servers.processes import connected, own_store, perch, run, until, visiting

QUERY = "query Counted { __typename }"
REQUESTS = 20
STATES = ("perch_store_up", "perch_store_writable", "perch_store_memory_limit_bytes")


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        return int(made.getsockname()[1])


async def shown(port: int) -> dict[str, float]:
    """Return the page's values, each the sum over labels other than an operation or the state of a node."""
    async with ClientSession() as session, session.get(f"http://127.0.0.1:{port}/metrics") as response:
        assert response.status == 200
        text = await response.text()
    values: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            name = " ".join((one.name, *(one.labels[label] for label in ("operation", "state") if label in one.labels)))
            values[name] = values.get(name, 0) + one.value
    return values


async def test_one_process(tmp_path: Path) -> None:
    """One process shows every metric without labels, and the state of the store, on a port of its own."""
    port = free_port()
    async with perch(tmp_path, "serve", metrics_port=port) as running, visiting(await running.url()) as anonymous:
        await (await sign_up(anonymous, "alice")).send(QUERY)
        values = await shown(port)
        assert values["perch_operations_total Counted"] == 1
        assert {one.shown for one in catalogue.ALL if not one.labels and one.kind != "histogram"} <= values.keys()
        assert (values["perch_store_up"], values["perch_jobs_dead"], values["perch_jobs_oldest_seconds"]) == (1, 0, 0)
        assert values["perch_store_memory_bytes"] > 0

        async def is_timed() -> bool:
            return (await shown(port))["perch_event_loop_delay_seconds_count"] > 0

        await until(is_timed)  # a timer runs ten times a second
        await running.stop()


async def test_states_of_the_store(tmp_path: Path) -> None:
    """The page says of each node whether it answers and accepts writes, and why not, and answers while it hangs."""
    port = free_port()
    async with (
        own_store(tmp_path) as store,
        connected(store.settings["redis_url"]) as db,
        perch(tmp_path, "serve", metrics_port=port, **store.settings) as running,
    ):
        await running.url()
        await db.ask(("CONFIG", "SET", "maxmemory", 10**9))
        values = await shown(port)
        assert [values[name] for name in STATES] == [1, 1, 10**9]
        assert values["perch_store_state OK"] == 1
        assert values["perch_newest_id_ahead_seconds"] == 0
        async with outage("OOM", store.settings["redis_url"]):
            values = await shown(port)
            assert [values[name] for name in STATES] == [1, 0, 1]
            assert values["perch_store_state OOM"] == 1
        with store.frozen():
            values = await shown(port)
            assert [values.get(name) for name in STATES] == [0, 0, None]
            assert values["perch_store_state SILENT"] == 1
            assert "perch_jobs_waiting" not in values
        await store.kill()
        assert (await shown(port))["perch_store_state UNREACHABLE"] == 1
        await running.stop()


async def test_worker(tmp_path: Path) -> None:
    """A worker shows the metrics of what it does, and the state of the store."""
    port = free_port()
    async with perch(tmp_path, "worker", metrics_port=port) as running:
        await running.out.line("Perch works")
        values = await shown(port)
        assert values["perch_store_up"] == 1
        assert values["perch_store_round_trips_total"] > 0
        assert values["perch_sockets"] == 0
        await running.stop()


async def test_several_processes(tmp_path: Path) -> None:
    """Two processes are counted together, and a process that is killed takes nothing that was shown with it."""
    port = free_port()
    async with perch(tmp_path, "serve", "--processes", "2", metrics_port=port) as running:
        url = await running.url()
        numbers = [int(word) for word in running.out.lines[0].replace(",", "").split() if word.isdigit()]
        for _ in range(REQUESTS):
            async with visiting(url) as anonymous:  # a new connection, which either process may accept
                await anonymous.send(QUERY)
        await until(partial(_has_counted, port, REQUESTS))
        os.kill(numbers[0], signal.SIGKILL)

        async def is_replaced() -> bool:
            return sum('"process_serves"' in line for line in running.err.lines) == 3

        await until(is_replaced)
        assert (await shown(port))["perch_operations_total Counted"] == REQUESTS
        for _ in range(REQUESTS):
            async with visiting(url) as anonymous:
                await anonymous.send(QUERY)
        await until(partial(_has_counted, port, 2 * REQUESTS))
        await running.stop()


async def _has_counted(port: int, requests: int) -> bool:
    return (await shown(port)).get("perch_operations_total Counted") == requests


async def test_port_in_use(tmp_path: Path) -> None:
    """A port that is in use ends the command with one line that names the setting."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, _, said = await run(tmp_path, "serve", metrics_port=port)
    assert status == 1
    assert said.splitlines()[-1] == f"perch: cannot serve metrics on METRICS_PORT {port}: address already in use"

"""The figures that say most, in one table: Perch beside its rivals."""

import statistics
from collections.abc import Callable, Mapping, Sequence

from benchmarks.versus.contenders import BUN, MERCURIUS, PERCH
from benchmarks.versus.load import Result
from benchmarks.versus.reading import TAIL, Measured, ResultsByName
from benchmarks.versus.tables import ratio, table

RIVALS = (BUN.name, MERCURIUS.name)


class Figures:
    """A table that parts add rows to. A ratio is what a rival takes, by what Perch takes."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = []

    def add(self, what: str, perch: str, rivals: Mapping[str, str], ratios: Mapping[str, str]) -> None:
        """Add a row, with a cell for each rival that has one."""
        self._rows.append([what, perch, *(cells.get(name, "") for cells in (rivals, ratios) for name in RIVALS)])

    def add_cpu(self, what: str, measured: Measured, perch: str = PERCH.name) -> None:
        """Add the processor time of server and store for a request, compared by that of the server."""
        self._compare(what, measured.saturated, perch, _cpu, lambda result: result.server_ms)

    def add_tail(self, what: str, measured: Measured) -> None:
        """Add the p99 at half load, by that of the queue M/D/1."""
        _, value, digits = TAIL
        what = f"{what}, server half busy: p99 by that of M/D/1"
        self._compare(what, measured.relaxed, PERCH.name, lambda some: f"{_median(some, value):.{digits}f}", value)

    def _compare(
        self,
        what: str,
        results: ResultsByName,
        perch: str,
        cell: Callable[[Sequence[Result]], str],
        value: Callable[[Result], float],
    ) -> None:
        cells = {name: cell(turns) for name, turns in results.items()}
        if perch in cells:
            ours = [value(result) for result in results[perch]]
            ratios = {name: ratio([value(result) for result in turns], ours) for name, turns in results.items()}
            self.add(what, cells[perch], cells, ratios)

    def print(self) -> None:
        """Print the table."""
        print("\n### Processor time for a request, µs: server + store")
        table(["", PERCH.name, *RIVALS, *(f"{name} / {PERCH.name}" for name in RIVALS)], self._rows)


def _cpu(turns: Sequence[Result]) -> str:
    server, store = (_median(turns, value) for value in (lambda r: r.server_ms * 1000, lambda r: r.store_ms * 1000))
    return f"{server:,.0f} + {store:,.0f}"


def _median(turns: Sequence[Result], value: Callable[[Result], float]) -> float:
    return statistics.median(map(value, turns))

"""The metrics of several processes: each writes its own into files of a common folder, and the parent adds them up.

The files are mapped into memory, so what a process has written outlives it, however it ends. Files belong to a number
and not to a process: a later process with the number goes on with the counts. Gauges end with the process.
"""

import os
from pathlib import Path

from prometheus_client import CollectorRegistry, values
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER, NUMBER = "PROMETHEUS_MULTIPROC_DIR", "PERCH_NUMBER"  # Environment variables; the first is the library's.


def environment(folder: Path, number: int) -> dict[str, str]:
    """Return the environment variables of the process with a number."""
    return {FOLDER: str(folder), NUMBER: str(number)}


def is_shared() -> bool:
    """Return whether a parent shows the metrics of this process."""
    return FOLDER in os.environ


def write_to_folder() -> None:
    """Make all metrics of this process write into the parent's folder. Called before the first one is made."""
    values.ValueClass = values.MultiProcessValue(  # type: ignore[no-untyped-call]
        process_identifier=lambda: os.environ[NUMBER]
    )


def end_gauges(folder: Path, number: int) -> None:
    """Remove the gauges of the process with a number, which has ended."""
    for file in folder.glob(f"gauge_live*_{number}.db"):
        file.unlink()


def sums(folder: Path) -> CollectorRegistry:
    """Return a registry that adds up what all processes have written."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(folder))  # type: ignore[no-untyped-call]
    return registry

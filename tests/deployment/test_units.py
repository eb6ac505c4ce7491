"""The units for systemd are valid, hardened, and agree with Perch."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from serving.processes import END_SECONDS
from store.settings import Settings

FOLDER = Path(__file__).parents[2] / "docs/deployment"
SERVICES = ("perch.service", "perch-worker@.service")
MOST_EXPOSED = 20  # tenths: systemd-analyze rates from 0, which is safe, to 100

needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")


def values(unit: str, name: str) -> list[str]:
    """Return the values of an option in a unit."""
    return re.findall(rf"^{name}=(.*)$", (FOLDER / unit).read_text(encoding="utf-8"), re.MULTILINE)


@needs_systemd
@pytest.mark.parametrize("unit", SERVICES)
def test_services_are_hardened(unit: str) -> None:
    """systemd-analyze rates the exposure of each service at 2.0 or less."""
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", f"--threshold={MOST_EXPOSED}", unit]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr


def test_services_have_the_same_limits() -> None:
    """Both services are hardened in the same way."""
    units = [(FOLDER / unit).read_text(encoding="utf-8") for unit in SERVICES]
    first, second = (unit[unit.index("# What the service may do") :] for unit in units)
    assert first == second


def test_each_process_has_a_socket() -> None:
    """The socket unit has one socket of the port for each process of the service."""
    (processes,) = re.findall(r"--processes (\d+)", values("perch.service", "ExecStart")[0])
    sockets = values("perch.socket", "ListenStream")
    assert len(sockets) == int(processes)
    assert len(set(sockets)) == 1
    assert sockets[0].endswith(f":{Settings().port}")


def test_services_have_time_to_stop() -> None:
    """Systemd waits longer than Perch needs at most to stop its processes."""
    settings = Settings()
    for unit in SERVICES:
        assert int(values(unit, "TimeoutStopSec")[0]) > settings.drain_seconds + settings.shutdown_seconds + END_SECONDS

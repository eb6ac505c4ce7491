"""Alert rules and the dashboard fit the metrics, and each alert has its runbook."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from serving.metrics import catalogue
from tests.support.pages import DOCS, read

ALERTS = DOCS / "operations" / "alerts.yml"
DASHBOARD = DOCS / "operations" / "dashboard.json"

_METRIC = re.compile(r"\bperch_\w+")
_SUFFIXES = ("", "_bucket", "_sum", "_count")


def known() -> set[str]:
    """Return every name under which Prometheus stores a metric."""
    suffixes = {"histogram": _SUFFIXES[1:]}
    return {one.shown + suffix for one in catalogue.ALL for suffix in suffixes.get(one.kind, ("",))}


@pytest.mark.skipif(not shutil.which("promtool"), reason="Debian's prometheus is not installed")
def test_rules() -> None:
    """Promtool finds that no alert fires while all is well, and that each fires when it should."""
    tests = Path(__file__).with_name("alerts_test.yml")
    for command in (["check", "rules", str(ALERTS)], ["test", "rules", str(tests)]):
        done = subprocess.run(["promtool", *command], capture_output=True, text=True, check=False)  # noqa: S603, S607
        assert done.returncode == 0, done.stdout + done.stderr


def test_rules_are_tested() -> None:
    """The tests of promtool name every alert."""
    tests = Path(__file__).with_name("alerts_test.yml").read_text(encoding="utf-8")
    assert {name for name in alerts() if f'"{name}"' not in tests} == set()


def test_runbooks() -> None:
    """Each alert has a chapter of its name in the runbooks and links to it, and there are no other chapters."""
    chapters = re.findall(r"^## (\w+)$", read(DOCS / "runbooks.md"), re.MULTILINE)
    assert chapters == alerts()
    links = re.findall(r'runbook_url: "{{ \$externalLabels\.docs_site }}/runbooks\.html#(\w+)"', read(ALERTS))
    assert links == [name.lower() for name in chapters]


@pytest.mark.parametrize("page", [ALERTS, DASHBOARD, DOCS / "runbooks.md"], ids=lambda page: page.name)
def test_metrics_exist(page: Path) -> None:
    """Rules, dashboard and runbooks name only metrics that exist."""
    named = set(_METRIC.findall(read(page)))
    assert named
    assert named <= known()


def test_dashboard_is_complete() -> None:
    """The dashboard shows every metric, each panel has a place of its own, and no panel names a data source."""
    board = json.loads(read(DASHBOARD))
    text = json.dumps(board["panels"])
    assert {one.name for one in catalogue.ALL if one.name not in text} == set()
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
    assert len(set(places)) == len(places)
    assert {panel["datasource"]["uid"] for panel in board["panels"] if panel["type"] != "row"} == {"${source}"}


def alerts() -> list[str]:
    """Return the names of all alerts in order."""
    return re.findall(r"- alert: (\w+)", read(ALERTS))

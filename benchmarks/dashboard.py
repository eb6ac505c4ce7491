"""Draws the dashboard of docs/operations from what a Prometheus server has recorded: its own panels and queries.

    python -m benchmarks.dashboard http://127.0.0.1:9090 FOLDER --minutes 60

Grafana draws it nicer. This shows where there is no Grafana that every panel has data, and what a run looked like. It
writes a chart for each panel, and a page with all of them, `index.html`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import time
from html import escape
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from benchmarks.versus import plots

DASHBOARD = Path(__file__).parents[1] / "docs" / "operations" / "dashboard.json"
POINTS = 240  # of each line
MOST_LINES = 10  # of a panel
MINUTE = 60  # s
STYLE = (
    "body{font:16px sans-serif;margin:16px}div{display:grid;grid-template-columns:repeat(3,1fr);gap:8px}img{width:100%}"
)

Series = dict[str, list[tuple[float, float]]]


async def draw(prometheus: str, folder: Path, minutes: float) -> int:
    """Draw all panels into a folder; returns the number of panels without data."""
    empty, parts = 0, [f"<!doctype html><meta charset=utf-8><title>Perch</title><style>{STYLE}</style><div>"]
    async with ClientSession(prometheus) as session:
        for panel in json.loads(DASHBOARD.read_text("utf-8"))["panels"]:
            if panel["type"] == "row":
                parts.append(f"</div><h2>{escape(panel['title'])}</h2><div>")
                continue
            series = await _read(session, panel["targets"], minutes)
            if not series:
                empty += 1
                parts.append(f"<p>{escape(panel['title'])}: no data")
                continue
            unit = panel["fieldConfig"]["defaults"].get("unit", "")
            plots.lines(folder / f"{panel['id']}.svg", panel["title"], "minutes", unit, series, linear=True)
            parts.append(f'<img src="{panel["id"]}.svg" alt="{escape(panel["title"])}">')
    (folder / "index.html").write_text("\n".join([*parts, "</div>", ""]), "utf-8")
    return empty


async def _read(session: ClientSession, targets: list[dict[str, str]], minutes: float) -> Series:
    """Return the lines of a panel, by their names; time is counted from the beginning, in minutes."""
    now = time.time()
    began, series = now - minutes * MINUTE, Series()
    for target in targets:
        asked = {
            "query": target["expr"].replace("$__rate_interval", f"{max(MINUTE, minutes):.0f}s"),
            "start": f"{began:.3f}",
            "end": f"{now:.3f}",
            "step": f"{minutes * MINUTE / POINTS:.3f}",
        }
        async with session.get("/api/v1/query_range", params=asked) as response:
            found = await response.json()
        for line in found["data"]["result"]:
            points = [((at - began) / MINUTE, float(value)) for at, value in line["values"]]
            points = [point for point in points if math.isfinite(point[1])]
            if points and len(series) < MOST_LINES:
                series[_name(target.get("legendFormat", ""), line["metric"])] = points
    return series


def _name(form: str, labels: dict[str, Any]) -> str:
    """Return the name of a line: the form that the dashboard gives, with the labels' values, paths by their ends."""
    return re.sub(r"\{\{(\w+)\}\}", lambda label: str(labels.get(label[1], "")).rpartition("/")[2], form)


def main() -> None:
    """Draw what was asked for."""
    parser = argparse.ArgumentParser("python -m benchmarks.dashboard", description=__doc__)
    parser.add_argument("prometheus", metavar="URL")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=60, help="how long ago the run began")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    empty = asyncio.run(draw(asked.prometheus, asked.folder, asked.minutes))
    print(f"{asked.folder / 'index.html'}; {empty} panels have no data")


if __name__ == "__main__":
    main()

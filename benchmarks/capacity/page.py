"""Puts the output of the command into a page of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.versus.contenders import BenchmarkError

BEGIN, END = "<!-- output of benchmarks.capacity -->", "<!-- end of the output -->"


def fill(path: Path, text: str) -> None:
    """Replace what is between the marks of a page; raises BenchmarkError if it has no such marks."""
    before, begun, rest = path.read_text("utf-8").partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not (begun and ended):
        raise BenchmarkError(f"{path} has no marks {BEGIN} and {END}")
    tidy = re.sub(r"\n{3,}", "\n\n", text).strip()
    path.write_text(f"{before}{BEGIN}\n\n{tidy}\n\n{END}{after}", "utf-8")

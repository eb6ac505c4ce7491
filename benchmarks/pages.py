"""Puts what benchmarks print into pages of the documentation."""

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

BEGIN, END = "<!-- output of {} -->", "<!-- end of the output -->"


class PageError(Exception):
    """A page has no place for what is printed."""


@contextlib.contextmanager
def filling(page: Path | None, command: str) -> Iterator[None]:
    """Put what is printed inside the context between the marks of a command, if there is a page."""
    if page:
        divide(page, command)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            yield
    finally:
        print(printed.getvalue(), end="", flush=True)
    if page:
        fill(page, command, printed.getvalue())


def fill(page: Path, command: str, text: str) -> None:
    """Replace what is between the marks of a command in a page. Raises PageError if it has no such marks."""
    before, after = divide(page, command)
    tidy = re.sub(r"\n{3,}", "\n\n", text).strip()
    page.write_text(f"{before}\n\n{tidy}\n\n{after}", "utf-8")


def divide(page: Path, command: str) -> tuple[str, str]:
    """Return a page up to the first mark of a command, and from its last mark on. Raises PageError without marks."""
    begin = BEGIN.format(command)
    before, begun, rest = page.read_text("utf-8").partition(begin)
    _, ended, after = rest.partition(END)
    if not (begun and ended):
        raise PageError(f"{page} has no marks {begin} and {END}")
    return before + begin, END + after

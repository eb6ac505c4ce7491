"""The HTML of an export: pages that a browser shows from a folder, without scripts and without the network."""

from collections.abc import Iterable, Sequence
from html import escape

from resolvers.archives.viewing import Written

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
article { border-top: 1px solid #ccc; padding: .7rem 0 }
p.text { white-space: pre-wrap; overflow-wrap: anywhere; margin: .2rem 0 .5rem; font-size: 1.1em }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: 0; font-size: .85em; color: #555 }
dd { margin: 0; overflow-wrap: anywhere }
nav a { margin-right: 1rem }
"""
_HEAD = (
    '<!doctype html><html lang="en"><meta charset="utf-8">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">'
)


def articles(entries: Sequence[Written]) -> str:
    """Return the HTML of some entries of a page. Hundreds take milliseconds."""
    return "".join(map(_article, entries))


def page(title: str, name: str, number: int, body: str, *, is_last: bool) -> str:
    """Return one page of a section, given its articles; pages are numbered from 1."""
    links = ['<a href="../index.html">Contents</a>']
    if number > 1:
        links.append(f'<a href="{name}-{number - 1}.html">Previous page</a>')
    if not is_last:
        links.append(f'<a href="{name}-{number + 1}.html">Next page</a>')
    shown = body or "<p>There is nothing here."
    return _document(f"{title}, page {number}", f"<nav>{''.join(links)}</nav><h1>{escape(title)}</h1>{shown}")


def index(login: str, when: str, rows: Iterable[tuple[str, str, int]]) -> str:
    """Return the start page. Each row is the name, the title and the number of entries of a section."""
    listed = "".join(f'<li><a href="pages/{name}-1.html">{escape(title)}</a>: {count:,}' for name, title, count in rows)
    about = (
        f"<p>This is everything that Perch kept of <strong>{escape(login)}</strong> on {escape(when)}. The same is in "
        "the folder <code>data</code>, as JSON for programs."
    )
    return _document(f"Export of {login}", f"<h1>Export of {escape(login)}</h1>{about}<ul>{listed}</ul>")


def _document(title: str, body: str) -> str:
    return f"{_HEAD}<title>{escape(title)}</title><style>{STYLE}</style>{body}</html>\n"


def _article(entry: Written) -> str:
    text = entry.get("text")
    shown = f'<p class="text">{escape(text)}</p>' if text else ""
    return f"<article>{shown}{_facts({name: value for name, value in entry.items() if name != 'text'})}</article>"


def _facts(entry: Written) -> str:
    rows = "".join(f"<dt>{escape(name)}<dd>{_value(value)}" for name, value in entry.items() if _says(value))
    return f"<dl>{rows}</dl>"


def _says(value: object) -> bool:
    return value not in (None, [], "")


def _value(value: object) -> str:
    if isinstance(value, dict):
        return _facts(value)
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return escape(str(value))

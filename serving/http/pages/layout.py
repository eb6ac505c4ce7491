"""The layout of a page: its HTML, its style and its headers. Every text of it is escaped."""

import base64
import hashlib
from functools import cache
from html import escape
from pathlib import Path

from aiohttp import hdrs, web

_FOLDER = Path(__file__).parent


def page(title: str, *parts: str, status: int = 200) -> web.Response:
    """Return a page. The parts are HTML, made by the functions below."""
    html, style = _files()
    text = html.replace("{{title}}", escape(title)).replace("{{style}}", style).replace("{{content}}", "\n".join(parts))
    return web.Response(status=status, text=text, content_type="text/html", charset="utf-8", headers=_headers())


def paragraph(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(text)}</p>"


def alert(text: str) -> str:
    """Return a paragraph that says what went wrong."""
    return f'<p role="alert">{escape(text)}</p>'


def link(path: str, text: str) -> str:
    """Return a paragraph with a link to another page."""
    return f'<p><a href="{escape(path)}">{escape(text)}</a></p>'


def form(path: str, button: str, *fields: str) -> str:
    """Return a form that is sent to a path, with one button."""
    return f'<form method="post" action="{escape(path)}">{"".join(fields)}<button>{escape(button)}</button></form>'


def hidden(name: str, value: str) -> str:
    """Return a field that the browser does not show."""
    return f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'


def entry(name: str, label: str, kind: str, autocomplete: str) -> str:
    """Return a field to fill in, with its label."""
    attributes = f'name="{escape(name)}" type="{escape(kind)}" autocomplete="{escape(autocomplete)}" required'
    return f"<label>{escape(label)}<input {attributes}></label>"


@cache
def _files() -> tuple[str, str]:
    return tuple((_FOLDER / name).read_text("utf-8") for name in ("page.html", "page.css"))  # type: ignore[return-value]


@cache
def _headers() -> dict[str, str]:
    digest = base64.b64encode(hashlib.sha256(_files()[1].encode()).digest()).decode()
    policy = (
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return {
        "Content-Security-Policy": "; ".join(policy),
        "Referrer-Policy": "no-referrer",  # the address has a token
        hdrs.CACHE_CONTROL: "no-store",
        "X-Robots-Tag": "noindex",
    }

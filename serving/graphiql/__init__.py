"""Serves GraphiQL, the page for browsers at /graphql. All its files come from this server, so it needs no internet.

The page is static. The member's token leaves the browser tab only with the member's own requests.
"""

import hashlib
import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from aiohttp import hdrs, web

PREFIX = "/graphql/assets"
CACHE_SECONDS = 31_536_000  # a year; the address changes with the content, so a cached copy is never stale
VERSION_LENGTH = 16  # hexadecimal digits of the SHA-256 of all assets

BUNDLE = "graphene_django_graphiql_static"  # the package whose static files hold GraphiQL; its Django part stays unused
BUNDLED = (
    "graphiql.min.css",
    "graphiql.min.js",
    "graphql-ws.min.js",
    "react-dom.production.min.js",
    "react.production.min.js",
)
OWN = ("answers.js", "examples.js", "live.js", "page.css", "page.js", "session.js")
CONTENT_TYPES = MappingProxyType({".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"})

# CodeMirror, the editor in GraphiQL, sets styles on its elements and inlines its icons and fonts as data.
# In connect-src, 'self' covers the websocket too. In CSP level 3, it matches ws: for the page's own http: origin.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; "
    "style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; "
    "font-src 'self' data:; "
    "connect-src 'self'; "
    "object-src 'none'; "
    "base-uri 'none'; "
    "form-action 'self'; "
    "frame-ancestors 'none'"
)
PAGE_HEADERS = MappingProxyType(
    {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        hdrs.CACHE_CONTROL: "no-cache",
        hdrs.VARY: hdrs.ACCEPT,  # the same address answers queries as JSON
    }
)


@dataclass(frozen=True, slots=True)
class Assets:
    """The files that the page loads, by name, under one version."""

    version: str
    paths: MappingProxyType[str, Path]

    @property
    def address(self) -> str:
        """The URL path of the folder with the files of this version."""
        return f"{PREFIX}/{self.version}"


@cache
def assets() -> Assets:
    """Return all assets with their version; raises FileNotFoundError when one is missing."""
    here, bundle = Path(__file__).parent, _bundle_folder()
    paths = {name: bundle / name for name in BUNDLED} | {name: here / name for name in OWN}
    digest = hashlib.sha256()
    for name, path in sorted(paths.items()):
        digest.update(name.encode())
        digest.update(path.read_bytes())
    return Assets(digest.hexdigest()[:VERSION_LENGTH], MappingProxyType(paths))


def page(request: web.Request) -> web.Response:  # noqa: ARG001 - it is called as a handler is
    """Return the page."""
    return web.Response(text=_html(), content_type="text/html", charset="utf-8", headers=PAGE_HEADERS)


def add_routes(app: web.Application) -> None:
    """Add the route of the page's assets. The page itself is served by the route of /graphql."""
    assets()  # so that a missing file stops the server at its start, not at the first request
    app.router.add_get(f"{PREFIX}/{{version}}/{{name}}", _asset)


async def _asset(request: web.Request) -> web.FileResponse:
    served = assets()
    # The name is looked up and never joined to a folder, so no request can reach another path.
    path = served.paths.get(request.match_info["name"])
    if path is None or request.match_info["version"] != served.version:
        raise web.HTTPNotFound
    headers = {
        hdrs.CONTENT_TYPE: CONTENT_TYPES[path.suffix],
        hdrs.CACHE_CONTROL: f"public, max-age={CACHE_SECONDS}, immutable",
        "X-Content-Type-Options": "nosniff",
    }
    return web.FileResponse(path, headers=headers)


@cache
def _html() -> str:
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    return template.replace("{{assets}}", assets().address)


def _bundle_folder() -> Path:
    spec = importlib.util.find_spec(BUNDLE)  # finds the package without importing it
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"GraphiQL's files are missing: the package {BUNDLE} is not installed")
    return Path(spec.submodule_search_locations[0]) / "static" / BUNDLE

"""Serves the built web client: its page at every path of a screen, and its files. `web/` holds its source.

`npm run build` in `web/` writes the client into `dist/`, beside this file. A release contains it. Without it, Perch
serves the API alone.
"""

from pathlib import Path
from types import MappingProxyType

from aiohttp import hdrs, web
from yarl import URL

from serving.http.negotiation import prefers_page

DIST = Path(__file__).parent / "dist"
PAGE = "index.html"
WORKER = "sw.js"
ASSETS = "assets/"  # files whose names contain a hash of their content
CACHE_SECONDS = 31_536_000  # a year; the name of an asset changes with its content
COMPRESSED = frozenset({".br", ".gz"})  # forms that the build puts beside a file; `FileResponse` chooses among them

CONTENT_TYPES = MappingProxyType(
    {
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".json": "application/json",
        ".png": "image/png",
        ".svg": "image/svg+xml",
        ".txt": "text/plain; charset=utf-8",
        ".webmanifest": "application/manifest+json",
    }
)

# Nothing is inline, nothing comes from another origin, and no text becomes a script: Trusted Types refuse it.
# The policy `perch-worker` names the one address that the page makes a script of, the service worker's.
# In connect-src, 'self' covers the websocket too. In CSP level 3, it matches ws: for the page's own http: origin.
# `blob:` is for pictures that a member has chosen and not sent yet.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; "
    "script-src 'self'; "
    "style-src 'self'; "
    "img-src 'self' blob:{pictures}; "
    "connect-src 'self'; "
    "manifest-src 'self'; "
    "worker-src 'self'; "
    "base-uri 'none'; "
    "form-action 'self'; "
    "frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; "
    "trusted-types perch-worker"
)
PAGE_HEADERS = MappingProxyType(
    {
        hdrs.CONTENT_TYPE: CONTENT_TYPES[".html"],
        hdrs.CACHE_CONTROL: "no-cache",
        hdrs.VARY: hdrs.ACCEPT_ENCODING,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
)


class WebClient:
    """The files of a built client. Its page may show pictures of its own origin and of that of `media_url`."""

    def __init__(self, folder: Path, media_url: str = "") -> None:
        self._page = folder / PAGE
        pictures = f" {URL(media_url).origin()}" if media_url else ""
        policy = CONTENT_SECURITY_POLICY.format(pictures=pictures)
        self._page_headers = MappingProxyType({**PAGE_HEADERS, "Content-Security-Policy": policy})
        self._files = MappingProxyType(
            {
                path.relative_to(folder).as_posix(): path
                for path in folder.rglob("*")
                if path.is_file() and path.suffix not in COMPRESSED and path.name != PAGE
            }
        )

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        """Answer with a file, or with the page where a browser asks for one; raises HTTPNotFound."""
        name = request.match_info["path"]
        # The name is looked up and never joined to a folder, so no request can reach another path.
        if path := self._files.get(name):
            return web.FileResponse(path, headers=_headers(name, path.suffix))
        # The service worker asks for the page by name.
        if name == PAGE or prefers_page(request.headers.getall(hdrs.ACCEPT, [])):
            return web.FileResponse(self._page, headers=self._page_headers)
        raise web.HTTPNotFound


def is_built(folder: Path) -> bool:
    """Return whether a folder holds a built client."""
    return (folder / PAGE).is_file()


def add_routes(app: web.Application, folder: Path, media_url: str = "") -> None:
    """Let the client answer every path that has no other route. Call it last."""
    app.router.add_get("/{path:.*}", WebClient(folder, media_url).__call__)


def _headers(name: str, suffix: str) -> dict[str, str]:
    caching = f"public, max-age={CACHE_SECONDS}, immutable" if name.startswith(ASSETS) else "no-cache"
    headers = {
        hdrs.CONTENT_TYPE: CONTENT_TYPES.get(suffix, "application/octet-stream"),
        hdrs.CACHE_CONTROL: caching,
        hdrs.VARY: hdrs.ACCEPT_ENCODING,
        "X-Content-Type-Options": "nosniff",
    }
    if name == WORKER:  # the policy of a worker is the one that its script was served with
        headers["Content-Security-Policy"] = "default-src 'none'; connect-src 'self'; script-src 'self'"
    return headers

"""The GraphiQL page and its assets, as a browser requests them."""

import re
from html.parser import HTMLParser

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from pytest_aiohttp.plugin import AiohttpClient
from yarl import URL

from serving import graphiql

Browser = TestClient[web.Request, web.Application]

CONTENT_TYPES = {".js": "text/javascript", ".css": "text/css"}
LOADING_ATTRIBUTES = {"script": "src", "link": "href", "img": "src", "iframe": "src"}


class _Page(HTMLParser):
    """Collects the addresses that a page loads, and whether it has inline scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.inline_scripts = 0
        self.handlers: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.handlers += [name for name in attributes if name.startswith("on")]
        address = attributes.get(LOADING_ATTRIBUTES.get(tag, ""))
        if address:
            self.loads.append(address)
        elif tag == "script":
            self.inline_scripts += 1


@pytest.fixture
async def browser(aiohttp_client: AiohttpClient) -> Browser:
    async def answer(request: web.Request) -> web.Response:
        return graphiql.page(request)

    app = web.Application()
    app.router.add_get("/graphql", answer)
    graphiql.add_routes(app)
    return await aiohttp_client(app)


async def _page(browser: Browser) -> _Page:
    return _Page(await (await browser.get("/graphql")).text())


async def test_page_forbids_everything_foreign(browser: Browser) -> None:
    """The policy allows the page's own origin, inline styles and inlined images and fonts, and nothing else."""
    response = await browser.get("/graphql")
    assert response.status == 200
    assert response.content_type == "text/html"
    assert response.charset == "utf-8"
    directives = dict(part.split(" ", 1) for part in response.headers["Content-Security-Policy"].split("; "))
    assert directives == {
        "default-src": "'self'",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "no-cache"
    assert response.headers["Vary"] == "Accept"


async def test_page_has_no_inline_script(browser: Browser) -> None:
    """Every script is a file, since the policy forbids inline ones."""
    page = await _page(browser)
    assert page.inline_scripts == 0
    assert page.handlers == []


async def test_page_loads_only_assets_of_its_own_origin(browser: Browser) -> None:
    """The page loads only assets of this version, and data inside the page."""
    loads = [address for address in (await _page(browser)).loads if not address.startswith("data:")]
    assert loads
    assert all(address.startswith(f"{graphiql.assets().address}/") for address in loads)
    own = "".join(graphiql.assets().paths[name].read_text() for name in graphiql.OWN)
    assert re.findall(r"(?:https?|wss?)://", own) == []


async def test_every_asset_is_served(browser: Browser) -> None:
    """Each asset has its type, must not be sniffed, and is cached by browsers for good."""
    named = {address.rsplit("/", 1)[-1] for address in (await _page(browser)).loads if not address.startswith("data:")}
    assert named <= set(graphiql.assets().paths)
    for name, path in graphiql.assets().paths.items():
        response = await browser.get(f"{graphiql.assets().address}/{name}")
        assert response.status == 200, name
        assert response.content_type == CONTENT_TYPES[path.suffix]
        assert response.charset == "utf-8"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert await response.read() == path.read_bytes()


async def test_modules_import_only_assets(browser: Browser) -> None:
    """Each script of the page's own imports only scripts that are served beside it."""
    paths = graphiql.assets().paths
    names = {found for own in graphiql.OWN for found in re.findall(r'from "\./([^"]+)"', paths[own].read_text())}
    assert names
    for name in names:
        assert (await browser.get(f"{graphiql.assets().address}/{name}")).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "../graphiql.py",
        "..%2Fgraphiql.py",
        "..%2F..%2Fpyproject.toml",
        "%2Fetc%2Fpasswd",
        "..%5Cgraphiql.py",
        "graphiql.py",
        "page.html",
        "style.css",
        "page.js%00.css",
        "",
    ],
)
async def test_nothing_but_assets_is_served(browser: Browser, path: str) -> None:
    """A name that is no asset's is not found, wherever it points."""
    address = URL(f"{graphiql.assets().address}/{path}", encoded=True)
    assert (await browser.get(address)).status == 404


async def test_another_version_is_not_served(browser: Browser) -> None:
    """An address of another version is not found, since a browser would cache it for good."""
    assert (await browser.get(f"{graphiql.PREFIX}/0123456789abcdef/page.js")).status == 404


async def test_page_shows_where_the_token_goes(browser: Browser) -> None:
    """The page is titled Perch and has labelled places for the access token and its owner."""
    html = await (await browser.get("/graphql")).text()
    assert "<title>Perch</title>" in html
    assert '<label for="token">Access token</label>' in html
    assert 'role="status"' in html

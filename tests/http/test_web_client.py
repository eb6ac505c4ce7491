"""The web client's page and files, as a browser requests them, and Perch without a built client."""

from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from pytest_aiohttp.plugin import AiohttpClient
from yarl import URL

from serving.http import web_client
from tests.support.transport import clients
from tests.support.transport.clients import Client, first_code

client = clients.client
services = clients.services

Browser = TestClient[web.Request, web.Application]

NAVIGATION = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A built client, with a secret beside it."""
    built = tmp_path / "dist"
    (built / "assets").mkdir(parents=True)
    (built / "index.html").write_text("<title>Perch</title>")
    (built / "sw.js").write_text("// worker")
    (built / "assets" / "main-1234.js").write_text("plain")
    (built / "assets" / "main-1234.js.br").write_bytes(b"smaller")
    (tmp_path / "secret.txt").write_text("secret")
    return built


@pytest.fixture
async def browser(aiohttp_client: AiohttpClient, folder: Path) -> Browser:
    app = web.Application()
    web_client.add_routes(app, folder)
    return await aiohttp_client(app)


@pytest.mark.parametrize("path", ["/", "/@robin", "/tags/birding", "/posts/abc", "/graphql.php"])
async def test_every_screen_is_the_page(browser: Browser, path: str) -> None:
    """A browser gets the page at every path of a screen, under a policy that allows nothing inline or foreign."""
    response = await browser.get(path, headers=NAVIGATION)
    assert (response.status, await response.text()) == (200, "<title>Perch</title>")
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["Cache-Control"] == "no-cache"
    policy = response.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "http" not in policy


async def test_pictures_may_come_from_the_media_url_alone(aiohttp_client: AiohttpClient, folder: Path) -> None:
    """The policy takes pictures from the origin of MEDIA_URL, without its path, and from no other one."""
    app = web.Application()
    web_client.add_routes(app, folder, "https://cdn.example.org/perch")
    response = await (await aiohttp_client(app)).get("/", headers=NAVIGATION)
    policy = response.headers["Content-Security-Policy"]
    assert "img-src 'self' blob: https://cdn.example.org; " in policy
    assert policy.count("http") == 1


async def test_worker_gets_the_page_by_name(browser: Browser) -> None:
    """The service worker, which accepts everything, gets the page by its file's name."""
    response = await browser.get("/index.html", headers={"Accept": "*/*"})
    assert (response.status, response.content_type) == (200, "text/html")
    assert "Content-Security-Policy" in response.headers


@pytest.mark.parametrize("accept", ["application/json", "*/*", "image/png"])
async def test_programs_do_not_get_the_page(browser: Browser, accept: str) -> None:
    """A program that asks for a path without a file gets 404, not a page."""
    assert (await browser.get("/nothing", headers={"Accept": accept})).status == 404


async def test_assets_are_cached_for_good(browser: Browser) -> None:
    """An asset is sent compressed to those who accept it, and may be cached for good."""
    response = await browser.get("/assets/main-1234.js", headers={"Accept-Encoding": "identity"})
    assert (response.status, await response.text()) == (200, "plain")
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    browser.session._auto_decompress = False  # noqa: SLF001 - the bytes are no real brotli
    response = await browser.get("/assets/main-1234.js", headers={"Accept-Encoding": "br"})
    assert (await response.read(), response.headers["Content-Encoding"]) == (b"smaller", "br")
    assert response.headers["Vary"] == "Accept-Encoding"


async def test_worker_is_always_checked(browser: Browser) -> None:
    """The service worker is checked anew each time, so that a new release is noticed."""
    response = await browser.get("/sw.js")
    assert (response.status, response.headers["Cache-Control"]) == (200, "no-cache")


@pytest.mark.parametrize(
    "path", ["../secret.txt", "..%2Fsecret.txt", "assets/..%2F..%2Fsecret.txt", "%2Fetc%2Fpasswd", "assets", "sw.js%00"]
)
async def test_nothing_but_the_client_is_served(browser: Browser, path: str) -> None:
    """A name that is no file of the client is not found, wherever it points."""
    assert (await browser.get(URL(f"/{path}", encoded=True))).status == 404


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(web_client, "DIST", folder)


async def test_client_leaves_the_rest_to_the_server(built: None, client: Client) -> None:
    """With the client at /, GraphiQL, the API, the health checks and the pages of mails stay where they are."""
    assert await (await client.get("/", headers=NAVIGATION)).text() == "<title>Perch</title>"
    assert "GraphiQL" in await (await client.get("/graphql", headers=NAVIGATION)).text()
    assert (await (await client.post("/graphql", json={"query": "{ square }"})).json()) == {"data": {"square": 1}}
    assert await (await client.get("/healthz", headers=NAVIGATION)).text() == "ok"
    assert "A new password" in await (await client.get("/reset", headers=NAVIGATION)).text()
    refused = await client.get("/nothing", headers={"Accept": "application/json"})
    assert (refused.status, first_code(await refused.json())) == (404, "NOT_FOUND")
    assert (await client.post("/robin", json={})).status == 405


async def test_folder_without_a_page_is_no_client(tmp_path: Path, folder: Path) -> None:
    """A folder counts as a client only with its page in it."""
    assert web_client.is_built(folder)
    assert not web_client.is_built(tmp_path)

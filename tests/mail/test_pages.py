"""The pages behind the links: they work without JavaScript, and only their button uses a token."""

import re
from typing import Any

from resolvers.process.services import Services
from store.client.database import Database
from store.settings import Settings
from tests.mail.test_password_resets import NEXT, request
from tests.support.mails import sent, token_in
from tests.support.people import PASSWORD, Member
from tests.support.probes import two_factor


async def page(anonymous: Member, path: str, **form: str) -> tuple[int, str, dict[str, str]]:
    """Open a page, or send its form; returns status, HTML and headers."""
    client: Any = anonymous.client
    sending = client.post(path, data=form) if form else client.get(path)
    async with sending as response:
        return response.status, await response.text(), dict(response.headers)


async def test_verifying_on_a_page(anonymous: Member, alice: Member, services: Services, settings: Settings) -> None:
    """The link opens a form. Opening it changes nothing, and its button verifies the address."""
    token = token_in(await sent(services, settings), "alice@example.org")
    for _ in range(2):
        status, html, headers = await page(anonymous, f"/verify?token={token}")
        assert (status, f'value="{token}"' in html) == (200, True)
        assert (await alice.ask("{ viewer { isEmailVerified } }")) == {"isEmailVerified": False}
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert "script" not in html
    status, html, _ = await page(anonymous, "/verify", token=token)
    assert (status, "is verified" in html) == (200, True)
    assert (await alice.ask("{ viewer { isEmailVerified } }")) == {"isEmailVerified": True}
    status, html, _ = await page(anonymous, "/verify", token=token)
    assert (status, "expired or was used already" in html) == (422, True)


async def test_resetting_on_a_page(anonymous: Member, alice: Member, services: Services, settings: Settings) -> None:
    """The link opens a form for a new password. A weak one is named, and the form stays."""
    token = await request(anonymous, services, settings)
    status, html, _ = await page(anonymous, f"/reset?token={token}")
    assert (status, 'type="password"' in html) == (200, True)
    status, html, _ = await page(anonymous, "/reset", token=token, password="short")
    assert (status, "at least 10 characters" in html, token in html) == (422, True, True)
    status, html, _ = await page(anonymous, "/reset", token=token, password=NEXT)
    assert (status, "Your password is changed" in html) == (200, True)
    assert (await anonymous.do("logIn", identifier="alice", password=NEXT))["userErrors"] == []
    assert await anonymous.refused("logIn", identifier="alice", password=PASSWORD) == ("WRONG_CREDENTIALS", None)
    status, html, _ = await page(anonymous, "/reset", token=token, password=NEXT)
    assert (status, 'href="/reset"' in html) == (422, True)


async def test_requesting_on_a_page(anonymous: Member, alice: Member, services: Services, settings: Settings) -> None:
    """Without a token, the page sends the link; its answer is the same for every address."""
    await sent(services, settings)
    assert 'type="email"' in (await page(anonymous, "/reset"))[1]
    pages = [await page(anonymous, "/reset", email=address) for address in ("alice@example.org", "no@example.org")]
    assert pages[0][:2] == pages[1][:2]
    assert pages[0][0] == 200
    assert token_in(await sent(services, settings), "alice@example.org")
    status, html, _ = await page(anonymous, "/reset", email="nobody")
    assert (status, 'role="alert"' in html) == (422, True)


async def test_what_pages_show_is_escaped(anonymous: Member) -> None:
    """A token with HTML in it is shown as text."""
    for path in ("/verify", "/reset"):
        _, html, _ = await page(anonymous, f"{path}?token=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
        assert "<script" not in html
        assert re.search('value="&quot;&gt;&lt;script', html)


async def test_forms_only(anonymous: Member) -> None:
    """A body that is no form is refused."""
    client: Any = anonymous.client
    for path in ("/verify", "/reset"):
        async with client.post(path, json={"token": "x"}) as response:
            assert response.status == 415


async def test_a_second_factor_on_the_page(
    anonymous: Member, alice: Member, services: Services, settings: Settings, db: Database
) -> None:
    """The page asks for a code where the member has a second factor."""
    app = await two_factor.enabled(alice, db)
    token = await request(anonymous, services, settings)
    status, html, _ = await page(anonymous, "/reset", token=token, password=NEXT)
    assert (status, 'name="code"' in html) == (422, True)
    status, html, _ = await page(anonymous, "/reset", token=token, password=NEXT, code=app.recovery_codes[0])
    assert (status, "Thank you" in html) == (200, True)

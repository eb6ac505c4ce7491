"""Neither the log nor the store shows what opens an account: tokens, links, and the mail server's password."""

import json
from email import message_from_bytes, policy
from pathlib import Path
from urllib.parse import quote

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from store.settings import Settings
from store.settings.declaring import SettingError
from tests.mail.test_sending import free_port
from tests.support.mails import sent, token_in
from tests.support.people import PASSWORD, Member, contents, sign_up
from tests.support.secrets import shown
from tests.support.servers.processes import serving, until
from tests.support.servers.smtp import PASSWORD as SERVER_PASSWORD
from tests.support.servers.smtp import USER, token_of


async def test_the_log_shows_no_token(tmp_path: Path) -> None:
    """Mails as files: the log has their paths, and no token, also when the tokens are used."""

    async def written() -> bool:
        return len(list((tmp_path / "mail").glob("*.eml"))) == 2

    async with serving(tmp_path, log_level="DEBUG") as (running, anonymous):
        alice = await sign_up(anonymous, "alice")
        await anonymous.do("requestPasswordReset", email="alice@example.org")
        await until(written)
        files = sorted((tmp_path / "mail").glob("*.eml"))
        texts = [message_from_bytes(file.read_bytes(), policy=policy.default).get_content() for file in files]
        tokens = [token_of(text) for text in texts]
        for token in tokens:
            for path in (f"/verify?token={token}", f"/reset?token={token}", f"/nowhere?token={token}"):
                async with anonymous.client.get(path):
                    pass
            await alice.do("verifyEmail", token=token)
            await anonymous.do("resetPassword", token=token, newPassword="short")
        await running.stop()
        out, log = await running.out.all(), await running.err.all()
    assert all(str(file) in log for file in files)
    assert [oct(file.stat().st_mode & 0o777) for file in files] == ["0o600"] * 2
    assert [shown(tokens, text) for text in (out, log)] == [[], []]
    assert {json.loads(line)["event"] for line in log.splitlines()} >= {"mail_written", "request"}


async def test_the_log_shows_no_password_of_the_server(tmp_path: Path) -> None:
    """While the mail server is away, the log says so without its password and without an address of a member."""
    url = f"smtp://{USER}:{quote(SERVER_PASSWORD, '')}@127.0.0.1:{free_port()}"
    async with serving(tmp_path, log_level="DEBUG", smtp_url=url) as (running, anonymous):
        await sign_up(anonymous, "alice")
        await running.err.line("mail_server_away")
        await running.stop()
        out, log = await running.out.all(), await running.err.all()
    used = [SERVER_PASSWORD, url, "alice@example.org", PASSWORD]
    assert [shown(used, text) for text in (out, log)] == [[], []]
    assert SERVER_PASSWORD not in repr(Settings(smtp_url=url))
    assert quote(SERVER_PASSWORD, "") not in repr(Settings(smtp_url=url))


async def test_the_store_holds_no_token(alice: Member, services: Services, settings: Settings, db: Database) -> None:
    """Before and after a mail is sent, the store holds nothing from which its link could be read."""
    before = json.dumps(await contents(db))
    token = token_in(await sent(services, settings), "alice@example.org")
    after = json.dumps(await contents(db))
    secret = token.partition(".")[2]
    assert secret not in before + after


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://mail.example.org", "must begin with smtp:// or smtps://"),
        ("mail.example.org", "must begin with"),
        ("smtp://", "must name a host"),
        ("smtp://mail.example.org:port", "number as its port"),
        ("smtp://user@mail.example.org", "both a user and a password"),
        ("smtp://:secret@mail.example.org", "both a user and a password"),
        ("smtp://user:se/cret@mail.example.org", "number as its port"),
        ("smtp://user:se#cret@mail.example.org", "number as its port"),
        ("smtp://mail.example.org/inbox", "must end after the port"),
        ("smtp://mail.example.org?starttls=maybe", "may have one parameter"),
        ("smtp://mail.example.org?tls=1", "may have one parameter"),
        ("smtp://user:secret@mail.example.org?starttls=never", "over TLS only"),
        ("smtp://user:secret@mail.example.org?starttls=offered", "over TLS only"),
    ],
)
def test_bad_urls(url: str, rule: str) -> None:
    """A URL that means something else is refused by its rule, and the message shows no part of it."""
    with pytest.raises(SettingError, match="SMTP_URL") as refused:
        Settings.from_environment({"SMTP_URL": url})
    assert rule in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAIL_FROM", "nobody"),
        ("MAIL_FROM", "a@b.example, c@d.example"),
        ("MAIL_FROM", "Perch <a@b.example>\r\nBcc: c@d.example"),
        ("PUBLIC_URL", "example.org"),
        ("PUBLIC_URL", "ftp://example.org"),
        ("PUBLIC_URL", "https://example.org/?a=b"),
    ],
)
def test_bad_settings(name: str, value: str) -> None:
    """A sender or a base of links that cannot work is refused, and the message names the setting."""
    with pytest.raises(SettingError, match=name):
        Settings.from_environment({name: value})

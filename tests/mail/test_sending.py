"""Mails reach a real SMTP server once, whatever it answers, and are repeated when it does not."""

import asyncio
import socket
import ssl
from urllib.parse import quote

import pytest
import trustme

from resolvers.mail.sending import Away
from resolvers.process.services import Services
from store.client.database import Database
from store.mail import outbox
from store.settings import Settings
from tests.support.mails import make_due
from tests.support.people import Member, sign_up
from tests.support.servers.smtp import PASSWORD, USER, Postbox, mailer, postbox


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


async def test_a_mail_arrives_once(services: Services, settings: Settings, alice: Member, db: Database) -> None:
    """The mail of a sign-up arrives with its headers and a link, and leaves the outbox empty."""
    async with postbox() as box:
        sender = mailer(
            services, settings, smtp_url=f"smtp://127.0.0.1:{box.port}", public_url="https://perch.example/"
        )
        assert await sender.run_once() == 1
        assert await sender.run_once() == 0
    (message,) = box.accepted
    assert (message["To"], message["From"]) == ("alice@example.org", "Perch <perch@localhost>")
    assert (box.senders, box.recipients) == (["perch@localhost"], ["alice@example.org"])
    assert message["Auto-Submitted"] == "auto-generated"
    assert message.get_content_type() == "text/plain"
    text = message.get_content()
    assert "Hello @alice" in text
    assert "https://perch.example/verify?token=" in text
    assert "24 hours" in text
    assert await outbox.waiting(db) == 0


async def test_connections_are_reused(services: Services, settings: Settings, anonymous: Member) -> None:
    """Many mails travel over as few connections as the setting says."""
    await asyncio.gather(*(sign_up(anonymous, f"one{i}") for i in range(12)))
    async with postbox() as box:
        sender = mailer(services, settings, smtp_url=f"smtp://127.0.0.1:{box.port}", mail_connections=2)
        while await sender.run_once():
            pass
    assert sorted(box.recipients) == sorted(f"one{i}@example.org" for i in range(12))
    assert box.connections <= 2


async def test_two_senders_share_the_work(services: Services, settings: Settings, anonymous: Member) -> None:
    """Of two senders at the same outbox, only one sends each mail."""
    await asyncio.gather(*(sign_up(anonymous, f"one{i}") for i in range(12)))
    async with postbox() as box:
        url = f"smtp://127.0.0.1:{box.port}"
        senders = [mailer(services, settings, smtp_url=url) for _ in range(2)]
        while any(await asyncio.gather(*(sender.run_once() for sender in senders))):
            pass
    assert sorted(box.recipients) == sorted(f"one{i}@example.org" for i in range(12))


async def test_a_server_that_is_down(services: Services, settings: Settings, alice: Member, db: Database) -> None:
    """While nobody listens, no mail is lost, and none counts as put off; it arrives once the server is back."""
    port = free_port()
    sender = mailer(services, settings, smtp_url=f"smtp://127.0.0.1:{port}")
    for _ in range(20):
        with pytest.raises(Away):
            await sender.run_once()
    assert await outbox.waiting(db) == 1
    async with postbox(port=port) as box:
        assert await sender.run_once() == 1
    assert box.recipients == ["alice@example.org"]


@pytest.mark.parametrize("command", ["RCPT", "DATA"])
async def test_a_refusal_for_good(
    services: Services, settings: Settings, alice: Member, db: Database, command: str
) -> None:
    """A 5xx answer to a recipient or a mail is final: the mail is not tried again, and the next one arrives."""
    async with postbox(Postbox(answers={command: ["550 no such mailbox"]})) as box:
        sender = mailer(services, settings, smtp_url=f"smtp://127.0.0.1:{box.port}")
        assert await sender.run_once() == 1
        assert await outbox.waiting(db) == 0
        await alice.do("resendVerification")
        assert await sender.run_once() == 1
    assert len(box.accepted) == 1


@pytest.mark.parametrize("answer", ["450 try later", "451 greylisted"])
@pytest.mark.parametrize("command", ["RCPT", "DATA"])
async def test_a_mail_that_is_put_off(
    services: Services, settings: Settings, alice: Member, db: Database, command: str, answer: str
) -> None:
    """A 4xx answer makes the mail wait, and it arrives when it is due again."""
    async with postbox(Postbox(answers={command: [answer]})) as box:
        sender = mailer(services, settings, smtp_url=f"smtp://127.0.0.1:{box.port}")
        assert await sender.run_once() == 0
        assert await sender.run_once() == 0
        assert box.accepted == []
        await make_due(db)
        assert await sender.run_once() == 1
    assert box.recipients == ["alice@example.org"]


async def test_a_server_that_closes(services: Services, settings: Settings, alice: Member, db: Database) -> None:
    """A 421 answer means that the server is away: the mail stays due, and is not to blame."""
    async with postbox(Postbox(answers={"RCPT": ["421 shutting down"]})) as box:
        sender = mailer(services, settings, smtp_url=f"smtp://127.0.0.1:{box.port}")
        with pytest.raises(Away):
            await sender.run_once()
        assert await sender.run_once() == 1
    assert len(box.accepted) == 1


async def test_hanging_up_after_data(services: Services, settings: Settings, alice: Member, db: Database) -> None:
    """When the reply to a mail is lost, the mail is sent again with the same Message-ID, so that receivers drop it."""
    async with postbox(Postbox(answers={"DATA": [""]})) as box:
        sender = mailer(services, settings, smtp_url=f"smtp://127.0.0.1:{box.port}")
        assert await sender.run_once() == 0
        await make_due(db)
        assert await sender.run_once() == 1
    first, second = box.accepted
    assert first["Message-ID"] == second["Message-ID"]
    assert first.as_bytes() == second.as_bytes()


async def test_a_slow_server(services: Services, settings: Settings, alice: Member, db: Database) -> None:
    """A server that takes its time delays no request, and the mail is nobody else's meanwhile."""
    async with postbox(Postbox(silence=asyncio.Event())) as box:
        url = f"smtp://127.0.0.1:{box.port}"
        slow, other = mailer(services, settings, smtp_url=url), mailer(services, settings, smtp_url=url)
        sending = asyncio.create_task(slow.run_once())
        await box.visited.wait()
        assert await other.run_once() == 0
        assert await alice.post("requests are answered") is not None
        assert box.silence
        box.silence.set()
        assert await sending == 1
    assert len(box.accepted) == 1


async def test_a_server_that_never_answers(services: Services, settings: Settings, alice: Member, db: Database) -> None:
    """A server that accepts connections and says nothing is away after the time limit."""
    held: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: held.append(writer), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    sender = mailer(services, settings, smtp_url=f"smtp://127.0.0.1:{port}", smtp_seconds=1, mail_connections=1)
    with pytest.raises(Away):
        await sender.run_once()
    for writer in held:
        writer.close()
    server.close()
    await server.wait_closed()
    assert await outbox.waiting(db) == 1


# ---------------------------------------------------------------- TLS and passwords


@pytest.fixture
def authority(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> trustme.CA:
    """An authority that Perch trusts."""
    made = trustme.CA()
    path = f"{tmp_path}/ca.pem"
    made.cert_pem.write_to_path(path)
    monkeypatch.setenv("SSL_CERT_FILE", path)
    return made


def served_by(authority: trustme.CA, name: str = "localhost") -> ssl.SSLContext:
    """Return the TLS context of a server with a certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(name).configure_cert(context)
    return context


async def test_starttls_and_a_password(
    services: Services, settings: Settings, alice: Member, authority: trustme.CA
) -> None:
    """With a password, the connection is encrypted by STARTTLS before the password is sent."""
    async with postbox(starttls=served_by(authority), needs_password=True) as box:
        url = f"smtp://{USER}:{quote(PASSWORD, '')}@localhost:{box.port}"
        assert await mailer(services, settings, smtp_url=url).run_once() == 1
    assert (box.logins, box.was_encrypted) == ([USER], [True])


async def test_tls_and_a_password(services: Services, settings: Settings, alice: Member, authority: trustme.CA) -> None:
    """With smtps://, the connection is encrypted from the first byte on."""
    async with postbox(tls=served_by(authority), needs_password=True) as box:
        url = f"smtps://{USER}:{quote(PASSWORD, '')}@localhost:{box.port}"
        assert await mailer(services, settings, smtp_url=url).run_once() == 1
    assert (box.logins, box.was_encrypted) == ([USER], [True])


async def test_starttls_when_it_is_offered(
    services: Services, settings: Settings, alice: Member, authority: trustme.CA
) -> None:
    """Without a password, STARTTLS is used where the server offers it."""
    async with postbox(starttls=served_by(authority)) as box:
        assert await mailer(services, settings, smtp_url=f"smtp://localhost:{box.port}").run_once() == 1
    assert box.was_encrypted == [True]


async def test_no_password_without_tls(services: Services, settings: Settings, alice: Member) -> None:
    """To a server without TLS, no password and no mail is sent."""
    async with postbox() as box:
        url = f"smtp://{USER}:{quote(PASSWORD, '')}@localhost:{box.port}"
        with pytest.raises(Away):
            await mailer(services, settings, smtp_url=url).run_once()
    assert (box.logins, box.accepted) == ([], [])


async def test_a_wrong_password_for_the_server(
    services: Services, settings: Settings, alice: Member, db: Database, authority: trustme.CA
) -> None:
    """A password that the server refuses is no fault of a mail: it waits until the setting is right."""
    async with postbox(tls=served_by(authority), needs_password=True) as box:
        with pytest.raises(Away, match="SMTPAuthenticationError 535"):
            await mailer(services, settings, smtp_url=f"smtps://{USER}:wrong@localhost:{box.port}").run_once()
    assert await outbox.waiting(db) == 1


async def test_a_certificate_of_another_server(
    services: Services, settings: Settings, alice: Member, authority: trustme.CA
) -> None:
    """A certificate for another name ends the connection before anything is sent."""
    async with postbox(tls=served_by(authority, "elsewhere.example"), needs_password=True) as box:
        url = f"smtps://{USER}:{quote(PASSWORD, '')}@localhost:{box.port}"
        with pytest.raises(Away):
            await mailer(services, settings, smtp_url=url).run_once()
    assert (box.logins, box.accepted) == ([], [])

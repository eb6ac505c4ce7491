"""Mails as files, where no SMTP server is configured."""

from email.message import EmailMessage
from pathlib import Path

from resolvers.mail.sending import transport
from store.settings import Settings


async def test_the_newest_are_kept(tmp_path: Path) -> None:
    """Of many mails the newest are kept, whatever the number of digits in their names; other files stay."""
    sender = transport(Settings(data_dir=tmp_path, mail_files_kept=3))
    folder = tmp_path / "mail"
    for mail in (8, 9, 10, 9, 11, 100):
        message = EmailMessage()
        message["To"] = "alice@example.org"
        message.set_content(f"mail {mail}")
        await sender.send(mail, message)
        (folder / "notes.eml").touch()
    assert {file.name for file in folder.iterdir()} == {"10.eml", "11.eml", "100.eml", "notes.eml"}
    assert "mail 100" in (folder / "100.eml").read_text()

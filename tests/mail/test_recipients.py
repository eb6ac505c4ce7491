"""Mails to one recipient: a limit over all kinds and senders, and a reset that it never suppresses."""

import pytest

from resolvers.process.services import Services
from store.limits import windows
from store.limits.windows import HOUR_SECONDS
from store.settings import Settings
from tests.support.mails import sent
from tests.support.people import PASSWORD, Member, shrunk, sign_up

VICTIM = "victim@example.net"
MOST_IN_AN_HOUR, MOST_IN_A_DAY = 2, 3


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return shrunk(
        settings,
        rate_limit=10_000,
        recipient_mails_per_hour=MOST_IN_AN_HOUR,
        recipient_mails_per_day=MOST_IN_A_DAY,
    )


async def subjects(services: Services, settings: Settings, local: str = "victim") -> list[str]:
    """Return the subjects of all mails that the recipient got, those to a sub-address included."""
    found = []
    for mail in await sent(services, settings):
        name, _, domain = mail["To"].addresses[0].addr_spec.lower().partition("@")
        if (name.partition("+")[0], domain) == (local, "example.net"):
            found.append(mail["Subject"])
    return found


async def test_many_senders(
    anonymous: Member, services: Services, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several members and kinds of mail together have the recipient's limit; mails above it wait for their hour."""
    eve = await sign_up(anonymous, "eve", email=VICTIM)
    for member in (await sign_up(anonymous, "mallory"), await sign_up(anonymous, "trudy")):
        tag = f"Victim+{member.login}@Example.net"
        assert (await member.do("changeEmail", email=tag, currentPassword=PASSWORD))["userErrors"] == []
    await eve.do("changePassword", currentPassword=PASSWORD, newPassword="quite another password")
    assert len(await subjects(services, settings)) == MOST_IN_AN_HOUR
    assert len(await subjects(services, settings)) == MOST_IN_AN_HOUR
    now = windows.current
    monkeypatch.setattr(windows, "current", lambda seconds: now(seconds) + (seconds == HOUR_SECONDS))
    assert len(await subjects(services, settings)) == MOST_IN_A_DAY


async def test_others(anonymous: Member, services: Services, settings: Settings) -> None:
    """The limit of one recipient delays nobody else's mail."""
    for tag in range(MOST_IN_AN_HOUR + 1):
        await sign_up(anonymous, f"eve{tag}", email=f"victim+{tag}@example.net")
    await sign_up(anonymous, "carl", email="carl@example.net")
    assert len(await subjects(services, settings)) == MOST_IN_AN_HOUR
    assert await subjects(services, settings, "carl") == ["Is this your address?"]


async def test_a_reset_is_apart(anonymous: Member, services: Services, settings: Settings) -> None:
    """A reset arrives however many other mails the recipient got; one to a sub-address nobody verified waits."""
    await sign_up(anonymous, "victor", email=VICTIM)
    for tag in range(MOST_IN_AN_HOUR + 1):
        await sign_up(anonymous, f"eve{tag}", email=f"victim+{tag}@example.net")
    assert len(await subjects(services, settings)) == MOST_IN_AN_HOUR
    for address in (VICTIM, VICTIM.upper(), "victim+1@example.net"):
        assert await anonymous.do("requestPasswordReset", email=address) == {"userErrors": []}
    found = await subjects(services, settings)
    assert found[MOST_IN_AN_HOUR:] == ["A new password"]


async def test_no_answer_tells(anonymous: Member, services: Services, settings: Settings) -> None:
    """Who asks for mails gets the same answers beyond the recipient's limit."""
    answers = []
    for tag in range(2 * MOST_IN_A_DAY):
        member = await sign_up(anonymous, f"eve{tag}")
        fields = {"email": f"victim+{tag}@example.net", "currentPassword": PASSWORD}
        answers.append(await member.do("changeEmail", "viewer { email isEmailVerified }", **fields))
        await subjects(services, settings)
    assert [answer["userErrors"] for answer in answers] == [[]] * len(answers)
    assert len(await subjects(services, settings)) == MOST_IN_AN_HOUR

"""Sessions: logging out, and the list of them."""

import time
from datetime import datetime

import pytest

from store.settings import Settings
from tests.support.people import PASSWORD, Member, shrunk, sign_up
from tests.support.probes.members import refusals
from tests.support.probes.sessions import (
    NEW_PASSWORD,
    SESSION,
    WRONG_TOKEN,
    assert_unauthenticated,
    is_signed_in,
    log_in,
    raw,
    refresh,
    session_of,
)

# ------------------------------------------------------------ logOut


@pytest.mark.parametrize(
    "call", ["logOut", "logOut(input: null)", "logOut(input: {})", "logOut(input: {everywhere: null})"]
)
async def test_log_out(anonymous: Member, alice: Member, call: str) -> None:
    """Logging out ends the asking session at once, and no other."""
    phone = await log_in(anonymous, "alice")
    assert await phone.ask(f"mutation {{ {call} {{ userErrors {{ code }} }} }}") == {"userErrors": []}
    assert not await is_signed_in(phone)
    assert await is_signed_in(alice)
    assert (await alice.ask("{ viewer { sessions { id } } }"))["sessions"] == [{"id": session_of(alice)}]
    assert (await refresh(anonymous, alice.refresh_token))["userErrors"] == []


async def test_log_out_everywhere(anonymous: Member, alice: Member, bob: Member) -> None:
    """Logging out everywhere ends every session of the member, and nobody else's."""
    devices = [alice, await log_in(anonymous, "alice"), await log_in(anonymous, "alice")]
    assert await devices[1].do("logOut", everywhere=True) == {"userErrors": []}
    for device in devices:
        assert not await is_signed_in(device)
        assert refusals(await refresh(anonymous, device.refresh_token)) == WRONG_TOKEN
    assert await is_signed_in(bob)
    assert await is_signed_in(await log_in(anonymous, "alice"))


async def test_log_out_twice(alice: Member) -> None:
    """A token that has logged out is refused."""
    await alice.do("logOut")
    assert_unauthenticated(*await raw(alice, "mutation { logOut { userErrors { code } } }"))


# ------------------------------------------------------------ the list of sessions


async def test_sessions_are_listed(anonymous: Member, alice: Member, settings: Settings) -> None:
    """A member sees where they are signed in, newest first, with the name each device gives itself."""
    started = time.time()
    phone = await log_in(anonymous, "alice", user_agent="Perch for Phones/1.0")
    tablet = await log_in(anonymous, "alice@example.org", user_agent="Täblet " + "x" * 500)
    devices = [tablet, phone, alice]
    query = "{ viewer { sessions { id createdAt expiresAt userAgent isCurrent } } }"
    for asking in devices:
        listed = (await asking.ask(query))["sessions"]
        assert [session["id"] for session in listed] == [session_of(device) for device in devices]
        assert [session["isCurrent"] for session in listed] == [device is asking for device in devices]
    assert listed[1]["userAgent"] == "Perch for Phones/1.0"
    assert listed[0]["userAgent"] == "Täblet " + "x" * 193
    created = [datetime.fromisoformat(session["createdAt"]).timestamp() for session in listed]
    assert created == sorted(created, reverse=True)
    assert started - 1 <= created[1] <= time.time() + 1
    expires = [datetime.fromisoformat(session["expiresAt"]).timestamp() for session in listed]
    assert [round(b - a) for a, b in zip(created, expires, strict=True)] == [settings.session_days * 86_400] * 3


async def test_sessions_of_others_are_not_listed(alice: Member, bob: Member) -> None:
    """Each member sees only their own sessions."""
    for member in (alice, bob):
        assert (await member.ask("{ viewer { sessions { id } } }"))["sessions"] == [{"id": session_of(member)}]


class TestFewSessions:
    """Three sessions per member."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, sessions_per_member=3)

    async def test_the_oldest_session_makes_room(self, anonymous: Member, alice: Member, bob: Member) -> None:
        """A log-in beyond the most sessions ends the session that was opened first, and no other member's."""
        devices = [alice]
        for _ in range(4):
            devices.append(await log_in(anonymous, "alice"))
            assert [await is_signed_in(device) for device in devices] == [False] * (len(devices) - 3) + [True] * min(
                3, len(devices)
            )
        listed = (await devices[-1].ask("{ viewer { sessions { id } } }"))["sessions"]
        assert [session["id"] for session in listed] == [session_of(device) for device in reversed(devices[2:])]
        assert refusals(await refresh(anonymous, alice.refresh_token)) == WRONG_TOKEN
        assert await is_signed_in(bob)

    async def test_a_refresh_takes_no_room(self, anonymous: Member, alice: Member) -> None:
        """Refreshing opens no session, so it ends none."""
        devices = [alice, await log_in(anonymous, "alice"), await log_in(anonymous, "alice")]
        for _ in range(3):
            devices[1].refresh_token = (await refresh(anonymous, devices[1].refresh_token))["refreshToken"]
        assert [await is_signed_in(device) for device in devices] == [True] * 3

    async def test_a_new_password_takes_no_room(self, anonymous: Member) -> None:
        """A member with every session in use can change their password."""
        alice = await sign_up(anonymous, "alice")
        for _ in range(2):
            await log_in(anonymous, "alice")
        payload = await alice.do("changePassword", SESSION, currentPassword=PASSWORD, newPassword=NEW_PASSWORD)
        assert [session["isCurrent"] for session in payload["viewer"]["sessions"]] == [True]
        assert await is_signed_in(Member(alice.client, payload["accessToken"], alice.id))

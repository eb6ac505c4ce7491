"""Ending one session from another, and what the list of sessions says about address and last use."""

import asyncio
import time
from datetime import datetime

import pytest

from store.client.database import Database
from store.settings import Settings
from tests.support.people import PASSWORD, Member, shrunk, sign_up
from tests.support.probes.log_ins import at
from tests.support.probes.members import refusals
from tests.support.probes.sessions import (
    NEW_PASSWORD,
    WRONG_TOKEN,
    edit_session,
    is_signed_in,
    log_in,
    refresh,
    session_of,
)
from tests.support.transport.live import subscribed

ENDED = "viewer { sessions { id } }"
LISTED = "{ viewer { sessions { id address lastUsedAt } } }"


async def test_end_another_session(anonymous: Member, alice: Member) -> None:
    """Ending a session from another one ends it at once, and its refresh token, and nothing else."""
    phone, tablet = await log_in(anonymous, "alice"), await log_in(anonymous, "alice")
    payload = await alice.do("endSession", ENDED, sessionId=session_of(phone))
    left = [{"id": session_of(device)} for device in (tablet, alice)]
    assert payload == {"viewer": {"sessions": left}, "userErrors": []}
    assert [await is_signed_in(device) for device in (alice, phone, tablet)] == [True, False, True]
    assert refusals(await refresh(anonymous, phone.refresh_token)) == WRONG_TOKEN


async def test_end_the_current_session(anonymous: Member, alice: Member) -> None:
    """Ending the session that asks logs out: the payload has no viewer, and the token is refused from then on."""
    phone = await log_in(anonymous, "alice")
    payload = await phone.do("endSession", ENDED, sessionId=session_of(phone))
    assert payload == {"viewer": None, "userErrors": []}
    assert [await is_signed_in(device) for device in (alice, phone)] == [True, False]


async def test_a_socket_ends_with_its_session(anonymous: Member, alice: Member) -> None:
    """An open websocket of the ended session closes at once with 4403."""
    phone = await log_in(anonymous, "alice")
    async with subscribed(phone, "subscription { notifications { __typename } }") as stream:
        assert (await alice.do("endSession", sessionId=session_of(phone)))["userErrors"] == []
        assert await stream.closed() == 4403


@pytest.mark.parametrize("session", ["", "unknown", "A" * 12, "A" * 10_000, "*"])
async def test_unknown_session(alice: Member, session: str) -> None:
    """An id that no session of the viewer has is NOT_FOUND, and ends nothing."""
    assert await alice.refused("endSession", sessionId=session) == ("NOT_FOUND", ["sessionId"])
    assert await is_signed_in(alice)


async def test_the_session_of_another_member(alice: Member, bob: Member) -> None:
    """A member cannot end the session of another, and gets the answer of an unknown id."""
    assert await alice.refused("endSession", sessionId=session_of(bob)) == ("NOT_FOUND", ["sessionId"])
    assert await is_signed_in(bob)


async def test_end_a_session_twice(anonymous: Member, alice: Member) -> None:
    """A session that has ended is NOT_FOUND."""
    phone = await log_in(anonymous, "alice")
    assert (await alice.do("endSession", sessionId=session_of(phone)))["userErrors"] == []
    assert await alice.refused("endSession", sessionId=session_of(phone)) == ("NOT_FOUND", ["sessionId"])


@pytest.mark.usefixtures("alice")
async def test_end_a_session_without_a_token(anonymous: Member) -> None:
    """An anonymous request cannot end sessions."""
    query = "mutation($input: EndSessionInput!) { endSession(input: $input) { userErrors { code } } }"
    assert await anonymous.fail(query, input={"sessionId": "unknown"}) == "UNAUTHENTICATED"


async def test_end_a_session_while_it_is_refreshed(anonymous: Member, alice: Member) -> None:
    """Whichever comes first, a session that is ended while it is refreshed has ended, and its newest token too."""
    for _ in range(5):
        phone = await log_in(anonymous, "alice")
        ended, renewed = await asyncio.gather(
            alice.do("endSession", sessionId=session_of(phone)), refresh(anonymous, phone.refresh_token)
        )
        assert ended["userErrors"] == []
        assert not await is_signed_in(phone)
        token = renewed["refreshToken"] or phone.refresh_token
        assert refusals(await refresh(anonymous, token)) == WRONG_TOKEN


# ------------------------------------------------------------ address and last use


class TestAddresses:
    """Behind a proxy that names the client's address."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, trusted_proxies=("127.0.0.0/8", "::1/128"))

    async def test_address(self, anonymous: Member) -> None:
        """The list shows from where each session last got tokens; a refresh from elsewhere changes that."""
        alice = await sign_up(at(anonymous, "192.0.2.1"), "alice")
        phone = Member(anonymous.client, headers={"X-Forwarded-For": "2001:db8::7"})
        tokens = await phone.do("logIn", "refreshToken", identifier="alice", password=PASSWORD)
        shown = "{ viewer { sessions { address } } }"
        assert (await alice.ask(shown))["sessions"] == [{"address": "2001:db8::/64"}, {"address": "192.0.2.1"}]
        await refresh(at(anonymous, "198.51.100.9"), tokens["refreshToken"])
        assert (await alice.ask(shown))["sessions"] == [{"address": "198.51.100.9"}, {"address": "192.0.2.1"}]


async def test_last_use(anonymous: Member, alice: Member, db: Database) -> None:
    """A session was last used when it was opened, and after a refresh when it was refreshed."""
    await edit_session(db, alice, created=-3_600_000)
    assert time.time() - await _last_use(alice) == pytest.approx(3600, abs=30)
    await refresh(anonymous, alice.refresh_token)
    assert time.time() - await _last_use(alice) == pytest.approx(0, abs=30)


async def test_last_use_with_a_new_password(alice: Member, db: Database) -> None:
    """A new password counts as a use of the session that set it."""
    await edit_session(db, alice, created=-3_600_000)
    await alice.do("changePassword", currentPassword=PASSWORD, newPassword=NEW_PASSWORD)
    assert time.time() - await _last_use(alice) == pytest.approx(0, abs=30)


async def _last_use(member: Member) -> float:
    (listed,) = (await member.ask(LISTED))["sessions"]
    return datetime.fromisoformat(listed["lastUsedAt"]).timestamp()

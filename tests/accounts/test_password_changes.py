"""Changing the password: what it ends, and what is refused."""

import asyncio
import itertools

import pytest

from store import keys
from store.client.database import Database
from store.keys.fields import CredentialsField
from store.settings import Settings
from tests.support.people import PASSWORD, SIGN_UP, Member, contents, shrunk
from tests.support.probes.members import number, refusals
from tests.support.probes.sessions import (
    NEW_PASSWORD,
    SESSION,
    VIEWER,
    WRONG_LOG_IN,
    WRONG_TOKEN,
    is_signed_in,
    log_in,
    refresh,
)


async def test_change_password(anonymous: Member, alice: Member, bob: Member, db: Database) -> None:
    """A new password ends every other session, answers with a working pair, and is the only one that logs in."""
    phone = await log_in(anonymous, "alice")
    payload = await alice.do("changePassword", SESSION, currentPassword=PASSWORD, newPassword=NEW_PASSWORD)
    assert payload["userErrors"] == []
    assert [session["isCurrent"] for session in payload["viewer"]["sessions"]] == [True]
    renewed = Member(alice.client, payload["accessToken"], alice.id)
    assert await is_signed_in(renewed)
    assert (await refresh(anonymous, payload["refreshToken"]))["userErrors"] == []
    assert not await is_signed_in(phone)
    assert refusals(await refresh(anonymous, phone.refresh_token)) == WRONG_TOKEN
    assert await is_signed_in(bob)
    assert refusals(await anonymous.do("logIn", VIEWER, identifier="alice", password=PASSWORD)) == WRONG_LOG_IN
    assert await is_signed_in(await log_in(anonymous, "alice", NEW_PASSWORD))
    assert NEW_PASSWORD not in str(await contents(db))
    assert (await db.one("HGET", keys.credentials(number(alice)), CredentialsField.PASSWORD)).startswith("$argon2id$")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"currentPassword": "wrong password"}, ("currentPassword", "WRONG_CREDENTIALS")),
        ({"currentPassword": ""}, ("currentPassword", "WRONG_CREDENTIALS")),
        ({"currentPassword": PASSWORD * 100}, ("currentPassword", "WRONG_CREDENTIALS")),
        ({"newPassword": ""}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "123456789"}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "aaaaaaaaaaaa"}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "PASSWORD123"}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "ALICE_explores"}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "alice the Explorer"}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "Alice@example.org"}, ("newPassword", "WEAK_PASSWORD")),
        ({"newPassword": "01" * 600}, ("newPassword", "TOO_LONG")),
    ],
)
async def test_change_password_refuses(
    anonymous: Member, alice: Member, db: Database, fields: dict[str, str], expected: tuple[str, str]
) -> None:
    """A wrong current password or a weak new one changes nothing and ends no session."""
    phone = await log_in(anonymous, "alice")
    await alice.do("updateProfile", login="alice_explores", name="Alice the Explorer")
    before = await contents(db)
    right = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    payload = await alice.do("changePassword", SESSION, **{**right, **fields})
    assert refusals(payload) == [expected]
    assert await contents(db) == before
    assert await is_signed_in(phone)


class TestSlowHashes:
    """Password hashing slow enough for other requests to run in between."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, password_memory_kib=4096)

    async def test_log_ins_while_the_password_changes(self, anonymous: Member, alice: Member) -> None:
        """A log-in with the old password during its change leaves no session once the change is answered."""

        async def keep_logging_in(password: str) -> list[str]:
            tokens = []
            while not changing.done():
                payload = await anonymous.do("logIn", SIGN_UP, identifier="alice", password=password)
                tokens += [payload["accessToken"]] if payload["accessToken"] else []
            return tokens

        for old, new in ((PASSWORD, NEW_PASSWORD), (NEW_PASSWORD, PASSWORD)):
            changing = asyncio.create_task(alice.do("changePassword", SIGN_UP, currentPassword=old, newPassword=new))
            entered = await asyncio.gather(*(keep_logging_in(old) for _ in range(8)))
            alice.token = (await changing)["accessToken"]
            assert await is_signed_in(alice)
            for token in itertools.chain(*entered):
                assert not await is_signed_in(Member(alice.client, token, alice.id))

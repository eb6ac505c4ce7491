"""Refresh tokens: each is used once, except when a reply is lost."""

import asyncio
import time
from datetime import datetime

import pytest

from store.client.database import Database
from store.settings import Settings
from tests.support.people import PASSWORD, Member, contents
from tests.support.probes.members import number, refusals
from tests.support.probes.sessions import (
    NEW_PASSWORD,
    NOTHING_READ,
    SESSION,
    WRONG_TOKEN,
    assert_unauthenticated,
    edit_session,
    end_by_time,
    is_signed_in,
    log_in,
    raw,
    refresh,
    session_of,
    store_token,
)


async def test_refresh(anonymous: Member, alice: Member) -> None:
    """A refresh token is exchanged for a new pair that belongs to the same session."""
    payload = await refresh(anonymous, alice.refresh_token)
    assert payload["userErrors"] == []
    assert payload["refreshToken"] != alice.refresh_token
    assert payload["viewer"] == {
        "user": {"id": alice.id},
        "sessions": [{"id": session_of(alice), "isCurrent": True}],
    }
    renewed = Member(alice.client, payload["accessToken"], alice.id)
    assert await is_signed_in(renewed)
    assert session_of(renewed) == session_of(alice)
    assert await is_signed_in(alice)


async def test_refresh_again_and_again(anonymous: Member, alice: Member) -> None:
    """Each refresh gives a token that was never given before, and the session goes on."""
    tokens = [alice.refresh_token]
    for _ in range(5):
        tokens.append((await refresh(anonymous, tokens[-1]))["refreshToken"])
    assert len(set(tokens)) == 6
    assert await is_signed_in(alice)


async def test_refresh_after_a_lost_reply(anonymous: Member, alice: Member, db: Database, settings: Settings) -> None:
    """Within the grace period the previous token gives the same successor, which keeps working."""
    first = await refresh(anonymous, alice.refresh_token)
    await edit_session(db, alice, rotated=-(settings.refresh_grace_seconds - 5) * 1000)
    again = await refresh(anonymous, alice.refresh_token)
    assert again["refreshToken"] == first["refreshToken"]
    assert await is_signed_in(Member(alice.client, again["accessToken"], alice.id))
    assert (await refresh(anonymous, again["refreshToken"]))["userErrors"] == []


async def test_refreshes_at_once(anonymous: Member, alice: Member) -> None:
    """A client that sends one refresh several times at once gets one successor, and stays signed in."""
    payloads = await asyncio.gather(*(refresh(anonymous, alice.refresh_token) for _ in range(10)))
    (successor,) = {payload["refreshToken"] for payload in payloads}
    assert successor != alice.refresh_token
    assert await is_signed_in(alice)
    assert (await refresh(anonymous, successor))["userErrors"] == []


async def test_refresh_after_the_grace(anonymous: Member, alice: Member, db: Database, settings: Settings) -> None:
    """After the grace period the previous token counts as stolen: it ends the session for every holder."""
    first = await refresh(anonymous, alice.refresh_token)
    await edit_session(db, alice, rotated=-(settings.refresh_grace_seconds + 1) * 1000)
    assert refusals(await refresh(anonymous, alice.refresh_token)) == WRONG_TOKEN
    assert not await is_signed_in(alice)
    assert not await is_signed_in(Member(alice.client, first["accessToken"]))
    assert refusals(await refresh(anonymous, first["refreshToken"])) == WRONG_TOKEN


async def test_refresh_with_an_older_token(anonymous: Member, alice: Member) -> None:
    """A token older than the previous one ends its session, even within the grace period, and no other session."""
    phone = await log_in(anonymous, "alice")
    second = await refresh(anonymous, alice.refresh_token)
    third = await refresh(anonymous, second["refreshToken"])
    assert refusals(await refresh(anonymous, alice.refresh_token)) == WRONG_TOKEN
    assert not await is_signed_in(alice)
    for token in (second["refreshToken"], third["refreshToken"]):
        assert refusals(await refresh(anonymous, token)) == WRONG_TOKEN
    assert await is_signed_in(phone)
    assert (await refresh(anonymous, phone.refresh_token))["userErrors"] == []


@pytest.mark.parametrize(
    "token",
    [
        "",
        "garbage",
        "..",
        "a.b.c",
        "1.2",
        "1.2.3",
        "1.2.3.4",
        "-1.session.token",
        "\u0661.session.token",
        "1.\x00.token",
        "99999999999999999999.session.token",
        f"{'9' * 5000}.session.token",
        "1..token",
        ".session.token",
        "x" * 100_000,
        "{member}.AAAAAAAAAAAA.{random}",
        "{other}.{session}.{random}",
        "{member}.{session}.",
        "{member}.{session}",
        "{access}",
        "{member}.{session}.anything",
        "{member}.{session}.{phone}",
        "{member}.{session}.{bob}",
        "{other}.{session}.{bob}",
        "{member}.{session}.{random}A",
        " {member}.{session}.{random}",
        "0{member}.{session}.{random}",
    ],
    ids=lambda token: ascii(token)[:40],
)
async def test_refresh_refuses(anonymous: Member, alice: Member, bob: Member, db: Database, token: str) -> None:
    """Anything but a refresh token of a running session is refused, and writes and ends nothing."""
    member, session, random = alice.refresh_token.split(".")
    phone = (await log_in(anonymous, "alice")).refresh_token.split(".")[2]
    stand_ins = {"member": member, "session": session, "random": random, "access": str(alice.token)}
    stand_ins |= {"phone": phone, "bob": bob.refresh_token.split(".")[2]}
    for name, value in {**stand_ins, "other": str(number(bob))}.items():
        token = token.replace(f"{{{name}}}", value)
    before = await contents(db)
    assert refusals(await refresh(anonymous, token)) == WRONG_TOKEN
    assert await contents(db) == before
    assert await is_signed_in(alice)


@pytest.mark.parametrize("rotations", [0, 1, 2], ids=["current", "rotated", "rotated twice"])
async def test_an_altered_refresh_token_ends_nothing(
    anonymous: Member, alice: Member, db: Database, rotations: int
) -> None:
    """A token of the session with any one character changed or missing is refused; the session goes on."""
    token = current = alice.refresh_token
    for _ in range(rotations):
        current = (await refresh(anonymous, current))["refreshToken"]
    before = await contents(db)
    secret = token.rindex(".") + 1
    for i in (*range(secret, len(token), 7), len(token) - 1):
        for altered in (token[:i] + token[i + 1 :], token[:i] + chr(ord(token[i]) ^ 1) + token[i + 1 :], token[:i]):
            assert refusals(await refresh(anonymous, altered)) == WRONG_TOKEN
    assert await contents(db) == before
    assert await is_signed_in(alice)
    assert (await refresh(anonymous, current))["userErrors"] == []


async def test_a_refresh_token_from_before_a_new_password_ends_the_session(anonymous: Member, alice: Member) -> None:
    """A new password gives the session a new token; the previous one, issued for the session, ends it."""
    payload = await alice.do("changePassword", SESSION, currentPassword=PASSWORD, newPassword=NEW_PASSWORD)
    assert refusals(await refresh(anonymous, alice.refresh_token)) == WRONG_TOKEN
    assert not await is_signed_in(Member(alice.client, payload["accessToken"]))


async def test_a_refresh_token_made_by_an_older_version_works_on(
    anonymous: Member, alice: Member, db: Database, settings: Settings
) -> None:
    """A token without a signature is recognised by its digest: it is exchanged once, and later ends the session."""
    member, session, _ = alice.refresh_token.split(".")
    older = f"{member}.{session}.{'A' * 43}"
    await store_token(db, alice, older)
    successor = (await refresh(anonymous, older))["refreshToken"]
    assert (await refresh(anonymous, older))["refreshToken"] == successor
    await edit_session(db, alice, rotated=-(settings.refresh_grace_seconds + 1) * 1000)
    assert refusals(await refresh(anonymous, older)) == WRONG_TOKEN
    assert not await is_signed_in(alice)


async def test_a_refresh_token_is_no_access_token(alice: Member) -> None:
    """A refresh token is not accepted as an access token."""
    assert_unauthenticated(*await raw(Member(alice.client, alice.refresh_token), NOTHING_READ))


async def test_refresh_of_an_ended_session(anonymous: Member, alice: Member) -> None:
    """The refresh token of a logged-out session is refused."""
    await alice.do("logOut")
    assert refusals(await refresh(anonymous, alice.refresh_token)) == WRONG_TOKEN


async def test_a_session_never_refreshed_expires(
    anonymous: Member, alice: Member, db: Database, settings: Settings
) -> None:
    """A session expires: neither token works, and it is no longer listed."""
    phone = await log_in(anonymous, "alice")
    await end_by_time(db, alice, settings)
    assert not await is_signed_in(alice)
    assert refusals(await refresh(anonymous, alice.refresh_token)) == WRONG_TOKEN
    listed = (await phone.ask("{ viewer { sessions { id } } }"))["sessions"]
    assert listed == [{"id": session_of(phone)}]


async def test_a_refresh_prolongs_the_session(
    anonymous: Member, alice: Member, db: Database, settings: Settings
) -> None:
    """Each refresh gives the session its full life again."""
    whole = settings.session_days * 86_400
    await edit_session(db, alice, expires=-(whole - 60) * 1000)
    (before,) = (await alice.ask("{ viewer { sessions { expiresAt } } }"))["sessions"]
    assert datetime.fromisoformat(before["expiresAt"]).timestamp() <= time.time() + 60
    await refresh(anonymous, alice.refresh_token)
    (after,) = (await alice.ask("{ viewer { sessions { expiresAt } } }"))["sessions"]
    left = datetime.fromisoformat(after["expiresAt"]).timestamp() - time.time()
    assert whole - 60 < left <= whole + 1


async def test_refresh_tokens_are_stored_hashed(anonymous: Member, alice: Member, db: Database) -> None:
    """Neither the refresh token in use nor the previous one can be read from the store."""
    payload = await refresh(anonymous, alice.refresh_token)
    held = str(await contents(db))
    for token in (alice.refresh_token, payload["refreshToken"]):
        assert token.rpartition(".")[2] not in held

"""Secrets: whatever fails, no password, token or hash is in the log, in an answer or in what is printed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import schema
from store import keys
from store.connection import Database
from store.ids import PARTITIONS
from store.settings import Settings
from tests.conftest import INPUTS, SECRET, Member
from tests.processes import perch, redis, until, visiting

STORE_PASSWORD = "the store's own/password?"
CURRENT, NEXT, NEWCOMERS = (f"{whose} very own pass phrase" for whose in ("alice's", "the next", "dave's"))
POST, USER, COMMENT, PROMOTION = (f"{kind}_00000000000001" for kind in ("status", "user", "comment", "promotion"))
OF_MEMBERS = ["follow", "unfollow", "approveFollowRequests", "rejectFollowRequests", "removeFollowers"]
OF_MEMBERS += ["block", "unblock", "mute", "unmute"]
OF_POSTS = ["unrepost", "hidePost", "unhidePost", "like", "unlike", "favourite", "unfavourite", "deletePost"]
FIELDS: dict[str, dict[str, Any]] = {
    "signUp": {"login": "dave", "name": "Dave", "email": "dave@example.org", "password": NEWCOMERS},
    "logIn": {"identifier": "alice", "password": CURRENT},
    "refreshSession": {},  # the token is alice's
    "changePassword": {"currentPassword": CURRENT, "newPassword": NEXT},
    "updateProfile": {"name": "Alice the second", "login": "alice2", "isPrivate": True},
    "changeEmail": {"email": "other@example.org", "currentPassword": CURRENT},
    **{name: {"userIds": [USER]} for name in OF_MEMBERS},
    "post": {"text": "hello"},
    "repost": {"postId": POST},
    "comment": {"postId": POST, "text": "well"},
    "deleteComment": {"commentId": COMMENT},
    **{name: {"postId": POST} for name in OF_POSTS},
    "markNotificationsRead": {},
    "createPromotion": {"sponsorId": USER, "subject": {"userId": USER}, "endsAt": "2099-01-01T00:00:00Z"},
    "endPromotion": {"promotionId": PROMOTION},
    "logOut": {"everywhere": True},
    "deleteAccount": {"password": CURRENT},
}


def mutations() -> set[str]:
    """Return the names of all mutations of the schema."""
    mutation = schema.build(Settings())._schema.mutation_type  # noqa: SLF001  what strawberry has built
    assert mutation
    return set(mutation.fields)


def test_every_mutation_is_tried() -> None:
    """Every mutation of the schema is one of those that fail below."""
    assert set(FIELDS) == mutations()


def shown(secrets: Iterable[str], text: str) -> list[str]:
    """Return the secrets that a text has, as they are or as JSON or an address writes them."""
    return [one for one in secrets if any(form in text for form in (one, json.dumps(one)[1:-1], quote(one, "")))]


async def answers(alice: Member) -> dict[str, dict[str, Any]]:
    """Return what each mutation answers, by its name."""
    found = {}
    for name, fields in FIELDS.items():
        sent = {"refreshToken": alice.refresh_token} if name == "refreshSession" else fields
        query = f"mutation M($input: {INPUTS[name]}!) {{ {name}(input: $input) {{ userErrors {{ code }} }} }}"
        found[name] = await alice.send(query, input=sent)
    return found


async def log_in(anonymous: Member) -> Member:
    """Return alice, with a session of her own."""
    session = await anonymous.do("logIn", "accessToken refreshToken", identifier="alice", password=CURRENT)
    return replace(anonymous, token=session["accessToken"], refresh_token=session["refreshToken"])


async def damage(db: Database) -> None:
    """Give the keys of the store a type that no command expects."""
    found = [*await db.one("KEYS", "*"), *map(keys.minted, range(PARTITIONS)), *map(keys.jobs, range(PARTITIONS))]
    await db.ask(("DEL", *found), *(("PFADD", key, "x") for key in found))


@contextlib.asynccontextmanager
async def locked(folder: Path) -> AsyncIterator[str]:
    """A server of one's own that asks for a password; yields its address."""
    async with redis(folder) as away:
        await away.start()
        db = Database(away.settings["redis_url"], Settings())
        await until(db.ready)
        await db.one("CONFIG", "SET", "requirepass", STORE_PASSWORD)
        await db.close()
        yield f"{away.settings['redis_url']}?password={quote(STORE_PASSWORD, '')}"


async def test_no_secret_is_shown(tmp_path: Path) -> None:
    """Every mutation fails on a full store, then on a damaged one: no output has a secret that was used."""
    async with locked(tmp_path / "redis") as url, perch(tmp_path, "serve", redis_url=url, secret_key=SECRET) as running:
        db = Database(url, Settings())
        async with visiting(await running.url()) as anonymous:
            fields = {"login": "alice", "name": "Alice", "email": "alice@example.org", "password": CURRENT}
            await anonymous.do("signUp", **fields)
            alice = await log_in(anonymous)
            await db.one("CONFIG", "SET", "maxmemory-policy", "noeviction", "maxmemory", "1")
            full = await answers(alice)
            await db.one("CONFIG", "SET", "maxmemory", "0")
            again = await log_in(anonymous)
            hashes = [await db.one("HGET", key, "password") for key in await db.one("KEYS", "credentials:*")]
            await damage(db)
            damaged = await answers(again)
        await db.close()
        await running.stop()
        out, log = await running.out.all(), await running.err.all()
    codes = {
        name: [error["extensions"]["code"] for error in answer.get("errors", [])] for name, answer in damaged.items()
    }
    assert codes == {name: ["INTERNAL"] for name in FIELDS}
    used = [CURRENT, NEXT, NEWCOMERS, STORE_PASSWORD, SECRET, *hashes]
    used += [token for one in (alice, again) for token in (one.token or "", one.refresh_token)]
    assert [shown(used, text) for text in (out, log, json.dumps([full, damaged]))] == [[], [], []]
    assert {json.loads(line)["process"] for line in log.splitlines()} == {running.process.pid}

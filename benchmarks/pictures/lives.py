"""Clients that upload pictures, attach them and delete them, and that ask again until they are answered."""

from __future__ import annotations

import asyncio
import io
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientConnectorError, ClientError, ClientSession
from PIL import Image

PAUSE = 0.2  # seconds before the same request is made again
PATIENCE = 600  # seconds after which a request that is refused again and again counts as refused for good
PASSWORD = "correct horse battery"  # noqa: S105  of members that are removed
POST, MESSAGE, AVATAR, NOTHING = "post", "message", "avatar", "nothing"
SHARES = {POST: 50, MESSAGE: 30, AVATAR: 15, NOTHING: 5}  # percent of pictures
DELETED = 0.3  # share of posts and messages that are deleted again

_SIGN_UP = """mutation($input: SignUpInput!) { signUp(input: $input) {
  accessToken viewer { user { id } } userErrors { code message } } }"""
_START = """mutation($input: StartConversationInput!) { startConversation(input: $input) {
  conversation { id } userErrors { code message } } }"""
_CREATE = """mutation($input: CreateUploadInput!) { createUpload(input: $input) {
  upload { id url } userErrors { code message } } }"""
_UPLOAD = "query($id: ID!) { upload(id: $id) { state error } }"
_POST = "mutation($input: PostInput!) { post(input: $input) { status { id } userErrors { code message } } }"
_SEND = """mutation($input: SendMessageInput!) { sendMessage(input: $input) {
  message { id } userErrors { code message } } }"""
_PROFILE = """mutation($input: UpdateProfileInput!) { updateProfile(input: $input) {
  viewer { user { avatar { id } } } userErrors { code message } } }"""
_DELETE = {
    POST: "mutation($input: PostIdInput!) { deletePost(input: $input) { userErrors { code message } } }",
    MESSAGE: "mutation($input: DeleteMessageInput!) { deleteMessage(input: $input) { userErrors { code message } } }",
}
_SHOWN = """query($ids: [ID!]!) { nodes(ids: $ids) {
  ... on Status { images { url small: url(size: SMALL) } }
  ... on Message { images { url small: url(size: SMALL) } }
  ... on User { avatar { url small: url(size: SMALL) } } } }"""
_AT_ONCE = 50  # nodes asked for at a time


class Refused(Exception):
    """A request was refused for good."""


@dataclass
class Author:
    """A member who uploads pictures, and one conversation of theirs."""

    token: str
    id: str
    conversation: str = ""


@dataclass
class Clients:
    """What the clients of a site have been promised."""

    session: ClientSession
    url: str
    dice: random.Random
    authors: list[Author] = field(default_factory=list)
    shown: dict[str, Author] = field(default_factory=dict)  # by the id of a post, message or member with a picture
    pictures: int = 0  # that an acknowledged mutation has attached
    asked_again: Counter[str] = field(default_factory=Counter)  # by what was answered
    answers: int = 0  # of any kind
    ready: int = 0  # pictures that a worker has made
    refused: list[str] = field(default_factory=list)  # what no retry has got

    async def sign_up(self, count: int) -> None:
        """Sign members up, and begin a conversation of each with the one before."""
        for number in range(count):
            login = f"member{number}"
            given = {"login": login, "name": login, "email": f"{login}@example.org", "password": PASSWORD}
            made = await self.do("", _SIGN_UP, given)
            self.authors.append(Author(made["accessToken"], made["viewer"]["user"]["id"]))
        for number, author in enumerate(self.authors):
            start: dict[str, Any] = {
                "userIds": [self.authors[number - 1].id],
                "text": "hello",
                "idempotencyKey": f"start-{number}",
            }
            author.conversation = (await self.do(author.token, _START, start))["conversation"]["id"]

    async def live(self, author: Author) -> None:
        """Upload a picture, attach it, and perhaps delete what has it."""
        try:
            what = self.dice.choices([*SHARES], weights=[*SHARES.values()])[0]
            upload = await self._upload(
                author, "AVATAR" if what == AVATAR else "MESSAGE" if what == MESSAGE else "POST"
            )
            if what != NOTHING:
                await self._attach(author, what, upload)
        except Refused as error:
            self.refused.append(str(error))

    async def _upload(self, author: Author, purpose: str) -> str:
        data = drawn(self.dice)
        given = {"purpose": purpose, "contentType": "image/jpeg", "size": len(data), "idempotencyKey": self._key()}
        upload = (await self.do(author.token, _CREATE, given))["upload"]
        if upload["url"]:
            await self._put(upload["url"], data)
        since = time.monotonic()
        while (now := (await self.ask(author.token, _UPLOAD, id=upload["id"]))["upload"])["state"] != "READY":
            if now["state"] == "FAILED" or time.monotonic() - since > PATIENCE:
                raise Refused(f"the upload {upload['id']} is {now}")
            await asyncio.sleep(PAUSE)
        self.ready += 1
        identity: str = upload["id"]
        return identity

    async def _put(self, link: str, data: bytes) -> None:
        since = time.monotonic()
        while True:
            try:
                async with self.session.put(
                    self.url + link, data=data, headers={"Content-Type": "image/jpeg"}
                ) as response:
                    status: object = response.status
            except (ClientError, TimeoutError, OSError) as error:
                status = type(error).__name__
            self.answers += 1
            if status == 204:
                return
            self.asked_again[f"PUT: {status}"] += 1
            if time.monotonic() - since > PATIENCE:
                raise Refused(f"a PUT is answered with {status}")
            await asyncio.sleep(PAUSE)

    async def _attach(self, author: Author, what: str, upload: str) -> None:
        image = {"uploadId": upload, "alt": "noise"}
        if what == AVATAR:
            await self.do(author.token, _PROFILE, {"avatar": image})
            self.shown[author.id] = author
            self.pictures += 1
            return
        place = {"conversationId": author.conversation} if what == MESSAGE else {}
        given = {"text": "", "images": [image], "idempotencyKey": self._key(), **place}
        made = await self.do(author.token, _POST if what == POST else _SEND, given)
        identity = (made.get("status") or made.get("message"))["id"]
        self.pictures += 1
        if self.dice.random() < DELETED:
            await self.do(author.token, _DELETE[what], {"postId" if what == POST else "messageId": identity})
        else:
            self.shown[identity] = author

    async def do(self, token: str, mutation: str, given: dict[str, Any]) -> Any:
        """Return the payload of a mutation, which is sent until it is not refused. Raises Refused."""
        since, was_lost = time.monotonic(), False
        while True:
            data, again = await self._answer(token, mutation, {"input": given})
            (payload,), was_lost = data.values(), was_lost or again
            if not payload["userErrors"]:
                return payload
            code = payload["userErrors"][0]["code"]
            if was_lost and _is_done(mutation, code):
                return payload
            self.asked_again[code] += 1
            if code == "CONFLICT" and "idempotencyKey" in given:
                given = {**given, "idempotencyKey": self._key()}
            if time.monotonic() - since > PATIENCE:
                raise Refused(f"{given}: {payload['userErrors']}")
            await asyncio.sleep(PAUSE)

    async def ask(self, token: str, query: str, **variables: Any) -> Any:
        """Return the data of an answer, asked for until there is one."""
        return (await self._answer(token, query, variables))[0]

    async def _answer(self, token: str, query: str, variables: dict[str, Any]) -> tuple[Any, bool]:
        """Return the data of an answer, and whether an answer was lost before."""
        headers, body = {"Authorization": f"Bearer {token}"} if token else {}, {"query": query, "variables": variables}
        since, was_lost = time.monotonic(), False
        while True:
            try:
                async with self.session.post(f"{self.url}/graphql", json=body, headers=headers) as response:
                    answer = await response.json()
                    self.answers += 1
                if "errors" not in answer:
                    return answer["data"], was_lost
                reason, was_lost = str(answer["errors"][0]["extensions"]["code"]), True
            except (ClientError, TimeoutError, OSError) as error:
                reason = type(error).__name__
                was_lost = was_lost or not isinstance(error, ClientConnectorError)  # after which nothing was sent
            self.asked_again[reason] += 1
            if time.monotonic() - since > PATIENCE:
                raise Refused(f"{query}: {reason}")
            await asyncio.sleep(PAUSE)

    async def missing(self) -> list[str]:
        """Return what was acknowledged and has no picture that a browser could show."""
        lost: list[str] = []
        for author in self.authors:
            ids = [identity for identity, owner in self.shown.items() if owner is author]
            for at in range(0, len(ids), _AT_ONCE):
                some = ids[at : at + _AT_ONCE]
                nodes = (await self.ask(author.token, _SHOWN, ids=some))["nodes"]
                lost += [one for one, node in zip(some, nodes, strict=True) if not await self._is_shown(node)]
        return lost

    async def _is_shown(self, node: Any) -> bool:
        images = ((node or {}).get("images") or [(node or {}).get("avatar")]) if node else []
        links = [image[size] for image in images if image for size in ("url", "small")]
        for link in links:
            async with self.session.get(self.url + link) as response:
                if response.status != 200 or (await response.read())[:4] != b"RIFF":
                    return False
        return bool(links)

    def _key(self) -> str:
        return f"{self.dice.getrandbits(64):x}"


def _is_done(mutation: str, code: str) -> bool:
    """Return whether a refusal says that a mutation without an idempotency key was done, and its answer lost."""
    return (mutation in _DELETE.values() and code == "NOT_FOUND") or (mutation == _PROFILE and code == "NOT_ALLOWED")


def drawn(dice: random.Random) -> bytes:
    """Return a small JPEG that no other resembles."""
    file = io.BytesIO()
    size = dice.randrange(60, 400), dice.randrange(60, 400)
    Image.frombytes("RGB", size, dice.randbytes(3 * size[0] * size[1])).save(file, "JPEG", quality=60)
    return file.getvalue()

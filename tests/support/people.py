"""Members who use the GraphQL API, and functions that read or change what the store holds."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp.test_utils import TestClient

from store.client.database import Database
from store.settings import Settings
from tests.support.stored import find

SECRET = "a secret that only tests know, long enough"


PASSWORD = "correct horse battery"
_NS_PER_MS = 1_000_000


@dataclass
class Member:
    """A client of the API: signed in, or anonymous without a token."""

    client: TestClient[Any, Any]
    token: str | None = None
    id: str = ""
    login: str = ""
    refresh_token: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    device_token: str = ""

    async def send(self, query: str, **variables: Any) -> dict[str, Any]:
        """Return the whole response, errors included."""
        headers = {**self.headers, **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        body = {"query": query, "variables": variables}
        async with self.client.post("/graphql", json=body, headers=headers) as response:
            answer: dict[str, Any] = await response.json()
            return answer

    async def ask(self, query: str, **variables: Any) -> Any:
        """Return the data of a response without errors; of a single root field, its value."""
        answer = await self.send(query, **variables)
        assert "errors" not in answer, answer["errors"]
        data = answer["data"]
        return next(iter(data.values())) if len(data) == 1 else data

    async def fail(self, query: str, **variables: Any) -> str:
        """Return the code of the first error of a response that must have one."""
        answer = await self.send(query, **variables)
        assert answer.get("errors"), answer
        code: str = answer["errors"][0]["extensions"]["code"]
        return code

    async def do(self, mutation: str, selection: str = "", **fields: Any) -> Any:
        """Run a mutation and return its payload, user errors included. The next mutation has a later millisecond."""
        payload = await self.ask(mutation_text(mutation, f"{selection} {USER_ERRORS}"), input=fields)
        await next_millisecond()
        return payload

    async def refused(self, mutation: str, **fields: Any) -> tuple[str, list[str] | None]:
        """Return code and field of the one user error that a mutation must have."""
        (error,) = (await self.do(mutation, **fields))["userErrors"]
        assert error["message"]
        return error["code"], error["field"]

    # ---- the most frequent actions of tests

    async def post(self, text: str, **fields: Any) -> str:
        payload = await self.do("post", "status { id }", text=text, **fields)
        assert not payload["userErrors"], payload
        identity: str = payload["status"]["id"]
        return identity

    async def repost(self, post: str, text: str = "", **fields: Any) -> str:
        payload = await self.do("repost", "repost { id }", postId=post, text=text, **fields)
        assert not payload["userErrors"], payload
        identity: str = payload["repost"]["id"]
        return identity

    async def follow(self, *members: "Member") -> None:
        payload = await self.do("follow", userIds=[member.id for member in members])
        assert not payload["userErrors"], payload

    async def unfollow(self, *members: "Member") -> None:
        payload = await self.do("unfollow", userIds=[member.id for member in members])
        assert not payload["userErrors"], payload

    async def home(self, arguments: str = "first: 100") -> list[str]:
        """Return the ids of the home timeline."""
        page = await self.ask(f"{{ homeTimeline({arguments}) {{ nodes {{ ... on Node {{ id }} }} }} }}")
        return [node["id"] for node in page["nodes"]]


async def next_millisecond() -> None:
    """Wait for the end of the present millisecond. Ids of one millisecond ascend by partition, not by creation."""
    present = time.time_ns() // _NS_PER_MS
    while time.time_ns() // _NS_PER_MS == present:  # noqa: ASYNC110  no event marks it
        await asyncio.sleep(0)


USER_ERRORS = "userErrors { code field message }"


INPUTS = {
    "signUp": "SignUpInput",
    "logIn": "LogInInput",
    "refreshSession": "RefreshSessionInput",
    "logOut": "LogOutInput",
    "endSession": "EndSessionInput",
    "enableTwoFactor": "EnableTwoFactorInput",
    "confirmTwoFactor": "ConfirmTwoFactorInput",
    "disableTwoFactor": "DisableTwoFactorInput",
    "changePassword": "ChangePasswordInput",
    "updateProfile": "UpdateProfileInput",
    "changeEmail": "ChangeEmailInput",
    "exportData": "ExportDataInput",
    "resendVerification": "",  # takes nothing
    "verifyEmail": "TokenInput",
    "requestPasswordReset": "RequestPasswordResetInput",
    "resetPassword": "ResetPasswordInput",
    "deleteAccount": "DeleteAccountInput",
    "follow": "UsersInput",
    "unfollow": "UsersInput",
    "approveFollowRequests": "UsersInput",
    "rejectFollowRequests": "UsersInput",
    "removeFollowers": "UsersInput",
    "block": "UsersInput",
    "unblock": "UsersInput",
    "mute": "UsersInput",
    "unmute": "UsersInput",
    "post": "PostInput",
    "updateImage": "UpdateImageInput",
    "repost": "RepostInput",
    "unrepost": "PostIdInput",
    "deletePost": "PostIdInput",
    "hidePost": "PostIdInput",
    "unhidePost": "PostIdInput",
    "pinPost": "PostIdInput",
    "unpinPost": "PostIdInput",
    "like": "PostIdInput",
    "unlike": "PostIdInput",
    "favourite": "PostIdInput",
    "unfavourite": "PostIdInput",
    "comment": "CommentInput",
    "deleteComment": "DeleteCommentInput",
    "markNotificationsRead": "MarkNotificationsReadInput",
    "markHomeRead": "MarkHomeReadInput",
    "createGroup": "CreateGroupInput",
    "updateGroup": "UpdateGroupInput",
    "deleteGroup": "GroupIdInput",
    "joinGroup": "GroupIdInput",
    "leaveGroup": "GroupIdInput",
    "inviteToGroup": "GroupUsersInput",
    "approveGroupMembers": "GroupUsersInput",
    "rejectGroupMembers": "GroupUsersInput",
    "removeGroupMembers": "GroupUsersInput",
    "banGroupMembers": "GroupUsersInput",
    "unbanGroupMembers": "GroupUsersInput",
    "setGroupRole": "SetGroupRoleInput",
    "startConversation": "StartConversationInput",
    "sendMessage": "SendMessageInput",
    "deleteMessage": "DeleteMessageInput",
    "markConversationRead": "MarkConversationReadInput",
    "leaveConversation": "ConversationIdInput",
    "createPromotion": "CreatePromotionInput",
    "endPromotion": "EndPromotionInput",
    "createUpload": "CreateUploadInput",
    "report": "ReportInput",
    "resolveReport": "ResolveReportInput",
    "suspendUser": "SuspendUserInput",
    "setRole": "SetRoleInput",
    "hideGroup": "HideGroupInput",
    "unhideGroup": "HideGroupInput",
}


def mutation_text(name: str, selection: str) -> str:
    """Return the text of a mutation with the variable `input`, if it takes any."""
    if not INPUTS[name]:
        return f"mutation {{ {name} {{ {selection} }} }}"
    return f"mutation($input: {INPUTS[name]}!) {{ {name}(input: $input) {{ {selection} }} }}"


SIGN_UP = "accessToken refreshToken deviceToken viewer { user { id login } }"


async def sign_up(anonymous: Member, login: str, email: str = "") -> Member:
    """Return a new member."""
    address = email or f"{login}@example.org"
    payload = await anonymous.do("signUp", SIGN_UP, login=login, name=login.title(), email=address, password=PASSWORD)
    return _signed_in(anonymous, payload)


async def log_in(anonymous: Member, login: str) -> Member:
    """Return a member with a new session."""
    return _signed_in(anonymous, await anonymous.do("logIn", SIGN_UP, identifier=login, password=PASSWORD))


def _signed_in(anonymous: Member, payload: dict[str, Any]) -> Member:
    assert not payload["userErrors"], payload
    user = payload["viewer"]["user"]
    tokens = {"refresh_token": payload["refreshToken"], "device_token": payload["deviceToken"]}
    return Member(anonymous.client, payload["accessToken"], user["id"], user["login"], **tokens)


async def crowd(anonymous: Member, count: int) -> list[Member]:
    """Return new members, for tests that only need many."""
    return list(await asyncio.gather(*(sign_up(anonymous, f"one{i}") for i in range(count))))


def shrunk(settings: Settings, **limits: Any) -> Settings:
    """Return settings with some limits changed."""
    return replace(settings, **limits)


READS: dict[str, Callable[[str], tuple[Any, ...]]] = {
    "string": lambda key: ("GET", key),
    "hash": lambda key: ("HGETALL", key),
    "zset": lambda key: ("ZRANGE", key, 0, -1, "WITHSCORES"),
    "set": lambda key: ("SMEMBERS", key),
    "list": lambda key: ("LRANGE", key, 0, -1),
    "stream": lambda key: ("XRANGE", key, "-", "+"),
}


async def contents(db: Database) -> dict[str, Any]:
    """Return everything the store holds, by key."""
    names = sorted(await find(db))
    kinds = await db.ask(*(("TYPE", name) for name in names))
    found = await db.ask(*(READS[kind](name) for name, kind in zip(names, kinds, strict=True)))
    return {
        name: dict(zip(value[::2], value[1::2], strict=True)) if kind == "hash" else value
        for name, kind, value in zip(names, kinds, found, strict=True)
    }


async def make_private(member: Member, *, private: bool = True) -> None:
    """Make a member's account private or public."""
    payload = await member.do("updateProfile", "viewer { user { isPrivate } }", isPrivate=private)
    assert payload == {"viewer": {"user": {"isPrivate": private}}, "userErrors": []}

"""A small varied community, made through the API alone, so that every version of Perch can be asked to make it.

An act that a version does not know is left out, with every later act that needs what it would have made.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from graphql import GraphQLInputObjectType, GraphQLSchema, get_named_type

from tests.support.people import PASSWORD, USER_ERRORS, Member
from tests.support.uploads import announce, drawn, put

MEMBERS = ("alice", "bob", "carol", "dora", "erin", "frank", "gina", "henry")
ADMIN = "dora"
VIEWERS = ("alice", "bob", "carol", ADMIN)
SETTINGS: dict[str, Any] = {  # homes are those of every version: later rules of homes are off
    "big_author": 3,
    "repost_lift_hours": 1000,
    "home_shows_all_replies": True,
}
MADE = {  # what a mutation makes: the field of its payload
    "post": "status",
    "repost": "repost",
    "comment": "comment",
    "startConversation": "conversation",
    "sendMessage": "message",
    "createGroup": "group",
    "report": "report",
    "createPromotion": "promotion",
}
LONG = "Long ago, " + "somebody said that tea is best in the morning. " * 6
CUP = {"advertisement": {"title": "Cups", "text": "Every size", "url": "https://example.org/cups"}}
Act = tuple[str, str, dict[str, Any], str]  # who, mutation, its input, the name of what it makes

ACTS: tuple[Act, ...] = (
    ("erin", "updateProfile", {"isPrivate": True}, ""),
    ("alice", "updateProfile", {"name": "Alice A.", "bio": "Likes tea\nand cats"}, ""),
    ("bob", "updateProfile", {"messagesFrom": "FOLLOWED"}, ""),
    ("frank", "updateProfile", {"login": "franklin"}, ""),
    ("alice", "follow", {"userIds": ["$bob", "$carol", "$erin"]}, ""),
    ("bob", "follow", {"userIds": ["$alice", "$carol", "$erin"]}, ""),
    ("carol", "follow", {"userIds": ["$alice", "$bob"]}, ""),
    ("dora", "follow", {"userIds": ["$carol", "$gina"]}, ""),
    ("gina", "follow", {"userIds": ["$bob", "$alice"]}, ""),
    ("erin", "approveFollowRequests", {"userIds": ["$alice"]}, ""),
    ("alice", "post", {"text": "Tea with @bob #tea #cats"}, "tea"),
    ("bob", "post", {"text": "Good morning", "location": {"latitude": 52.52, "longitude": 13.405}}, "morning"),
    ("bob", "post", {"text": "#Tea once more, @alice and @carol", "idempotencyKey": "once"}, "more"),
    ("carol", "post", {"text": LONG}, "long"),
    ("carol", "post", {"text": "你好 #你好 🍵"}, "hello"),
    ("carol", "post", {"text": "Soon gone #tea"}, "gone"),
    ("erin", "post", {"text": "Only for friends #secret"}, "private"),
    ("frank", "post", {"text": "Buy now #spam"}, "spam"),
    ("gina", "post", {"text": "I leave soon"}, "leaving"),
    ("henry", "post", {"text": "Rude words"}, "rude"),
    ("alice", "post", {"text": "Morning, @carol", "inReplyToId": "$morning"}, "answer"),
    ("bob", "post", {"text": "And to you", "inReplyToId": "$answer"}, "back"),
    ("carol", "repost", {"postId": "$morning"}, "carol's"),
    ("alice", "repost", {"postId": "$hello"}, "alice's"),
    ("dora", "repost", {"postId": "$morning"}, "dora's"),
    ("bob", "repost", {"postId": "$tea", "text": "Come #tea"}, "quote"),
    ("alice", "repost", {"postId": "$gone", "text": "Keep this"}, "orphan"),
    ("alice", "repost", {"postId": "$quote"}, "of quote"),
    ("carol", "deletePost", {"postId": "$gone"}, ""),
    ("alice", "comment", {"postId": "$morning", "text": "To you too", "idempotencyKey": "once"}, "comment"),
    ("bob", "comment", {"postId": "$morning", "text": "Thanks @alice", "replyToId": "$comment"}, "thanks"),
    ("gina", "comment", {"postId": "$morning", "text": "Bye"}, "bye"),
    ("carol", "like", {"postId": "$morning"}, ""),
    ("gina", "like", {"postId": "$morning"}, ""),
    ("bob", "like", {"postId": "$tea"}, ""),
    ("dora", "like", {"postId": "$long"}, ""),
    ("dora", "unlike", {"postId": "$long"}, ""),
    ("alice", "like", {"postId": "$private"}, ""),
    ("alice", "favourite", {"postId": "$morning"}, ""),
    ("bob", "favourite", {"postId": "$tea"}, ""),
    ("alice", "pinPost", {"postId": "$tea"}, ""),
    ("bob", "markNotificationsRead", {}, ""),
    ("alice", "like", {"postId": "$more"}, ""),
    ("alice", "block", {"userIds": ["$frank"]}, ""),
    ("carol", "mute", {"userIds": ["$henry"]}, ""),
    ("carol", "unfollow", {"userIds": ["$alice"]}, ""),
    ("alice", "block", {"userIds": ["$erin"]}, ""),
    ("alice", "unblock", {"userIds": ["$erin"]}, ""),
    ("dora", "unrepost", {"postId": "$morning"}, ""),
    ("bob", "report", {"subjectId": "$rude", "reason": "ABUSE"}, "of rude"),
    ("dora", "resolveReport", {"reportId": "$of rude", "action": "DELETE_CONTENT"}, ""),
    ("carol", "exportData", {"password": PASSWORD}, ""),
    ("dora", "suspendUser", {"userId": "$henry", "suspended": True, "note": "Rude"}, ""),
    ("dora", "createPromotion", {"sponsorId": "$bob", "subject": CUP, "endsAt": "2099-01-01T00:00:00Z"}, "cups"),
    ("bob", "startConversation", {"userIds": ["$alice"], "text": "Hello alice", "idempotencyKey": "once"}, "pair"),
    ("alice", "sendMessage", {"conversationId": "$pair", "text": "Hello bob", "idempotencyKey": "once"}, "hi"),
    ("alice", "sendMessage", {"conversationId": "$pair", "text": "Wrong chat"}, "wrong"),
    ("alice", "deleteMessage", {"messageId": "$wrong"}, ""),
    ("alice", "startConversation", {"userIds": ["$bob", "$carol", "$dora"], "text": "All of us"}, "all"),
    ("bob", "markConversationRead", {"conversationId": "$all"}, ""),
    ("bob", "sendMessage", {"conversationId": "$all", "text": "Yes"}, "yes"),
    ("carol", "leaveConversation", {"conversationId": "$all"}, ""),
    ("bob", "createGroup", {"name": "Tea drinkers", "kind": "PUBLIC", "idempotencyKey": "once"}, "public"),
    ("alice", "createGroup", {"name": "Friends", "description": "Ours", "kind": "PRIVATE"}, "friends"),
    ("dora", "createGroup", {"name": "News", "kind": "ANNOUNCEMENT"}, "news"),
    ("alice", "joinGroup", {"groupId": "$public"}, ""),
    ("carol", "joinGroup", {"groupId": "$public"}, ""),
    ("carol", "joinGroup", {"groupId": "$friends"}, ""),
    ("alice", "inviteToGroup", {"groupId": "$friends", "userIds": ["$bob", "$dora"]}, ""),
    ("bob", "joinGroup", {"groupId": "$friends"}, ""),
    ("bob", "setGroupRole", {"groupId": "$public", "userId": "$alice", "role": "MODERATOR"}, ""),
    ("alice", "post", {"text": "In the group #tea", "groupId": "$public"}, "in group"),
    ("carol", "leaveGroup", {"groupId": "$public"}, ""),
    ("bob", "post", {"text": "Among friends", "groupId": "$friends"}, "among"),
    ("alice", "post", {"text": "Indeed", "groupId": "$friends", "inReplyToId": "$among"}, "indeed"),
    ("carol", "repost", {"postId": "$in group"}, "of group"),
    ("carol", "report", {"subjectId": "$tea", "reason": "OTHER", "note": "Too hot"}, "open"),
    ("bob", "report", {"subjectId": "$spam", "reason": "SPAM"}, "resolved"),
    ("bob", "report", {"subjectId": "$hi", "reason": "ABUSE"}, "of message"),
    ("dora", "resolveReport", {"reportId": "$resolved", "action": "DISMISS", "note": "Hidden"}, ""),
    ("frank", "hidePost", {"postId": "$spam"}, ""),
    ("gina", "deleteAccount", {"password": PASSWORD}, ""),
)


async def entered(anonymous: Member, mutation: str = "logIn", **given: Any) -> Member:
    """Return a member who signs up or logs in, by what every version knows."""
    payload = await anonymous.do(mutation, "accessToken viewer { user { id login } }", **given)
    assert not payload["userErrors"], payload
    return Member(anonymous.client, payload["accessToken"], **payload["viewer"]["user"])


@dataclass
class Community:
    """Who makes the community, and what was made so far, by name. Members are among it."""

    anonymous: Member
    schema: GraphQLSchema  # of the version that is asked
    appoint: Callable[[str], Awaitable[Any]]  # makes a member an administrator
    settle: Callable[[], Awaitable[Any]]  # returns once all jobs are done
    made: dict[str, str] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)

    async def make(self) -> None:
        """Sign everybody up, and let them act one after another."""
        for login in MEMBERS:
            given = {"login": login, "name": login.title(), "email": f"{login}@example.org", "password": PASSWORD}
            self.members[login] = await entered(self.anonymous, "signUp", **given)
            self.made[login] = self.members[login].id
        await self.appoint(ADMIN)
        for act in ACTS:
            await self._act(*act)
            await self.settle()
        await self._pictures()
        await self.settle()

    async def _act(self, who: str, mutation: str, given: dict[str, Any], name: str) -> None:
        if not (kind := self._input(mutation)) or not given.keys() <= kind.fields.keys() or not self._has_all(given):
            return
        made = f"{MADE[mutation]} {{ id }}" if name else ""
        text = f"mutation($input: {kind.name}!) {{ {mutation}(input: $input) {{ {made} {USER_ERRORS} }} }}"
        payload = await self.members[who].ask(text, input=self._named(given))
        assert not payload["userErrors"], (who, mutation, given, payload)
        if name:
            self.made[name] = payload[MADE[mutation]]["id"]

    def _input(self, mutation: str) -> GraphQLInputObjectType | None:
        """Return the type of a mutation's input, None if the version has no such mutation."""
        assert self.schema.mutation_type
        found = self.schema.mutation_type.fields.get(mutation)
        if not found:
            return None
        kind = get_named_type(found.args["input"].type)
        assert isinstance(kind, GraphQLInputObjectType)
        return kind

    def _has_all(self, given: Any) -> bool:
        if isinstance(given, dict | list):
            return all(map(self._has_all, given.values() if isinstance(given, dict) else given))
        return not isinstance(given, str) or given[:1] != "$" or given[1:] in self.made

    def _named(self, given: Any) -> Any:
        """Return an input with ids in place of names."""
        if isinstance(given, dict):
            return {key: self._named(value) for key, value in given.items()}
        if isinstance(given, list):
            return [self._named(value) for value in given]
        return self.made[given[1:]] if isinstance(given, str) and given[:1] == "$" else given

    async def _pictures(self) -> None:
        """Alice gets an avatar, and shows pictures in a post and in a message."""
        if not self._input("createUpload"):
            return
        alice = self.members["alice"]
        uploads = [await self._uploaded(purpose) for purpose in ("AVATAR", "POST", "MESSAGE", "POST")]
        avatar, post, message, _ = ({"uploadId": upload, "alt": f"Drawn {i}"} for i, upload in enumerate(uploads))
        await alice.do("updateProfile", "viewer { id }", avatar=avatar)
        self.made["seen"] = await alice.post("Look", images=[{**post, "focus": {"x": 0.25, "y": 0.5}}])
        await alice.do("sendMessage", "message { id }", conversationId=self.made["pair"], text="", images=[message])

    async def _uploaded(self, purpose: str) -> str:
        data, alice = drawn(size=(32, 24)), self.members["alice"]
        upload = await announce(alice, data, purpose=purpose)
        assert await put(alice, upload["url"], data) == 204
        await self.settle()
        identity: str = upload["id"]
        return identity

"""Random steps in conversations, and what each participant has of them."""

from dataclasses import dataclass, field
from typing import Any

from store.conversations import messages as conversations
from store.conversations.messages import MessageDraft
from store.refusals import accepted
from tests.support.model.reactions import Reactions
from tests.support.people import Member
from tests.support.work import number

TALKS = """{ viewer { unreadMessageCount conversations(first: 1000) { nodes {
  id unreadCount participants { login } lastMessage { id text } viewerLastRead { id }
  messages(first: 1000) { nodes { id text sender { login } } } } } } }"""


@dataclass(frozen=True, slots=True)
class Said:
    """A message."""

    id: int
    sender: str
    text: str


@dataclass
class Talk:
    """A conversation: who is in it, each with the first message that they see, and up to where they have read."""

    id: str
    members: frozenset[str]
    since: dict[str, int] = field(default_factory=dict)
    messages: list[Said] = field(default_factory=list)
    read: dict[str, int] = field(default_factory=dict)


@dataclass
class Conversations(Reactions):
    """Steps in conversations. Each is applied to what is known of them, too."""

    talks: dict[frozenset[str], Talk] = field(default_factory=dict)
    audiences: dict[str, str] = field(default_factory=dict)  # member → whose messages they take, everybody's without

    # ---- what is right

    def _present(self, talk: Talk) -> list[str]:
        return [login for login in talk.since if login in self.people]

    def _is_apart(self, talk: Talk) -> bool:
        """Return whether a block separates the two members of a conversation of two."""
        pair = tuple(talk.members)
        return len(pair) == 2 and bool({pair, pair[::-1]} & self.model.blocks.keys())

    def _received(self, talk: Talk, login: str) -> list[Said]:
        """Return the messages that a participant sees unless they are suspended, newest first."""
        return [
            said
            for said in reversed(talk.messages)
            if said.id >= talk.since[login] and (login, said.sender) not in self.model.blocks
        ]

    def _shown(self, talk: Talk, login: str) -> list[Said]:
        """Return the messages that a participant sees, newest first. A suspended one sees their own."""
        found = self._received(talk, login)
        return [said for said in found if said.sender == login] if login in self.model.suspended else found

    def _takes(self, member: str, sender: str) -> bool:
        audience = self.audiences.get(member, "EVERYONE")
        return audience == "EVERYONE" or (audience == "FOLLOWED" and (member, sender) in self.model.follows)

    def _talks_of(self, login: str) -> list[Talk]:
        """Return a member's conversations, newest message first."""
        found = [talk for talk in self.talks.values() if login in talk.since and not self._is_apart(talk)]

        def place(talk: Talk) -> int:
            return max((said.id for said in self._received(talk, login)), default=talk.since[login])

        return sorted(found, key=place, reverse=True)

    async def check_talks(self, login: str) -> None:
        """Compare a member's conversations with what they should be."""
        wanted = [self._view(talk, login) for talk in self._talks_of(login)]
        answer = await self.people[login].ask(TALKS)
        for node in answer["conversations"]["nodes"]:
            node["participants"].sort(key=lambda user: user["login"])
        self.same(f"conversations of {login}", answer["conversations"]["nodes"], wanted)
        unread = sum(talk["unreadCount"] > 0 for talk in wanted)
        self.same(f"unread conversations of {login}", answer["unreadMessageCount"], unread)

    def _view(self, talk: Talk, login: str) -> dict[str, Any]:
        shown, mark = self._shown(talk, login), talk.read.get(login, 0)
        known = [{"id": _message(said), "text": said.text} for said in shown]
        return {
            "id": talk.id,
            "unreadCount": sum(
                said.id > mark and said.sender != login and (login, said.sender) not in self.model.mutes
                for said in shown
            ),
            "participants": [
                {"login": other} for other in sorted(self._present(talk)) if self.model.meets(login, other)
            ],
            "lastMessage": known[0] if known else None,
            "viewerLastRead": next(({"id": _message(said)} for said in shown if said.id <= mark), None),
            "messages": {
                "nodes": [
                    {**one, "sender": {"login": said.sender} if self.model.meets(login, said.sender) else None}
                    for one, said in zip(known, shown, strict=True)
                ]
            },
        }

    # ---- steps

    async def _talk(self) -> None:
        me = self._someone()
        others = self.lot.sample(sorted(self.people.keys() - {me.login}), self.lot.choice([1, 1, 2]))
        await self._settle()
        self._log(f"{me.login} talks to {' and '.join(others)}")
        members = frozenset({me.login, *others})
        talk = self.talks.get(members)
        unwilling = [
            other
            for other in others
            if not self._takes(other, me.login) and (talk is None or other not in talk.since or len(others) == 1)
        ]
        unseen = any(not self.model.sees_words_of(me.login, other) for other in others)
        code = "NOT_FOUND" if unseen else "NOT_ALLOWED" if unwilling else None
        text, ids = self._words(), [self.people[other].id for other in others]
        if await self._is_refused(me, "startConversation", code, userIds=ids, text=text):
            return
        if self._crashes():
            numbers = [number(self.people[login].id) for login in members]
            sent = accepted(await conversations.start(self.db, numbers, MessageDraft(number(me.id), text, numbers)))
            await self._die_in(sent.job)
            (found,) = await self.db.ask(conversations.of_members_command(numbers))
            identity, message = f"conversation_{int(found):014x}", sent.id
        else:
            payload = await me.do("startConversation", "message { id } conversation { id }", userIds=ids, text=text)
            identity, message = payload["conversation"]["id"], number(payload["message"]["id"])
        self._started(members, identity, Said(message, me.login, text))

    def _started(self, members: frozenset[str], identity: str, said: Said) -> None:
        talk = self.talks.setdefault(members, Talk(identity, members))
        for login in members:
            talk.since.setdefault(login, said.id)
        talk.messages.append(said)

    async def _say(self) -> None:
        if not (talk := await self._a_talk()):
            return
        me, text = self._someone(), self._words()
        others = [login for login in self._present(talk) if login != me.login]
        self._log(f"{me.login} writes to {talk.id}")
        code = self._unheard(talk, me)
        if code is None and not others:
            code = "NOT_ALLOWED"
        if code is None and len(talk.members) == 2:
            (other,) = others
            is_taken = self._takes(other, me.login) and other not in self.model.suspended
            code = None if is_taken else "NOT_ALLOWED"
        if await self._is_refused(me, "sendMessage", code, conversationId=talk.id, text=text):
            return
        if self._crashes():
            willing = [number(self.people[other].id) for other in others]
            draft = MessageDraft(number(me.id), text, willing[:1] if len(talk.members) == 2 else ())
            sent = accepted(await conversations.send(self.db, number(talk.id), draft))
            await self._die_in(sent.job)
            message = sent.id
        else:
            payload = await me.do("sendMessage", "message { id }", conversationId=talk.id, text=text)
            message = number(payload["message"]["id"])
        talk.messages.append(Said(message, me.login, text))

    async def _unsay(self) -> None:
        talk = await self._a_talk()
        if not talk or not talk.messages:
            return
        said = self.lot.choice(talk.messages)
        me = self.people.get(said.sender) if self.lot.random() < 0.8 else self._someone()
        if me is None:
            return
        self._log(f"{me.login} deletes message {said.id}")
        code = self._barring(me.login) or self._unheard(talk, me)
        if code is None and said not in self._shown(talk, me.login):
            code = "NOT_FOUND"
        if code is None and said.sender != me.login:
            code = "NOT_ALLOWED"
        if await self._is_refused(me, "deleteMessage", code, messageId=_message(said)):
            return
        if self._crashes():
            await self._die_in(accepted(await conversations.delete(self.db, said.id)))
        else:
            assert self._is_accepted(await me.do("deleteMessage", messageId=_message(said)))
        talk.messages.remove(said)

    async def _read(self) -> None:
        if not (talk := await self._a_talk()):
            return
        me = self._someone()
        self._log(f"{me.login} reads {talk.id}")
        fields = {"conversationId": talk.id}
        if await self._is_refused(me, "markConversationRead", self._unheard(talk, me), **fields):
            return
        shown = self._shown(talk, me.login)
        if shown and self.lot.random() < 0.5:
            shown = [self.lot.choice(shown)]
            fields["upToId"] = _message(shown[0])
        assert self._is_accepted(await me.do("markConversationRead", **fields))
        mark = shown[0].id if shown else 0
        talk.read[me.login] = max(talk.read.get(me.login, 0), mark)

    async def _part(self) -> None:
        if not (talk := await self._a_talk()):
            return
        me = self._someone()
        self._log(f"{me.login} leaves {talk.id}")
        if await self._is_refused(me, "leaveConversation", self._unheard(talk, me), conversationId=talk.id):
            return
        if self._crashes():
            await self._die_in(await conversations.leave(self.db, number(talk.id), number(me.id)))
        else:
            assert self._is_accepted(await me.do("leaveConversation", conversationId=talk.id))
        del talk.since[me.login]
        talk.read.pop(me.login, None)
        if not self._present(talk):
            del self.talks[talk.members]

    async def _audience(self) -> None:
        me, audience = self._someone(), self.lot.choice(["EVERYONE", "EVERYONE", "FOLLOWED", "NOBODY"])
        self._log(f"{me.login} takes messages from {audience}")
        await me.do("updateProfile", messagesFrom=audience)
        self.audiences[me.login] = audience

    def _unheard(self, talk: Talk, me: Member) -> str | None:
        return "NOT_FOUND" if me.login not in talk.since or self._is_apart(talk) else None

    async def _a_talk(self) -> Talk | None:
        """Return a random conversation."""
        await self._settle()
        for members, talk in list(self.talks.items()):
            if not self._present(talk):
                del self.talks[members]
        return self.lot.choice(list(self.talks.values())) if self.talks else None

    async def _settle(self) -> None:
        """Have the worker finish what crashed, where it decides who may write to whom."""
        if self.half or self.unsure:
            await self.finish_jobs()


def _message(said: Said) -> str:
    return f"message_{said.id:014x}"

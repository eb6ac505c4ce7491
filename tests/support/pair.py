"""Two members whose changes are acknowledged while the jobs of these changes are late; and what must be in the end."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from store import keys
from store.client.database import Command, Database
from store.keys.fields import UserField
from tests.support.people import Member
from tests.support.work import number

MUTATIONS = {
    "follow": "follow",
    "unfollow": "unfollow",
    "remove": "removeFollowers",
    "approve": "approveFollowRequests",
    "reject": "rejectFollowRequests",
    "block": "block",
    "unblock": "unblock",
    "mute": "mute",
    "unmute": "unmute",
}
ACTS = (*MUTATIONS, "open", "close")
HARMFUL = {"follow", "approve"}  # They must not be accepted against a block that is on its way.


@dataclass
class Model:
    """What the members 0 and 1 are to each other: a plain model, without jobs."""

    edges: list[str] = field(default_factory=lambda: ["", ""])  # to the other: "request" or "follow"
    blocks: list[bool] = field(default_factory=lambda: [False, False])
    mutes: list[bool] = field(default_factory=lambda: [False, False])
    private: list[bool] = field(default_factory=lambda: [False, False])

    def allows(self, act: str, me: int) -> bool:
        """Return whether a change is accepted."""
        other = 1 - me
        match act:
            case "open" | "close" | "block":
                return True
            case "unblock" | "unmute" if (self.blocks if act == "unblock" else self.mutes)[me]:
                return True
            case "follow" if self.blocks[me]:
                return False
            case "approve" if not self.edges[other]:
                return False
        return not self.blocks[other]

    def apply(self, act: str, me: int) -> None:
        """Make a change that was accepted."""
        other = 1 - me
        match act:
            case "follow":
                self.edges[me] = self.edges[me] or ("request" if self.private[other] else "follow")
            case "unfollow":
                self.edges[me] = ""
            case "remove" | "reject" if self.edges[other] == ("follow" if act == "remove" else "request"):
                self.edges[other] = ""
            case "approve":
                self.edges[other] = "follow"
            case "block" | "unblock":
                self.blocks[me] = act == "block"
                self.edges = ["", ""] if act == "block" else self.edges
            case "mute" | "unmute":
                self.mutes[me] = act == "mute"
            case "open" | "close":
                self.private[me] = act == "close"
                if act == "open" and self.edges[other]:
                    self.edges[other] = "follow"


@dataclass
class Pair:
    """Two members and their model. `told` are the changes made so far, for the report of a difference."""

    db: Database
    members: tuple[Member, Member]
    model: Model = field(default_factory=Model)
    told: list[str] = field(default_factory=list)

    async def act(self, act: str, me: int) -> None:
        """Make a change. A refusal by what is on its way is accepted, and changes nothing."""
        member, other = self.members[me], self.members[1 - me]
        if act in MUTATIONS:
            payload = await member.do(MUTATIONS[act], userIds=[other.id])
        else:
            payload = await member.do("updateProfile", isPrivate=act == "close")
        is_accepted, is_allowed = not payload["userErrors"], self.model.allows(act, me)
        self.told.append(f"{me}: {act}{'' if is_accepted else ', refused'}")
        assert is_allowed or not is_accepted or act not in HARMFUL, self.told
        if is_accepted:
            self.model.apply(act, me)

    async def assert_agreed(self, *about: Any) -> None:
        """Assert that both sides have what the model says."""
        ids = [number(member.id) for member in self.members]
        for me, other in ((0, 1), (1, 0)):
            found = await self.db.ask(*_sides(ids[me], ids[other]))
            (follow, follower), (request, asking), (block, blocked_by), (mute, _) = _paired(found[:8])
            where = (self.told, me, *about)
            assert (follow, request, block) == (follower, asking, blocked_by), where
            edge = "follow" if follow else "request" if request else ""
            assert edge == self.model.edges[me], where
            assert [bool(block), bool(mute)] == [self.model.blocks[me], self.model.mutes[me]], where
            assert found[8:] == [str(int(edge == "follow"))] * 2, where


def _paired(found: list[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(found[::2], found[1::2], strict=True)


def _sides(me: int, other: int) -> list[Command]:
    mirrors = (
        (keys.following(me), keys.followers(other)),
        (keys.requested(me), keys.requests(other)),
        (keys.blocked(me), keys.blocked_by(other)),
        (keys.muted(me), keys.muted(me)),
    )
    commands: list[Command] = [
        command for mine, theirs in mirrors for command in (("ZSCORE", mine, other), ("ZSCORE", theirs, me))
    ]
    commands += [("HGET", keys.user(me), UserField.FOLLOWING), ("HGET", keys.user(other), UserField.FOLLOWERS)]
    return commands

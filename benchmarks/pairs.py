"""Clients for `relationships.py`: pairs of members who change what they are to each other, one change after another."""

import asyncio
import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError, ClientSession

from benchmarks.clients import PAUSE, POST, SignedIn, ask

LATE_SECONDS = 2.0  # A change that is not seen everywhere for so long counts as late.
GONE_SECONDS = 30.0  # After so long it counts as gone.
LOOKED_AT = 0.3  # Share of the changes after which the pair is looked at. The others follow each other at once.
POSTED = 0.05  # Share of the changes that are posts.
POSTS_SHOWN = 100  # Posts read of a home.
CHANGE = "mutation($input: UsersInput!) { %s(input: $input) { userErrors { code } } }"
PRIVACY = "mutation($input: UpdateProfileInput!) { updateProfile(input: $input) { userErrors { code } } }"
SEEN = f"""query($input: String!) {{
  user(login: $input) {{ viewerIsFollowing isFollowingViewer viewerHasRequestedFollow viewerHasBlocked viewerHasMuted }}
  viewer {{ user {{ followerCount followingCount isPrivate }} blocked {{ nodes {{ login }} }}
    followRequests {{ nodes {{ login }} }} }}
  homeTimeline(first: {POSTS_SHOWN}) {{ nodes {{ ... on Post {{ id }} }} }} }}"""


@dataclass
class Tally:
    """What all pairs saw."""

    changes: Counter[str] = field(default_factory=Counter)  # that were acknowledged
    refused: int = 0  # changes that had to be refused, and were
    repeated: int = 0  # requests sent again, because the answer was lost or an outage
    looks: int = 0
    late: list[str] = field(default_factory=list)
    slowest: float = 0.0
    gone: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)  # changes that were accepted although they had to be refused

    def note(self, seconds: float, told: str) -> None:
        """Note how long it took until a change was seen, 0 if the first look saw it."""
        self.slowest = max(self.slowest, seconds)
        if seconds > LATE_SECONDS:
            self.late.append(f"{seconds:.2f} s: {told}")


@dataclass(frozen=True)
class Place:
    """Where the pairs' requests go: changes to a server that loses its connections, and looks to one that does not."""

    session: ClientSession
    url: str
    looking_url: str


@dataclass
class Side:
    """One member of a pair, and what should be true of them."""

    member: SignedIn
    edge: str = ""  # To the other: "", "request" or "follow".
    blocks: bool = False
    mutes: bool = False
    is_private: bool = False
    posts: list[str] = field(default_factory=list)


class Pair:
    """Two members, whose acts are made in turn: each begins when the one before is acknowledged."""

    def __init__(self, place: Place, sides: tuple[Side, Side], seed: int, tally: Tally) -> None:
        self._place, self._sides, self._tally = place, sides, tally
        self._lot = random.Random(seed)  # noqa: S311  chance that can be repeated, no secret
        self._since = time.monotonic()  # when the last change was acknowledged
        self._history: list[str] = []

    async def run(self, changes: int, made: Callable[[], object]) -> None:
        """Make so many changes; calls `made` after each.

        Going public approves the requests that are there once its job runs. So the pair is looked at after it.
        """
        for n in range(changes):
            me, other = self._lot.sample(self._sides, 2)
            (name,) = self._lot.choices(list(WEIGHTS), list(WEIGHTS.values()))
            if self._lot.random() < POSTED:
                await self._post(me, n)
            else:
                await self._change(me, other, name)
            made()
            if name == "privacy" or self._lot.random() < LOOKED_AT:
                await self.look()

    async def _post(self, me: Side, n: int) -> None:
        fields = {"text": f"post {n}", "idempotencyKey": str(n)}
        answer, _ = await self._answer(POST, me, fields)
        me.posts.append(answer["post"]["status"]["id"])
        self._acknowledge(me, "post")

    async def _change(self, me: Side, other: Side, name: str) -> None:
        """Make a change. While it is refused although it must not be, ask again: what allows it may be late."""
        wanted = REFUSALS.get(name, _unseen)(me, other)
        fields: dict[str, Any]
        if name == "privacy":
            query, fields = PRIVACY, {"isPrivate": not me.is_private}
        else:
            query, fields = CHANGE % name, {"userIds": [other.member.id]}
        is_delayed = False
        while True:
            answer, is_repeated = await self._answer(query, me, fields)
            (payload,) = answer.values()
            code = payload["userErrors"][0]["code"] if payload["userErrors"] else None
            if is_repeated and name in OUT_OF_SIGHT and other.blocks:
                code = None
            if code is None or code == wanted or time.monotonic() > self._since + GONE_SECONDS:
                break
            is_delayed = True
            await asyncio.sleep(PAUSE)
        self._history.append(f"{me.member.login} {name}{' (repeated)' * is_repeated} {code or ''}")
        if code and wanted:
            self._tally.refused += 1
        elif code:
            self._tally.gone.append(f"{self._told()} is refused")
        elif wanted and name in ("follow", "approveFollowRequests"):
            self._tally.wrong.append(self._told())
        else:
            self._tally.note(time.monotonic() - self._since if is_delayed else 0.0, self._told())
            ACTS[name](me, other)
            self._acknowledge(me, name)

    def _acknowledge(self, me: Side, name: str) -> None:
        self._since = time.monotonic()
        self._tally.changes[name] += 1
        if name == "post":
            self._history.append(f"{me.member.login} posts")

    async def _answer(self, query: str, me: Side, fields: Any) -> tuple[Any, bool]:
        """Return the data of an answer, and whether the request was sent more than once."""
        url = self._place.looking_url if query is SEEN else self._place.url
        tries = 0
        while True:
            tries += 1
            with contextlib.suppress(ClientError, TimeoutError, ConnectionError):
                answer = await ask(self._place.session, url, query, me.member.token, {"input": fields})
                if "errors" not in answer:
                    return answer["data"], tries > 1
                if answer["errors"][0]["extensions"]["code"] != "SERVICE_UNAVAILABLE":
                    raise SystemExit(f"{answer} {self._told()}")
            self._tally.repeated += 1
            await asyncio.sleep(PAUSE)

    async def look(self) -> None:
        """Wait until both members see what they should; notes how long that took."""
        self._tally.looks += 1
        me, other = self._sides
        differences: list[str] = []
        while True:
            seen = [await self._seen(one, two) for one, two in ((me, other), (other, me))]
            wanted = [_wanted(one, two) for one, two in ((me, other), (other, me))]
            seconds, told = time.monotonic() - self._since, f"{self._told()}: {', '.join(differences)}"
            if seen == wanted:
                self._tally.note(seconds if differences else 0.0, told)
                return
            differences = [pair for f, w in zip(seen, wanted, strict=True) for pair in _differing(f, w)]
            if seconds > GONE_SECONDS:
                self._tally.gone.append(told)
                self._adopt(seen)
                return
            await asyncio.sleep(PAUSE)

    async def _seen(self, me: Side, other: Side) -> dict[str, Any]:
        data, _ = await self._answer(SEEN, me, other.member.login)
        own, home = data["viewer"], data["homeTimeline"]["nodes"]
        return {
            "other": data["user"],
            "own": own["user"],
            "blocked": [node["login"] for node in own["blocked"]["nodes"]],
            "requests": [node["login"] for node in own["followRequests"]["nodes"]],
            "home": sorted(node["id"] for node in home),
        }

    def _adopt(self, seen: list[dict[str, Any]]) -> None:
        """Go on with what is there after something has gone."""
        for side, own in zip(self._sides, (each["own"] for each in seen), strict=True):
            side.edge = "follow" if own["followingCount"] else side.edge if side.edge == "request" else ""
            self._since = time.monotonic()

    def _told(self) -> str:
        return " > ".join(self._history[-8:])


def _wanted(me: Side, other: Side) -> dict[str, Any]:
    """Return what a member should see of the other one, and of themselves."""
    follows = me.edge == "follow"
    theirs = other.posts if follows and not me.mutes else []
    relationship = {
        "viewerIsFollowing": follows,
        "isFollowingViewer": other.edge == "follow",
        "viewerHasRequestedFollow": me.edge == "request",
        "viewerHasBlocked": me.blocks,
        "viewerHasMuted": me.mutes,
    }
    return {
        "other": None if other.blocks else relationship,
        "own": {
            "followerCount": int(other.edge == "follow"),
            "followingCount": int(follows),
            "isPrivate": me.is_private,
        },
        "blocked": [other.member.login] if me.blocks else [],
        "requests": [other.member.login] if other.edge == "request" else [],
        "home": sorted([*me.posts, *theirs]),
    }


def _differing(seen: dict[str, Any], wanted: dict[str, Any]) -> Iterator[str]:
    for name, value in wanted.items():
        if seen[name] != value:
            yield f"{name} is {seen[name]}, not {value}"


# ---- what each change does, and when it is refused


def _follow(me: Side, other: Side) -> None:
    me.edge = me.edge or ("request" if other.is_private else "follow")


def _unfollow(me: Side, _: Side) -> None:
    me.edge = ""


def _remove(_: Side, other: Side) -> None:
    other.edge = "" if other.edge == "follow" else other.edge


def _approve(_: Side, other: Side) -> None:
    other.edge = "follow"


def _reject(_: Side, other: Side) -> None:
    other.edge = "" if other.edge == "request" else other.edge


def _block(me: Side, other: Side) -> None:
    me.blocks, me.edge, other.edge = True, "", ""


def _unblock(me: Side, _: Side) -> None:
    me.blocks = False


def _mute(me: Side, _: Side) -> None:
    me.mutes = True


def _unmute(me: Side, _: Side) -> None:
    me.mutes = False


def _privacy(me: Side, other: Side) -> None:
    me.is_private = not me.is_private
    if not me.is_private and other.edge == "request":
        other.edge = "follow"


def _unseen(_: Side, other: Side) -> str | None:
    return "NOT_FOUND" if other.blocks else None


ACTS: dict[str, Callable[[Side, Side], None]] = {
    "follow": _follow,
    "unfollow": _unfollow,
    "removeFollowers": _remove,
    "approveFollowRequests": _approve,
    "rejectFollowRequests": _reject,
    "block": _block,
    "unblock": _unblock,
    "mute": _mute,
    "unmute": _unmute,
    "privacy": _privacy,
}
OUT_OF_SIGHT = ("unblock", "unmute")  # Once done, a member who blocks the viewer is refused.
WEIGHTS = dict.fromkeys(ACTS, 2) | {"follow": 8, "block": 3, "unblock": 5, "privacy": 1}
REFUSALS: dict[str, Callable[[Side, Side], str | None]] = {
    "follow": lambda me, other: "NOT_FOUND" if other.blocks else "NOT_ALLOWED" if me.blocks else None,
    "approveFollowRequests": lambda _, other: None if other.edge and not other.blocks else "NOT_FOUND",
    "block": lambda _, __: None,
    "unblock": lambda me, other: "NOT_FOUND" if other.blocks and not me.blocks else None,
    "unmute": lambda me, other: "NOT_FOUND" if other.blocks and not me.mutes else None,
    "privacy": lambda _, __: None,
}

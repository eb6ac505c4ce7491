"""Random steps between members: sign-ups, deletions, follows, requests, blocks, mutes, privacy, suspension."""

import contextlib
from collections.abc import Awaitable, Callable, Container, Sequence
from typing import Any

from resolvers import accounts as account_mutations
from store import accounts, blocks, follows
from store.keys.fields import UserField
from store.records.jobs import Job
from store.refusals import accepted
from tests.support.model.life import Life
from tests.support.people import PASSWORD, SIGN_UP, Member, log_in, sign_up
from tests.support.servers.processes import until
from tests.support.work import number

MOST_MEMBERS = 7
LEAST_MEMBERS = 3
MOST_SUSPENDED = 2
DELETE_ACCOUNT = """
mutation($input: DeleteAccountInput!) { deleteAccount(input: $input) { deletedUserId userErrors { code } } }
"""

Commit = Callable[[int, Sequence[int]], Awaitable[Job | None]]
Refusal = Callable[[str, str], str | None]
Apply = Callable[[str, str], None]


class RelationshipSteps(Life):
    """Steps between members. Each is applied to the model too."""

    async def _sign_up(self) -> None:
        if len(self.people) == MOST_MEMBERS:
            return
        self.signed_up += 1
        login = f"m{self.signed_up - 1}"
        self._log(f"{login} signs up")
        await until(lambda: self._has_joined(login))
        self.model.members.append(login)

    async def _has_joined(self, login: str) -> bool:
        """Sign somebody up; False where a sign-up that was not answered holds the names without an account so far."""
        try:
            self.people[login] = await sign_up(self.anonymous, login)
        except AssertionError:
            if not self.is_disturbed:
                raise
            with contextlib.suppress(AssertionError):
                self.people[login] = await log_in(self.anonymous, login)
        return login in self.people

    async def _leave(self) -> None:
        if len(self.people) <= LEAST_MEMBERS + len(self.model.suspended):
            return
        me = self.lot.choice(list(self.people.values()))
        self._log(f"{me.login} deletes the account")
        del self.people[me.login]
        if self._crashes():
            found = await accounts.credentials(self.db, number(me.id))
            assert found
            await self._die_in(accepted(await accounts.delete(self.db, number(me.id), found.password)))
            await self.finish_jobs()  # until then a deleted member's names are half free, and counts not yet lower
        else:
            await self._delete_account(me)
        self.model.leave(me.login)
        assert await self.anonymous.ask("query($l: String!) { isLoginAvailable(login: $l) }", l=me.login) is False

    async def _delete_account(self, me: Member) -> None:
        answer = await me.send(DELETE_ACCOUNT, input={"password": PASSWORD})
        if self.outages.is_repeated and "errors" in answer:
            assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAUTHENTICATED"], answer
        else:
            assert answer == {"data": {"deleteAccount": {"deletedUserId": me.id, "userErrors": []}}}
        if self.is_disturbed:
            await self.finish_jobs()

    # ---- follows and requests

    async def _follow(self) -> None:
        me, others = self._pick()
        asks = [number(other.id) for other in others if other.login in self.model.private]
        others.sort(key=lambda other: other.login not in self.model.private)

        async def commit(follower: int, members: Sequence[int]) -> Job | None:
            return (await follows.follow(self.db, follower, members, asks))[0]

        def refusal(login: str, other: str) -> str | None:
            return self._unmet(login, other) or ("NOT_ALLOWED" if (login, other) in self.model.blocks else None)

        await self._change("follow", (me, others), commit, refusal, self.model.follow)

    async def _unfollow(self) -> None:
        def refusal(login: str, other: str) -> str | None:
            return self._unmet(login, other, {*self.model.follows, *self.model.requests})

        async def commit(follower: int, members: Sequence[int]) -> Job | None:
            return await follows.unfollow(self.db, follower, members)

        await self._change("unfollow", self._pick(), commit, refusal, self.model.unfollow)

    async def _remove_followers(self) -> None:
        def refusal(login: str, other: str) -> str | None:
            return self._unmet(login, other, {(member, follower) for follower, member in self.model.follows})

        async def commit(member: int, followers: Sequence[int]) -> Job | None:
            return await follows.remove_followers(self.db, member, followers)

        await self._change("removeFollowers", self._pick(), commit, refusal, self.model.remove_follower, inward=True)

    async def _approve(self) -> None:
        def refusal(login: str, other: str) -> str | None:
            has_asked = (other, login) in {*self.model.follows, *self.model.requests}
            return self._unmet(login, other) or (None if has_asked else "NOT_FOUND")

        async def commit(member: int, followers: Sequence[int]) -> Job | None:
            return await follows.approve(self.db, member, followers)

        pair = self._asked()
        await self._change("approveFollowRequests", pair, commit, refusal, self.model.approve, inward=True)

    async def _reject(self) -> None:
        def refusal(login: str, other: str) -> str | None:
            return self._unmet(login, other, {(member, follower) for follower, member in self.model.requests})

        async def commit(member: int, followers: Sequence[int]) -> Job | None:
            return await follows.reject(self.db, member, followers)

        pair = self._asked()
        await self._change("rejectFollowRequests", pair, commit, refusal, self.model.reject, inward=True)

    # ---- blocks and mutes

    async def _block(self) -> None:
        async def commit(member: int, others: Sequence[int]) -> Job | None:
            return (await blocks.block(self.db, member, others))[0]

        def refusal(_: str, other: str) -> str | None:
            return None if self.model.can_be_blocked(other) else "NOT_FOUND"

        await self._change("block", self._pick(most=1), commit, refusal, self.model.block, both=True)

    async def _unblock(self) -> None:
        async def commit(member: int, others: Sequence[int]) -> Job | None:
            return (await blocks.unblock(self.db, member, others))[0]

        def refusal(login: str, other: str) -> str | None:
            return self._unmet(login, other, self.model.blocks)

        pair = self._among(list(self.model.blocks))
        await self._change("unblock", pair, commit, refusal, self.model.unblock, both=True)

    async def _mute(self) -> None:
        async def commit(member: int, others: Sequence[int]) -> Job | None:
            return (await blocks.mute(self.db, member, others))[0]

        await self._change("mute", self._pick(most=1), commit, self._unmet, self.model.mute)

    async def _unmute(self) -> None:
        async def commit(member: int, others: Sequence[int]) -> Job | None:
            return (await blocks.unmute(self.db, member, others))[0]

        def refusal(login: str, other: str) -> str | None:
            return self._unmet(login, other, self.model.mutes)

        await self._change(
            "unmute",
            self._among([pair for pair in self.model.mutes if pair[1] in self.people]),
            commit,
            refusal,
            self.model.unmute,
        )

    # ---- shared by all of these

    def _pick(self, most: int = 3) -> tuple[Member, list[Member]]:
        me = self._someone()
        others = [member for member in self.people.values() if member is not me]
        return me, self.lot.sample(others, self.lot.randint(1, min(most, len(others))))

    def _among(self, pairs: list[tuple[str, str]]) -> tuple[Member, list[Member]]:
        """Return the members of one of these pairs, or random ones."""
        if not pairs or self.lot.random() < 0.1:
            return self._pick()
        me, other = self.lot.choice(pairs)
        return self.people[me], [self.people[other]]

    def _asked(self) -> tuple[Member, list[Member]]:
        return self._among([(member, follower) for follower, member in self.model.requests])

    def _unmet(self, login: str, other: str, known: Container[tuple[str, str]] = ()) -> str | None:
        """Return the error code for a member one does not see; relationships in `known` can still be ended."""
        return None if (login, other) in known or self.model.meets(login, other) else "NOT_FOUND"

    def _barring(self, login: str) -> str | None:
        return "NOT_ALLOWED" if login in self.model.suspended else None

    async def _change(
        self,
        mutation: str,
        who: tuple[Member, list[Member]],
        commit: Commit,
        refusal: Refusal,
        apply: Apply,
        *,
        inward: bool = False,
        both: bool = False,
    ) -> None:
        """Change relationships, and check refusals; `inward` concerns the others' follows, `both` all follows."""
        me, others = who
        pairs = {(me.login, o.login) for o in others if not inward or both}
        pairs |= {(o.login, me.login) for o in others if inward or both}
        await self._meet(me.login, *(other.login for other in others))
        if pairs & self.half:
            await self.finish_jobs()  # until then the two sides differ, and either may be read first
        self._log(f"{me.login}: {mutation} {' '.join(other.login for other in others)}")
        ids = [other.id for other in others]
        if await self._is_refused(me, mutation, self._barring(me.login), userIds=ids):
            return
        codes = [refusal(me.login, other.login) for other in others]
        allowed = [other for other, code in zip(others, codes, strict=True) if code is None]
        hides = both or any(followed in self.model.private for _, followed in pairs)
        unsure = {frozenset(pair) for pair in pairs if hides}
        if self._crashes() and allowed:
            await self._die_in(await commit(number(me.id), [number(other.id) for other in allowed]), pairs, unsure)
        else:
            payload = await me.do(mutation, userIds=ids)
            errors = [(error["code"], error["field"]) for error in payload["userErrors"]]
            wanted = [(code, ["userIds", str(i)]) for i, code in enumerate(codes) if code]
            if self.outages.is_repeated:  # what the first try has ended may be out of sight
                errors = [error for error in errors if error in wanted or error[0] != "NOT_FOUND"]
            self.same("refusals", errors, wanted)
            if self.is_disturbed:
                self.half |= pairs
                self.unsure |= unsure
        for other in allowed:
            apply(me.login, other.login)

    # ---- account state

    async def _privacy(self) -> None:
        me = self._someone()
        opens = me.login in self.model.private
        if any(me.login in pair for pair in self.half):
            await self.finish_jobs()  # whether an edge is a follow or a request depends on which change is first
        self._log(f"{me.login} is {'no longer ' if opens else ''}private")
        waiting = {edge for edge in self.model.requests if edge[1] == me.login and opens}
        if self._crashes():
            job = await accounts.set_account_state(self.db, number(me.id), UserField.PRIVATE, holds=not opens)
            await self._die_in(job, waiting)
        else:
            payload = await me.do("updateProfile", "viewer { user { isPrivate } }", isPrivate=not opens)
            assert payload == {"viewer": {"user": {"isPrivate": not opens}}, "userErrors": []}
            self.half |= waiting if self.is_disturbed else set()
        if opens:
            self.model.open_up(me.login)
        else:
            self.model.private.add(me.login)

    async def _suspend(self) -> None:
        if len(self.model.suspended) == MOST_SUSPENDED:
            return
        me = self._someone()
        self._log(f"{me.login} is suspended")
        await self._set_suspension(me, suspended=True)
        self.model.suspended.add(me.login)
        assert await me.fail("{ viewer { email } }") == "UNAUTHENTICATED"
        payload = await self.anonymous.do("logIn", SIGN_UP, identifier=me.login, password=PASSWORD)
        me.token = payload["accessToken"]

    async def _restore(self) -> None:
        if self.model.suspended:
            me = self.people[self.lot.choice(sorted(self.model.suspended))]
            self._log(f"{me.login} is no longer suspended")
            await self._set_suspension(me, suspended=False)
            self.model.suspended.discard(me.login)

    async def _set_suspension(self, me: Member, *, suspended: bool) -> None:
        if self._crashes():
            await self._die_in(
                await accounts.set_account_state(self.db, number(me.id), UserField.SUSPENDED, holds=suspended)
            )
        else:
            assert await self._persist(lambda: account_mutations.set_suspension(self.db, me.login, suspended=suspended))

    async def _barred(self) -> None:
        """Have a suspended member try something that no other step tries."""
        post_id = self._a_post()
        if self.model.suspended and post_id:
            me, others = self.people[self.lot.choice(sorted(self.model.suspended))], [self._someone().id]
            tries: list[tuple[str, dict[str, Any]]] = [
                *((mutation, {"userIds": others}) for mutation in ("follow", "block", "mute")),
                *((mutation, {"postId": self.ids[post_id]}) for mutation in ("like", "repost")),
                ("comment", {"postId": self.ids[post_id], "text": "words"}),
                ("post", {"text": "words"}),
                ("updateProfile", {"isPrivate": True}),
            ]
            mutation, fields = self.lot.choice(tries)
            self._log(f"{me.login}, suspended, tries to {mutation}")
            await self._is_refused(me, mutation, "NOT_ALLOWED", **fields)

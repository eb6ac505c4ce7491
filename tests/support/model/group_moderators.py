"""Random steps of a group's moderators against members: removal, bans, and the deletion of their posts."""

from store import posts
from store.groups import membership
from tests.support.model.group_facts import RANKS
from tests.support.model.groups import Groups
from tests.support.work import number


class GroupModerators(Groups):
    """Steps of moderators. Each is applied to the model too."""

    async def _expel(self) -> None:
        if group := self._a_group():
            me = self._one_in(group)
            other = self._another(me)
            await self.finish_jobs()  # as in `_quit`
            self._log(f"{me.login} removes {other} from {group.id}")
            role, own = group.role(other), group.role(me.login)
            code = self._unnamed(group, me.login, other) if group.moderates(me.login) else "NOT_ALLOWED"
            if not code and role and RANKS.index(role) >= RANKS.index(own or ""):
                code = "NOT_ALLOWED"
            if await self._change_members(me, group, other, "removeGroupMembers", membership.remove, code):
                group.expel(other)

    async def _bar(self) -> None:
        if group := self._a_group():
            me = self._one_in(group)
            other = self._another(me)
            await self.finish_jobs()  # as in `_quit`
            self._log(f"{me.login} bans {other} from {group.id}")
            code = self._unnamed(group, me.login, other) if group.moderates(me.login) else "NOT_ALLOWED"
            if not code and not group.outranks(me.login, other):
                code = "NOT_ALLOWED"
            if await self._change_members(me, group, other, "banGroupMembers", membership.ban, code):
                group.ban(other)

    async def _unbar(self) -> None:
        barring = [group for group in self.model.groups.values() if group.banned]
        if barring:
            group = self.lot.choice(barring)
            me, other = self._one_in(group), self.lot.choice(sorted(group.banned))
            if other == me.login:
                return
            self._log(f"{me.login} ends the ban of {other} from {group.id}")
            code = None if group.moderates(me.login) else self._unnamed(group, me.login, other) or "NOT_ALLOWED"
            if await self._change_members(me, group, other, "unbanGroupMembers", membership.unban, code):
                group.banned.pop(other, None)

    async def _clear(self) -> None:
        """Delete another member's post in a group."""
        found = [post for post in self.model.posts.values() if post.group]
        if not found:
            return
        post = self.lot.choice(found)
        group = self.model.groups[post.group or 0]
        me = self._one_in(group)
        if me.login == post.author:
            return
        await self._look(me.login, post.id)
        self._log(f"{me.login} deletes {post.id} in {group.id}")
        code: str | None = "NOT_ALLOWED"
        if not group.moderates(me.login):
            code = self._unseen(me.login, post.id) or code
        if group.outranks(me.login, post.author):
            code = None
        if await self._is_refused(me, "deletePost", code, postId=self.ids[post.id]):
            return
        if self._crashes():
            await self._die_in(await posts.delete(self.db, post.id, number(self.people[post.author].id)))
        else:
            assert self._is_accepted(await me.do("deletePost", postId=self.ids[post.id]))
        self.model.delete(post.id)

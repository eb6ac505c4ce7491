"""Random steps in groups, and comparisons of what each member finds of them."""

from typing import Any

from store import posts
from store.groups import changes, membership
from store.groups.records import GroupKind
from store.keys.fields import GroupField
from store.posts import PostDraft
from store.refusals import accepted
from tests.support.model.conversations import Conversations
from tests.support.model.facts import Post
from tests.support.model.group_facts import RANKS, Group
from tests.support.model.life import tags_of
from tests.support.people import Member
from tests.support.work import number

KINDS = ("PUBLIC", "PRIVATE", "ANNOUNCEMENT")
MOST_GROUPS = 5
SHOWN = """query($id: ID!) { node(id: $id) { ... on Group { kind memberCount viewerRole viewerHasRequestedToJoin
  members(first: 1000) { edges { role node { login } } } joinRequests(first: 1000) { nodes { login } }
  banned(first: 1000) { nodes { login } }
  timeline(first: 1000) { nodes { ... on Node { id } } } } } }"""
LISTED = "{ groups(first: 100) { nodes { id memberCount } } }"
MINE = "{ viewer { groups(first: 1000) { nodes { id } } } }"


class Groups(Conversations):
    """Steps in groups. Each is applied to the model too."""

    # ---- what is right

    async def check_groups(self, login: str) -> None:
        """Compare every group, the directory and a member's own groups with the model."""
        viewer, model = self.people[login], self.model
        for group in model.groups.values():
            self.same(
                f"group {group.id} for {login}", await viewer.ask(SHOWN, id=group.id), self._shown_as(group, login)
            )
        listed = {node["id"]: node["memberCount"] for node in (await viewer.ask(LISTED))["nodes"]}
        wanted = {group.id: len(group.joined) for group in model.groups.values() if group.kind != "PRIVATE"}
        wanted = {one: size for one, size in wanted.items() if login not in model.groups[number(one)].banned}
        self.same("the directory", listed, wanted)
        mine = [node["id"] for node in (await viewer.ask(MINE))["groups"]["nodes"]]
        self.same(f"groups of {login}", sorted(mine), sorted(g.id for g in model.groups.values() if login in g.joined))

    def _shown_as(self, group: Group, login: str) -> dict[str, Any]:
        model, is_open = self.model, self.model.opens(login, number(group.id))
        is_suspended = login in model.suspended
        members = sorted(group.joined, key=group.joined.__getitem__, reverse=True)
        asking = sorted(group.asking, key=group.asking.__getitem__, reverse=True)
        banned = sorted(group.banned, key=group.banned.__getitem__, reverse=True)
        found = sorted((p.id for p in model.posts.values() if p.group == number(group.id)), reverse=True)
        shown = [post for post in found if model.sees(login, post) and model.wants(login, model.posts[post].author)]
        return {
            "kind": group.kind,
            "memberCount": len(group.joined) if is_open else 0,
            "viewerRole": None if is_suspended else group.role(login),
            "viewerHasRequestedToJoin": login in group.asking,
            "members": {
                "edges": [
                    {"role": group.role(other), "node": {"login": other}}
                    for other in members
                    if model.meets(login, other)
                ]
            }
            if is_open
            else None,
            "joinRequests": {"nodes": [{"login": other} for other in asking if model.meets(login, other)]}
            if group.moderates(login) and not is_suspended
            else None,
            "banned": {"nodes": [{"login": other} for other in banned if model.meets(login, other)]}
            if group.moderates(login) and not is_suspended
            else None,
            "timeline": {"nodes": [{"id": self.ids[post]} for post in shown]} if is_open else None,
        }

    # ---- who and where

    def _a_group(self) -> Group | None:
        groups = list(self.model.groups.values())
        return self.lot.choice(groups) if groups else None

    def _one_in(self, group: Group) -> Member:
        """Return most often a member of a group, who may act."""
        inside = [who for who in group.joined if who not in self.model.suspended]
        return self.people[self.lot.choice(inside)] if inside and self.lot.random() < 0.7 else self._someone()

    def _another(self, me: Member) -> str:
        return self.lot.choice(sorted(self.people.keys() - {me.login}))

    async def _is_denied(self, me: Member, mutation: str, code: str | None, group: Group, **fields: Any) -> bool:
        return await self._is_refused(me, mutation, code, groupId=group.id, **fields)

    # ---- groups

    async def _found(self) -> None:
        if len(self.model.groups) == MOST_GROUPS:
            return
        me, kind = self._someone(), self.lot.choice(KINDS)
        self._log(f"{me.login} founds a group, {kind}")
        if self._crashes():
            _, made, job = accepted(
                await changes.create(self.db, changes.GroupDraft(number(me.id), "Birds", "", GroupKind(kind)))
            )
            await self._die_in(job)
            identity = f"group_{made:014x}"
        else:
            payload = await me.do("createGroup", "group { id }", name="Birds", kind=kind)
            identity = payload["group"]["id"]
        self.log[-1] += f": {identity}"
        group = Group(identity, kind)
        group.joined[me.login] = 0
        group.roles[me.login] = "OWNER"
        self.model.groups[number(identity)] = group

    async def _rearrange(self) -> None:
        if group := self._a_group():
            me, kind = self._one_in(group), self.lot.choice(KINDS)
            self._log(f"{me.login} makes {group.id} {kind}")
            code = None if group.role(me.login) == "OWNER" else "NOT_ALLOWED"
            if await self._is_denied(me, "updateGroup", code, group, kind=kind):
                return
            if self._crashes():
                fields = {GroupField.KIND: kind}
                await self._die_in(accepted(await changes.update(self.db, number(group.id), number(me.id), fields)))
            else:
                assert self._is_accepted(await me.do("updateGroup", groupId=group.id, kind=kind))
            group.rearrange(kind)

    async def _disband(self) -> None:
        if group := self._a_group():
            me = self._one_in(group)
            self._log(f"{me.login} deletes {group.id}")
            code = None if group.role(me.login) == "OWNER" else "NOT_ALLOWED"
            if await self._is_denied(me, "deleteGroup", code, group):
                return
            if self._crashes():
                await self._die_in(accepted(await changes.delete(self.db, number(group.id), number(me.id))))
                await self.finish_jobs()  # until then its posts still count
            else:
                assert self._is_accepted(await me.do("deleteGroup", groupId=group.id))
                await self.finish_jobs()
            self.model.disband(number(group.id))

    # ---- members

    async def _leave(self) -> None:
        await super()._leave()
        await self.finish_jobs()  # until then a group that the member owned has no other owner

    async def _enter(self) -> None:
        if group := self._a_group():
            me = self._someone()
            self._log(f"{me.login} joins {group.id}")
            if await self._is_denied(me, "joinGroup", "NOT_ALLOWED" if me.login in group.banned else None, group):
                return
            if self._crashes():
                await self._die_in(accepted(await membership.join(self.db, number(group.id), number(me.id))))
            else:
                assert self._is_accepted(await me.do("joinGroup", groupId=group.id))
            group.join(me.login)

    async def _quit(self) -> None:
        if group := self._a_group():
            me = self._one_in(group)
            await self.finish_jobs()  # a post that is not listed yet is deleted when its author leaves
            self._log(f"{me.login} leaves {group.id}")
            code = "NOT_ALLOWED" if group.is_last_owner(me.login) else None
            if await self._is_denied(me, "leaveGroup", code, group):
                return
            if self._crashes():
                await self._die_in(accepted(await membership.leave(self.db, number(group.id), number(me.id))))
            else:
                assert self._is_accepted(await me.do("leaveGroup", groupId=group.id))
            group.leave(me.login)

    def _unnamed(self, group: Group, me: str, other: str) -> str | None:
        """Return the code for a member whom one cannot name: moderators can name all who are on the group's lists."""
        lists = {*group.joined, *group.asking, *group.invited, *group.banned} if group.moderates(me) else set[str]()
        return None if other in lists or self.model.meets(me, other) else "NOT_FOUND"

    async def _ask_in(self) -> None:
        if group := self._a_group():
            me = self._one_in(group)
            other = self._another(me)
            self._log(f"{me.login} invites {other} to {group.id}")
            may = group.moderates(me.login) if group.kind == "PRIVATE" else me.login in group.joined
            code = None if may else "NOT_ALLOWED"
            if may:
                is_kept_out = other in {*group.joined, *group.banned}
                code = self._unnamed(group, me.login, other) or ("NOT_ALLOWED" if is_kept_out else None)
            if await self._change_members(me, group, other, "inviteToGroup", membership.invite, code):
                group.invite(other, me.login)

    async def _admit(self) -> None:
        if (group := self._a_group()) and (other := self._waiting_for(group)):
            me = self._one_in(group)
            self._log(f"{me.login} lets {other} into {group.id}")
            code = self._unnamed(group, me.login, other) if group.moderates(me.login) else "NOT_ALLOWED"
            if other == me.login:
                return
            if not code and other not in {*group.asking, *group.joined}:
                code = "NOT_FOUND"
            is_done = await self._change_members(me, group, other, "approveGroupMembers", membership.approve, code)
            if is_done and other in group.asking:
                group.admit(other)

    async def _turn_away(self) -> None:
        if (group := self._a_group()) and (other := self._waiting_for(group)):
            me = self._one_in(group)
            if other == me.login:
                return
            self._log(f"{me.login} turns {other} away from {group.id}")
            code = self._unnamed(group, me.login, other) if group.moderates(me.login) else "NOT_ALLOWED"
            if await self._change_members(me, group, other, "rejectGroupMembers", membership.reject, code):
                group.asking.pop(other, None)

    def _waiting_for(self, group: Group) -> str | None:
        """Return somebody who asks to join, or now and then anybody."""
        return self.lot.choice(sorted(group.asking if group.asking and self.lot.random() < 0.9 else self.people))

    async def _change_members(
        self, me: Member, group: Group, other: str, mutation: str, change: membership.Change, code: str | None
    ) -> bool:
        """Change what one member is in a group; returns whether it was done."""
        ids = [self.people[other].id]
        if await self._is_denied(me, mutation, code, group, userIds=ids):
            return False
        if self._crashes():
            changed = await change(self.db, number(group.id), number(me.id), [number(ids[0])])
            await self._die_in(accepted(changed).job)
        else:
            assert self._is_accepted(await me.do(mutation, groupId=group.id, userIds=ids))
        return True

    async def _promote(self) -> None:
        if group := self._a_group():
            me, role = self._one_in(group), self.lot.choice(RANKS)
            other = self.lot.choice(sorted(group.joined)) if self.lot.random() < 0.9 else self._another(me)
            self._log(f"{me.login} makes {other} {role} in {group.id}")
            code = self._unfit(group, me.login, other, role)
            if await self._is_denied(me, "setGroupRole", code, group, userId=self.people[other].id, role=role):
                return
            payload = await me.do("setGroupRole", groupId=group.id, userId=self.people[other].id, role=role)
            assert self._is_accepted(payload), payload
            group.roles.pop(other, None)
            if role != "MEMBER":
                group.roles[other] = role

    def _unfit(self, group: Group, me: str, other: str, role: str) -> str | None:
        own, present = group.role(me), group.role(other)
        if not own or (me == other and RANKS.index(role) > RANKS.index(own)) or (me != other and own != "OWNER"):
            return "NOT_ALLOWED"
        if not present:
            return "NOT_FOUND"
        if role == present:
            return None
        return "NOT_ALLOWED" if (me != other and present == "OWNER") or group.is_last_owner(other) else None

    # ---- posts

    async def _post_in_group(self) -> None:
        if group := self._a_group():
            me, text = self._one_in(group), self._words()
            self._log(f"{me.login} posts in {group.id}")
            code = None if group.may_post(me.login) else "NOT_ALLOWED"
            if await self._is_denied(me, "post", code, group, text=text):
                return
            place = number(group.id)
            if self._crashes():
                draft = PostDraft(number(me.id), text, hashtags=tags_of(text), group=place)
                _, made, job = accepted(await posts.create(self.db, draft))
                await self._die_in(job)
            else:
                made = number(await me.post(text, groupId=group.id))
            self._made(Post(made, me.login, text, group=place), f"status_{made:014x}")

    def _made(self, post: Post, identity: str) -> None:
        self.log[-1] += f" as {post.id}"
        self.ids[post.id] = identity
        self.model.publish(post)

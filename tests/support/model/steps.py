"""Random steps through the API, each applied to the model too; some crash at or soon after their commit."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from store import jobs, posts
from store.homes import stored
from store.pictures.images import WantedImage
from store.posts import PostDraft
from store.refusals import accepted
from tests.support.model.addresses import Addresses
from tests.support.model.facts import Post
from tests.support.model.life import tags_of
from tests.support.model.moderation import Moderation
from tests.support.people import next_millisecond
from tests.support.pictures import make_ready, new_image
from tests.support.work import number, waiting

PICTURED = ((), (), (), ("a wren",), ("", "two wrens"))  # alt texts of a post's pictures
WEIGHTS = {
    "sign_up": 2,
    "follow": 12,
    "unfollow": 8,
    "remove_followers": 4,
    "post": 16,
    "quote": 8,
    "reply": 12,
    "repost": 18,
    "unrepost": 7,
    "delete": 9,
    "hide": 4,
    "unhide": 3,
    "pin": 4,
    "unpin": 2,
    "absence": 3,
    "like": 8,
    "unlike": 4,
    "favourite": 4,
    "unfavourite": 2,
    "comment": 6,
    "delete_comment": 3,
    "miss": 2,
    "work": 6,
    "leave": 2,
    "approve": 7,
    "reject": 3,
    "block": 3,
    "unblock": 5,
    "mute": 4,
    "unmute": 3,
    "privacy": 6,
    "suspend": 2,
    "restore": 4,
    "barred": 2,
    "talk": 8,
    "say": 9,
    "unsay": 4,
    "read": 5,
    "part": 2,
    "audience": 2,
    "found": 9,
    "rearrange": 3,
    "disband": 1,
    "enter": 12,
    "quit": 3,
    "ask_in": 5,
    "admit": 4,
    "turn_away": 2,
    "expel": 2,
    "bar": 3,
    "unbar": 2,
    "clear": 3,
    "promote": 4,
    "post_in_group": 16,
    "report": 10,
    "resolve": 6,
    "moderate": 2,
    "clean": 2,
    "judge": 4,
    "appoint": 1,
    "address": 3,
    "forget_password": 2,
}
MODERATION = {"report", "resolve", "moderate", "clean", "judge", "appoint"}


@dataclass
class Steps(Moderation, Addresses):
    """All steps. Each is applied to the model too. `crash` is the share of writes that die midway."""

    weights: Mapping[str, int] = field(default_factory=lambda: WEIGHTS)

    async def step(self) -> None:
        """Run a random step."""
        (name,) = self.lot.choices(list(self.weights), list(self.weights.values()))
        if len(self.people) < 3:
            name = "sign_up"
        if self.is_disturbed and name in MODERATION:
            name = "work"  # a repeated request would be refused as a second report, decision or deletion
        await getattr(self, f"_{name}")()
        await next_millisecond()

    # ---- posts

    async def _post(self) -> None:
        await self._publish("posts", None, self._words(), self.lot.choice(PICTURED))

    async def _quote(self) -> None:
        if target := self._a_post():
            await self._publish(f"quotes {target}", target, self._words())

    async def _repost(self) -> None:
        if target := self._a_post():
            await self._publish(f"reposts {target}", target, "")

    async def _reply(self) -> None:
        if not (target := self._a_post()):
            return
        me, text, answered = self._someone(), self._words(), self.model.posts[self.model.target_of(target)]
        root = answered.root or answered.id
        await self._look(me.login, target)
        self._log(f"{me.login} answers {target}")
        code, fields = self._unseen(me.login, target), {"text": text, "inReplyToId": self.ids[target]}
        if answered.group:
            group = self.model.groups[answered.group]
            fields["groupId"] = group.id
            code = None if group.may_post(me.login) else "NOT_ALLOWED"
            code = code or self._unseen(me.login, target)
        if await self._is_refused(me, "post", code, **fields):
            return
        if self._crashes():
            whose = number(self.people[answered.author].id)
            place = PostDraft(number(me.id), text, reply_to=answered.id, reply_to_author=whose, root=root)
            _, made, job = accepted(
                await posts.create(self.db, replace(place, hashtags=tags_of(text), group=answered.group))
            )
            await self._die_in(job)
        else:
            made = number(await me.post(**fields))
        reply = Post(
            made, me.login, text, answers=answered.id, root=root, group=answered.group, answered=answered.author
        )
        self._made(reply, f"status_{made:014x}")

    async def _publish(self, verb: str, target: int | None, text: str, alts: tuple[str, ...] = ()) -> None:
        me = self._someone()
        wanted = [WantedImage(await self._picture(number(me.id)), alt) for alt in alts]
        original = self.model.target_of(target) if target else None
        await self._look(me.login, target)
        self._log(f"{me.login} {verb}")
        code = self._unseen(me.login, target) or self._kept(me.login, original) if target else None
        if await self._is_refused(me, "repost", code, postId=self.ids.get(target or 0), text=text):
            return
        if self._crashes():
            whose = number(self.people[self.model.posts[original].author].id) if original else None
            draft = PostDraft(number(me.id), text, hashtags=tags_of(text), original=original, original_author=whose)
            group = self.model.posts[original].group if original else None
            draft = replace(draft, original_group=group, images=tuple(wanted))
            _, made, job = accepted(await posts.create(self.db, draft))
            await self._die_in(job)
            identity = f"{'repost' if original else 'status'}_{made:014x}"
        else:
            images = [{"uploadId": f"upload_{one.image:014x}", "alt": one.alt} for one in wanted]
            identity = await (me.repost(self.ids[target], text) if target else me.post(text, images=images))
        self._made(Post(number(identity), me.login, text, original, pictures=alts), identity)

    async def _picture(self, owner: int) -> int:
        image = await self._persist(lambda: new_image(self.db, owner))
        await self._persist(lambda: make_ready(self.db, image, owner, "POST"))
        return image

    def _kept(self, login: str, original: int | None) -> str | None:
        author = self.model.posts[original].author if original else login
        group = self.model.posts[original].group if original else None
        if group and self.model.groups[group].kind == "PRIVATE":
            return "NOT_ALLOWED"
        return "NOT_ALLOWED" if author in self.model.private and author != login else None

    async def _unrepost(self) -> None:
        mine = [p for p in self.model.posts.values() if p.is_plain and not self._is_hidden(p)]
        if not mine:
            return
        post = self.lot.choice(mine)
        assert post.original is not None
        await self._look(post.author, post.id)
        self._log(f"{post.author} takes back {post.id}")
        await self._end(post, "unrepost", self.lot.choice([post.id, post.original]))

    def _is_hidden(self, repost: Post) -> bool:
        """Return whether a plain repost is out of its author's sight because its original is hidden."""
        original = repost.original or 0
        return original in self.model.hidden and self.model.posts[original].author != repost.author

    async def _delete(self) -> None:
        if post_id := self._a_post():
            await self._look(self.model.posts[post_id].author, post_id)
            self._log(f"{self.model.posts[post_id].author} deletes {post_id}")
            await self._end(self.model.posts[post_id], "deletePost", post_id)

    async def _end(self, post: Post, mutation: str, named: int) -> None:
        author = self.people[post.author]
        code = self._barring(post.author) if post.group else self._unseen(post.author, named)
        if await self._is_refused(author, mutation, code, postId=self.ids[named]):
            return
        if self._crashes():
            await self._die_in(await posts.delete(self.db, post.id, number(author.id)))
        else:
            payload = await author.do(mutation, postId=self.ids[named])
            assert self._is_accepted(payload), payload
        self.model.delete(post.id)

    async def _hide(self) -> None:
        shown = [p for p in self.model.posts.values() if not p.is_plain]
        if shown:
            await self._show(self.lot.choice(shown), hidden=True)

    async def _unhide(self) -> None:
        if self.model.hidden:
            await self._show(self.model.posts[self.lot.choice(sorted(self.model.hidden))], hidden=False)

    async def _show(self, post: Post, *, hidden: bool) -> None:
        author, mutation = self.people[post.author], "hidePost" if hidden else "unhidePost"
        self._log(f"{post.author}: {mutation} {post.id}")
        if await self._is_refused(author, mutation, self._unseen(post.author, post.id), postId=self.ids[post.id]):
            return
        if self._crashes():
            job = accepted(await posts.hide(self.db, post.id, number(author.id), hidden=hidden))
            await self._die_in(job)
        else:
            payload = await author.do(mutation, postId=self.ids[post.id])
            assert self._is_accepted(payload), payload
        (self.model.hidden.add if hidden else self.model.hidden.discard)(post.id)

    async def _absence(self) -> None:
        me = self._someone()
        self._log(f"{me.login} stays away so long that their home is let go of")
        await self._persist(lambda: self.db.one(*stored.drop_home(number(me.id))))

    async def _miss(self) -> None:
        gone = [post_id for post_id in self.ids if post_id not in self.model.posts]
        if gone:
            me, post_id = self._someone(), self.lot.choice(gone)
            mutation = self.lot.choice(["deletePost", "like", "unlike", "unrepost", "repost"])
            self._log(f"{me.login} tries to {mutation} {post_id}, which is gone")
            payload = await me.do(mutation, postId=self.ids[post_id])
            assert [error["code"] for error in payload["userErrors"]] == ["NOT_FOUND"], payload

    # ---- crashes and the worker

    async def _work(self) -> None:
        left = await self._persist(lambda: waiting(self.db))
        if left:
            job = self.lot.choice(left)
            self._log(f"the worker takes {job.kind} {job.id}")
            await self._persist(lambda: jobs.hand_over(self.db, job))
            await self._persist(self.worker.run_once)

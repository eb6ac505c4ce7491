"""Random steps through the API, each told to the model; some crash right after their commit, or a few calls later."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from store import accounts, jobs, posts, relations, timelines
from store.posts import Draft
from tests.conftest import PASSWORD, Member, sign_up
from tests.life import Life, tags_of
from tests.model import Comment, Post
from tests.work import number, waiting

MOST_MEMBERS = 7
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
}


@dataclass
class Steps(Life):
    """What may happen, each told to the model. `crash` is the share of writes that die on their way."""

    weights: Mapping[str, int] = field(default_factory=lambda: WEIGHTS)

    async def step(self) -> None:
        """Do one thing at random."""
        (name,) = self.lot.choices(list(self.weights), list(self.weights.values()))
        if len(self.people) < 3:
            name = "sign_up"
        await getattr(self, f"_{name}")()
        instant = time.time_ns() // 1_000_000
        while time.time_ns() // 1_000_000 == instant:
            pass  # what happens in one millisecond has no order across partitions

    # ---- members

    async def _sign_up(self) -> None:
        if len(self.people) == MOST_MEMBERS:
            return
        self.signed_up += 1
        login = f"m{self.signed_up - 1}"
        self._tell(f"{login} signs up")
        self.people[login] = await sign_up(self.anonymous, login)
        self.model.members.append(login)

    async def _leave(self) -> None:
        if len(self.people) <= 3:
            return
        me = self._someone()
        self._tell(f"{me.login} deletes the account")
        del self.people[me.login]
        if self._crashes():
            found = await accounts.credentials(self.db, number(me.id))
            assert found
            await self._die_in(await accounts.delete(self.db, number(me.id), found.password))
            await self.settle()  # the names of who is gone may be half free until then, and counts not yet less
        else:
            payload = await me.do("deleteAccount", "deletedUserId", password=PASSWORD)
            assert payload == {"deletedUserId": me.id, "userErrors": []}
        self.model.leave(me.login)

    async def _follow(self) -> None:
        me, others, edges = await self._edges("follows")
        if self._crashes():
            job, _ = await relations.follow(self.db, number(me.id), [number(other.id) for other in others])
            await self._die_in(job, edges)
        else:
            await me.follow(*others)
        for other in others:
            self.model.follow(me.login, other.login)

    async def _unfollow(self) -> None:
        me, others, edges = await self._edges("unfollows")
        if self._crashes():
            job = await relations.unfollow(self.db, number(me.id), [number(other.id) for other in others])
            await self._die_in(job, edges)
        else:
            await me.unfollow(*others)
        for other in others:
            self.model.unfollow(me.login, other.login)

    async def _remove_followers(self) -> None:
        me, others, edges = await self._edges("removes the followers", inward=True)
        if self._crashes():
            job = await relations.remove_followers(self.db, number(me.id), [number(other.id) for other in others])
            await self._die_in(job, edges)
        else:
            payload = await me.do("removeFollowers", userIds=[other.id for other in others])
            assert not payload["userErrors"], payload
        for other in others:
            self.model.unfollow(other.login, me.login)

    async def _edges(self, verb: str, *, inward: bool = False) -> tuple[Member, list[Member], set[tuple[str, str]]]:
        me = self._someone()
        others = [member for member in self.people.values() if member is not me]
        others = self.lot.sample(others, self.lot.randint(1, min(3, len(others))))
        edges = {(o.login, me.login) if inward else (me.login, o.login) for o in others}
        if edges & self.half:
            await self.settle()  # the two sides differ until then, and either may be asked first
        self._tell(f"{me.login} {verb} {' '.join(other.login for other in others)}")
        return me, others, edges

    # ---- posts

    async def _post(self) -> None:
        await self._publish("posts", None, self._words())

    async def _quote(self) -> None:
        if target := self._a_post():
            await self._publish(f"quotes {target}", target, self._words())

    async def _repost(self) -> None:
        if target := self._a_post():
            await self._publish(f"reposts {target}", target, "")

    async def _reply(self) -> None:
        if not (target := self._a_post()):
            return
        me, text, answered = self._someone(), self._words(), self.model.posts[self.model.stands_for(target)]
        root = answered.root or answered.id
        self._tell(f"{me.login} answers {target}")
        if self._crashes():
            whose = number(self.people[answered.author].id)
            place = Draft(number(me.id), text, reply_to=answered.id, reply_to_author=whose, root=root)
            draft = replace(place, hashtags=tags_of(text))
            _, made, job = await posts.create(self.db, draft)
            await self._die_in(job)
        else:
            made = number(await me.post(text, inReplyToId=self.ids[target]))
        self._made(Post(made, me.login, text, answers=answered.id, root=root), f"status_{made:014x}")

    async def _publish(self, verb: str, target: int | None, text: str) -> None:
        me = self._someone()
        self._tell(f"{me.login} {verb}")
        original = self.model.stands_for(target) if target else None
        if self._crashes():
            whose = number(self.people[self.model.posts[original].author].id) if original else None
            draft = Draft(number(me.id), text, hashtags=tags_of(text), original=original, original_author=whose)
            _, made, job = await posts.create(self.db, draft)
            await self._die_in(job)
            identity = f"{'repost' if original else 'status'}_{made:014x}"
        else:
            identity = await (me.repost(self.ids[target], text) if target else me.post(text))
        self._made(Post(number(identity), me.login, text, original), identity)

    def _made(self, post: Post, identity: str) -> None:
        self.told[-1] += f" as {post.id}"
        self.ids[post.id] = identity
        self.model.publish(post)

    async def _unrepost(self) -> None:
        mine = [p for p in self.model.posts.values() if p.is_plain and self.model.sees(p.author, p.id)]
        if not mine:
            return
        post = self.lot.choice(mine)
        assert post.original is not None
        self._tell(f"{post.author} takes back {post.id}")
        await self._end(post, "unrepost", self.lot.choice([post.id, post.original]))

    async def _delete(self) -> None:
        if thing := self._a_post():
            self._tell(f"{self.model.posts[thing].author} deletes {thing}")
            await self._end(self.model.posts[thing], "deletePost", thing)

    async def _end(self, post: Post, mutation: str, named: int) -> None:
        author = self.people[post.author]
        if self._crashes():
            await self._die_in(await posts.delete(self.db, post.id, number(author.id)))
        else:
            payload = await author.do(mutation, postId=self.ids[named])
            assert not payload["userErrors"], payload
        self.model.delete(post.id)

    async def _hide(self) -> None:
        shown = [p for p in self.model.posts.values() if not p.is_plain]
        if shown:
            post = self.lot.choice(shown)
            self._tell(f"{post.author} hides {post.id}")
            await self._show(post, hidden=True)
            self.model.hidden.add(post.id)

    async def _unhide(self) -> None:
        if self.model.hidden:
            post = self.model.posts[self.lot.choice(sorted(self.model.hidden))]
            self._tell(f"{post.author} shows {post.id} again")
            await self._show(post, hidden=False)
            self.model.hidden.discard(post.id)

    async def _show(self, post: Post, *, hidden: bool) -> None:
        author = self.people[post.author]
        if self._crashes():
            _, job = await posts.hide(self.db, post.id, number(author.id), hidden=hidden)
            await self._die_in(job)
        else:
            payload = await author.do("hidePost" if hidden else "unhidePost", postId=self.ids[post.id])
            assert not payload["userErrors"], payload

    async def _absence(self) -> None:
        me = self._someone()
        self._tell(f"{me.login} stays away so long that their home is let go of")
        await self.db.one(*timelines.drop_home(number(me.id)))

    async def _miss(self) -> None:
        gone = [thing for thing in self.ids if thing not in self.model.posts]
        if gone:
            me, thing = self._someone(), self.lot.choice(gone)
            mutation = self.lot.choice(["deletePost", "like", "unlike", "unrepost", "repost"])
            self._tell(f"{me.login} tries to {mutation} {thing}, which is gone")
            payload = await me.do(mutation, postId=self.ids[thing])
            assert [error["code"] for error in payload["userErrors"]] == ["NOT_FOUND"], payload

    # ---- what hangs on posts

    async def _like(self) -> None:
        if thing := self._a_post():
            me = self._someone()
            self._tell(f"{me.login} likes {thing}")
            await me.do("like", postId=self.ids[thing])
            self.model.like(me.login, thing)

    async def _unlike(self) -> None:
        if self.model.likes:
            login, thing = self.lot.choice(list(self.model.likes))
            if not self.model.sees(login, thing):
                return
            self._tell(f"{login} takes the like of {thing} back")
            await self.people[login].do("unlike", postId=self.ids[thing])
            self.model.unlike(login, thing)

    async def _favourite(self) -> None:
        if thing := self._a_post():
            me = self._someone()
            self._tell(f"{me.login} favourites {thing}")
            await me.do("favourite", postId=self.ids[thing])
            self.model.favourites.setdefault((me.login, self.model.stands_for(thing)))

    async def _unfavourite(self) -> None:
        if self.model.favourites:
            login, thing = self.lot.choice(list(self.model.favourites))
            self._tell(f"{login} takes the favourite {thing} back")
            payload = await self.people[login].do("unfavourite", postId=self.ids[thing])
            assert not payload["userErrors"], payload
            del self.model.favourites[login, thing]

    async def _comment(self) -> None:
        if thing := self._a_post():
            me, text = self._someone(), self._words()
            known = [comment.id for comment in self.model.comments(thing)]
            answers = self.lot.choice(known) if known and self.lot.random() < 0.5 else None
            self._tell(f"{me.login} comments on {thing}" + (f" answering {answers}" if answers else ""))
            more = {"replyToId": f"comment_{answers:014x}"} if answers else {}
            payload = await me.do("comment", "comment { id }", postId=self.ids[thing], text=text, **more)
            made = number(payload["comment"]["id"])
            self.model.remarks[made] = Comment(made, self.model.stands_for(thing), me.login, text, answers)

    async def _delete_comment(self) -> None:
        seen = [c for c in self.model.remarks.values() if self.model.sees("anybody", c.post)]
        if seen:
            comment = self.lot.choice(seen)
            by = self.lot.choice([comment.author, self.model.posts[comment.post].author])
            self._tell(f"{by} deletes comment {comment.id}")
            payload = await self.people[by].do("deleteComment", commentId=f"comment_{comment.id:014x}")
            assert not payload["userErrors"], payload
            del self.model.remarks[comment.id]

    # ---- crashes and the worker

    async def _work(self) -> None:
        left = await waiting(self.db)
        if left:
            job = self.lot.choice(left)
            self._tell(f"the worker takes {job.kind} {job.id}")
            await jobs.hand_over(self.db, job)
            await self.worker.run_once()

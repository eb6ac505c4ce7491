"""Random steps on posts: likes, favourites and comments, and refusals of them."""

from tests.support.model.facts import Comment
from tests.support.model.relationships import RelationshipSteps
from tests.support.work import number


class Reactions(RelationshipSteps):
    """Steps on posts. Each is applied to the model too."""

    async def _like(self) -> None:
        if post_id := self._a_post():
            me = self._someone()
            await self._look(me.login, post_id)
            self._log(f"{me.login} likes {post_id}")
            if not await self._is_refused(me, "like", self._unseen(me.login, post_id), postId=self.ids[post_id]):
                await me.do("like", postId=self.ids[post_id])
                self.model.like(me.login, post_id)

    async def _unlike(self) -> None:
        if self.model.likes:
            login, post_id = self.lot.choice(list(self.model.likes))
            me = self.people[login]
            await self._look(login, post_id)
            self._log(f"{login} takes the like of {post_id} back")
            if not await self._is_refused(me, "unlike", self._unseen(login, post_id), postId=self.ids[post_id]):
                await me.do("unlike", postId=self.ids[post_id])
                self.model.unlike(login, post_id)

    async def _favourite(self) -> None:
        if post_id := self._a_post():
            me = self._someone()
            await self._look(me.login, post_id)
            self._log(f"{me.login} favourites {post_id}")
            if not await self._is_refused(me, "favourite", self._unseen(me.login, post_id), postId=self.ids[post_id]):
                await me.do("favourite", postId=self.ids[post_id])
                self.model.favourites.setdefault((me.login, self.model.target_of(post_id)))

    async def _unfavourite(self) -> None:
        if self.model.favourites:
            login, post_id = self.lot.choice(list(self.model.favourites))
            me = self.people[login]
            self._log(f"{login} takes the favourite {post_id} back, seen or not")
            if not await self._is_refused(me, "unfavourite", self._barring(login), postId=self.ids[post_id]):
                payload = await me.do("unfavourite", postId=self.ids[post_id])
                assert self._is_accepted(payload), payload
                del self.model.favourites[login, post_id]

    async def _pin(self) -> None:
        if own := list(self.model.posts.values()):
            post = self.lot.choice(own)
            me, is_pinned = self.people[post.author], self.model.pins.get(post.author) == post.id
            self._log(f"{post.author} pins {post.id}")
            barred = "NOT_ALLOWED" if post.is_plain or (post.id in self.model.hidden and not is_pinned) else None
            await self._look(post.author, post.id)
            code = self._unseen(post.author, post.id) or barred
            if not await self._is_refused(me, "pinPost", code, postId=self.ids[post.id]):
                payload = await me.do("pinPost", postId=self.ids[post.id])
                assert self._is_accepted(payload), payload
                self.model.pins[post.author] = post.id

    async def _unpin(self) -> None:
        if self.model.pins:
            login, post_id = self.lot.choice(list(self.model.pins.items()))
            self._log(f"{login} unpins {post_id}")
            if not await self._is_refused(
                self.people[login], "unpinPost", self._barring(login), postId=self.ids[post_id]
            ):
                payload = await self.people[login].do("unpinPost", postId=self.ids[post_id])
                assert self._is_accepted(payload), payload
                del self.model.pins[login]

    async def _comment(self) -> None:
        if post_id := self._a_post():
            me, text = self._someone(), self._words()
            known = [comment.id for comment in self.model.comments(post_id)]
            answers = self.lot.choice(known) if known and self.lot.random() < 0.5 else None
            await self._look(me.login, post_id)
            code = self._unseen(me.login, post_id) or self._left_out(me.login, post_id)
            fields = {"postId": self.ids[post_id], "text": text}
            if answers:
                await self._meet(me.login, self.model.remarks[answers].author)
                code = code or self._unseen_comment(me.login, answers)
                fields["replyToId"] = f"comment_{answers:014x}"
            self._log(f"{me.login} comments on {post_id}" + (f" answering {answers}" if answers else ""))
            if not await self._is_refused(me, "comment", code, **fields):
                payload = await me.do("comment", "comment { id }", **fields)
                made = number(payload["comment"]["id"])
                self.model.remarks[made] = Comment(made, self.model.target_of(post_id), me.login, text, answers)

    async def _delete_comment(self) -> None:
        shown = [c for c in self.model.remarks.values() if c.post not in self.model.hidden]
        if shown:
            comment = self.lot.choice(shown)
            author = self.model.posts[comment.post].author
            by = self.people[self.lot.choice([comment.author, author])]
            await self._meet(by.login, comment.author, author)
            self._log(f"{by.login} deletes comment {comment.id}")
            code = self._unseen(by.login, comment.post) or self._unseen_comment(by.login, comment.id)
            fields = {"commentId": f"comment_{comment.id:014x}"}
            if not await self._is_refused(by, "deleteComment", code, **fields):
                payload = await by.do("deleteComment", **fields)
                assert self._is_accepted(payload), payload
                del self.model.remarks[comment.id]

    # ---- refusals

    async def _look(self, login: str, post_id: int | None) -> None:
        """Check that a member sees a post as the model says."""
        if post_id:
            found = self.model.posts
            await self._meet(login, found[post_id].author, found[self.model.target_of(post_id)].author)

    def _unseen(self, login: str, post_id: int) -> str | None:
        """Return the error code for a member who may not act, or does not see a post."""
        return self._barring(login) or (None if self.model.sees(login, post_id) else "NOT_FOUND")

    def _left_out(self, login: str, post_id: int) -> str | None:
        """Return the error code for a member who is not in a post's group."""
        group = self.model.posts[self.model.target_of(post_id)].group
        return "NOT_ALLOWED" if group and login not in self.model.groups[group].joined else None

    def _unseen_comment(self, login: str, comment: int) -> str | None:
        return None if self.model.sees_comment(login, comment) else "NOT_FOUND"

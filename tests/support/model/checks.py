"""Comparisons of everything that the API answers with what the model says."""

from collections.abc import Iterable
from typing import Any

from resolvers.timelines import UNREAD_SEEN
from resolvers.upkeep import verify
from store.homes import stored as homes
from tests.support.exports.archives import export
from tests.support.home_pages import place
from tests.support.model.facts import Comment, home
from tests.support.model.life import TAGS
from tests.support.model.steps import Steps
from tests.support.people import Member
from tests.support.work import number

ALL = 1000  # more entries than any list here has
FRAGMENTS = """
fragment facts on Post {
  id text images { alt } hashtags likeCount repostCount quoteCount commentCount replyCount author { login }
  viewerHasLiked viewerHasReposted viewerHasFavourited
  ... on Repost { original { id } }
  ... on Status { inReplyTo { id } conversation(first: 100) { nodes { id } } }
  replies(first: 100) { nodes { id } }
  likedBy(first: 100) { nodes { login } }
  reposts(first: 100) { nodes { id } }
  quotes(first: 100) { nodes { id } }
  comments(first: 100) { nodes { id text author { login } replyTo { id } } }
}
"""
HOME = """
{ homeTimeline(first: 1000) {
    edges { cursor repostedByCount repostedBy(first: 100) { user { login } } node { ... on Node { id } } }
    pageInfo { hasNextPage } } }
"""
MEMBER = (
    FRAGMENTS
    + """
query($login: String!) { user(login: $login) {
    isPrivate isSuspended viewerHasRequestedFollow viewerHasBlocked viewerHasMuted
    followerCount followingCount postCount pinnedPost { id } viewerIsFollowing isFollowingViewer isMutual
    followers(first: 1000) { nodes { login } } following(first: 1000) { nodes { login } }
    timeline(first: 1000) { edges { cursor repostedByCount node { ...facts } } } } }
"""
)
OWN = """
{ viewer { followRequests(first: 100) { nodes { login } }
  blocked(first: 100) { nodes { login } } muted(first: 100) { nodes { login } }
  favourites(first: 1000) { nodes { id } } } }
"""
SITE = """
{ publicTimeline(first: 1000) { edges { cursor node { ... on Node { id } } } }
  tea: hashtag(name: "tea") { postCount timeline(first: 1000) { nodes { ... on Node { id } } } }
  rain: hashtag(name: "rain") { postCount timeline(first: 1000) { nodes { ... on Node { id } } } }
  cats: hashtag(name: "cats") { postCount timeline(first: 1000) { nodes { ... on Node { id } } } } }
"""
PAGE = "{ edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }"
BOTH_WAYS = "($first: Int, $after: String, $last: Int, $before: String)"
SPAN = "(first: $first, after: $after, last: $last, before: $before)"
FORWARD = "($first: Int, $after: String)"
PAGED = {
    "home": f"query{BOTH_WAYS} {{ homeTimeline{SPAN} {PAGE} }}",
    "public": f"query{BOTH_WAYS} {{ publicTimeline{SPAN} {PAGE} }}",
    "hashtag": f'query{BOTH_WAYS} {{ hashtag(name: "tea") {{ timeline{SPAN} {PAGE} }} }}',
    "profile": f"query{BOTH_WAYS} {{ viewer {{ user {{ timeline{SPAN} {PAGE} }} }} }}",
    "followers": f"query{FORWARD} {{ viewer {{ user {{ followers(first: $first, after: $after) {PAGE} }} }} }}",
    "following": f"query{FORWARD} {{ viewer {{ user {{ following(first: $first, after: $after) {PAGE} }} }} }}",
}


class Checks(Steps):
    """Compares the API's answers with the model's."""

    async def check(self) -> None:
        """Compare every list and count that the API answers."""
        for login in self.people:
            await self._check_home(login)
            await self._check_own(login)
            await self.check_talks(login)
            await self.check_groups(login)
            await self._check_member(login, self.lot.choice([*self.people.values()]))
        await self._check_export(self._someone())
        await self.check_moderation()
        await self._check_site(self.anonymous)
        await self._check_site(self.lot.choice([*self.people.values()]))
        await self.check_pages(self.lot.choice(list(PAGED)), self.lot.randint(1, 5))
        report = await verify.verify(self.db, homes=None, seed=0, progress=lambda _: None)
        self.same("findings", report.findings, [])

    async def _check_home(self, login: str) -> None:
        answer = await self.people[login].ask(HOME)
        got = [
            (
                number(edge["node"]["id"]),
                place(edge["cursor"]),
                edge["repostedByCount"],
                [source["user"]["login"] for source in edge["repostedBy"]],
            )
            for edge in answer["edges"]
        ]
        wanted = [(line.post, line.place, len(line.sources), [*line.sources]) for line in self.model.home(login)]
        self.same(f"home of {login}", got, wanted)
        self.same(f"home of {login} goes on", answer["pageInfo"]["hasNextPage"], wanted=False)
        await self._check_unread(login)
        # Stored homes depend on follows alone: posts invisible now may become visible again.
        stored = [(e.entity, e.place) for e in await homes.home(self.db, number(self.people[login].id))]
        whole = home(login, self.model.following(login), self.model.posts.values(), self.model.lift)
        self.same(f"stored home of {login}", stored, [(line.post, line.place) for line in whole])

    async def _check_unread(self, login: str) -> None:
        """Compare the number of unread entries, as long as all of them are looked at one by one."""
        posts = self.model.posts
        if len(home(login, self.model.following(login), posts.values(), self.model.lift)) <= UNREAD_SEEN:
            others = sum(posts[line.post].author != login for line in self.model.home(login))
            unread = (await self.people[login].ask("{ viewer { homeUnreadCount } }"))["homeUnreadCount"]
            self.same(f"unread entries at home of {login}", unread, others)

    async def _check_own(self, login: str) -> None:
        answer = await self.people[login].ask(OWN)
        lists = (self.model.asking(login), self.model.blocked(login), self.model.muted(login))
        wanted = {
            name: {"nodes": [{"login": other} for other in others]}
            for name, others in zip(("followRequests", "blocked", "muted"), lists, strict=True)
        }
        wanted["favourites"] = self._nodes(self.model.kept_by(login))
        self.same(f"lists of {login}", answer, wanted)

    async def _check_member(self, login: str, viewer: Member) -> None:
        answer = await viewer.ask(MEMBER, login=login)
        self.same(f"{viewer.login} meets {login}", answer is not None, self.model.meets(viewer.login, login))
        if answer is None:
            return
        timeline = answer.pop("timeline")["edges"]
        pair = (viewer.login, login)
        follows, follows_back = pair in self.model.follows, pair[::-1] in self.model.follows
        followers, following = self.model.followers(login, viewer.login), self.model.following(login, viewer.login)
        wanted = {
            "isPrivate": login in self.model.private,
            "isSuspended": login in self.model.suspended,
            "viewerHasRequestedFollow": pair in self.model.requests,
            "viewerHasBlocked": pair in self.model.blocks,
            "viewerHasMuted": pair in self.model.mutes,
            "followerCount": len(self.model.followers(login)),
            "followingCount": len(self.model.following(login)),
            "postCount": len(self.model.profile(login)),
            "pinnedPost": self._pinned(login, viewer.login),
            "viewerIsFollowing": follows,
            "isFollowingViewer": follows_back,
            "isMutual": follows and follows_back,
            "followers": {"nodes": [{"login": other} for other in followers]},
            "following": {"nodes": [{"login": other} for other in following]},
        }
        self.same(f"{login} as {viewer.login} sees them", answer, wanted)
        ids = [(number(edge["node"]["id"]), place(edge["cursor"]), edge["repostedByCount"]) for edge in timeline]
        wanted_ids = [(post, post, 0) for post in self.model.profile(login, viewer.login)]
        self.same(f"profile of {login}", ids, wanted_ids)
        for edge in timeline:
            self.same("a post", edge["node"], self._facts(number(edge["node"]["id"]), viewer))

    async def _check_export(self, member: Member) -> None:
        if self.is_disturbed:
            return  # a link is not asked for again
        login, found = member.login, await export(member)
        own, model = {entry["id"]: entry for entry in found.entries("posts")}, self.model
        mine = sorted(post.id for post in model.posts.values() if post.author == login)
        self.same(f"posts exported by {login}", [*own], [self.ids[post] for post in mine])
        hidden = {post for post, entry in own.items() if entry["isHidden"]}
        self.same(
            f"hidden posts exported by {login}", hidden, {self.ids[post] for post in mine if post in model.hidden}
        )
        shown = {entry["original"]["id"] for entry in own.values() if "text" in (entry.get("original") or {})}
        originals = {post.original for post in map(model.posts.__getitem__, mine) if post.original}
        self.same(f"originals exported by {login}", shown, {self.ids[o] for o in originals if model.sees(login, o)})
        for section, wanted in (
            ("following", [other for other in model.following(login) if model.meets(login, other)]),
            ("followers", [other for other in model.followers(login) if model.meets(login, other)]),
            ("follow-requests", model.asking(login)),
            ("blocked", model.blocked(login)),
            ("muted", model.muted(login)),
        ):
            names = [entry["member"]["login"] for entry in found.entries(section)]
            self.same(f"{section} exported by {login}", names, wanted[::-1])
        kept = [entry["post"]["id"] for entry in found.entries("favourites")]
        self.same(f"favourites exported by {login}", kept, [self.ids[post] for post in model.kept_by(login)][::-1])

    def _pinned(self, login: str, viewer: str) -> dict[str, str] | None:
        pinned = self.model.pins.get(login)
        return {"id": self.ids[pinned]} if pinned and self.model.sees(viewer, pinned) else None

    def _facts(self, post_id: int, viewer: Member) -> dict[str, Any]:
        model, me = self.model, viewer.login
        post, target = model.posts[post_id], model.target_of(post_id)
        reposts, quotes = (model.passed_on(post_id, plain=plain, viewer=me) for plain in (True, False))
        facts = {
            "id": self.ids[post_id],
            "text": post.text,
            "images": [{"alt": alt} for alt in post.pictures],
            "hashtags": post.tags,
            "likeCount": len(model.liked_by(post_id)),
            "repostCount": len(model.passed_on(post_id, plain=True)),
            "quoteCount": len(model.passed_on(post_id, plain=False)),
            "commentCount": len(model.comments(post_id)),
            "replyCount": len(model.replies(post_id)),
            "viewerHasLiked": me in model.liked_by(post_id),
            "viewerHasReposted": model.repost_of(me, target) is not None,
            "viewerHasFavourited": (me, target) in model.favourites,
            "author": {"login": post.author},
            "replies": self._nodes(model.replies(post_id, me)),
            "likedBy": {"nodes": [{"login": member} for member in model.liked_by(post_id, me)]},
            "reposts": self._nodes(reposts),
            "quotes": self._nodes(quotes),
            "comments": {"nodes": [self._remark(comment, me) for comment in model.comments(post_id, me)]},
        }
        if post.original:
            facts["original"] = self._seen(post.original, me)
        else:
            facts["inReplyTo"] = self._seen(post.answers, me)
            facts["conversation"] = self._nodes(model.conversation(post_id, me))
        return facts

    def _nodes(self, ids: Iterable[int]) -> dict[str, Any]:
        return {"nodes": [{"id": self.ids[post_id]} for post_id in ids]}

    def _seen(self, post_id: int | None, viewer: str) -> dict[str, Any] | None:
        return {"id": self.ids[post_id]} if post_id and self.model.sees(viewer, post_id) else None

    def _remark(self, comment: Comment, viewer: str) -> dict[str, Any]:
        sees = self.model.sees_comment(viewer, comment.answers)
        return {
            "id": f"comment_{comment.id:014x}",
            "text": comment.text,
            "author": {"login": comment.author},
            "replyTo": {"id": f"comment_{comment.answers:014x}"} if sees else None,
        }

    async def _check_site(self, viewer: Member) -> None:
        answer = await viewer.ask(SITE)
        public = [(number(edge["node"]["id"]), place(edge["cursor"])) for edge in answer["publicTimeline"]["edges"]]
        self.same(f"public for {viewer.login}", public, [(post, post) for post in self.model.public(viewer.login)])
        for tag in TAGS:
            count, nodes = len(self.model.tagged(tag)), self._nodes(self.model.tagged(tag, viewer.login))
            wanted = {"postCount": count, "timeline": nodes} if count else None
            self.same(f"#{tag} for {viewer.login}", answer[tag], wanted)

    async def check_pages(self, name: str, size: int) -> None:
        """Compare a list read in pages, either way, with the whole list."""
        member = self._someone()
        whole = await self._page(member, name, first=ALL)
        if whole is None:
            return  # a hashtag that no post has
        cursors = [edge["cursor"] for edge in whole["edges"]]
        self.same(f"{name}: newest first", sorted(cursors, key=place, reverse=True), cursors)
        sizes = [size] * (len(cursors) // size) + [len(cursors) % size] * (len(cursors) % size > 0)
        for forward in (True, False) if "$last" in PAGED[name] else (True,):
            what = f"{name} of {member.login} in pages of {size}, {forward=}"
            pages = await self._walk(member, name, size, forward=forward)
            if not self.model.filters:  # entries that are filtered out still take a place in their page
                self.same(f"{what}: lengths", [len(page) for page in pages], sizes or [0])
            joined = pages if forward else pages[::-1]
            self.same(what, [cursor for page in joined for cursor in page], cursors)

    async def _walk(self, member: Member, name: str, size: int, *, forward: bool) -> list[list[str]]:
        pages: list[list[str]] = []
        cursor = None
        while True:
            span = {"first": size, "after": cursor} if forward else {"last": size, "before": cursor}
            page = await self._page(member, name, **span)
            pages.append([edge["cursor"] for edge in page["edges"]])
            info = page["pageInfo"]
            more, behind = info["hasNextPage"], info["hasPreviousPage"]
            if not forward:
                more, behind = behind, more
            self.same(f"{name}, page {len(pages)}: something lies behind it", behind, bool(cursor))
            if not more:
                return pages
            cursor = info["endCursor" if forward else "startCursor"]

    async def _page(self, member: Member, name: str, **span: Any) -> Any:
        answer = await member.ask(PAGED[name], **span)
        while answer is not None and "edges" not in answer:
            answer = next(iter(answer.values()))
        return answer

"""A small site before a change, and the checks that must hold after any change."""

from dataclasses import dataclass

from resolvers.upkeep import verify
from store import follows, posts, timelines
from store.client.database import Database
from store.homes import bounds, stored
from store.posts import PostDraft
from store.records.jobs import Job
from store.refusals import accepted
from tests.support.model import facts as model
from tests.support.people import Member, sign_up
from tests.support.work import number

NAMES = ("ann", "ben", "cat", "dan")


@dataclass(frozen=True)
class Scene:
    """Ann reads; cat writes; ben and dan repost what cat writes."""

    ann: int
    ben: int
    cat: int
    dan: int
    post: int  # A post by cat, reposted by ben, then by dan.
    bens: int  # Its repost by ben.
    word: int  # A post by ben.
    news: Job  # The delivery, not yet begun, of a post that cat has just committed.
    echo: Job  # The same for ben's repost of a post by cat, of which nothing else is done yet.
    echoed: int

    @property
    def members(self) -> list[int]:
        return [self.ann, self.ben, self.cat, self.dan]


async def scene(db: Database, anonymous: Member, followed: set[str]) -> Scene:
    """Return the site, on which ann follows some of the others."""
    members = {name: await sign_up(anonymous, name) for name in NAMES}
    ann, ben, cat, dan = members.values()
    await dan.follow(ben, cat)
    await ben.follow(cat, ann)
    for name in sorted(followed):
        await ann.follow(members[name])
    post = await cat.post("the post #tea")
    bens = await ben.repost(post)
    await dan.repost(post)
    for member in (ann, ben):
        await member.do("like", postId=post)
        await member.do("comment", postId=post, text="a remark")
    await dan.repost(post, "a quote #tea")
    word = await ben.post("a word")
    echoed = number(await cat.post("a cry"))
    draft = PostDraft(number(cat.id), "news #tea", hashtags=("tea",))
    _, _, news = accepted(await posts.create(db, draft))
    _, _, echo = accepted(
        await posts.create(db, PostDraft(number(ben.id), "", original=echoed, original_author=number(cat.id)))
    )
    assert news
    assert echo
    return Scene(
        ann=number(ann.id),
        ben=number(ben.id),
        cat=number(cat.id),
        dan=number(dan.id),
        post=number(post),
        bens=number(bens),
        word=number(word),
        news=news,
        echo=echo,
        echoed=echoed,
    )


async def assert_agreed(db: Database, members: list[int]) -> None:
    """Assert that every count, list and edge is right on both sides, and every home is what rule 3 computes."""
    report = await verify.verify(db, homes=None, seed=0, progress=lambda _: None)
    assert report.clean, report.findings
    facts = [
        model.Post(entry.id, str(member), "" if entry.original else "words", entry.original)
        for member in members
        for entry in await timelines.published(db, member, below=None, above=0, count=1000)
    ]
    for member in members:
        following = [str(followed) for followed in await follows.following(db, member)]
        lines = model.home(str(member), following, facts, bounds.lift(db))
        wanted = [(line.post, line.place) for line in lines]
        assert [(entry.entity, entry.place) for entry in await stored.home(db, member)] == wanted

"""Small communities in one store, each with as many kinds of keys as members can make, and nothing of another."""

from dataclasses import dataclass

from resolvers import accounts
from resolvers.homes import build
from resolvers.jobs.worker import Worker
from store.client.database import Database
from store.credentials.records import Role
from store.pictures import uploads
from tests.support import conversations, groups
from tests.support.moderation.acts import report, resolve
from tests.support.people import Member, make_private, sign_up
from tests.support.pictures import pictures, ready_picture
from tests.support.promoting import promote
from tests.support.stored import find
from tests.support.work import number, work_off


@dataclass(frozen=True)
class Village:
    """The keys that a community has made, those of the whole site left out."""

    keys: frozenset[str]


async def settle(db: Database, anonymous: Member, worker: Worker, name: str) -> Village:
    """Add a community whose logins and hashtags end in a name."""
    before = set(await find(db))
    people = [await sign_up(anonymous, f"{one}{name}") for one in ("ann", "ben", "cat", "dan", "fay", "gus")]
    ann, ben, cat, dan, fay, gus = people
    assert await accounts.set_role(db, dan.login, Role.MODERATOR)
    assert await accounts.set_role(db, gus.login, Role.ADMIN)
    word = await _write(ann, ben, cat, dan, fay, name)
    await work_off(db, worker)  # by now, cat is a big author
    await cat.repost(word)
    await _attach(db, ann, ben)
    await _talk(ann, ben, cat)
    await _gather(ann, ben, cat, dan, gus)
    await _moderate(ann, ben, cat, dan)
    await promote(gus, ben)
    await work_off(db, worker)
    for member in people:
        await build.rebuild(db, number(member.id))
    await ben.post("what waits to be added to homes")
    return Village(frozenset(set(await find(db)) - before))


async def _write(ann: Member, ben: Member, cat: Member, dan: Member, fay: Member, name: str) -> str:
    """Have members follow, post, repost, answer and like. Three follow cat, who is a big author by that.

    Returns a post of dan's.
    """
    tag = f"#tea{name}"
    await ann.follow(ben, cat, dan)
    await ben.follow(cat, ann)
    await dan.follow(cat)
    post = await cat.post(f"the post {tag} @ann{name}", location={"latitude": 1.5, "longitude": 2})
    await ben.repost(post)
    await dan.repost(post, f"a quote {tag}")
    for member in (ann, ben):
        await member.do("like", postId=post)
    await ben.do("unlike", postId=post)
    await ann.do("favourite", postId=post)
    await ann.do("comment", postId=post, text=f"a remark @ben{name}")
    word = await dan.post(f"a word {tag}")
    await ann.do("like", postId=word)
    reply = await dan.post("a reply", inReplyToId=post)
    for step in ("like", "unlike"):
        await ben.do(step, postId=reply)
    await ben.post("an answer", inReplyToId=reply)
    await ben.do("pinPost", postId=await ben.post("pinned"))
    await ben.do("hidePost", postId=await ben.post(f"hidden {tag}"))
    await make_private(fay)
    await fay.post("a secret")
    await ben.follow(fay)
    await fay.do("block", userIds=[dan.id])
    await ann.do("mute", userIds=[fay.id])
    page = await ben.ask("{ homeTimeline(first: 1) { edges { cursor } } }")
    await ben.do("markHomeRead", cursor=page["edges"][0]["cursor"])
    await cat.do("markNotificationsRead")
    await fay.do("updateProfile", login=f"eve{name}")
    return word


async def _attach(db: Database, ann: Member, ben: Member) -> None:
    await ann.do("updateProfile", avatar={"uploadId": await ready_picture(db, ann, "AVATAR")})
    await ann.post("a picture", images=await pictures(db, ann, 1))
    waiting = await uploads.read(db, number(await ready_picture(db, ann)))
    assert waiting
    await uploads.begin(db, waiting, most=0)
    talk = await conversations.start(ann, ben)
    shown = await conversations.write(ann, talk, "", images=await pictures(db, ann, 1, "MESSAGE"))
    await report(ben, shown)


async def _talk(ann: Member, ben: Member, cat: Member) -> None:
    talk = await conversations.start(ann, ben, cat)
    await conversations.mark_read(ben, talk)
    for member in (ben, ann):
        await conversations.write(member, talk)
    await conversations.delete(ann, await conversations.write(ann, talk))


async def _gather(ann: Member, ben: Member, cat: Member, dan: Member, gus: Member) -> None:
    group, club = await groups.create(ann), await groups.create(ben, "PRIVATE")
    await groups.join(group, ben, cat)
    await groups.give(ann, group, ben, "MODERATOR")
    await groups.join(club, cat)
    await groups.act(ben, "inviteToGroup", club, dan)
    await groups.act(ann, "banGroupMembers", group, gus)
    note = await ben.post("a note", groupId=group)
    await cat.repost(note)


async def _moderate(ann: Member, ben: Member, cat: Member, dan: Member) -> None:
    await report(ann, ben.id)
    await resolve(dan, await report(cat, ann.id), "DISMISS")
    await dan.do("deletePost", postId=await ben.post("spam"))

"""`verify` finds every broken invariant, by name; `repair` restores it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from resolvers import accounts
from resolvers.homes import build
from resolvers.jobs import dispatch
from resolvers.upkeep import verify
from resolvers.upkeep.verify import VerifyReport
from store import jobs, keys, posts
from store.client.database import Database
from store.credentials.records import Role
from store.homes import stored
from store.keys.fields import ReportField
from store.posts import PostDraft
from store.refusals import accepted
from store.settings import Settings
from store.upkeep import scanning
from tests.support import conversations, groups
from tests.support.damage.conversation_damages import CONVERSATIONS
from tests.support.damage.damages import BEYOND_REPAIR, MENDABLE
from tests.support.damage.group_damages import GROUPS
from tests.support.damage.mail_damages import MAILS
from tests.support.damage.moderation_damages import CHANGED_LOG, MODERATION
from tests.support.damage.post_damages import POSTS
from tests.support.damage.relationship_damages import RELATIONSHIPS
from tests.support.damage.site import Damage, Site, look
from tests.support.exports.damages import EXPORTS
from tests.support.moderation.acts import LOG, resolve
from tests.support.moderation.acts import report as file_report
from tests.support.people import Member, sign_up
from tests.support.stored import exist
from tests.support.work import Photo, dump, number, photograph, put_back

DAMAGES = [*MENDABLE, *POSTS, *RELATIONSHIPS, *CONVERSATIONS, *GROUPS, *EXPORTS, *MODERATION, *MAILS]
ROUNDS = 4  # of repair: one may reveal another finding


@pytest.fixture(scope="module")
def kept() -> list[tuple[Site, Photo]]:
    """The undamaged site, once a test has made it."""
    return []


@pytest.fixture
async def site(anonymous: Member, db: Database, kept: list[tuple[Site, Photo]]) -> Site:
    """A small site with one entity of each kind, and an empty buffer `newest`. It is made once, and put back after."""
    if not kept:
        kept.append((await _make(anonymous, db), await photograph(db)))
    site, photo = kept[0]
    await put_back(db, photo)
    return site


async def _make(anonymous: Member, db: Database) -> Site:
    ann, ben, cat, dan, fay = [await sign_up(anonymous, name) for name in ("ann", "ben", "cat", "dan", "fay")]
    await ann.follow(ben)
    await ben.follow(cat, ann)
    post = await cat.post("the post #tea")
    repost, quote = await ben.repost(post), await dan.repost(post, "a quote")
    await ann.do("like", postId=post)
    await ann.do("favourite", postId=post)
    comment = (await ann.do("comment", "comment { id }", postId=post, text="a remark"))["comment"]["id"]
    for name in ("one", "two"):
        await ann.post(f"{name} @cat")
    word = await ben.post("a word")
    reply = await dan.post("a reply", inReplyToId=post)
    answer = await ben.post("an answer", inReplyToId=reply)
    await fay.do("updateProfile", isPrivate=True)
    secret = await fay.post("a secret #tea")
    await ben.follow(fay)
    await fay.do("block", userIds=[dan.id])
    talk = await conversations.start(ann, ben, cat)
    await conversations.mark_read(ben, talk)
    talked = [talk, *[await conversations.write(member, talk) for member in (ben, ann)]]
    await conversations.delete(ann, await conversations.write(ann, talk))
    ids = [ann.id, ben.id, cat.id, dan.id, fay.id, post, repost, quote, comment, word, reply, answer, secret, *talked]
    group, club = await groups.create(ann), await groups.create(ben, "PRIVATE")
    await groups.join(group, ben)
    await groups.join(club, cat)
    await groups.act(ben, "inviteToGroup", club, dan)
    note = await ben.post("a note", groupId=group)
    ids += [group, note, await cat.repost(note), club]
    await db.ask(*(stored.trim_home(db, number(member.id)) for member in (ann, ben)))
    return Site(*map(number, ids), *await _moderated(db, ann, ben, cat, dan))


async def _moderated(db: Database, ann: Member, ben: Member, cat: Member, dan: Member) -> list[int]:
    """Have reports filed and one dismissed, and a post deleted; return report, case, resolved case and both acts."""
    assert await accounts.set_role(db, "dan", Role.MODERATOR)
    open_one, settled = await file_report(ann, ben.id), await file_report(cat, ann.id)
    await resolve(dan, settled, "DISMISS")
    await dan.do("deletePost", postId=await ben.post("spam"))
    cases = await db.ask(*(("HGET", keys.report(number(one)), ReportField.CASE) for one in (open_one, settled)))
    removal, act = [number(one["id"]) for one in (await dan.ask(LOG, first=2))["nodes"]]
    return [number(open_one), *map(int, cases), act, removal]


async def mended(db: Database) -> VerifyReport:
    """Return the findings that are left after all repairs."""
    report = await look(db)
    for _ in range(ROUNDS):
        if not await verify.repair(db, report.findings):
            break
        report = await look(db)
    return report


async def notified(db: Database) -> dict[str, object]:
    """Return the members' notifications and withdrawals."""
    return {key: held for key, held in (await dump(db)).items() if "notification" in key}


async def test_a_healthy_site(db: Database, site: Site) -> None:
    """Nothing is found on an undamaged site, and every home is checked."""
    report = await look(db)
    assert report == VerifyReport([], await scanning.count(db), 5, 0, 0)
    assert report.clean


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda d: d.name)
async def test_what_can_be_mended(db: Database, site: Site, damage: Damage) -> None:
    """A finding names the damaged key, and after the repair nothing is found."""
    await db.ask(*damage.commands(site))
    report = await look(db)
    assert damage.key(site) in {finding.key for finding in report.findings}
    assert all(finding.message for finding in report.findings)
    assert not report.clean
    report = await mended(db)
    assert report.clean, report.findings


@pytest.mark.parametrize("damage", RELATIONSHIPS, ids=lambda d: d.name)
async def test_repairs_notify_nobody(db: Database, site: Site, damage: Damage) -> None:
    """A repaired follow, request or block notifies nobody and withdraws nothing."""
    await db.ask(*damage.commands(site))
    before = await notified(db)
    assert before
    assert (await mended(db)).clean
    assert await notified(db) == before


@pytest.mark.parametrize("damage", [*BEYOND_REPAIR, *CHANGED_LOG], ids=lambda d: d.name)
async def test_what_cannot_be_mended(db: Database, site: Site, damage: Damage) -> None:
    """A finding names the damaged key; repair leaves cases that a person has to decide."""
    await db.ask(*damage.commands(site))
    assert damage.key(site) in {finding.key for finding in (await look(db)).findings}
    assert {finding.key for finding in (await mended(db)).findings} == {damage.key(site)}


TOO_MANY: list[tuple[dict[str, int], Callable[[Site], str], bool]] = [
    ({"home_size": 1, "home_slack": 0}, lambda s: keys.home(s.ann), True),
    ({"public_size": 1}, lambda _: keys.public(), True),
    ({"important_size": 1}, lambda _: keys.important_public(), True),
    ({"hashtag_size": 0}, lambda _: keys.hashtag("tea"), True),
    ({"max_favourites": 0}, lambda s: keys.favourites(s.ann), False),
    ({"notifications_kept": 1}, lambda s: keys.notifications(s.cat), True),
    ({"mentions_kept": 1}, lambda s: keys.mentions(s.cat), True),
    ({"max_groups": 1}, lambda s: keys.memberships(s.ben), False),
    ({"max_following": 1}, lambda s: keys.following(s.ben), False),
]


@pytest.mark.parametrize(
    ("limits", "key", "mendable"), TOO_MANY, ids=lambda v: "".join(v) if isinstance(v, dict) else ""
)
async def test_too_many_entries(
    settings: Settings, site: Site, limits: dict[str, int], key: Callable[[Site], str], *, mendable: bool
) -> None:
    """An entry beyond a lowered limit is found, and trimmed if nothing is lost by it."""
    lowered = Database(settings.redis_url, replace(settings, **limits))  # type: ignore[arg-type]
    named = {finding.key for finding in (await look(lowered)).findings if "at most" in finding.message}
    assert key(site) in named
    assert (await mended(lowered)).clean is mendable
    await lowered.close()


async def test_a_comment_of_a_gone_list(db: Database, site: Site) -> None:
    """A finding revealed by one repair is repaired by the next: a post's record is lost and its lists are left."""
    await db.one("DEL", keys.status(site.post))
    assert (await mended(db)).clean
    assert not await exist(db, keys.comment(site.comment), keys.comments(site.post), keys.likes(site.post))


async def test_unfinished_work(db: Database, site: Site) -> None:
    """Unfinished work of jobs is found, and reported with the number of jobs; once it is done nothing is found."""
    _, post, job = accepted(await posts.create(db, PostDraft(site.ben, "late", hashtags=("tea",))))
    assert job
    report = await look(db)
    assert {finding.key for finding in report.findings} == {keys.home(site.ann), keys.status(post)}
    assert all(str(post) in f"{finding.key} {finding.message}" for finding in report.findings)
    assert (report.unfinished_jobs, report.dead_jobs, report.clean) == (1, 0, False)
    await dispatch.finish(db, job)
    report = await look(db)
    assert (report.findings, report.unfinished_jobs, report.clean) == ([], 0, True)


async def test_a_dead_job(db: Database, site: Site) -> None:
    """A dead job is no finding, but the store is not clean. What the job had to do is found."""
    _, post, _ = accepted(await posts.create(db, PostDraft(site.dan, "for nobody")))
    await jobs.bury(db, post)
    report = await look(db)
    assert ({finding.key for finding in report.findings}, report.dead_jobs, report.clean) == (
        {keys.status(post)},
        1,
        False,
    )
    assert (await mended(db)).findings == []


async def test_a_repair_that_comes_too_late(db: Database, site: Site) -> None:
    """A home that changes after its check loses nothing: it is dropped, and the next read builds a new one."""
    await db.one("LREM", keys.home(site.ann), 1, site.word)
    report = await look(db)
    _, post, job = accepted(await posts.create(db, PostDraft(site.ben, "meanwhile")))
    assert job
    await dispatch.finish(db, job)
    assert await verify.repair(db, report.findings)
    assert not await db.one("EXISTS", keys.home(site.ann))
    await build.read(db, site.ann)
    assert {post, site.word} <= {entry.entity for entry in await stored.home(db, site.ann)}
    assert (await look(db)).clean


async def test_some_homes_alone(db: Database, site: Site) -> None:
    """As many homes are computed as asked for, others with another seed; the other checks cover everything."""
    reports = [await verify.verify(db, homes=1, seed=seed, progress=lambda _: None) for seed in range(8)]
    assert {report.homes for report in reports} == {1}
    await db.one("LREM", keys.home(site.ann), 1, site.word)
    reports = [await verify.verify(db, homes=1, seed=seed, progress=lambda _: None) for seed in range(12)]
    assert {report.clean for report in reports} == {True, False}

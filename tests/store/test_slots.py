"""Each command names keys of one slot, and each script uses keys of one slot, so that a cluster can execute them."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from resolvers.homes import build
from resolvers.jobs.worker import Worker, rescore
from resolvers.process.services import Services
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep import trimming, verify
from resolvers.upkeep.importing import account, network
from store import big_authors, jobs, keys, notifications, posts, promotions, search
from store.client.database import Database
from store.client.lua import SCRIPTS
from store.conversations import log as message_log
from store.embedded import attach
from store.homes import stored as homes
from store.ids import partition
from store.keys.fields import StatusField
from store.layout import hashtags, likes, versions
from store.limits import attempts
from store.mail import tokens
from store.pictures import uploads
from store.posts import PostDraft
from store.refusals import accepted
from store.settings import Settings
from tests.support import conversations, groups
from tests.support.exports.archives import Archive, export
from tests.support.grouping import Grouping
from tests.support.mails import sent, token_in
from tests.support.model.steps import Steps
from tests.support.moderation.acts import appoint, listed, logged, report, resolve
from tests.support.people import PASSWORD, Member, shrunk, sign_up
from tests.support.pictures import pictures, ready_picture, status_of
from tests.support.probes import two_factor
from tests.support.promoting import administrator, instant
from tests.support.slots import Monitor, monitored, slots_of
from tests.support.uploads import uploaded_picture
from tests.support.work import number, work_off
from tests.support.writing import SETTINGS as LIMITS_PER_HOUR

WIDE = {"deliver_to", "retract"}  # Scripts that use keys of all partitions of a node.
ONE_SERVER = {"deliver"}  # Scripts that no cluster executes.
STEPS = 450


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of this module's own, because MONITOR shows what every client does."""
    held = asyncio.run(attach.attach(tmp_path_factory.mktemp("monitored")))
    yield held.url
    asyncio.run(held.close())


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings with limits that nothing here reaches, so that writes are counted."""
    plenty = dict.fromkeys((*LIMITS_PER_HOUR, "rate_limit", "sign_ups_per_hour", "conversations_per_hour"), 1_000_000)
    return shrunk(settings, new_member_hours=0, same_text_targets=1_000, **plenty)


@pytest.fixture
async def services(settings: Settings, db: Database) -> AsyncIterator[Services]:
    made = Services(settings, Grouping(settings.redis_url, settings), settings.secret_key)
    await made.start()
    await made.pubsub.connected.wait()
    yield made
    await made.close()
    await made.db.close()


async def live(db: Database, anonymous: Member, worker: Worker) -> None:
    """Make a random site."""
    life = Steps(anonymous, db, worker, 1)
    for _ in range(STEPS):
        await life.step()
    await life.finish_jobs()


async def gather(alice: Member, bob: Member) -> None:
    """Do everything that groups allow."""
    group = await groups.create(alice, "PRIVATE")
    await groups.join(group, bob)
    await groups.act(alice, "approveGroupMembers", group, bob)
    await groups.give(alice, group, bob, "MODERATOR")
    await groups.act(alice, "removeGroupMembers", group, bob)
    await groups.let_in(alice, group, bob)
    post = await bob.post("hello", groupId=group)
    await bob.do("hidePost", postId=post)
    await bob.post("so", groupId=group)
    await bob.do("deletePost", postId=post)
    await groups.act(bob, "leaveGroup", group)
    for mutation in ("banGroupMembers", "unbanGroupMembers"):
        await groups.act(alice, mutation, group, bob)
    await groups.act(alice, "updateGroup", group, kind="PUBLIC")
    await alice.do("deleteGroup", groupId=group)


async def fill(db: Database) -> None:
    """Import a site of two members."""
    site = network.Network("two", ["ada", "eve"], {"ada": ["eve"]}, ["hello"], total=1, seed=1)
    await network.load(db, site, NO_PASSWORD)


async def restore(db: Database, found: Archive) -> None:
    """Read an export of a member who is not in the store any more."""
    with tempfile.TemporaryDirectory() as folder:
        await account.load(db, found.kept(Path(folder, "gone.zip")), NO_PASSWORD)


async def write(db: Database, alice: Member, bob: Member) -> Archive:
    """Do what the random site may leave out: pins, mentions, promotions, new secrets, scores, and a deleted account.

    Returns the export of that account.
    """
    await bob.follow(alice)
    post = await alice.post("hello @bob #tea")
    remark = await bob.do("comment", "comment { id }", postId=post, text="hello @alice")
    for mutation in ("like", "unlike", "like"):
        await bob.do(mutation, postId=post)
    for mutation in ("pinPost", "unpinPost"):
        await alice.do(mutation, postId=post)
    await db.one("ZADD", keys.rescore(partition(number(post))), 0, number(post))
    assert await rescore(db)
    await alice.do("markNotificationsRead")
    await bob.do("deleteComment", commentId=remark["comment"]["id"])
    await alice.do("deletePost", postId=post)
    admin = await administrator(db, Member(alice.client))
    about = {"sponsorId": bob.id, "subject": {"userId": bob.id}, "endsAt": instant(days=1)}
    made = await admin.do("createPromotion", "promotion { id }", **about)
    await alice.post("another")
    await db.one(*promotions.running(seed=1, count=1))
    await admin.do("endPromotion", promotionId=made["promotion"]["id"])
    fresh = await alice.do("refreshSession", "accessToken", refreshToken=alice.refresh_token)
    alice.token = fresh["accessToken"]
    await alice.do("changePassword", currentPassword=PASSWORD, newPassword="another pass phrase")
    await attempts.take_turn(db, "alice", "a network")
    gone = await sign_up(Member(alice.client), "gone")
    await gone.post("good bye")
    found = await export(gone)
    app = await two_factor.enabled(gone, db)
    await gone.do("disableTwoFactor", password=PASSWORD, code=app.code())
    await gone.do("deleteAccount", password=PASSWORD)
    return found


async def mail(services: Services, settings: Settings, anonymous: Member) -> None:
    """Reset a password by mail, and read the home."""
    carol = await sign_up(anonymous, "carol")
    await anonymous.do("requestPasswordReset", email="carol@example.org")
    token = token_in(await sent(services, settings), "carol@example.org")
    await carol.do("markHomeRead", cursor=f"home.{0:014x}")
    payload = await anonymous.do("resetPassword", token=token, newPassword="another pass phrase")
    assert payload["userErrors"] == []
    late = await sign_up(anonymous, "late")
    assert await tokens.lose_address(services.db, number(late.id), "late@example.org")


async def converse(db: Database, alice: Member, bob: Member) -> None:
    """Have a conversation, and follow it live."""
    await message_log.newest(db, number(bob.id))
    conversation = await conversations.start(alice, bob)
    message = await conversations.write(alice, conversation, "a text that is long enough to be remembered")
    await conversations.mark_read(bob, conversation)
    await conversations.delete(alice, message)
    await conversations.leave(alice, conversation)


async def picture(db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """Show pictures in a post, a profile and a message; take them away again, and leave one unattached."""
    post = await alice.post("", images=await pictures(db, alice, 2))
    await alice.do("hidePost", postId=post)
    (avatar,) = await pictures(db, alice, 1, "AVATAR")
    shown = await alice.do("updateProfile", "viewer { user { avatar { id url } } }", avatar=avatar)
    found = shown["viewer"]["user"]["avatar"]
    assert await status_of(bob, found["url"]) == 200
    await alice.do("updateImage", imageId=found["id"], alt="me")
    talk = await conversations.start(alice, bob)
    images = await pictures(db, alice, 1, "MESSAGE")
    sent = await alice.do("sendMessage", "message { id images { url } }", conversationId=talk, text="", images=images)
    assert await status_of(bob, sent["message"]["images"][0]["url"]) == 200
    await alice.do("deleteMessage", messageId=sent["message"]["id"])
    await alice.do("deletePost", postId=post)
    upload = await uploaded_picture(alice, worker)
    await db.ask(uploads.remove_command(db, number(upload), number(alice.id)))
    gone = await sign_up(Member(alice.client), "careless")
    await ready_picture(db, gone)
    await gone.do("deleteAccount", password=PASSWORD)


async def moderate(db: Database, anonymous: Member, alice: Member, bob: Member) -> None:
    """Have a post, comment, message and group reported; decide and act on each, and read the lists and the log."""
    moderator = await appoint(db, anonymous, "moderator")
    await moderator.do("deletePost", postId=await bob.post("spam"))
    post = await bob.post("hello")
    comment = (await bob.do("comment", "comment { id }", postId=post, text="so"))["comment"]["id"]
    sent = await bob.do("startConversation", "message { id }", userIds=[alice.id], text="psst")
    for subject in (post, comment, sent["message"]["id"], await groups.create(bob)):
        mine = await report(alice, subject)
        await listed(moderator)
        await resolve(moderator, mine, "DISMISS" if subject == post else "DELETE_CONTENT")
    await logged(moderator)


async def read(db: Database, bob: Member) -> None:
    """Build a home, and read it and the notifications in every way."""
    me = number(bob.id)
    await db.ask(homes.drop_home(me))
    await build.rebuild(db, me)
    stored = await homes.home(db, me)
    await db.ask(homes.places(me, [entry.entity for entry in stored]))
    after = (await bob.ask("{ homeTimeline(first: 1) { edges { cursor } } }"))["edges"][0]["cursor"]
    await bob.home(f'first: 2, after: "{after}"')
    await db.ask(notifications.unread(me), *notifications.trim(db, me))
    await notifications.changes_after(db, me, 0, 9)


async def keep_up(db: Database, worker: Worker, alice: Member) -> None:
    """Do what operators' commands do: bury, retry and discard a job, recount, trim, mend names and magnitudes."""
    me = number(alice.id)
    for again in (True, False):
        _, post, job = accepted(await posts.create(db, PostDraft(me, "hard to deliver")))
        assert job
        await jobs.bury(db, job.id)
        assert await (jobs.retry if again else jobs.discard)(db, job.id)
        await work_off(db, worker)
    await verify.recount(db, lambda _: None)
    await trimming.trim(db, lambda _: None)
    await db.ask(search.drop(0, search.entry("nobody", me)), search.update_magnitude(me))
    await big_authors.finish(db, me, "growing:1", big=True)
    await db.one("HSET", keys.status(post), StatusField.HASHTAGS, "as before")
    await hashtags.rewrite(db, [post])
    await likes.group(db, [me])
    await versions.finish_partition(db, 0, versions.NEWEST)
    await versions.finish(db, versions.NEWEST)


async def violations(db: Database, monitor: Monitor) -> list[str]:
    """Return the commands that a cluster may refuse."""
    found = []
    for one, slots in await slots_of(db, monitor.commands):
        own = {one.slot} if one.script and one.script not in WIDE else slots
        if len(slots | own) > 1:
            found.append(str(one))
    return found


async def test_one_slot(
    services: Services,
    settings: Settings,
    anonymous: Member,
    alice: Member,
    bob: Member,
    worker: Worker,
    store_url: str,
) -> None:
    """No command names keys of two slots, and every script stays in the slot of its first key."""
    db = services.db
    async with monitored(unquote(urlsplit(store_url).path)) as monitor:
        await live(db, anonymous, worker)
        await gather(alice, bob)
        found = await write(db, alice, bob)
        await picture(db, worker, alice, bob)
        await converse(db, alice, bob)
        await moderate(db, anonymous, alice, bob)
        await mail(services, settings, anonymous)
        await work_off(db, worker)
        await read(db, bob)
        await keep_up(db, worker, alice)
        await restore(db, found)
        await fill(db)
    assert monitor.scripts == set(SCRIPTS) - ONE_SERVER
    assert await violations(db, monitor) == []


@pytest.mark.parametrize(
    ("code", "names", "found"),
    [
        ("return redis.call('MGET', 'a:{1}', 'b:{1}')", ["c:{1}"], 0),
        ("return redis.call('MGET', 'a:{1}', 'b:{2}')", ["a:{1}"], 1),
        ("return redis.call('GET', 'b:{2}')", ["a:{1}"], 1),
        ("return redis.call('TIME')", ["a:{1}", "b:{2}"], 1),
        ("return redis.call('GET', 'a:{1}')", [], 1),
    ],
)
async def test_violations(db: Database, store_url: str, code: str, names: list[str], found: int) -> None:
    """A key of another slot is found, declared or not, and so is a script without a key."""
    async with monitored(unquote(urlsplit(store_url).path)) as monitor:
        await db.one("EVAL", code, len(names), *names)
    assert len(await violations(db, monitor)) == found

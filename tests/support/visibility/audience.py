"""One site for every cell of the visibility table: a member for each state, a viewer for each relation.

Everything is made while all members are public and nobody blocks or mutes anybody. So it is in every list and
timeline that it can be in, and the later changes have to take it out of sight.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from resolvers import accounts
from store.client.database import Database
from store.credentials.records import Role
from store.settings import Settings
from tests.support import conversations
from tests.support.groups import act, create, give, join, let_in
from tests.support.moderation.acts import report, resolve
from tests.support.people import PASSWORD, SIGN_UP, Member, shrunk, sign_up
from tests.support.pictures import image_id, ready_picture
from tests.support.promoting import administrator, promote
from tests.support.visibility.sights import CELLS, RELATIONS, STATES, SUSPENDED, Cell, State
from tests.support.work import Photo, photograph, put_back

SELF, ANONYMOUS = "self", "anonymous"
TARGETS = ("status", "quote", "plain")  # kinds of the friend's posts, on which every member acts

Entities = dict[str, str]


@dataclass
class Audience:
    """The site, ready for queries."""

    anonymous: Member
    friend: Member  # on good terms with everybody
    subjects: dict[State, Member] = field(default_factory=dict)
    viewers: dict[str, Member] = field(default_factory=dict)
    pals: dict[State, Member] = field(default_factory=dict)  # one friend of each member alone
    shared: Entities = field(default_factory=dict)  # ids of the friend's entities
    entities: dict[State, Entities] = field(default_factory=dict)  # ids of each member's entities, and those on them
    pairs: dict[tuple[str, State], Entities] = field(default_factory=dict)  # ids of conversations of two, and in them

    def viewer(self, cell: Cell) -> Member:
        """Return the viewer of a cell."""
        return self.subjects[cell.state] if cell.relation == SELF else self.viewers[cell.relation]

    def own(self, cell: Cell) -> Entities:
        """Return the ids of the member's entities, and of the conversation between member and viewer."""
        pair = cell.relation if (cell.relation, cell.state) in self.pairs else SELF
        return {**self.entities[cell.state], **self.pairs[pair, cell.state]}

    def named(self, cell: Cell) -> Entities:
        """Return the ids of everything that a query can name in a cell."""
        return {**self.shared, **self.own(cell)}


def roomy(settings: Settings) -> Settings:
    """Return settings that let one request ask for everything."""
    most = {"max_query": 10**6, "max_tokens": 10**6, "max_aliases": 10**5, "max_body": 10**7}
    return shrunk(settings, **most, max_cost=10**9, max_anonymous_cost=10**9)


async def do(member: Member, mutation: str, selection: str = "", **fields: Any) -> Any:
    """Run a mutation that must not be refused."""
    payload = await member.do(mutation, selection, **fields)
    assert not payload["userErrors"], payload
    return payload


async def comment(member: Member, post: str, text: str = "a remark", reply_to: str | None = None) -> str:
    """Comment on a post, or reply to a comment there."""
    payload = await do(member, "comment", "comment { id }", postId=post, text=text, replyToId=reply_to)
    identity: str = payload["comment"]["id"]
    return identity


_made: list[tuple[Photo, Audience]] = []  # a snapshot of the finished site


async def audience(db: Database, anonymous: Member) -> Audience:
    """Return the site, made at the first call and restored at each later one."""
    if not _made:
        site = await _make(db, anonymous)
        _made.append((await photograph(db), site))
    photo, site = _made[0]
    await put_back(db, photo)
    for member in (site.friend, *site.subjects.values(), *site.pals.values(), *site.viewers.values()):
        member.client = anonymous.client
    return site


async def _make(db: Database, anonymous: Member) -> Audience:
    """Return the site: made in public, then changed to each member's state and each viewer's relation."""
    site = Audience(anonymous, await sign_up(anonymous, "friend"))
    for number, state in enumerate(STATES):
        site.subjects[state] = await sign_up(anonymous, f"member{number}")
    for relation in RELATIONS:
        if relation not in {SELF, ANONYMOUS}:
            site.viewers[relation] = await sign_up(anonymous, relation.replace(" ", "_"))
    site.viewers[ANONYMOUS] = anonymous
    await _friends_entities(site)
    await _friends_groups(site)
    admin = await administrator(db, anonymous)
    dismissed = await report(site.friend, (await sign_up(anonymous, "nuisance")).id)
    await resolve(admin, dismissed, "DISMISS")
    site.shared |= {"admin": admin.id, "dismissed": dismissed}
    await asyncio.gather(*(_entities(db, site, state, admin) for state in STATES))
    await _relate(db, site)
    await asyncio.gather(*(_apply_state(db, site, state) for state in STATES))
    await _suspend(db, site, site.viewers[SUSPENDED])
    return site


def signed_in(site: Audience) -> list[Member]:
    """Return the viewers who have an account of their own."""
    return [viewer for relation, viewer in site.viewers.items() if relation != ANONYMOUS]


async def _friends_entities(site: Audience) -> None:
    friend, names = site.friend, " ".join(f"@{member.login}" for member in site.subjects.values())
    other = await sign_up(site.anonymous, "other")
    original = await other.post("by somebody else")
    site.shared = {
        "friend": friend.id,
        "friend_status": await friend.post(f"hello {names}"),
        "friend_quote": await friend.repost(original, f"see {names}"),
        "friend_plain": await friend.repost(await other.post("passed on")),
    }


async def _friends_groups(site: Audience) -> None:
    """Make a public group of everybody, and two that the viewers moderate: the members ask one, and one bans them."""
    members, viewers = site.subjects.values(), signed_in(site)
    public, private = await create(site.friend), await create(site.friend, "PRIVATE")
    barring = await create(site.friend)
    await join(public, *members, *viewers)
    for group in (private, barring):
        await let_in(site.friend, group, *viewers)
        for viewer in viewers:
            await give(site.friend, group, viewer, "MODERATOR")
    await join(private, *members)
    await act(site.friend, "banGroupMembers", barring, *members)
    site.shared |= {"friend_group": public, "friend_private_group": private, "friend_barring_group": barring}


async def _entities(db: Database, site: Audience, state: State, admin: Member) -> None:
    member, friend, shared = site.subjects[state], site.friend, site.shared
    pal = await sign_up(site.anonymous, f"pal_of_{member.login}")
    site.pals[state] = pal
    await member.follow(friend, pal)
    await friend.follow(member, pal)
    answer = await member.ask("{ viewer { notifications(first: 1) { nodes { id } } } }")
    await pal.follow(member, friend)
    names = " ".join(f"@{viewer.login}" for viewer in signed_in(site))
    uploads = await _uploads(db, member)
    status = await member.post(f"hello {names} #tea", images=[{"uploadId": uploads["status_upload"]}])
    await do(member, "pinPost", postId=status)
    found: Entities = {"member": member.id, "login": member.login, "pal": pal.id, "status": status}
    found |= uploads | {name.replace("upload", "image"): image_id(upload) for name, upload in uploads.items()}
    pictures: dict[str, Any] = {field: {"uploadId": uploads[f"{field}_upload"]} for field in ("avatar", "header")}
    await do(member, "updateProfile", **pictures)
    found["notification"] = answer["notifications"]["nodes"][0]["id"]
    for target in TARGETS:
        post = shared[f"friend_{target}"]
        await do(member, "like", postId=post)
        found[f"comment_on_{target}"] = await comment(member, post, f"see {names}")
        found[f"reply_to_{target}"] = await member.post("yes", inReplyToId=post)
        found[f"quote_of_{target}"] = await member.repost(post, "see #tea")
        found[f"repost_of_{target}"] = await member.repost(post)
    found["own_comment"] = await comment(member, status)
    found["answer"] = await comment(friend, shared["friend_status"], reply_to=found["comment_on_status"])
    found["pals_comment"] = await comment(pal, status)
    found["pals_naming"] = await comment(pal, found["quote_of_status"], f"see {names}")
    found["pals_reply"] = await pal.post("so", inReplyToId=status)
    found["pals_repost"] = await pal.repost(status)
    found["pals_quote"] = await pal.repost(status, "see")
    sent = [{"uploadId": uploads["message_upload"]}]
    found["talk"], found["message"] = await _conversation(member, friend, *signed_in(site), images=sent)
    found["pals_talk"], found["pals_message"] = await _conversation(member, pal)
    for relation, viewer in {**site.viewers, SELF: friend}.items():
        if relation != ANONYMOUS:
            pair, message = await _conversation(member, viewer)
            site.pairs[relation, state] = {"pair": pair, "pair_message": message}
    found["promoted_member"] = await promote(admin, member, userId=member.id)
    found["promoted_status"] = await promote(admin, friend, statusId=status)
    found["group_status"] = await member.post("hello", groupId=shared["friend_group"])
    found["group"] = await create(member)
    for viewer in signed_in(site):
        await do(member, "inviteToGroup", groupId=found["group"], userIds=[viewer.id])
    for entity in ("member", "status", "quote_of_status", "comment_on_status", "message", "group"):
        found[f"report_of_{entity}"] = await report(friend, found[entity])
    site.entities[state] = found


async def _uploads(db: Database, member: Member) -> Entities:
    """Return the ids of pictures that a member can attach, by what they are for."""
    purposes = {"status": "POST", "message": "MESSAGE", "avatar": "AVATAR", "header": "HEADER"}
    return {f"{name}_upload": await ready_picture(db, member, purpose) for name, purpose in purposes.items()}


async def _conversation(member: Member, *others: Member, **fields: Any) -> tuple[str, str]:
    """Have a conversation, which everybody marks read; returns it and the member's message, its last one."""
    conversation = await conversations.start(others[0], member, *others[1:])
    message = await conversations.write(member, conversation, **fields)
    for one in (member, *others):
        await conversations.mark_read(one, conversation)
    return conversation, message


async def _relate(db: Database, site: Audience) -> None:
    """Give every viewer their relation to all members, as far as it does not need a request."""
    members, viewers = list(site.subjects.values()), site.viewers
    ids = [member.id for member in members]
    for viewer in signed_in(site):
        await viewer.follow(site.friend, *site.pals.values())
        await do(viewer, "updateProfile", isPrivate=True)
        for member in members:
            await member.follow(viewer)  # a request, which the viewer leaves open
    kept = [site.shared["friend_status"], *(entities["status"] for entities in site.entities.values())]
    for post in kept:
        await asyncio.gather(*(do(member, "favourite", postId=post) for member in (*members, *signed_in(site))))
    for relation in ("follower", "muting follower", SUSPENDED):
        await viewers[relation].follow(*members)
    for relation in ("muting", "muting follower"):
        await do(viewers[relation], "mute", userIds=ids)
    await do(viewers["blocking"], "block", userIds=ids)
    for member in members:
        await do(member, "block", userIds=[viewers[relation].id for relation in ("blocked by", "mutual block")])
    await do(viewers["mutual block"], "block", userIds=ids)
    assert await accounts.set_role(db, viewers["moderator"].login, Role.MODERATOR)


async def _apply_state(db: Database, site: Audience, state: State) -> None:
    """Make a member private, hide their posts or suspend them, as the state says."""
    member, entities = site.subjects[state], site.entities[state]
    if state.private:
        await do(member, "updateProfile", isPrivate=True)
        await site.viewers["requested"].follow(member)
    entities["late"] = await member.post("once more #tea")
    if state.hidden:
        for post in (
            "status",
            "late",
            "group_status",
            *(f"{way}_{target}" for way in ("quote_of", "reply_to") for target in TARGETS),
        ):
            await do(member, "hidePost", postId=entities[post])
    if state.suspended:
        await _suspend(db, site, member)


async def _suspend(db: Database, site: Audience, member: Member) -> None:
    """Suspend a member, who logs in again."""
    assert await accounts.set_suspension(db, member.login, suspended=True)
    payload = await do(site.anonymous, "logIn", SIGN_UP, identifier=member.login, password=PASSWORD)
    member.token = payload["accessToken"]


OPEN = State(private=False, suspended=False, hidden=False)


PRIVATE = State(private=True, suspended=False, hidden=False)


LIVELY = [cell for cell in CELLS if cell.state in {OPEN, PRIVATE} and cell.relation != ANONYMOUS]

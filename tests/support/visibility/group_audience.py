"""One site for every cell of the table of groups: a group of each kind, and a viewer for each standing.

Everything is made while all groups are open and every viewer is a member. So it is in every list that it can be in, and
the later changes have to take it out of sight.
"""

from dataclasses import dataclass, field

from resolvers import accounts
from store.client.database import Database
from store.credentials.records import Role
from tests.support.groups import act, create, give, join
from tests.support.people import Member, log_in, sign_up
from tests.support.promoting import administrator, promote
from tests.support.visibility.audience import ANONYMOUS, Entities, comment, do
from tests.support.visibility.group_sights import GROUP_KINDS, SEEN, STANDINGS, SUSPENDED, GroupCell

APART = {"stranger", ANONYMOUS, "site moderator"}  # viewers who were never in a group
BOUND = {"status", "own_comment", "pals_comment", "pals_naming", "pals_reply", "pals_repost", "group_status"}


@dataclass
class GroupAudience:
    """The site, ready for queries."""

    owner: Member
    viewers: dict[str, Member] = field(default_factory=dict)
    writers: dict[str, Member] = field(default_factory=dict)  # the author of what is in the group of each kind
    entities: dict[str, Entities] = field(default_factory=dict)  # by kind of group

    def viewer(self, cell: GroupCell) -> Member:
        """Return the viewer of a cell."""
        return self.viewers[cell.standing]


async def group_audience(db: Database, anonymous: Member) -> GroupAudience:
    """Return the site: made in open groups, then changed to each kind and each viewer's standing."""
    site = GroupAudience(await sign_up(anonymous, "owner"))
    for standing in STANDINGS:
        site.viewers[standing] = (
            anonymous if standing == ANONYMOUS else await sign_up(anonymous, standing[:9].replace(" ", "_"))
        )
    admin = await administrator(db, anonymous)
    for kind in GROUP_KINDS:
        site.entities[kind] = await _entities(site, kind, admin)
        for standing, viewer in site.viewers.items():
            if standing not in APART:
                await _apply(site, GroupCell(standing, kind), viewer)
        await act(site.owner, "updateGroup", site.entities[kind]["friend_group"], kind=kind)
    await act(site.viewers["requested"], "joinGroup", site.entities["PRIVATE"]["friend_group"])
    assert await accounts.set_role(db, site.viewers["site moderator"].login, Role.MODERATOR)
    assert await accounts.set_suspension(db, SUSPENDED, suspended=True)
    site.viewers[SUSPENDED] = await log_in(anonymous, SUSPENDED)
    return site


async def _entities(site: GroupAudience, kind: str, admin: Member) -> Entities:
    """Return the ids of what is in a group, by the names of `paths.PATHS`."""
    writer, pal = [await sign_up(site.owner, f"{who}_{kind[:7].lower()}") for who in ("writer", "pal")]
    site.writers[kind] = writer
    group, signed_in = await create(site.owner), [v for v in site.viewers.values() if v.token]
    await join(group, writer, pal, *(viewer for standing, viewer in site.viewers.items() if standing not in APART))
    for viewer in signed_in:
        await viewer.follow(writer, pal)
    names = " ".join(f"@{viewer.login}" for viewer in signed_in)
    status = await writer.post(f"hello {names} #tea", groupId=group)
    await do(writer, "pinPost", postId=status)
    for viewer in signed_in:
        await do(viewer, "favourite", postId=status)
    return {
        "friend": site.owner.id,
        "member": writer.id,
        "login": writer.login,
        "friend_group": group,
        "status": status,
        "group_status": status,
        "own_comment": await comment(writer, status),
        "pals_comment": await comment(pal, status),
        "pals_naming": await comment(pal, status, f"see {names}"),
        "pals_reply": await pal.post("so", inReplyToId=status, groupId=group),
        "pals_repost": await pal.repost(status),
        "pals_quote": await pal.repost(status, "see"),
        "promoted_status": await promote(admin, site.owner, statusId=status),
    }


async def _apply(site: GroupAudience, cell: GroupCell, viewer: Member) -> None:
    """Make a member of a group what the cell says, while it is open."""
    group = site.entities[cell.kind]["friend_group"]
    if cell.standing in {"moderator", SUSPENDED}:
        await give(site.owner, group, viewer, "MODERATOR")
    elif cell.standing == "removed":
        await act(site.owner, "removeGroupMembers", group, viewer)
    elif cell.standing == "banned":
        await act(site.owner, "banGroupMembers", group, viewer)
    elif cell.standing == "unbanned":
        await act(site.owner, "banGroupMembers", group, viewer)
        await act(site.owner, "unbanGroupMembers", group, viewer)
    elif cell.standing == "banned outside":
        await act(viewer, "leaveGroup", group)
        await act(site.owner, "banGroupMembers", group, viewer)
    elif cell.standing != "member":
        await act(viewer, "leaveGroup", group)
    if cell.standing == "invited":
        await act(site.owner, "inviteToGroup", group, viewer)


def sees(cell: GroupCell) -> bool:
    """Return whether the viewer of a cell sees what is in the group."""
    return SEEN[cell]

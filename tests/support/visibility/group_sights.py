"""The rule about groups as a table: who sees the posts in a group, and everything that belongs to them.

What the other table says about their authors holds as well. It shares no code with the rule.
"""

from dataclasses import dataclass

TABLE = """
                PUBLIC  ANNOUNCEMENT  PRIVATE
stranger        yes     yes           no
anonymous       yes     yes           no
site moderator  yes     yes           no
requested       -       -             no
invited         yes     yes           no
removed         yes     yes           no
left            yes     yes           no
banned          no      no            no
unbanned        yes     yes           no
banned outside  no      no            no
member          yes     yes           yes
moderator       yes     yes           yes
suspended       yes     yes           no
"""
SUSPENDED = "suspended"  # a moderator of the group, whom the site's moderators have suspended


@dataclass(frozen=True)
class GroupCell:
    """What a viewer is to a group, and the group's kind."""

    standing: str
    kind: str

    def __str__(self) -> str:
        return f"{self.standing}: {self.kind}"


def _answers() -> dict[GroupCell, bool]:
    heading, *lines = TABLE.strip("\n").splitlines()
    kinds = heading.split()
    start = heading.index(kinds[0])
    rows = {line[:start].strip(): line[start:].split() for line in lines}
    return {
        GroupCell(standing, kind): answer == "yes"
        for standing, row in rows.items()
        for kind, answer in zip(kinds, row, strict=True)
        if answer != "-"
    }


SEEN = _answers()
GROUP_CELLS = tuple(SEEN)
STANDINGS = tuple(dict.fromkeys(cell.standing for cell in GROUP_CELLS))
GROUP_KINDS = tuple(dict.fromkeys(cell.kind for cell in GROUP_CELLS))

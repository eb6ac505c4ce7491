"""The visibility rule as a table: what each viewer must see of another member. It shares no code with the rule.

A private member's posts and lists are visible to approved followers only. If one of two members blocks the other,
neither sees the other's words and posts. The blocked one does not see the other at all, but can block back. A muted
member is left out of timelines, but not out of sight. A suspended member and hidden posts are visible to moderators and
the author alone. A suspended viewer sees what a stranger sees.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

TABLE = """
                   public                          private
                   member words posts lists wants  member words posts lists wants
stranger           yes    yes   yes   yes   yes    yes    yes   no    no    yes
follower           yes    yes   yes   yes   yes    yes    yes   yes   yes   yes
requested          -      -     -     -     -      yes    yes   no    no    yes
blocked by         no     no    no    no    no     no     no    no    no    no
blocking           yes    no    no    yes   no     yes    no    no    no    no
mutual block       no     no    no    no    no     no     no    no    no    no
muting             yes    yes   yes   yes   no     yes    yes   no    no    no
muting follower    yes    yes   yes   yes   no     yes    yes   yes   yes   no
suspended follower yes    yes   yes   yes   yes    yes    yes   no    no    yes
self               yes    yes   yes   yes   yes    yes    yes   yes   yes   yes
anonymous          yes    yes   yes   yes   yes    yes    yes   no    no    yes
moderator          yes    yes   yes   yes   yes    yes    yes   no    no    yes
"""
SUSPENDED = "suspended follower"
SEE_SUSPENDED_AND_HIDDEN = {"self", "moderator"}


@dataclass(frozen=True, order=True)
class State:
    """The state of the member who is looked at, and of their posts."""

    private: bool
    suspended: bool
    hidden: bool

    def __str__(self) -> str:
        words = ["private" if self.private else "public"]
        words += [name for name in ("suspended", "hidden") if getattr(self, name)]
        return " ".join(words)


@dataclass(frozen=True)
class Cell:
    """A viewer's relation to a member, and the member's state: the viewer is the one blocked, or the one following."""

    relation: str
    state: State

    def __str__(self) -> str:
        return f"{self.relation}: {self.state}"


@dataclass(frozen=True)
class Kind:
    """A kind of entity: the columns that must all say yes, and whether hiding posts hides it."""

    name: str
    columns: tuple[str, ...]
    can_be_hidden: bool = False
    is_lasting: bool = False  # a suspension does not hide it

    def is_seen(self, cell: Cell) -> bool:
        """Return whether entities of this kind must be seen."""
        if (
            cell.relation not in SEE_SUSPENDED_AND_HIDDEN
            and not self.is_lasting
            and (cell.state.suspended or (cell.state.hidden and self.can_be_hidden))
        ):
            return False
        return all(_ROWS[cell.relation, cell.state.private][column] for column in self.columns)


MEMBER = Kind("member", ("member",))
BLOCKABLE = Kind("blockable", ())  # members whom the viewer can block, and find among those whom they block
WORDS = Kind("words", ("words",))  # comments and likes
LISTS = Kind("lists", ("lists",))  # a member's followers and follows
POSTS = Kind("posts", ("posts",), can_be_hidden=True)
REPOSTS = Kind("reposts", ("posts",))  # plain reposts of others' posts, which cannot be hidden
TIMELINE = Kind("timeline", ("posts", "wants"), can_be_hidden=True)
WANTED = Kind("wanted", ("wants",))  # members whose activity the viewer is shown
PRIVATE_TALK = Kind("private talk", (), is_lasting=True)  # conversations and messages: who takes part sees them
REPORTED = Kind("reported", (), is_lasting=True)  # what moderators see, whatever hides it from others
KINDS = (MEMBER, WORDS, LISTS, POSTS, REPOSTS, TIMELINE, WANTED)


def _rows() -> Iterator[tuple[tuple[str, bool], dict[str, bool]]]:
    _, heading, *lines = TABLE.strip("\n").splitlines()
    columns = heading.split()
    for line in lines:
        relation, answers = line[: heading.index("member")].strip(), line[heading.index("member") :].split()
        half = len(columns) // 2
        for private, start in ((False, 0), (True, half)):
            if answers[start] != "-":
                part = slice(start, start + half)
                yes = [answer == "yes" for answer in answers[part]]
                yield (relation, private), dict(zip(columns[part], yes, strict=True))


_ROWS = dict(_rows())
RELATIONS = tuple(dict.fromkeys(relation for relation, _ in _ROWS))
STATES = tuple(State(*flags) for flags in product((False, True), repeat=3))
# A public member gets no requests and is followed at once: the only impossible cell.
CELLS = tuple(Cell(relation, state) for relation in RELATIONS for state in STATES if (relation, state.private) in _ROWS)


def table(wrong: Sequence[tuple[Cell, Kind]] = ()) -> str:
    """Return the table as text, a line for each cell, with the wrong entries marked."""
    lines = [f"{'':44}" + "".join(f"{kind.name:10}" for kind in KINDS)]
    for cell in CELLS:
        answers = ["yes" if kind.is_seen(cell) else "no" for kind in KINDS]
        marks = [" WRONG" if (cell, kind) in wrong else "" for kind in KINDS]
        lines.append(f"{cell!s:44}" + "".join(f"{a + m:10}" for a, m in zip(answers, marks, strict=True)))
    return "\n".join(line.rstrip() for line in lines)

"""Groups in plain memory: who is in them, and what follows from that."""

from dataclasses import dataclass, field

RANKS = ("MEMBER", "MODERATOR", "OWNER")


@dataclass
class Group:
    """A group. Its members and those who ask have ordinals: a request that is granted keeps its own."""

    id: str
    kind: str
    joined: dict[str, int] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)  # of moderators and owners
    asking: dict[str, int] = field(default_factory=dict)
    invited: dict[str, str] = field(default_factory=dict)  # member → who invited them
    banned: dict[str, int] = field(default_factory=dict)
    ordinal: int = 0

    def role(self, login: str) -> str | None:
        """Return a member's role, None for who is not in the group."""
        return self.roles.get(login, "MEMBER") if login in self.joined else None

    def moderates(self, login: str) -> bool:
        return self.role(login) in RANKS[1:]

    def may_post(self, login: str) -> bool:
        return self.moderates(login) if self.kind == "ANNOUNCEMENT" else login in self.joined

    def is_open_to(self, login: str, *, counts: bool) -> bool:
        """Return whether a viewer sees what is in the group. `counts` says whether a membership shows them anything."""
        return login not in self.banned and (self.kind != "PRIVATE" or (counts and login in self.joined))

    def outranks(self, login: str, other: str) -> bool:
        """Return whether a moderator's role is above what another is in the group."""
        ranks = [RANKS.index(self.role(who) or "MEMBER") for who in (login, other)]
        return self.moderates(login) and ranks[0] > ranks[1]

    def is_last_owner(self, login: str) -> bool:
        return [who for who, role in self.roles.items() if role == "OWNER"] == [login]

    def _next(self) -> int:
        self.ordinal += 1
        return self.ordinal

    def join(self, login: str) -> None:
        """Join, or ask to join a private group."""
        if login in self.joined:
            return
        if self.kind == "PRIVATE" and login not in self.invited:
            self.asking.setdefault(login, self._next())
        else:
            self.joined[login] = self._next()
            self.invited.pop(login, None)

    def admit(self, login: str) -> None:
        """Let a member in who asks to."""
        self.joined[login] = self.asking.pop(login)

    def invite(self, login: str, by: str) -> None:
        if login in self.asking:
            self.admit(login)
        else:
            self.invited.setdefault(login, by)

    def expel(self, login: str) -> None:
        """End a membership with the invitations that came of it, or an invitation."""
        self.joined.pop(login, None)
        self.roles.pop(login, None)
        self.invited = {who: by for who, by in self.invited.items() if login not in (who, by)}

    def ban(self, login: str) -> None:
        if login not in self.banned:
            self.leave(login)
            self.banned[login] = self._next()

    def leave(self, login: str) -> None:
        self.expel(login)
        self.asking.pop(login, None)

    def rearrange(self, kind: str) -> None:
        """Change the kind; an open group grants all requests."""
        self.kind = kind
        if kind != "PRIVATE":
            self.joined |= self.asking
            self.asking = {}

    def bequeath(self, login: str) -> bool:
        """Have a member leave whose account is deleted; returns whether anybody is left."""
        if self.is_last_owner(login):
            others = {who: ordinal for who, ordinal in self.joined.items() if who != login}
            heirs = {who: ordinal for who, ordinal in others.items() if who in self.roles} or others
            if not heirs:
                return False
            self.roles[min(heirs, key=heirs.__getitem__)] = "OWNER"
        self.leave(login)
        self.banned.pop(login, None)
        return True

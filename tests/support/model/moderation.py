"""Random steps of reporters, moderators and an administrator, and what the model knows of reports and the log."""

from collections import Counter
from dataclasses import dataclass, field

from resolvers import accounts
from store import accounts as stored_accounts
from store import likes_and_comments, posts
from store.credentials.records import Role
from store.moderation import reports
from store.moderation.records import Act, Acting, ModerationActKind, ReportAction, Subject
from store.moderation.reports import Decision
from store.refusals import accepted
from tests.support.model.group_moderators import GroupModerators
from tests.support.model.relationships import MOST_SUSPENDED
from tests.support.moderation.acts import REPORTS, logged, notified
from tests.support.people import PASSWORD, SIGN_UP, Member, sign_up
from tests.support.work import number

STAFF = {"mona": Role.MODERATOR, "max": Role.MODERATOR, "ada": Role.ADMIN}  # nobody else acts on them, or with them
STATES = {"DISMISS": "DISMISSED", "DELETE_CONTENT": "ACTIONED", "SUSPEND_AUTHOR": "ACTIONED"}
KINDS = {"DISMISS": "REPORT_DISMISSED", "DELETE_CONTENT": "CONTENT_DELETED", "SUSPEND_AUTHOR": "USER_SUSPENDED"}
MODERATOR_RANK = 1


@dataclass
class Case:
    """All reports of one subject until they are resolved, oldest first: who filed each."""

    subject: int | str  # post, or login of a member
    author: str
    reports: dict[str, str] = field(default_factory=dict)  # report → reporter
    state: str = "OPEN"


@dataclass
class Moderation(GroupModerators):
    """Steps of moderation. Each is applied to the model too."""

    staff: dict[str, Member] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    acts: Counter[str] = field(default_factory=Counter)  # kinds of acts that must be in the log
    resolved: Counter[str] = field(default_factory=Counter)  # reporter → reports that were resolved

    async def _hire(self) -> None:
        for login, role in {} if self.staff else STAFF.items():
            self.staff[login] = await sign_up(self.anonymous, login)
            assert await accounts.set_role(self.db, login, role)

    async def _report(self) -> None:
        """Report a post or a member, whether or not that is possible."""
        await self._hire()
        me, target, other = self._someone(), self._a_post(), self.lot.choice(list(self.people.values()))
        if target and self.lot.random() < 0.7:
            await self._look(me.login, target)
            post = self.model.posts[self.model.target_of(target)]
            case, subject, code = Case(post.id, post.author), self.ids[target], self._unseen(me.login, target)
        else:
            await self._meet(me.login, other.login)
            case, subject = Case(other.login, other.login), other.id
            code = self._barring(me.login) or (None if self.model.meets(me.login, other.login) else "NOT_FOUND")
        known = next((one for one in self.cases if one.subject == case.subject and one.state == "OPEN"), None)
        if code is None and case.author == me.login:
            code = "SELF"
        if code is None and known and me.login in known.reports.values():
            code = "CONFLICT"
        self._log(f"{me.login} reports {case.subject}")
        if await self._is_refused(me, "report", code, subjectId=subject, reason="SPAM"):
            return
        payload = await me.do("report", "report { id reportCount }", subjectId=subject, reason="SPAM")
        assert not payload["userErrors"], payload
        if not known:
            self.cases.append(known := case)
        known.reports[payload["report"]["id"]] = me.login
        self.same("reports of a subject, for a reporter", payload["report"]["reportCount"], 1)

    async def _resolve(self) -> None:
        """Decide on a report, whether or not it is still open and the decision is possible."""
        if not self.cases:
            return
        await self.finish_jobs()  # else what is deleted with its account or group is still there for moderators
        me, case = self.staff[self.lot.choice(list(STAFF))], self.lot.choice(self.cases)
        action, report = self.lot.choice(list(STATES)), self.lot.choice(list(case.reports))
        if action == "SUSPEND_AUTHOR" and len(self.model.suspended) == MOST_SUSPENDED:
            action = "DISMISS"
        self._log(f"{me.login}: {action} of {case.subject}")
        if await self._is_refused(
            me, "resolveReport", self._unresolvable(case, action), reportId=report, action=action
        ):
            return
        if self._crashes():
            about = self.model.posts.get(case.subject) if isinstance(case.subject, int) else None
            text = about.text if about and action == "DELETE_CONTENT" else ""
            decision = Decision(number(report), ReportAction(action), number(me.id), MODERATOR_RANK, "", text)
            job = accepted(await reports.resolve(self.db, decision))
            await self._die_in(job)
            await self.finish_jobs()  # the decision is committed, and carried out as soon as a worker is there
        else:
            payload = await me.do("resolveReport", "report { state }", reportId=report, action=action)
            self.same("the decision", payload, {"report": {"state": STATES[action]}, "userErrors": []})
        case.state = STATES[action]
        self.acts[KINDS[action]] += 1
        self.resolved.update(case.reports.values())
        if action == "DELETE_CONTENT":
            assert isinstance(case.subject, int)
            self.model.delete(case.subject)
        elif action == "SUSPEND_AUTHOR":
            await self._is_barred(case.author)

    def _unresolvable(self, case: Case, action: str) -> str | None:
        if case.state != "OPEN":
            return "CONFLICT"
        if action == "DELETE_CONTENT":
            return "INVALID" if isinstance(case.subject, str) else self._gone(case.subject in self.model.posts)
        return self._gone(case.author in self.model.members) if action == "SUSPEND_AUTHOR" else None

    def _gone(self, is_there: bool) -> str | None:
        return None if is_there else "NOT_FOUND"

    async def _is_barred(self, login: str) -> None:
        """Have a member whom moderators suspended log in again."""
        self.model.suspended.add(login)
        payload = await self.anonymous.do("logIn", SIGN_UP, identifier=login, password=PASSWORD)
        self.people[login].token = payload["accessToken"]

    async def _moderate(self) -> None:
        """Delete a post as a moderator, or try to."""
        await self._hire()
        if not (post_id := self._a_post()):
            return
        me, post = self.staff["mona"], self.model.posts[post_id]
        self._log(f"mona deletes {post_id}")
        code = None if self._is_open(post_id) else "NOT_FOUND"
        if await self._is_refused(me, "deletePost", code, postId=self.ids[post_id]):
            return
        if self._crashes():
            subject = Subject(self.ids[post_id].partition("_")[0], post_id)
            act = Act(number(me.id), ModerationActKind.CONTENT_DELETED, subject)
            author = number(self.people[post.author].id)
            removal = await posts.remove(self.db, post_id, author, Acting(MODERATOR_RANK, act))
            await self._die_in(accepted(removal))
        else:
            payload = await me.do("deletePost", postId=self.ids[post_id])
            assert not payload["userErrors"], payload
        self.acts["CONTENT_DELETED"] += 1
        self.model.delete(post_id)

    def _is_open(self, post_id: int) -> bool:
        """Return whether a moderator who knows nobody sees a post."""
        post = self.model.posts[post_id]
        is_open = post.author not in self.model.private
        if post.group and not self.model.opens("mona", post.group):
            return False
        return is_open and (not post.is_plain or post.original is None or self._is_open(post.original))

    async def _clean(self) -> None:
        """Delete a comment as a moderator."""
        await self._hire()
        seen = [one for one in self.model.remarks.values() if self._is_open(one.post)]
        if not seen:
            return
        me, remark = self.staff["mona"], self.lot.choice(seen)
        self._log(f"mona deletes the comment {remark.id}")
        if self._crashes():
            act = Act(number(me.id), ModerationActKind.CONTENT_DELETED, Subject("comment", remark.id))
            found = await likes_and_comments.delete_comment(self.db, remark.id, remark.post, act.written())
            await self._die_in(accepted(found))
        else:
            payload = await me.do("deleteComment", commentId=f"comment_{remark.id:014x}")
            assert not payload["userErrors"], payload
        self.acts["CONTENT_DELETED"] += 1
        del self.model.remarks[remark.id]

    async def _judge(self) -> None:
        """Suspend a member through the API, or end a suspension."""
        await self._hire()
        me, suspended = self.staff["mona"], self.lot.random() < 0.4
        if suspended and len(self.model.suspended) == MOST_SUSPENDED:
            return
        other = self.lot.choice(list(self.people.values()))
        self._log(f"mona {'suspends' if suspended else 'restores'} {other.login}")
        is_new = (other.login in self.model.suspended) != suspended
        kind = ModerationActKind.USER_SUSPENDED if suspended else ModerationActKind.USER_UNSUSPENDED
        if self._crashes():
            acting = Acting(MODERATOR_RANK, Act(number(me.id), kind, Subject("user", number(other.id))))
            change = stored_accounts.suspend(self.db, number(other.id), holds=suspended, acting=acting)
            await self._die_in(accepted(await change))
        else:
            payload = await me.do("suspendUser", "user { isSuspended }", userId=other.id, suspended=suspended)
            self.same("the suspension", payload, {"user": {"isSuspended": suspended}, "userErrors": []})
        self.acts[kind.value] += is_new
        if not suspended:
            self.model.suspended.discard(other.login)
        elif is_new:
            await self._is_barred(other.login)

    async def _appoint(self) -> None:
        """Give a moderator another role, and the old one back; without it, they see no reports."""
        await self._hire()
        me, other = self.staff["ada"], self.staff["max"]
        for role in ("MEMBER", "MODERATOR"):
            self._log(f"ada makes max a {role}")
            payload = await me.do("setRole", userId=other.id, role=role)
            assert not payload["userErrors"], payload
            if role == "MEMBER":
                self.same("the refusal", await other.fail(REPORTS), "FORBIDDEN")
            self.acts["ROLE_CHANGED"] += 1

    async def check_moderation(self) -> None:
        """Compare the moderators' lists, the log and the reporters' notifications with the model."""
        if not self.staff:
            return
        mona = self.staff["mona"]
        for state in ("OPEN", "DISMISSED", "ACTIONED"):
            found = await mona.ask(REPORTS, state=state, first=1000)
            got = {one["id"]: (one["reportCount"], bool(one["subject"])) for one in found["nodes"]}
            wanted = {
                report: (len(case.reports), self._exists(case))
                for case in self.cases
                for report in case.reports
                if case.state == state
            }
            self.same(f"reports that are {state}", got, wanted)
            counts = [one["reportCount"] for one in found["nodes"]]
            self.same(
                "the order of open ones", state == "OPEN" and counts != sorted(counts, reverse=True), wanted=False
            )
        kinds = Counter(act["kind"] for act in await logged(mona, first=1000))
        self.same("the log", +kinds, +self.acts)
        for login, member in self.people.items():
            resolved = (await notified(member, first=1000)).count("REPORT_RESOLVED")
            self.same(f"notifications of {login}", resolved, self.resolved[login])

    def _exists(self, case: Case) -> bool:
        there = self.model.members if isinstance(case.subject, str) else self.model.posts
        return case.subject in there

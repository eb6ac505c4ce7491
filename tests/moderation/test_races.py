"""Reports, decisions and roles that race: exactly one wins where one must, and the store agrees in the end."""

import asyncio

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from store.credentials.records import Role
from tests.support.damage.site import look
from tests.support.moderation.acts import RESOLVE, appoint, listed, logged, report
from tests.support.people import Member

ROUNDS = 8  # each race is run so often


@pytest.fixture
async def mona(services: Services, anonymous: Member) -> Member:
    """A moderator."""
    return await appoint(services.db, anonymous, "mona")


@pytest.fixture
async def ada(services: Services, anonymous: Member) -> Member:
    """An administrator."""
    return await appoint(services.db, anonymous, "ada", Role.ADMIN)


async def test_the_same_report_twice(db: Database, alice: Member, bob: Member, mona: Member) -> None:
    """Of two equal reports by one member at the same moment, one is filed."""
    for number in range(ROUNDS):
        post = await bob.post(f"post {number}")
        both = [alice.do("report", "report { id }", subjectId=post, reason="SPAM") for _ in range(2)]
        codes = [error["code"] for answer in await asyncio.gather(*both) for error in answer["userErrors"]]
        assert codes == ["CONFLICT"]
    assert [one["reportCount"] for one in await listed(mona)] == [1] * ROUNDS
    assert (await look(db)).clean


async def test_report_of_what_is_deleted(db: Database, alice: Member, bob: Member, mona: Member) -> None:
    """A report of a post that is deleted at the same moment is filed or refused; either way the store agrees."""
    for number in range(ROUNDS):
        post = await bob.post(f"post {number}")
        filed, _ = await asyncio.gather(
            alice.do("report", "report { id }", subjectId=post, reason="SPAM"), bob.do("deletePost", postId=post)
        )
        assert [error["code"] for error in filed["userErrors"]] in ([], ["NOT_FOUND"])
    assert all(one["subject"] is None for one in await listed(mona))
    assert (await look(db)).clean


async def test_deletion_by_author_and_moderator(db: Database, alice: Member, bob: Member, mona: Member) -> None:
    """Of an author and a moderator who delete a post at the same moment one does; the log has the moderator's alone."""
    done = 0
    for number in range(ROUNDS):
        post = await bob.post(f"post {number}")
        theirs, own = await asyncio.gather(*(one.do("deletePost", postId=post) for one in (mona, bob)))
        assert [bool(theirs["userErrors"]), bool(own["userErrors"])].count(True) == 1
        done += not theirs["userErrors"]
    assert [act["kind"] for act in await logged(mona)] == ["CONTENT_DELETED"] * done
    assert (await look(db)).clean


async def test_role_taken_while_deciding(db: Database, alice: Member, bob: Member, mona: Member, ada: Member) -> None:
    """A moderator whose role is taken away at the same moment decides or is refused; the log has what was done."""
    decided = 0
    for number in range(ROUNDS):
        mine = await report(alice, await bob.post(f"post {number}"))
        answer, _ = await asyncio.gather(
            mona.send(RESOLVE, input={"reportId": mine, "action": "DISMISS"}),
            ada.do("setRole", userId=mona.id, role="MEMBER"),
        )
        codes = [error["extensions"]["code"] for error in answer.get("errors", ())]
        assert codes in ([], ["FORBIDDEN"])
        decided += not codes
        assert not (await ada.do("setRole", userId=mona.id, role="MODERATOR"))["userErrors"]
    kinds = [act["kind"] for act in await logged(ada)]
    assert kinds.count("REPORT_DISMISSED") == decided
    assert kinds.count("ROLE_CHANGED") == 2 * ROUNDS
    assert (await look(db)).clean


async def test_suspension_of_a_new_moderator(db: Database, bob: Member, mona: Member, ada: Member) -> None:
    """A member who becomes a moderator at the same moment is suspended before that, or not at all."""
    for _ in range(ROUNDS):
        suspension, role = await asyncio.gather(
            mona.do("suspendUser", userId=bob.id, suspended=True), ada.do("setRole", userId=bob.id, role="MODERATOR")
        )
        assert not role["userErrors"]
        assert [error["code"] for error in suspension["userErrors"]] in ([], ["NOT_ALLOWED"])
        for mutation, more in (("setRole", {"role": "MEMBER"}), ("suspendUser", {"suspended": False})):
            assert not (await ada.do(mutation, userId=bob.id, **more))["userErrors"]
    assert (await look(db)).clean

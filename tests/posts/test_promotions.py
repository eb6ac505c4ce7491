"""Only administrators create and end promotions."""

import asyncio
from typing import Any

import pytest

from resolvers.upkeep import verify
from store import keys, promotions
from store.client.database import Database
from store.keys.fields import CredentialsField, PromotionField
from store.settings import Settings
from tests.support.people import Member, contents, shrunk
from tests.support.promoting import CREATE, NODE, OFFER, SUBJECT, administrator, instant, promote
from tests.support.work import number

END = "mutation($input: EndPromotionInput!) { endPromotion(input: $input) { promotion { id } } }"


@pytest.fixture
async def admin(db: Database, anonymous: Member) -> Member:
    return await administrator(db, anonymous)


def offer(**other: str) -> dict[str, Any]:
    return {"advertisement": {**OFFER, **other}}


# ---------------------------------------------------------------- making


async def test_what_can_be_promoted(admin: Member, alice: Member, bob: Member) -> None:
    """A status, a member or an advertisement is shown with its sponsor, in the payload and as a node."""
    status = await bob.post("hello")
    for given, shown in (
        ({"statusId": status}, {"__typename": "Status", "id": status, "text": "hello"}),
        ({"userId": bob.id}, {"__typename": "User", "login": "bob"}),
        (
            offer(title=" Tea\u0301 ", text="one\r\ntwo", url=" http://example.org/a?b#c "),
            {"__typename": "Advertisement", "title": "Te\u00e1", "text": "one\ntwo", "url": "http://example.org/a?b#c"},
        ),
    ):
        payload = await admin.do(
            "createPromotion", f"promotion {{ {SUBJECT} }}", sponsorId=alice.id, subject=given, endsAt=instant(days=1)
        )
        made = payload["promotion"]
        assert payload == {"promotion": {**made, "sponsor": {"login": "alice"}, "subject": shown}, "userErrors": []}
        assert await bob.ask(NODE, id=made["id"]) == made


WORDS = ["subject", "advertisement"]
REFUSED: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"sponsorId": "user_fff"}, "INVALID", ["sponsorId"]),
    ({"sponsorId": "user_00000000000fff"}, "NOT_FOUND", ["sponsorId"]),
    ({"sponsorId": "status_00000000000fff"}, "NOT_FOUND", ["sponsorId"]),
    ({"subject": {"userId": ""}}, "INVALID", ["subject", "userId"]),
    ({"subject": {"userId": "user_00000000000fff"}}, "NOT_FOUND", ["subject", "userId"]),
    ({"subject": {"statusId": "none"}}, "INVALID", ["subject", "statusId"]),
    ({"subject": {"statusId": "status_00000000000fff"}}, "NOT_FOUND", ["subject", "statusId"]),
    ({"subject": offer(title=" ")}, "BLANK", [*WORDS, "title"]),
    ({"subject": offer(title="x" * 101)}, "TOO_LONG", [*WORDS, "title"]),
    ({"subject": offer(title="two\nlines")}, "INVALID", [*WORDS, "title"]),
    ({"subject": offer(text="")}, "BLANK", [*WORDS, "text"]),
    ({"subject": offer(text="x" * 501)}, "TOO_LONG", [*WORDS, "text"]),
    ({"subject": offer(text="\x00")}, "INVALID", [*WORDS, "text"]),
    ({"subject": offer(url="")}, "BLANK", [*WORDS, "url"]),
    ({"subject": offer(url="https://example.org/" + "x" * 2000)}, "TOO_LONG", [*WORDS, "url"]),
    *(
        ({"subject": offer(url=url)}, "INVALID", [*WORDS, "url"])
        for url in (
            "example.org",
            "//example.org",
            "ftp://example.org",
            "javascript:alert(1)",
            "https://",
            "https://[::1",
            "https://example.org:port",
            "https://example.org:70000",
            "https://example.org@example.net",
            "https://example.org\\@example.net",
            "https://example.org/a b",
        )
    ),
    ({"endsAt": instant(seconds=-1)}, "INVALID", ["endsAt"]),
]


@pytest.mark.parametrize(("given", "code", "field"), REFUSED)
async def test_refusals(
    admin: Member, alice: Member, db: Database, given: dict[str, Any], code: str, field: list[str]
) -> None:
    """Wrong input is refused with its rule and its place in the input, and changes nothing."""
    before = await contents(db)
    fields = {"sponsorId": alice.id, "subject": offer(), "endsAt": instant(days=1), **given}
    assert await admin.refused("createPromotion", **fields) == (code, field)
    assert await contents(db) == before


async def test_all_refusals_at_once(admin: Member) -> None:
    """All errors are named in one answer."""
    payload = await admin.do(
        "createPromotion", sponsorId="nobody", subject=offer(title="", url="x"), endsAt="2024-01-01T00:00:00Z"
    )
    assert [error["field"] for error in payload["userErrors"]] == [
        ["sponsorId"],
        [*WORDS, "title"],
        [*WORDS, "url"],
        ["endsAt"],
    ]


async def test_only_statuses(admin: Member, alice: Member, bob: Member) -> None:
    """Reposts, under any id, and deleted posts cannot be promoted."""
    post = await alice.post("hello")
    ids = [await bob.repost(post), await bob.repost(post, "look"), await alice.post("bye")]
    await alice.do("deletePost", postId=ids[2])
    for entity_id in [*ids, ids[1].replace("repost", "status")]:
        fields = {"sponsorId": alice.id, "subject": {"statusId": entity_id}, "endsAt": instant(days=1)}
        assert await admin.refused("createPromotion", **fields) == ("NOT_FOUND", ["subject", "statusId"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("subject", {}),
        ("subject", {"userId": "user_00000000000fff", "advertisement": OFFER}),
        ("subject", {"userId": None}),
        ("endsAt", "tomorrow"),
        ("endsAt", "2030-01-01T00:00:00"),
        ("endsAt", "9999-12-31T23:59:59-12:00"),
    ],
)
async def test_impossible_input(admin: Member, alice: Member, field: str, value: object) -> None:
    """A subject that is not exactly one entity, or a malformed instant, fails validation."""
    given = {"sponsorId": alice.id, "subject": offer(), "endsAt": instant(days=1), field: value}
    assert await admin.fail(CREATE, input=given) == "BAD_USER_INPUT"


class TestLimit:
    """A site where few promotions can run."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        """Two at most."""
        return shrunk(settings, max_promotions=2)

    async def test_limit(self, admin: Member, alice: Member, db: Database) -> None:
        """One too many is refused; ending one makes room, and so does one that has ended by itself."""
        first, second = await promote(admin, alice), await promote(admin, alice)
        fields = {"sponsorId": alice.id, "subject": offer(), "endsAt": instant(days=1)}
        assert await admin.refused("createPromotion", **fields) == ("LIMIT_REACHED", None)
        await admin.do("endPromotion", promotionId=first)
        await promote(admin, alice)
        await db.one("ZADD", keys.promotions(), 1, number(second))
        await promote(admin, alice)
        assert await db.one("ZCARD", keys.promotions()) == 2

    async def test_race(self, admin: Member, alice: Member) -> None:
        """Of many created simultaneously only as many are created as can run, and the others are refused."""
        fields = {"sponsorId": alice.id, "subject": offer(), "endsAt": instant(days=1)}
        payloads = await asyncio.gather(*(admin.do("createPromotion", "promotion { id }", **fields) for _ in range(8)))
        made = [payload["promotion"]["id"] for payload in payloads if payload["promotion"]]
        assert len(set(made)) == 2
        assert [e["code"] for p in payloads for e in p["userErrors"]] == ["LIMIT_REACHED"] * 6


# ---------------------------------------------------------------- ending, and who may


async def test_end(admin: Member, alice: Member, db: Database) -> None:
    """An ended promotion is gone as a node; ending it again changes nothing and is no error."""
    promotion = await promote(admin, alice)
    answer = {"promotion": {"id": promotion}, "userErrors": []}
    assert await admin.do("endPromotion", "promotion { id }", promotionId=promotion) == answer
    assert await alice.ask(NODE, id=promotion) is None
    before = await contents(db)
    assert await admin.do("endPromotion", "promotion { id }", promotionId=promotion) == answer
    assert await contents(db) == before


async def test_end_of_none(admin: Member, alice: Member) -> None:
    """Only a promotion can be ended."""
    for entity_id, code in (
        ("promotion_00000000000fff", "NOT_FOUND"),
        (alice.id, "NOT_FOUND"),
        ("promotion_fff", "INVALID"),
    ):
        assert await admin.refused("endPromotion", promotionId=entity_id) == (code, ["promotionId"])


async def test_node(admin: Member, alice: Member, bob: Member, anonymous: Member, db: Database) -> None:
    """A promotion is a node for everybody while it runs; its subject is null once deleted."""
    runs, showing = await promote(admin, alice), await promote(admin, bob, statusId=await alice.post("hello"))
    ended = await promotions.create(
        db, sponsor=number(alice.id), ends=1, subject={PromotionField.MEMBER: number(bob.id)}
    )
    assert isinstance(ended, promotions.Promotion)
    query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    gone = f"promotion_{ended.id:014x}"
    assert await anonymous.ask(query, ids=[runs, gone, showing]) == [{"id": runs}, None, {"id": showing}]
    assert await anonymous.ask(NODE, id=gone) is None
    shown = await anonymous.ask(NODE, id=showing)
    await alice.do("deletePost", postId=shown["subject"]["id"])
    await db.one("DEL", keys.user(number(bob.id)))
    assert await anonymous.ask(NODE, id=showing) == {"id": showing, "sponsor": None, "subject": None}


async def test_administrators_only(alice: Member, admin: Member, anonymous: Member, db: Database) -> None:
    """Members and moderators are FORBIDDEN to create or end promotions, anonymous viewers UNAUTHENTICATED."""
    promotion = await promote(admin, alice)
    await db.one("HSET", keys.credentials(number(alice.id)), CredentialsField.ROLE, "MODERATOR")
    before = await contents(db)
    making = {"sponsorId": alice.id, "subject": offer(), "endsAt": instant(days=1)}
    for query, given in ((CREATE, making), (END, {"promotionId": promotion})):
        assert await alice.fail(query, input=given) == "FORBIDDEN"
        assert await anonymous.fail(query, input=given) == "UNAUTHENTICATED"
    assert await contents(db) == before


# ---------------------------------------------------------------- verify


async def test_repair(admin: Member, alice: Member, db: Database) -> None:
    """The list of running promotions equals what the promotions say: every difference is found and repaired."""
    lost, moved, ended, broken = [number(await promote(admin, alice)) for _ in range(4)]
    await db.one("ZREM", keys.promotions(), lost)
    await db.one("ZADD", keys.promotions(), 5, moved, 5, 4096)
    await db.one("HSET", keys.promotion(ended), PromotionField.ENDS, 0)
    await db.one("HDEL", keys.promotion(broken), PromotionField.SPONSOR)
    report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
    assert {f.key for f in report.findings} == {keys.promotion(p) for p in (lost, moved, ended, broken, 4096)}
    await verify.repair(db, report.findings)
    report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
    assert [(f.key, f.message) for f in report.findings] == [(keys.promotion(broken), "cannot be read")]

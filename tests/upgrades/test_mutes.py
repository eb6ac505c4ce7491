"""Layout 6: messages of a muted member do not make a conversation unread."""

from functools import partial

from resolvers.upkeep import migrate
from resolvers.upkeep.progress import bar
from store import keys
from store.client.database import Database
from store.keys.fields import LayoutField
from tests.support.conversations import listed, mark_read, start, write
from tests.support.people import Member
from tests.support.threads import assert_clean
from tests.support.work import number


async def test_unread_conversations(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Conversations in which only muted members wrote are not unread any more; others and read marks stay."""
    pair = await start(bob, alice, text="one")
    three = await start(bob, alice, carol, text="two")
    await mark_read(alice, three)
    await write(carol, three, "three")
    last = await start(carol, alice, text="four")
    assert (await listed(alice))[0] == 3
    # As layout 5 had it: a mute changed no conversation.
    await db.one("ZADD", keys.muted(number(alice.id)), 1, number(bob.id))
    await db.one("HSET", keys.layout(), LayoutField.VERSION, "5")
    assert (await listed(alice))[0] == 3
    answer = await migrate.run(db, partial(bar, hidden=True))
    assert (answer.status, answer.data["layout"]) == (0, 6)
    assert await listed(alice) == (2, [(last, "four", 1), (three, "three", 1), (pair, "one", 0)])
    await assert_clean(db)

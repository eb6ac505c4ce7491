"""Alice has verified her address, as a second factor needs it."""

import pytest

from store.client.database import Database
from tests.support.people import Member
from tests.support.probes import two_factor


@pytest.fixture
async def alice(alice: Member, db: Database) -> Member:
    await two_factor.verify(alice, db)
    return alice

"""Reads an export back: creates its member again, with the same id, and every post that depends on nobody else.

The whole file is checked before anything is written. A run that was interrupted goes on when it is run again.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from resolvers.homes import build
from resolvers.jobs import dispatch, name_index
from resolvers.operation.inputs import batches
from resolvers.process.tokens import NO_PASSWORD
from resolvers.rules import ranking
from resolvers.rules.text import mentions
from resolvers.upkeep.importing.archive import AccountArchive, Profile
from resolvers.upkeep.importing.network import ImportRefused
from resolvers.upkeep.progress import bar
from store import account_names, accounts, pins, public_timelines
from store.accounts import AccountDraft
from store.client.database import Database
from store.ids import instant
from store.keys.fields import CredentialsField, UserField
from store.public_timelines import PublicPost
from store.refusals import Refusal
from store.secret import Secret
from store.upkeep.copying import imports as stored
from store.upkeep.copying import restoring
from store.upkeep.copying.restoring import RestoredPost

BATCH = 500  # posts per round trip


async def load(db: Database, path: Path, password: Secret) -> str:
    """Restore the account in a file; returns a line that says what was restored.

    `password` is a hash, NO_PASSWORD for a member who has to reset it. Raises ImportRefused, and changes nothing then.
    """
    with contextlib.closing(AccountArchive(path, db.settings, await db.mint())) as found:
        profile = found.profile
        await _check(db, profile)
        with bar("checked", found.post_count) as shown:
            for batch in found.posts():
                shown.update(len(batch))
        await _create(db, profile)
        restored = 0
        with bar("posts", found.post_count) as shown:
            for batch in found.posts():
                for some in batches(batch, BATCH):
                    restored += await _restore(db, profile, some)
                shown.update(len(batch))
    await _finish(db, profile, password)
    left_out = found.post_count - restored
    return f"{profile.login} is here, with {restored:,} posts; {left_out:,} that depend on others were left out"


async def _check(db: Database, profile: Profile) -> None:
    """Raise ImportRefused unless the member's id and names are free, or an earlier run was interrupted."""
    member = profile.member
    user, credentials = await accounts.user(db, member), await accounts.credentials(db, member)
    if user and credentials:
        is_same = (user.login.lower(), credentials.email.lower()) == (profile.login.lower(), profile.email.lower())
        if not is_same or credentials.password != NO_PASSWORD:
            raise ImportRefused(f"the store has the account of {user.login} already")
    if await restoring.is_being_deleted(db, member):
        raise ImportRefused("the account is still being deleted: try again when `jobs` prints no unfinished work")
    for name, key in _names(profile).items():
        if (holder := await account_names.holder(db, key)) is not None and holder != member:
            raise ImportRefused(f"another member has this {name}")


def _names(profile: Profile) -> dict[str, str]:
    names = {"login": account_names.login_reservation(profile.login)}
    if profile.email:
        names["e-mail address"] = account_names.email_reservation(profile.email)
    return names


async def _create(db: Database, profile: Profile) -> None:
    """Create the member, without a password, so that nobody uses the account before it is whole."""
    member = profile.member
    for name, key in _names(profile).items():
        if not await account_names.reserve(db, key, member):
            raise ImportRefused(f"another member has this {name}")
    draft = AccountDraft(profile.login, profile.name, profile.email, NO_PASSWORD, is_verified=profile.is_email_verified)
    await dispatch.finish(db, await accounts.create(db, member, draft))
    fields = {UserField.BIO: profile.bio, UserField.MESSAGES_FROM: profile.messages_from.value}
    await accounts.update(db, member, profile=fields)
    # Before the posts, so that none of a private member's is ever listed in public.
    for state, holds in ((UserField.PRIVATE, profile.is_private), (UserField.SUSPENDED, profile.is_suspended)):
        await dispatch.finish(db, await accounts.set_account_state(db, member, state, holds=holds))


async def _restore(db: Database, profile: Profile, found: Sequence[RestoredPost]) -> int:
    """Restore posts, and list them where they belong; returns how many are there. Four round trips."""
    logins = list({login for post in found for login in mentions(post.text)})
    members = await stored.holders(db, logins) if logins else {}
    named = [_with_mentions(post, members) for post in found]
    outcomes = await restoring.restore(db, named)
    if Refusal.TAKEN in outcomes:
        raise ImportRefused("another member has one of the posts")
    there = [post for post, outcome in zip(named, outcomes, strict=True) if isinstance(outcome, bool)]
    await restoring.list_at_others(db, there)
    if not profile.is_private and not profile.is_suspended:
        public = [post for post in there if not post.is_plain and not post.is_hidden]
        await public_timelines.list_all(
            db, [PublicPost(p.id, p.hashtags, ranking.score(instant(p.id))) for p in public]
        )
    return len(there)


def _with_mentions(post: RestoredPost, members: dict[str, int]) -> RestoredPost:
    named = tuple(members[login] for login in mentions(post.text) if login in members)
    return replace(post, mentions=named)


async def _finish(db: Database, profile: Profile, password: Secret) -> None:
    """Pin the pinned post, build the home, and let the member log in."""
    member = profile.member
    if profile.pinned:
        await pins.pin(db, profile.pinned, member)
    await build.rebuild(db, member)
    await name_index.index(db, [member])
    if password != NO_PASSWORD:
        await accounts.update(db, member, credentials={CredentialsField.PASSWORD: password.reveal()})

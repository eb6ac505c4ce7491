"""The members that a text mentions."""

from resolvers.operation.context import Context
from resolvers.reading import hydrate
from resolvers.rules import text as rules
from store.account_names import holder_command

MENTIONS_MOST = 50  # members that one text can mention; more names are left as text


async def named(context: Context, words: str) -> tuple[int, ...]:
    """Return the members that a text mentions, in order, with repetitions. A login that nobody has is plain text."""
    logins = rules.mentions(words)
    unique = list(dict.fromkeys(logins))[:MENTIONS_MOST]
    if not unique:
        return ()
    holders = await context.batcher.run(list(map(holder_command, unique)))
    members = [int(holder) for holder in holders if holder]
    users = dict(zip(members, await hydrate.users(context, members), strict=True))
    # A login that was given up still names its former holder, who is no longer mentioned by it.
    by_login = {user.login.lower(): user.id for user in users.values() if user}
    return tuple(by_login[login] for login in logins if login in by_login)

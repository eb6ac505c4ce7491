"""Limits on password attempts: guessing stays slow, and nobody can lock a member out.

Attempts from known devices have a count of their own, apart from those of strangers. OWASP calls this device cookies:
https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
"""

from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from resolvers.operation.context import Context
from resolvers.process.errors import RateLimited
from resolvers.process.tokens import digest
from store.limits import attempts, windows
from store.limits.attempts import WINDOW_SECONDS, Subject
from store.limits.windows import HOUR_SECONDS

IDENTIFIER, ADDRESS, DEVICE, SESSION = "identifier", "address", "device", "session"  # subjects with a count
CODE, CODE_DEVICE = "code", "code-device"  # a member, or a known device of theirs, from which codes are tried
PAIR = "pair"  # of an identifier and an address
NETWORK_BITS = {4: 24, 6: 48}  # prefix length by IP version: the addresses of one network share a turn


@dataclass(frozen=True, slots=True)
class Admission:
    """Permission to check a password. A `refusal` answers everybody, except a member who logs in from a known address.

    `counted` are the attempt counts that a success resets.
    """

    counted: tuple[Subject, ...] = ()
    refusal: RateLimited | None = None
    window: int = WINDOW_SECONDS


async def admit_log_in(context: Context, identifier: str, device: str | None) -> Admission:
    """Count a log-in attempt, and return whether its password may be checked.

    Raises RateLimited if even the right password would be refused. `identifier` is a digest, whether or not a member
    has it. `device` is the session of an earlier log-in on the same device, taken from its device token. Apart from
    the device, nothing here depends on the member.
    """
    settings = context.settings
    if not settings.rate_limit:
        return Admission()
    if device:
        own = (DEVICE, device)
        (by_device,) = await attempts.count(context.db, [own], WINDOW_SECONDS)
        if by_device <= settings.log_in_attempts:
            return Admission((own,))
    address, pair = (ADDRESS, context.address), (PAIR, digest(f"{identifier} {context.address}"))
    counted = [address, (IDENTIFIER, identifier), pair]
    by_address, by_identifier, by_pair = await attempts.count(context.db, counted, WINDOW_SECONDS)
    if by_address > settings.log_in_attempts_per_address:
        raise _too_many(windows.rest(WINDOW_SECONDS), "log_in_attempts_per_address")
    admission = Admission((counted[1], pair))
    if by_identifier <= settings.log_in_attempts:
        return admission
    wait = await attempts.take_turn(context.db, identifier, digest(_network(context.address)))
    if not wait:
        return admission
    if by_pair > settings.log_in_attempts:
        raise _too_many(wait, "log_in_attempts")
    return Admission(admission.counted, _too_many(wait, "log_in_attempts"))


def _network(address: str) -> str:
    """Return an address's network, /24 or /48. Providers assign it as a whole, so having thousands costs money."""
    try:
        parsed = ip_address(address.partition("/")[0])
    except ValueError:
        return address
    return str(ip_network((parsed, NETWORK_BITS[parsed.version]), strict=False))


async def admit_confirmation(context: Context) -> Admission:
    """Count an attempt to confirm the session's member by password; raises RateLimited.

    Each session has its own count, so a stolen session cannot keep the member from changing the password in another.
    """
    if not context.settings.rate_limit or not context.claims:
        return Admission()
    own = (SESSION, f"{context.claims.member} {context.claims.session}")
    counted = [own, (ADDRESS, context.address)]
    by_session, by_address = await attempts.count(context.db, counted, WINDOW_SECONDS)
    if by_session > context.settings.log_in_attempts or by_address > context.settings.log_in_attempts_per_address:
        raise _too_many(windows.rest(WINDOW_SECONDS), "log_in_attempts")
    return Admission((own,))


async def hourly_wait(context: Context, kind: str, whose: str, most: int) -> int:
    """Count an attempt of a kind, and return the seconds until the hour ends if that is more than `most`, else 0.

    Without limits on requests it counts nothing. One round trip.
    """
    if not context.settings.rate_limit:
        return 0
    (count,) = await attempts.count(context.db, [(kind, whose)], HOUR_SECONDS)
    return windows.rest(HOUR_SECONDS) if count > most else 0


async def admit_code(context: Context, member: int, device: str | None = None) -> Admission:
    """Count an attempt to give a code of the second factor; raises RateLimited.

    `device` is that of `admit_log_in`. Its count is its own: somebody who knows the password can use up the attempts of
    all others, and keeps the member from logging in on no known device.
    """
    own = (CODE_DEVICE, device) if device else (CODE, str(member))
    if wait := await hourly_wait(context, *own, context.settings.code_attempts):
        raise _too_many(wait, "code_attempts", "codes")
    return Admission((own,) if context.settings.rate_limit else (), window=HOUR_SECONDS)


async def forget(context: Context, admission: Admission) -> None:
    """Reset the attempt counts after a success. The address's own count stays."""
    if admission.counted:
        await attempts.forget(context.db, admission.counted, admission.window)


def _too_many(seconds: int, limit: str, what: str = "log-in attempts") -> RateLimited:
    return RateLimited(f"too many {what}: try again in {seconds} s", seconds, limit)

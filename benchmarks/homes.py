"""Measures an entry of a home in each form that could store it: processor time of the store, and memory.

Run it from a checkout with Perch installed: `python -m benchmarks.homes`. It starts a store of its own in a folder that
is removed at the end. Each form has a script of its own that adds entries. The forms take turns.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path

from store.client.database import Database
from store.embedded import attach
from store.settings import Settings

HOMES = 500  # that one script adds to
ENTRIES = 800  # of each home beforehand
POSTS = 40  # of one turn, added to all
ROUNDS = 7
FIRST = 1 << 48  # an id of 2025
LISTPACK, SKIP_LIST = 10_000, 0  # most entries of a sorted set that stays a listpack
_SORTED_SET = "for _, key in ipairs(KEYS) do redis.call('ZADD', key, ARGV[1], ARGV[1]) end"
_LIST = """for _, key in ipairs(KEYS) do
  if tonumber(redis.call('LINDEX', key, -1)) < tonumber(ARGV[1]) then redis.call('RPUSH', key, ARGV[1]) end
end"""
_PACKED = "for _, key in ipairs(KEYS) do redis.call('APPEND', key, string.format('%17.0f', ARGV[1])) end"
_WAITING = """local ends, place, pairs_ = redis.call('MGET', unpack(KEYS)), string.format('%17.0f', ARGV[1]), {}
for i, waiting in ipairs(ends) do
  waiting = waiting and string.sub(waiting, -17) < place and waiting .. place or place
  if #waiting > 17 * 9 then
    local posts = {}
    for post in string.gmatch(string.sub(waiting, 18), '%d+') do posts[#posts + 1] = post end
    redis.call('RPUSH', 'list-' .. KEYS[i], unpack(posts))
    waiting = place
  end
  pairs_[2 * i - 1], pairs_[2 * i] = KEYS[i], waiting
end
redis.call('MSET', unpack(pairs_))"""
FORMS = {
    "sorted set as a listpack": (_SORTED_SET, "ZADD", LISTPACK),
    "sorted set as a skip list": (_SORTED_SET, "ZADD", SKIP_LIST),
    "packed string": (_PACKED, "APPEND", LISTPACK),
    "list": (_LIST, "RPUSH", LISTPACK),
    "list, newest entries in a string": (_WAITING, "RPUSH", LISTPACK),
}


async def main() -> None:
    """Measure all forms, and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        held = await attach.attach(Path(folder))
        db = Database(held.url, Settings())
        try:
            bytes_each = {form: await _fill(db, form) for form in FORMS}
            costs: dict[str, list[float]] = {form: [] for form in FORMS}
            for turn in range(ROUNDS):
                for form, found in costs.items():
                    found.append(await _turn(db, form, FIRST + ENTRIES + turn * POSTS))
        finally:
            await db.close()
            await held.close()
    print("| form | store CPU of an entry added, µs | bytes an entry |\n|---|---|---|")
    for form, found in costs.items():
        spread = f"{statistics.median(found):.1f} ({min(found):.1f} to {max(found):.1f})"
        print(f"| {form} | {spread} | {bytes_each[form]:.1f} |")


def _keys(form: str) -> list[str]:
    return [f"{form}:{i}" for i in range(HOMES)]


async def _fill(db: Database, form: str) -> float:
    script, command, listpack = FORMS[form]
    await db.one("CONFIG", "SET", "zset-max-listpack-entries", listpack)
    before = await db.used_memory()
    posts: list[int | str] = [FIRST + i for i in range(ENTRIES)]
    args: dict[str, list[int | str]] = {
        "ZADD": [part for post in posts for part in (post, post)],
        "APPEND": ["".join(f"{post:17}" for post in posts)],
    }
    prefix = "list-" if script == _WAITING else ""
    for key in _keys(form):
        await db.one(command, prefix + key, *args.get(command, posts))
    return (await db.used_memory() - before) / HOMES / ENTRIES


async def _turn(db: Database, form: str, first: int) -> float:
    script, _, listpack = FORMS[form]
    await db.one("CONFIG", "SET", "zset-max-listpack-entries", listpack)
    before, keys = await _cpu(db), _keys(form)
    for post in range(first, first + POSTS):
        await db.one("EVAL", script, len(keys), *keys, post)
    return (await _cpu(db) - before) * 1e6 / HOMES / POSTS


async def _cpu(db: Database) -> float:
    facts = dict(line.split(":", 1) for line in str(await db.one("INFO", "cpu")).splitlines() if ":" in line)
    return float(facts["used_cpu_user"]) + float(facts["used_cpu_sys"])


if __name__ == "__main__":
    asyncio.run(main())

"""The stream in a terminal: `server.py tail`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import sign_up
from tests.processes import opened, perch, run, visiting


async def test_tail(tmp_path: Path) -> None:
    """Beside a server each event is a line, filtered like the stream; it goes on from a cursor and ends cleanly."""
    async with opened(tmp_path), perch(tmp_path, "serve") as serving, visiting(await serving.url()) as anonymous:
        alice, bob = await sign_up(anonymous, "alice"), await sign_up(anonymous, "bob")
        async with perch(tmp_path, "tail", log_level="INFO") as all_of_it:
            await all_of_it.out.line("Perch follows")
            post = await alice.post("green #tea\nfor two")
            await bob.repost(post, "yes!")
            await bob.follow(alice)
            await alice.do("deletePost", postId=post)
            told = await all_of_it.out.line(f"- {post} by {alice.id}")
            assert "@alice green #tea for two" in all_of_it.out.lines[1]
            assert "@bob quotes: yes!" in all_of_it.out.lines[2]
            assert "@bob follows @alice" in all_of_it.out.lines[3]
            assert await all_of_it.stop() == 0
        cursor = all_of_it.out.lines[2].rpartition("[")[2].removesuffix("]")
        options = ("--follow", "alice", "--track", "two teas", "--kind", "post_created", "--after", cursor)
        async with perch(tmp_path, "tail", *options) as some:
            await some.out.line("Perch follows")
            await bob.post("a tea")
            await bob.post("Two? Teas!")
            assert "@bob Two? Teas!" in await some.out.line("@")
            await alice.post("anything")
            assert "@alice anything" in await some.out.line("@alice")
            assert await some.stop() == 0
        assert told
        assert await serving.stop() == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--follow", "nobody"), "no member has the login 'nobody'"),
        (("--track", " "), "filter.track[0]: must not be blank"),
        (("--box", "1,2,3"), "a box is south,west,north,east in degrees, not '1,2,3'"),
        (("--box", "2,0,1,0"), "filter.locations[0]: south must not be above north"),
        (("--sample", "101"), "a sample is of 1 to 100 percent"),
        (("--sample", "5", "--track", "tea"), "a sample is of all posts: it takes no filter and no kinds"),
        (("--after", "x"), "after: this is not a cursor of this subscription"),
    ],
)
async def test_refusals(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    """What cannot be followed is one clear line and status 1."""
    async with opened(tmp_path):
        status, _, err = await run(tmp_path, "tail", *options, log_level="ERROR")
        assert (status, err) == (1, f"perch: {said}")

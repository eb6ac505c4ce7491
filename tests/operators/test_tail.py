"""The stream in a terminal: `server.py tail`."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

import server
from tests.support.people import Member, sign_up
from tests.support.servers.forking import SERVER
from tests.support.servers.processes import PATIENCE, opened, perch, redis, run, until, visiting


async def test_tail(tmp_path: Path) -> None:
    """Beside a server each event is a line, filtered like the stream; it continues from a cursor and ends cleanly."""
    async with opened(tmp_path), perch(tmp_path, "serve") as serving, visiting(await serving.url()) as anonymous:
        alice, bob = await sign_up(anonymous, "alice"), await sign_up(anonymous, "bob")
        async with perch(tmp_path, "tail", log_level="INFO") as all_of_it:
            await all_of_it.out.line("Perch follows")
            post = await alice.post("green #tea\nfor two")
            await all_of_it.out.line("@alice green")
            await bob.repost(post, "yes!")
            await all_of_it.out.line("@bob quotes")
            await bob.follow(alice)
            await all_of_it.out.line("@bob follows")
            await alice.do("deletePost", postId=post)
            line = await all_of_it.out.line(f"- {post} by {alice.id}")
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
        assert line
        assert await serving.stop() == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--follow", "nobody"), "no member has the login 'nobody'"),
        (("--follow", "\x1b[2J"), r"no member has the login '\x1b[2J'"),
        (("--track", " "), "filter.track[0]: must not be blank"),
        (("--box", "2", "0", "1", "0"), "filter.locations[0]: south must not be above north"),
        (("--box", "nan", "0", "1", "0"), "filter.locations[0].south: must be from -90 to 90 degrees"),
        (("--sample", "101"), "a sample is of 1 to 100 percent"),
        (("--sample", "5", "--track", "tea"), "a sample is of all posts: it takes no filter and no kinds"),
        (("--sample", "5", "--kind", "post_created"), "a sample is of all posts: it takes no filter and no kinds"),
        (("--after", "x"), "after: this is not a cursor of this subscription"),
        (("--after", ""), "after: this is not a cursor of this subscription"),
    ],
)
async def test_refusals(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    """A stream that cannot be subscribed to is one clear line and status 1."""
    async with opened(tmp_path):
        status, _, err = await run(tmp_path, "tail", *options, log_level="ERROR")
        assert (status, err) == (1, f"perch: {said}")


@pytest.mark.parametrize(
    "options", [["--box", "1,2,3,4"], ["--box", "1", "2", "3"], ["--kind", "x"], ["--sample", "0"]]
)
def test_wrong_arguments(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An invalid argument ends with the usage and status 2."""
    with pytest.raises(SystemExit) as ended:
        server.main(["tail", *options])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: server.py tail")


# ---------------------------------------------------------------- how it goes on, and ends


async def test_the_store_away(tmp_path: Path) -> None:
    """It survives an outage of its store, and then prints the events in between; Ctrl-C ends it with status 0."""
    async with redis(tmp_path / "redis") as away:
        await away.start()
        async with perch(tmp_path, "serve", **away.settings) as serving, visiting(await serving.url()) as anonymous:
            alice = await sign_up(anonymous, "alice")
            async with perch(tmp_path, "tail", log_level="WARNING", **away.settings) as tail:
                await tail.out.line("Perch follows")
                await alice.post("one")
                await tail.out.line("@alice one")
                await away.kill()
                await tail.err.line("store_outage")
                await away.start()
                await until(lambda: _posts(alice, "two"))
                await tail.out.line("@alice two")
                tail.process.send_signal(signal.SIGINT)
                assert await tail.ended() == 0
                assert len(tail.out.lines) == 3
                assert "Traceback" not in await tail.err.all()


async def _posts(member: Member, text: str) -> bool:
    return "data" in await member.send('mutation { post(input: {text: "%s"}) { status { id } } }' % text)  # noqa: UP031


async def test_what_reads_it(tmp_path: Path) -> None:
    """A terminal without some letters gets escapes instead; a reader that leaves ends it silently."""
    async with opened(tmp_path), perch(tmp_path, "serve") as serving, visiting(await serving.url()) as anonymous:
        alice = await sign_up(anonymous, "alice")
        await alice.post("tea \u8336")
        command = f"{sys.executable} {SERVER} tail --after event.0-0 | head -2"
        environment = {**os.environ, "DATA_DIR": str(tmp_path), "PYTHONIOENCODING": "ascii", "LOG_LEVEL": "WARNING"}
        process = await asyncio.create_subprocess_exec(
            "bash", "-o", "pipefail", "-c", command, stdout=PIPE, stderr=PIPE, env=environment
        )
        assert process.stdout
        async with asyncio.timeout(PATIENCE):
            await process.stdout.readline()
            assert b"@alice tea \\u8336  [event." in await process.stdout.readline()
            await alice.post("to nobody")
            _, err = await process.communicate()
        assert (process.returncode, err) == (128 + signal.SIGPIPE, b"")

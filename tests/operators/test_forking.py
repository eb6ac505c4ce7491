"""Commands that tests start as copies of one process are processes of their own."""

import signal
from pathlib import Path

from tests.support.servers.processes import perch, run, visiting


async def test_a_killed_copy(tmp_path: Path) -> None:
    """A command that is killed says so by its status, and another goes on until it is stopped."""
    async with perch(tmp_path / "one", "serve") as one, perch(tmp_path / "other", "serve") as other:
        await one.url()
        url = await other.url()
        one.process.kill()
        assert await one.ended() == -signal.SIGKILL
        async with visiting(url) as anonymous:
            assert await anonymous.ask("{ __typename }") == "Query"
        assert await other.stop() == 0


async def test_settings_of_a_copy(tmp_path: Path) -> None:
    """The settings and the output of a command are not those of the command before."""
    wrong = await run(tmp_path, "print-schema", max_page=-1)
    assert (wrong[0], wrong[1]) == (2, "")
    status, out, err = await run(tmp_path, "print-schema")
    assert (status, "type Query" in out, err) == (0, True, "")

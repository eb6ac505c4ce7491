"""The commands `export` and `import-account`, as an operator runs them."""

import stat
from pathlib import Path

from tests.support.exports.archives import Archive
from tests.support.people import PASSWORD, log_in, sign_up
from tests.support.servers.processes import run, serving


async def test_there_and_back(tmp_path: Path) -> None:
    """A member's export is written from one store, beside its server, and read into another one."""
    file, first, second = tmp_path / "out.zip", tmp_path / "first", tmp_path / "second"
    async with serving(first) as (_, anonymous):
        alice = await sign_up(anonymous, "alice")
        posts = [await alice.post(text) for text in ("one", "two")]
        status, out, _ = await run(first, "export", "Alice", str(file))
    assert (status, out) == (0, f"{file} has the export of Alice: {file.stat().st_size:,} bytes")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [entry["id"] for entry in Archive(file.read_bytes()).entries("posts")] == posts

    async with serving(second) as (_, anonymous):
        status, out, _ = await run(second, "import-account", str(file), "--password", PASSWORD)
        assert (status, out) == (0, "alice is here, with 2 posts; 0 that depend on others were left out")
        again = await log_in(anonymous, "alice")
        assert (again.id, await again.home()) == (alice.id, posts[::-1])
        status, _, err = await run(second, "import-account", str(file))
        assert (status, err.splitlines()[-1]) == (1, "perch: the store has the account of alice already")


async def test_refusals(tmp_path: Path) -> None:
    """A member who does not exist, a file that exists, and a file that is missing are refused in one line."""
    there = tmp_path / "there.zip"
    there.write_bytes(b"keep me")
    async with serving(tmp_path / "data") as (_, anonymous):
        await sign_up(anonymous, "alice")
        for arguments, line in (
            (("export", "nobody", str(tmp_path / "new.zip")), "perch: no member has the login 'nobody'"),
            (("export", "alice", str(there)), f"perch: {there} exists already"),
            (("import-account", str(tmp_path / "new.zip")), f"{tmp_path / 'new.zip'}: "),
        ):
            status, _, err = await run(tmp_path / "data", *arguments)
            assert (status, line in err.splitlines()[-1]) == (1, True), err
    assert there.read_bytes() == b"keep me"
    assert not (tmp_path / "new.zip").exists()

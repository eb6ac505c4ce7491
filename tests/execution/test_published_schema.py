"""Tests of the published schema: schema.graphql is current, and changes since a release are named."""

import subprocess
import sys
from pathlib import Path

import pytest

import schema
from store.settings import Settings

ROOT = Path(__file__).parents[2]
BEFORE = "enum Size { SMALL } type Query { size: Size old: String new: String }"


def test_the_published_schema_is_the_one_that_is_served() -> None:
    published = (ROOT / "schema.graphql").read_text(encoding="utf-8")
    assert published == schema.build(Settings()).as_str() + "\n", "run: python server.py print-schema > schema.graphql"


def test_no_argument_or_input_field_states_that_its_default_is_null() -> None:
    assert "= null" not in schema.build(Settings()).as_str()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a schema and no release."""
    git(tmp_path, "init", "--quiet")
    change(tmp_path, BEFORE, "0.1.0")
    return tmp_path


def test_without_a_release_there_is_nothing_to_compare(repository: Path) -> None:
    assert changes(repository) == (0, ["schema changes: there is no release yet, so there is nothing to compare"])


def test_a_release_without_a_published_schema_is_nothing_to_compare_with(repository: Path) -> None:
    (repository / "schema.graphql").unlink()
    git(repository, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "-a", "-m", "Remove it")
    git(repository, "tag", "v0.1.0")
    assert changes(repository) == (0, ["schema changes: v0.1.0 has no schema.graphql, so there is nothing to compare"])


def test_breaking_and_dangerous_changes_since_the_newest_release_are_named(repository: Path) -> None:
    git(repository, "tag", "v0.2.0")
    change(repository, "enum Size { SMALL LARGE } type Query { size: Size new: String }", "0.2.1")
    git(repository, "tag", "v0.1.9")
    status, lines = changes(repository)
    assert status == 1
    summary, breaking, dangerous, _ = lines
    assert summary == "schema changes since v0.2.0: 1 breaking, 1 dangerous"
    assert breaking.startswith("  breaking: ")
    assert "Query.old" in breaking
    assert dangerous.startswith("  dangerous: ")
    assert "LARGE" in dangerous


@pytest.mark.parametrize(
    ("release", "version", "status"),
    [("v0.9.0", "0.9.1", 1), ("v0.9.0", "0.10.0", 0), ("v1.2.0", "1.3.0", 1), ("v9.2.0", "10.0.0", 0)],
)
def test_a_breaking_change_fails_unless_the_version_announces_it(
    repository: Path, release: str, version: str, status: int
) -> None:
    git(repository, "tag", release)
    change(repository, "enum Size { SMALL } type Query { size: Size old: String }", version)
    assert changes(repository)[0] == status


def test_an_addition_is_no_breaking_change(repository: Path) -> None:
    git(repository, "tag", "v0.1.0")
    change(repository, BEFORE.replace("new:", "newer: String new:"), "0.1.1")
    assert changes(repository) == (0, ["schema changes since v0.1.0: 0 breaking, 0 dangerous"])


def change(repository: Path, sdl: str, version: str) -> None:
    """Commit a schema and a version."""
    (repository / "schema.graphql").write_text(sdl)
    (repository / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    git(repository, "add", ".")
    git(repository, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "Change it")


def git(repository: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=repository, check=True, capture_output=True)  # noqa: S603, S607


def changes(repository: Path) -> tuple[int, list[str]]:
    """Return the exit status and the lines of the check."""
    check = [sys.executable, str(ROOT / ".ci" / "schema_changes.py")]
    done = subprocess.run(check, cwd=repository, check=False, capture_output=True, text=True)  # noqa: S603  our own
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()

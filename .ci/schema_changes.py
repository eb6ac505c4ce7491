#!/usr/bin/env python
"""Lists the breaking and dangerous changes of schema.graphql since the newest release, a git tag such as v1.2.0.

The exit status is 1 when there are breaking changes that the version in pyproject.toml does not announce. It announces
them by a higher major number than the release, or before 1.0 by a higher minor number. Without a release, there is
nothing to compare.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

from graphql import build_schema
from graphql.utilities import find_breaking_changes, find_dangerous_changes

PUBLISHED = "schema.graphql"


def main() -> int:
    """Print the changes between the newest release and the working tree, and return the exit status."""
    release = _newest_release()
    if release is None:
        print("schema changes: there is no release yet, so there is nothing to compare")
        return 0
    if not _git("ls-tree", "--name-only", release, PUBLISHED):
        print(f"schema changes: {release} has no {PUBLISHED}, so there is nothing to compare")
        return 0
    before = build_schema(_git("show", f"{release}:{PUBLISHED}"))
    now = build_schema(Path(PUBLISHED).read_text(encoding="utf-8"))
    breaking, dangerous = find_breaking_changes(before, now), find_dangerous_changes(before, now)
    print(f"schema changes since {release}: {len(breaking)} breaking, {len(dangerous)} dangerous")
    for kind, changes in (("breaking", breaking), ("dangerous", dangerous)):
        print(*(f"  {kind}: {change.description}" for change in changes), sep="\n", end="\n" if changes else "")
    if not breaking or _compatible(_version()) > _compatible(release.removeprefix("v")):
        return 0
    print(f"schema changes: raise the version in pyproject.toml, or keep what clients of {release} use")
    return 1


def _newest_release() -> str | None:
    releases = _git("tag", "--list", "v[0-9]*", "--sort=-version:refname").split()
    return releases[0] if releases else None


def _version() -> str:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


def _compatible(version: str) -> tuple[int, ...]:
    """Return the part of a version that a breaking change raises: the major number, and before 1.0 the minor one."""
    major, minor = (int(part) for part in version.split(".")[:2])
    return (major,) if major else (0, minor)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())

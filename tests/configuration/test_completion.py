"""Completion of commands in a shell."""

import shutil
import subprocess
from pathlib import Path

import pytest

from serving import arguments
from tests.support.servers.processes import run

# Completes the last word as bash does when Tab is pressed, and prints what it offers.
ASK = """
command=$1; shift
complete=$(complete -p "$command" | grep -oE -- '-F [^ ]+'); complete=${complete#-F }
COMP_WORDS=("$command" "$@"); COMP_CWORD=$#
"$complete" "$command" "${@: -1}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(script: str, *words: str) -> set[str]:
    """Return what bash offers for the last word."""
    command = ["bash", "-c", script + ASK, "bash", arguments.program(), *words]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())  # noqa: S603


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is missing")
async def test_bash_completes(tmp_path: Path) -> None:
    """Bash offers commands, their options, and the values of an argument that has a few."""
    status, script, _ = await run(tmp_path, "print-completion", "bash")
    assert status == 0
    assert offered(script, "ba") == {"backup"}
    assert offered(script, "serve", "--p") == {"--processes"}
    assert offered(script, "print-completion", "") >= set(arguments.SHELLS)


@pytest.mark.parametrize("shell", arguments.SHELLS)
async def test_each_shell(shell: str, tmp_path: Path) -> None:
    """There is a completion for each shell, which names every command."""
    status, script, _ = await run(tmp_path, "print-completion", shell)
    assert status == 0
    assert all(command in script for command in ("serve", "worker", "import-account", "print-tables"))


async def test_another_shell(tmp_path: Path) -> None:
    """A shell that is not known is refused with the known ones."""
    status, out, refusal = await run(tmp_path, "print-completion", "cmd")
    assert (status, out) == (2, "")
    assert all(word in refusal for word in ("cmd", *arguments.SHELLS))

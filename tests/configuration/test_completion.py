"""Completion of commands in a shell."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import server
from serving import arguments

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
def test_bash_completes(capsys: pytest.CaptureFixture[str]) -> None:
    """Bash offers commands, their options, and the values of an argument that has a few."""
    assert server.main(["print-completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert offered(script, "ba") == {"backup"}
    assert offered(script, "serve", "--p") == {"--processes"}
    assert offered(script, "print-completion", "") >= set(arguments.SHELLS)


@pytest.mark.parametrize("shell", arguments.SHELLS)
def test_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """There is a completion for each shell, which names every command."""
    assert server.main(["print-completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(command in script for command in ("serve", "worker", "import-account", "print-tables"))


def test_another_shell(capsys: pytest.CaptureFixture[str]) -> None:
    """A shell that is not known is refused with the known ones."""
    with pytest.raises(SystemExit):
        server.main(["print-completion", "cmd"])
    refusal = capsys.readouterr().err
    assert all(word in refusal for word in ("cmd", *arguments.SHELLS))

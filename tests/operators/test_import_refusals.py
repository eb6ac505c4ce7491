"""Refused imports: a file that cannot be read as a network or as posts changes nothing."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from resolvers.upkeep.importing import network
from resolvers.upkeep.importing.network import ImportRefused
from store.settings import Settings

LINE = b"ann\tben\n"
REFUSED: dict[str, tuple[str, bytes | None, str]] = {
    "one word": ("f.tsv", LINE + b"\n" + b"alone\n", "line 3: two logins"),
    "three words": ("f.tsv", b"a\tb\tc\n" + LINE, "line 1: two logins"),
    "no login": ("f.tsv", LINE + b"ann\tb n\n", "line 2: two logins"),
    "not UTF-8": ("f.tsv", LINE + b"\xff\xfe\n", "can't decode byte 0xff"),
    "missing": ("f.tsv", None, "No such file"),
    "not packed": ("f.tsv.gz", LINE, "Not a gzipped file"),
    "cut short": ("f.tsv.gz", gzip.compress(LINE * 9)[:-9], "ended before"),
    "damaged": ("f.tsv.gz", gzip.compress(LINE)[:10] + b"\xff" * 30, "decompressing"),
    "too many follows": ("f.tsv", b"".join(b"ann\tben%d\n" % i for i in range(4)), "ann follows 4 members, at most 3"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_follows(tmp_path: Path, settings: Settings, case: str) -> None:
    """An unreadable file of follows is refused in one line, which names the file and the error."""
    name, content, message = REFUSED[case]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ImportRefused) as refused:
        network.read_network(path, None, replace(settings, max_following=3), total=None, most=None, seed=1)
    assert str(refused.value).startswith(str(path))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b" \n\n", b"x" * 501 + b"\n"], ids=["nothing", "blank", "too long"])
def test_refused_posts(tmp_path: Path, settings: Settings, content: bytes) -> None:
    """A file without any line that could be a post is refused."""
    follows, texts = tmp_path / "f.tsv", tmp_path / "p.txt"
    follows.write_bytes(LINE)
    texts.write_bytes(content)
    with pytest.raises(ImportRefused, match=r"p\.txt: there is no line that could be a post"):
        network.read_network(follows, texts, settings, total=None, most=None, seed=1)

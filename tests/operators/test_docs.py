"""The documentation agrees with the code."""

import ast
import json
import re
from dataclasses import fields

import pytest

import server  # noqa: F401  every class of error is loaded with it
from serving.tables import tables
from store.settings import Settings
from store.settings.files import CONFIG
from tests.support.pages import DOCS, PAGES, README, ROOT, Block, blocks, name, read
from tests.support.servers.s3 import KEYS as S3_KEYS

README_LINES = 150
LANGUAGES = {"sh", "graphql", "json", "js", "text"}  # `test_docs_examples` and `.ci/node` run all but the last
LAYERS = ("schema", "resolvers", "serving", "store")

_CODE = re.compile(r'"code": "(\w+)"|^    code = "(\w+)"', re.MULTILINE)
_NAME = re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b")
_PATH = re.compile(r"`((?:serving|schema|resolvers|store|tests|benchmarks)/[\w/.]*)`")
_COMMAND = re.compile(r'add\((?:known,)?\s*"([a-z-]+)"|^        \("([a-z-]+)", commands', re.MULTILINE)


@pytest.mark.parametrize("listed", sorted(tables()))
def test_generated_table(listed: str) -> None:
    """Exactly one page has the table that `server.py print-tables` prints."""
    table = tables()[listed]
    assert [name(page) for page in PAGES if f"\n{table}\n" in read(page)] != [], table
    header = table.split("\n", 1)[0]
    assert sum(f"\n{header}\n" in read(page) for page in PAGES) == 1


def test_error_codes() -> None:
    """The table of error codes has every code that the code gives to a GraphQL error."""
    sources = [path.read_text(encoding="utf-8") for layer in LAYERS for path in (ROOT / layer).rglob("*.py")]
    codes = {a or b for source in sources for a, b in _CODE.findall(source)}
    assert {code for code in codes if f"| `{code}` |" not in tables()["error codes"]} == set()
    assert len(codes) > len(LAYERS)


def test_names() -> None:
    """Every setting and every code that a page names in its prose exists."""
    reference = tables()
    known = {field.name.upper() for field in fields(Settings)} | {CONFIG}
    known |= {"PERCH_TEST_EFFORT", "PERCH_TEST_STORE", "PERCH_WRITE_FORMS"}
    known |= set(_NAME.findall(reference["error codes"] + reference["refusals"]))
    known |= {"AWS_ENDPOINT_URL", "AWS_REGION", *S3_KEYS}  # of S3's clients
    for page in PAGES:
        prose = re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)
        assert set(_NAME.findall(prose)) <= known, name(page)


def test_commands() -> None:
    """The page on operations lists every command, and no other."""
    page = read(DOCS / "operations.md")
    table = page[page.index("| command | does |") : page.index("This block checks")]
    source = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("server.py", "serving/upkeep.py"))
    commands = {a or b for a, b in _COMMAND.findall(source)}
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == commands


def test_readme_length() -> None:
    """The README is a start page of at most 150 lines."""
    assert len(read(README).splitlines()) <= README_LINES


def test_every_page_is_linked() -> None:
    """The README, the index and the configuration of the site name every page."""
    pages = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    assert pages <= set(re.findall(r"\(docs/([\w-]+\.md)", read(README)))
    assert pages <= set(re.findall(r"\(([\w-]+\.md)", read(DOCS / "index.md")))
    assert pages <= set(re.findall(r'"([\w-]+\.md)"', (ROOT / ".zensical.toml").read_text(encoding="utf-8")))


def test_clients() -> None:
    """The page of clients gives the versions that the tests install."""
    installed = json.loads((ROOT / "tests/node/package.json").read_text(encoding="utf-8"))["devDependencies"]
    installed |= dict(re.findall(r'"(gql)\[[\w,]+\](\S+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    rows = re.findall(r"^\| (`.+?`) \| (`.+?`) \|", read(DOCS / "clients.md"), re.MULTILINE)
    assert len(rows) > 1
    for names, versions in rows:
        assert [installed[name] for name in re.findall("`(.+?)`", names)] == re.findall("`(.+?)`", versions)


def test_every_block_is_run() -> None:
    """Every code block has a language that a test runs, or is marked as text."""
    found = [(name(page), block) for page in PAGES for block in blocks(page)]
    assert [(page, block.line) for page, block in found if block.language not in LANGUAGES] == []
    # A fence with other text behind it would be no block to the tests.
    assert sum(read(page).count("\n```") for page in PAGES) == 2 * len(found)


def test_client() -> None:
    """The checks with Node run every block of JavaScript, of the API guide and of the page of clients."""
    found = {
        page.name: [block.text for block in blocks(page) if block.language == "js"]
        for page in PAGES
        if "\n```js\n" in read(page)
    }
    assert set(found) == {"api-guide.md", "clients.md"}
    (only,) = found["api-guide.md"]
    assert '"graphql-ws"' in only
    tests = "".join(read(path) for path in (ROOT / "tests/node").glob("*.mjs"))
    code = tests + "".join(found["clients.md"])
    for text in found["clients.md"]:
        file = re.match(r"// (\w+\.js)\n", text)
        assert file
        assert f'from "./{file[1]}"' in code


def test_modules_named() -> None:
    """Commands that run a module name one that exists."""
    named = {module for page in PAGES for module in re.findall(r"python -m (benchmarks\.\w+)", read(page))}
    assert named
    for module in named:
        path = ROOT / module.replace(".", "/")
        source = (path / "__main__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")
        assert ast.parse(source)


def test_paths() -> None:
    """Every file and folder that a page names exists."""
    named = {path for page in PAGES for path in _PATH.findall(read(page))}
    assert len(named) > len(LAYERS)
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_install_commands() -> None:
    """The README has the two commands that CI runs, each on a line of its own."""
    lines = [block.text.strip() for block in blocks(README) if _installs(block)]
    assert [line.rpartition(".venv/bin/python ")[2] for line in lines] == ["server.py serve --demo", "-m pytest"]


def _installs(block: Block) -> bool:
    return block.language == "sh" and "-m venv" in block.text

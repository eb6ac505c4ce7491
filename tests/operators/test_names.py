"""Names of classes mean one thing across the product."""

import ast
from collections import defaultdict

from tests.support.pages import ROOT

LAYERS = ("schema", "resolvers", "store", "serving")
SHOWING = ("schema/types/", "schema/execution/ports.py")  # these have the name of what they show


def test_class_names() -> None:
    """No two classes share a name, but for a type of the schema and what it shows."""
    named: dict[str, list[str]] = defaultdict(list)
    for path in (path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))):
        place = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not place.startswith(SHOWING):
                named[node.name].append(place)
    assert {name: places for name, places in named.items() if len(places) > 1} == {}

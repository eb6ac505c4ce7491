"""How long the worst query texts keep a process busy: parsed, validated, measured and priced, or refused.

`python -m benchmarks.documents` makes texts of many shapes as large as the limits allow, mixes the worst ones at random
and prints the slowest with their times. Times are of the processor, the least of several runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from random import Random

import schema
from schema.execution.documents import DocumentCache
from serving.http.app import spare_the_collector
from store.settings import Settings

RUNS = 5  # of each text
SHOWN = 12  # texts
Shape = Callable[[int], str]


def _many(count: int, part: str, between: str = " ") -> str:
    return between.join(part.replace("#", str(place)) for place in range(count))


SHAPES: Mapping[str, Shape] = {
    "fragments at the root": lambda n: f"{{{_many(n, '...F#')}}} {_many(n, 'fragment F# on Query{__typename}')}",
    "fragments with a field": lambda n: (
        f"{{user(login:1){{{_many(n, '...F#')}}}}} {_many(n, 'fragment F# on User{id}')}"
    ),
    "a chain of fragments": lambda n: (
        f"{{...F0}} {' '.join(f'fragment F{i} on Query{{...F{i + 1} __typename}}' for i in range(n))}"
        f" fragment F{n} on Query{{__typename}}"
    ),
    "fragments spread twice each": lambda n: (
        f"{{...F0}} {' '.join(f'fragment F{i} on Query{{...F{i + 1} ...F{i + 1}}}' for i in range(n))}"
        f" fragment F{n} on Query{{__typename}}"
    ),
    "every fragment in every one": lambda n: (
        "{...F0} "
        + " ".join(
            f"fragment F{i} on Query{{{' '.join(f'...F{j}' for j in range(i + 1, n))} __typename}}" for i in range(n)
        )
    ),
    "one fragment, spread often": lambda n: f"{{{_many(n, '...F')}}} fragment F on Query{{__typename}}",
    "a cycle of fragments": lambda n: (
        "{...F0} " + " ".join(f"fragment F{i} on Query{{...F{(i + 1) % n}}}" for i in range(n))
    ),
    "unused fragments": lambda n: "{__typename}" + _many(n, "fragment F# on Query{__typename}"),
    "operations": lambda n: _many(n, "query Q#{__typename}"),
    "operations with a variable": lambda n: _many(n, "query Q#($v:Int){publicTimeline(first:$v){__typename}}"),
    "operations that share a fragment": lambda n: (
        _many(n // 4, "query Q#($v:Int){...F}")
        + f"fragment F on Query{{publicTimeline(first:$v){{...G}}}} fragment G on Timeline{{{_many(n, 'nodes{...P}')}}}"
        + " fragment P on Post{id}"
    ),
    "variables": lambda n: f"query({_many(n, '$v#:ID!')}){{nodes(ids:[{_many(n, '$v#')}]){{__typename}}}}",
    "variables that nobody uses": lambda n: f"query({_many(n, '$v#:Int=1')}){{__typename}}",
    "variables that nobody defines": lambda n: f"{{nodes(ids:[{_many(n, '$v#')}]){{__typename}}}}",
    "variables of no type": lambda n: f"query({_many(n, '$v#:Nothing')}){{__typename}}",
    "a list": lambda n: f"{{nodes(ids:[{_many(n, '1')}]){{__typename}}}}",
    "a list of what is no id": lambda n: f"{{nodes(ids:[{_many(n, '1.5')}]){{__typename}}}}",
    "a list of objects": lambda n: f"{{nodes(ids:[{_many(n, '{a:1}')}]){{__typename}}}}",
    "a list where a number is due": lambda n: f"{{publicTimeline(first:[{_many(n, '1')}]){{__typename}}}}",
    "an object of unknown fields": lambda n: f"mutation{{follow(input:{{{_many(n, 'a#:1')}}}){{__typename}}}}",
    "an object of one field": lambda n: f"mutation{{follow(input:{{{_many(n, 'userIds:1')}}}){{__typename}}}}",
    "lists in lists": lambda n: f"{{nodes(ids:{'[' * (n % 190)}1{']' * (n % 190)}){{__typename}}}}",
    "unknown fields": lambda n: f"{{{_many(n, 'homeTimelin#')}}}",
    "different long unknown fields": lambda n: f"{{{_many(n, 'homeTimelin#' * 3)}}}",
    "unknown arguments": lambda n: f"{{publicTimeline({_many(n, 'firs#:1')}){{__typename}}}}",
    "one argument": lambda n: f"{{publicTimeline({_many(n, 'first:1')}){{__typename}}}}",
    "unknown directives": lambda n: f"{{__typename {_many(n, '@ski#')}}}",
    "directives": lambda n: f"{{{_many(n, '...@skip(if:true){__typename}')}}}",
    "one directive": lambda n: f"{{__typename {_many(n, '@skip(if:true)')}}}",
    "inline fragments": lambda n: f"{{{_many(n, '...{__typename}')}}}",
    "inline fragments with fields": lambda n: f"{{{_many(n, '... on Query{viewer{user{id}}}')}}}",
    "inline fragments in each other": lambda n: "{" + "...{" * (n % 190) + "__typename" + "}" * (n % 190) + "}",
    "a field, repeated": lambda n: f"{{{_many(n, '__typename')}}}",
    "aliases": lambda n: f"{{{_many(min(n, 29), 'a#:user(login:1){id name bio login followerCount postCount}')}}}",
    "aliases of fragments": lambda n: (
        f"{{{_many(min(n, 29), 'a#:user(login:1){...U}')}}} fragment U on User{{id name bio login {_many(n, '...V')}}}"
        " fragment V on User{followerCount}"
    ),
    "conflicting aliases": lambda n: f"{{{_many(n, '...F#')}}} {_many(n, 'fragment F# on Query{viewer{user{id}}}')}",
    "types in fragments": lambda n: (
        "{publicTimeline{nodes{" + _many(n, "...on Post{author{id}} ...on Node{id}") + "}}}"
    ),
    "introspection": lambda n: f"{{__schema{{types{{{_many(n, '...on __Type{name}')}}}}}}}",
    "a subscription of fragments": lambda n: (
        f"subscription{{{_many(n, '...F#')}}} {_many(n, 'fragment F# on Subscription{homeTimeline{cursor}}')}"
    ),
    "an unknown type": lambda n: f"{{{_many(n, '...on Nothing#{id}')}}}",
    "an unknown fragment": lambda n: f"{{{_many(n, '...F#')}}}",
    "escapes": lambda n: '{user(login:"' + "\\n" * n * 8 + '"){id}}',
    "long escapes": lambda n: '{user(login:"' + "\\u{41}" * n * 2 + '"){id}}',
    "pairs of surrogates": lambda n: '{user(login:"' + "\\uD83D\\uDE00" * n + '"){id}}',
    "a block string of lines": lambda n: '{user(login:"""' + "\n x" * n * 4 + '"""){id}}',
    "a block string of quotes": lambda n: '{user(login:"""' + '" ' * n * 7 + '"""){id}}',
    "a block string of spaces": lambda n: '{user(login:"""x' + "\n" * n * 14 + '"""){id}}',
    "comments": lambda n: "#\n" * n + "{__typename}",
    "lines, and no query": lambda n: "\n" * n * 14 + "}",
    "lines, and unknown fields": lambda n: "{" + "\n" * n * 10 + _many(min(n, 100), "x#") + "}",
    "a long name": lambda n: "{" + "x" * n * 14 + "}",
    "a long number": lambda n: "{nodes(ids:[" + "1" * n * 14 + "]){__typename}}",
    "a long float": lambda n: "{publicTimeline(first:1." + "1" * n * 14 + "){__typename}}",
    "definitions of types": lambda n: _many(n, "type T#{a:Int}"),
    "default values": lambda n: f"query({_many(n, '$v#:[ID!]=[1]')}){{nodes(ids:$v0){{__typename}}}}",
}


class Clock:
    """Measures texts against the default limits."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._schema = schema.build(settings)._schema  # noqa: SLF001  graphql-core's own

    def of(self, text: str) -> tuple[float, str]:
        """Return the least time that a text takes, in ms, and its outcome."""
        best, verdict = float("inf"), ""
        for _ in range(RUNS):
            cache = self._cache
            started = time.process_time()
            document = cache.get(text)
            best = min(best, time.process_time() - started)
            verdict = document.errors[0].message[:60] if document.errors else "accepted"
            cache.forget()
        return best * 1000, verdict

    def warm(self) -> None:
        """Fill the caches that belong to the whole schema."""
        self._cache = DocumentCache(self._schema, self._settings)
        for shape in SHAPES.values():
            self._cache.get(shape(3))
        self._cache.forget()


def largest(clock: Clock, shape: Shape) -> tuple[float, int, str]:
    """Return the worst time of a shape over all sizes, with the size and the outcome."""
    found = []
    for size in (10, 30, 60, 90, 120, 150, 180, 240, 320, 400, 480, 620, 900, 980, 1200, 2000):
        ms, verdict = clock.of(shape(size))
        found.append((ms, size, verdict))
    return max(found)


def main() -> None:
    """Print the worst texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mixes", type=int, default=300, help="random mixes of fragments, fields and literals")
    options = parser.parse_args()
    clock = Clock(Settings())
    clock.warm()
    spare_the_collector()
    rows = [(*largest(clock, shape), name) for name, shape in SHAPES.items()]
    random = Random(1)  # noqa: S311  nothing secret
    for _ in range(options.mixes):
        text = _mixed(random)
        rows.append((*_with_size(clock, text), f"mix: {text[:60]}"))
    for ms, size, verdict, name in sorted(rows, reverse=True)[:SHOWN]:
        print(f"{ms:6.2f} ms  {name} ({size}): {verdict}")


def _with_size(clock: Clock, text: str) -> tuple[float, int, str]:
    ms, verdict = clock.of(text)
    return ms, len(text), verdict


def _mixed(random: Random) -> str:
    """Return a document of fragments, each of several parts at once, of about as many tokens as are allowed."""
    count = random.randint(5, 120)
    parts = [
        "id", "name", "...on Node{id}", "...on User{bio login}", "followerCount @skip(if:$b)", "...F#", "...F#",
        "timeline(first:$n){nodes{__typename}}", 'timeline(first:5,after:"x"){edges{cursor}}',
    ]  # fmt: skip
    fragments = []
    for place in range(count):
        chosen = random.choices(parts, k=random.randint(1, 8))
        below = min(place + random.randint(1, 9), count)
        fragments.append(f"fragment F{place} on User{{{' '.join(one.replace('#', str(below)) for one in chosen)} id}}")
    fragments.append(f"fragment F{count} on User{{id}}")
    head = " ".join(f"...F{place}" for place in range(count + 1))
    text = f"query($n:Int $b:Boolean!=true){{user(login:1){{{head}}}}}"
    for fragment in fragments:
        text += fragment
    return text


if __name__ == "__main__":
    main()

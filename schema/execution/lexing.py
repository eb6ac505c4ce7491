"""A GraphQL lexer that uses regular expressions and takes a third of the time of graphql-core's lexer.

Numbers and malformed tokens are left to graphql-core, which reads one character after another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphql import DocumentNode, Lexer, Source, Token, TokenKind
from graphql.language.parser import Parser

_NEXT = re.compile(
    r"[ \t,\ufeff]*+(?:([_A-Za-z][_0-9A-Za-z]*+)|([!$&():=@\[\]{|}]|\.\.\.)|([\n\r][ \t,\ufeff\n\r]*+)|)"
)
_NAME, _LINES = 1, 3  # groups of it
_AHEAD = 100  # tokens read at once
_COMMENT = re.compile(r"#([^\n\r\ud800-\udfff]*+)(?![\ud800-\udfff])")
_STRING = re.compile(r'"((?:[^"\\\n\r\ud800-\udfff]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,8}\}))*+)"')
_BLOCK = re.compile(r'"""((?:[^"\\\ud800-\udfff]++|\\"""|\\|"(?!""))*+)"""')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}|(.))")
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SURROGATES = range(0xD800, 0xE000)
_LINE = re.compile(r"\r\n|\n|\r")
_PUNCTUATION = {kind.value: kind for kind in TokenKind if not kind.value[0].isalpha() and kind.value[0] != "<"}


def parse(text: str, most_tokens: int) -> DocumentNode:
    """Return the document of a query text.

    Raises GraphQLSyntaxError, also for too many tokens or comments, and RecursionError where the text nests too deeply.
    """
    source = Source(text)
    parser = Parser(source, lexer=QuickLexer(source), max_lexical_tokens=most_tokens, max_comments=most_tokens)
    document = parser.parse_document()
    assert document.loc
    token = document.loc.start_token
    while token.next:
        # Without reference cycles, tokens are freed at once and don't wait for the garbage collector.
        token = token.next
        token.prev = None
    return document


class QuickLexer(Lexer):
    """Graphql-core's lexer with names, punctuation, comments and strings read by regular expressions."""

    def advance(self) -> Token:
        """Return the next token that is not a comment, and make it the current token."""
        self.last_token = token = self.token
        following = token.next
        if following is None or following.kind is TokenKind.COMMENT:
            following = self.lookahead()
        self.token = following
        return following

    def read_next_token(self, start: int) -> Token:
        """Return the next token at or after a position. Names and punctuation that follow are linked to it."""
        body = self.source.body
        head = last = Token(TokenKind.SOF, start, start, 0, 0)
        for _ in range(_AHEAD):
            match = _NEXT.match(body, last.end)
            assert match  # it can be empty
            group = match.lastindex
            if group == _LINES:
                lines = match.end()
                match = _NEXT.match(body, lines)
                assert match
                group = match.lastindex
                if group:
                    self._skip(last.end, lines)
            if group is None:
                break
            begin, end, value = match.start(group), match.end(), match[group]
            kind = TokenKind.NAME if group == _NAME else _PUNCTUATION[value]
            token = Token(kind, begin, end, self.line, 1 + begin - self.line_start, value if group == _NAME else None)
            last.next, token.prev = token, last
            last = token
        return head.next or super().read_next_token(start)

    def read_comment(self, start: int) -> Token:
        """Return a comment."""
        match = _COMMENT.match(self.source.body, start)
        if match is None or (self._max_comments is not None and self._comment_count >= self._max_comments):
            return super().read_comment(start)
        self._comment_count += 1
        return self.create_token(TokenKind.COMMENT, start, match.end(), match[1])

    def read_string(self, start: int) -> Token:
        """Return a string on one line."""
        match = _STRING.match(self.source.body, start)
        if match is None:
            return super().read_string(start)
        value = match[1]
        if "\\" in value:
            try:
                value = _ESCAPE.sub(_unescape, value)
            except ValueError:  # a lone surrogate, or a code point beyond Unicode
                return super().read_string(start)
        return self.create_token(TokenKind.STRING, start, match.end(), value)

    def read_block_string(self, start: int) -> Token:
        """Return a string between three quotes."""
        match = _BLOCK.match(self.source.body, start)
        if match is None:
            return super().read_block_string(start)
        lines = [line.replace('\\"""', '"""') for line in _LINE.split(match[1])]
        token = self.create_token(TokenKind.BLOCK_STRING, start, match.end(), "\n".join(_dedent(lines)))
        self._skip(start, match.end())
        return token

    def _skip(self, start: int, end: int) -> None:
        """Count the lines that begin within a piece of the text."""
        piece = self.source.body[start:end]
        lines = piece.count("\n") + piece.count("\r") - piece.count("\r\n")
        if lines:
            self.line += lines
            self.line_start = start + max(piece.rfind("\n"), piece.rfind("\r")) + 1


def _unescape(match: re.Match[str]) -> str:
    code, long_code, char = match.groups()
    if char:
        return _ESCAPED[char]
    point = int(code or long_code, 16)
    if point in _SURROGATES:
        raise ValueError
    return chr(point)


def _dedent(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a block string without their common indentation (specification, §2.9.4)."""
    indents = [len(line) - len(line.lstrip(" \t")) for line in lines]
    filled = [place for place, line in enumerate(lines) if indents[place] < len(line)]
    if not filled:
        return []
    common = min((indents[place] for place in filled if place), default=0)
    return [line[common:] if place else line for place, line in enumerate(lines)][filled[0] : filled[-1] + 1]

"""Locate the parts of a SPARQL query in its text: rdflib's parse does not keep positions."""

import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import lru_cache

from ontoweir.errors import Source
from ontoweir.rewriter.syntax.node import Node

_TOKEN = re.compile(
    r"""(?P<skip>\s+|\#[^\n]*)
    |(?P<iri><[^<>"{}|^`\\\s]*>)
    |(?P<string>\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<var>[?$]\w+)
    |(?P<pname>[\w.\-]*:(?:[\w.\-:%]*[\w\-:%])?)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<op>&&|\|\||<=|>=|!=|\^\^|.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class SparqlToken:
    """A token: what it is (`iri`, `string`, `var`, `pname`, `number`, `word`, `op`), its text,
    its line (from 1) and its offset."""

    kind: str
    text: str
    line: int
    offset: int


@lru_cache(maxsize=512)
def _read_tokens(text: str) -> tuple[SparqlToken, ...]:
    """The tokens of a text, which all steps of reading it look at anew."""
    made: list[SparqlToken] = []
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "op"
        if kind != "skip":
            made.append(SparqlToken(kind, match[0], line, match.start()))
        if kind in ("skip", "string"):  # others have no ends of lines
            line += match[0].count("\n")
    return tuple(made)


class Tokens:
    """The tokens of a query, with a cursor that moves forward as parts are located."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = made = _read_tokens(text)
        self.last_line = made[-1].line if made else 1
        self._cursor = 0
        self._line = made[0].line if made else 1

    def next(self, wanted: Callable[[SparqlToken], bool]) -> int:
        """Move behind the next token that is `wanted` and return its line; if there is none stay
        and return the line of the last one found."""
        for i in range(self._cursor, len(self.tokens)):
            if wanted(self.tokens[i]):
                self._cursor = i + 1
                self._line = self.tokens[i].line
                break
        return self._line

    def next_word(self, word: str) -> int:
        """Move behind the next token that is a word, in capitals or not; its line, as `next`."""
        return self.next(lambda t: t.text.upper() == word)

    def skip_parentheses(self) -> tuple[SparqlToken, ...]:
        """Move behind the parentheses that open at the cursor; their tokens, or none."""
        depth = 0
        for i in range(self._cursor, len(self.tokens)):
            depth += {"(": 1, ")": -1}.get(self.tokens[i].text, 0)
            if depth == 0:
                skipped = self.tokens[self._cursor : i + 1]
                if len(skipped) > 1:
                    self._cursor = i + 1
                return skipped if len(skipped) > 1 else ()
        return ()

    def line_of(self, *texts: str) -> int | None:
        """The line of the first of these words (any case), operators or variables in the query."""
        upper = {text.upper() for text in texts}
        return next((t.line for t in self.tokens if t.text.upper() in upper), None)

    def line_of_prefix(self, prefix: str) -> int | None:
        """The line of the first name with this prefix."""
        names = (t for t in self.tokens if t.kind == "pname" and t.text.startswith(f"{prefix}:"))
        return next((t.line for t in names), None)

    def place_pattern(self, file: str) -> Source:
        """The place of the triple whose object was found last: from its predicate, or from its
        subject where that is written next to it."""
        last = max(self._cursor - 1, 0)
        first = self._reach(last, -1, ";,.{}")
        while self.tokens and self.tokens[first].line < self.tokens[last].line:
            first += 1
        return self._place(file, first, last)

    def place_comparison(self, file: str, token: SparqlToken) -> Source:
        """The place of the comparison with this operator: up to the connectives around it."""
        at = self.tokens.index(token)
        stops = ("&&", "||", "!")
        return self._place(file, self._reach(at, -1, stops), self._reach(at, 1, stops))

    def _reach(self, start: int, step: int, stops: Container[str]) -> int:
        """The last token in a direction before a stop or before a parenthesis that encloses."""
        depth, at = 0, start
        while 0 <= at + step < len(self.tokens):
            text = self.tokens[at + step].text
            depth += step * {"(": 1, ")": -1}.get(text, 0)
            if depth < 0 or (depth == 0 and text in stops):
                break
            at += step
        return at

    def _place(self, file: str, first: int, last: int) -> Source:
        """The place of a range of tokens; only the first line of several is marked."""
        if not self.tokens:
            return Source(file, 1)
        head, tail = self.tokens[first], self.tokens[last]
        start = self.text.rfind("\n", 0, head.offset) + 1
        end = self.text.find("\n", head.offset)
        stop = min(tail.offset + len(tail.text), len(self.text) if end < 0 else end)
        return Source(file, head.line, head.offset - start + 1, stop - start + 1)

    def at(self, offset: int) -> SparqlToken | None:
        """The token at or after an offset in the text; the last one if there is none."""
        after = (t for t in self.tokens if t.offset + len(t.text) > offset)
        return next(after, self.tokens[-1] if self.tokens else None)


def stands_for(token: SparqlToken, node: object) -> bool:
    """Whether a token stands for a node as rdflib parsed it."""
    import rdflib  # only where a query in SPARQL is read: this is imported for others, too

    if isinstance(node, rdflib.Variable):
        return token.kind == "var" and token.text[1:] == str(node)
    if isinstance(node, rdflib.URIRef):
        if node == rdflib.RDF.type and token.text == "a":
            return True
        return token.kind == "iri" and token.text[1:-1] == str(node)
    if isinstance(node, Node) and node.name == "pname":
        prefix = node.get("prefix", "")
        name = f"{prefix}:{node.get('localname', '')}"
        return token.kind == "pname" and token.text.replace("\\", "") == name
    if isinstance(node, Node) and node.name == "literal":
        return token.kind == "string"
    if isinstance(node, rdflib.Literal):
        return token.text == str(node)
    return False

"""Parses the target of an .obda mapping: Turtle triples with {column} placeholders.

Ontop's format: https://ontop-vkg.org/guide/advanced/mapping-language.html
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ontoweir.mappings.model.assertion import TermKind
from ontoweir.mappings.model.column_types import XSD
from ontoweir.mappings.r2rml.mapping_file import NO_IRI
from ontoweir.mappings.r2rml.r2rml_document import RDF_TYPE

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#(?=\s)[^\n]*)
    |(?P<star><<)
    |(?P<iri><(?:[^<>{}\s"]|\{[^{}]*\}|\\[{}])*>)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<column>\{[^{}]+\})
    |(?P<mark>\^\^)
    |(?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    |(?P<number>[+-]?(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+(?:[eE][+-]?\d+)?))
    |(?P<name>(?:_|[A-Za-z][\w-]*)?:(?:[^\s;,.<>"{}^@\[\]()]|\{[^{}]*\}|\.(?=[^\s;,.\]}]))*)
    |(?P<word>[A-Za-z]+)
    |(?P<stop>[;,.\[\](){}])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class TargetTerm:
    """A term of a target.

    `text` is the expanded IRI or template, a column's name (`form` "column"), or a constant's
    value; `spelled` is how the file writes it.
    """

    form: str
    kind: TermKind
    text: str
    spelled: str
    line: int
    datatype: str | None = None
    language: str | None = None


class TargetTriple(NamedTuple):
    """A triple of a target; the graph is None outside of GRAPH."""

    subject: TargetTerm
    predicate: TargetTerm
    object: TargetTerm
    graph: TargetTerm | None


class TargetRefusal(Exception):
    """What is wrong in a target; `line` counts from 0, from the target's first line."""

    def __init__(self, what: str, *, why: str, fix: str, line: int) -> None:
        super().__init__(what)
        self.what, self.why, self.fix, self.line = what, why, fix, line


@dataclass(frozen=True, slots=True)
class TargetToken:
    """A part of a target; lines count from 0."""

    kind: str
    text: str
    line: int


def parse_obda_target(text: str, prefixes: Mapping[str, str]) -> tuple[TargetTriple, ...]:
    """The triples of a target, also in GRAPH name { … }, with `;` and `,` written out.

    Raises:
        TargetRefusal: it is no such text, or uses collections or RDF-star.
    """
    return _Parser(read_tokens(text), prefixes).triples()


def read_tokens(text: str) -> list[TargetToken]:
    """The words and marks of a target, without comments.

    Raises:
        TargetRefusal: something is none of them.
    """
    tokens: list[TargetToken] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        line = text.count("\n", 0, position)
        if match is None:
            raise TargetRefusal(
                f"{text[position : position + 20]!r} in a target",
                why="targets are Turtle triples with {column} placeholders",
                fix='write e.g. :sensor/{id} a :Sensor ; :speed {speed}^^xsd:integer ; :note "x" .',
                line=line,
            )
        kind = match.lastgroup or ""
        if kind != "space":
            tokens.append(TargetToken(kind, match[0], line))
        position = match.end()
    return tokens


class _Parser:
    def __init__(self, tokens: list[TargetToken], prefixes: Mapping[str, str]) -> None:
        self.tokens, self.prefixes = tokens, prefixes
        last = tokens[-1].line if tokens else 0
        self.tokens.append(TargetToken("end", "the end of the target", last))
        self.position = 0

    def peek(self) -> TargetToken:
        return self.tokens[self.position]

    def take(self) -> TargetToken:
        token = self.tokens[self.position]
        self.position += token.kind != "end"
        return token

    def triples(self) -> tuple[TargetTriple, ...]:
        parsed: list[TargetTriple] = []
        while self.peek().kind != "end":
            if self.peek().kind == "word" and self.peek().text.upper() == "GRAPH":
                parsed.extend(self.graph_block())
            else:
                parsed.extend(self.statement(None))
        if not parsed:
            raise self.unexpected(self.peek(), "a triple")
        return tuple(parsed)

    def graph_block(self) -> list[TargetTriple]:
        """GRAPH name { triples }."""
        self.take()
        graph = self.term(self.take(), "graph")
        block = self.peek()
        if block.kind == "column":  # triples without any column look like one
            inside = [
                TargetToken(t.kind, t.text, t.line + block.line)
                for t in read_tokens(block.text[1:-1])
            ]
            ends = [TargetToken("stop", brace, block.line) for brace in "{}"]
            self.tokens[self.position : self.position + 1] = [ends[0], *inside, ends[1]]
        if self.take().text != "{":
            raise self.unexpected(block, "'{' after GRAPH and a name")
        triples: list[TargetTriple] = []
        while self.peek().text != "}":
            triples.extend(self.statement(graph))
        self.take()
        if self.peek().text == ".":
            self.take()
        return triples

    def statement(self, graph: TargetTerm | None) -> list[TargetTriple]:
        """The triples of one subject, and the full stop, which the last one may do without."""
        triples: list[TargetTriple] = []
        subject = self.term(self.take(), "subject")
        while True:
            predicate = self.term(self.take(), "predicate")
            triples.append(TargetTriple(subject, predicate, self.object_term(), graph))
            while self.peek().text == ",":
                self.take()
                triples.append(TargetTriple(subject, predicate, self.object_term(), graph))
            while self.peek().text == ";":
                self.take()
            last = "end" if graph is None else "}"
            if self.peek().text == "." or last in (self.peek().kind, self.peek().text):
                break
            if self.tokens[self.position - 1].text != ";":
                raise self.unexpected(self.peek(), "';', ',' or '.'")
        if self.peek().text == ".":
            self.take()
        return triples

    def object_term(self) -> TargetTerm:
        return self.term(self.take(), "object")

    def unexpected(self, token: TargetToken, wanted: str) -> TargetRefusal:
        refused = {
            "[": "a blank node property list",
            "(": "a collection",
            "{": "braces",
            "<<": "RDF-star",
        }
        name = refused.get(token.text)
        return TargetRefusal(
            f"{name} in a target" if name else f"{token.text!r} in a target",
            why=f"here stands {wanted}",
            fix="write triples of IRIs, {column} and literals, ended by '.'",
            line=token.line,
        )

    def term(self, token: TargetToken, role: str) -> TargetTerm:
        match token.kind:
            case "iri":
                return self.make_iri(token, token.text[1:-1])
            case "name" if token.text.startswith("_:") and role in ("subject", "object"):
                form = "template" if "{" in token.text else "blank"
                return TargetTerm(form, "blank", token.text[2:], token.text, token.line)
            case "name":
                return self.make_iri(token, self.expand(token))
            case "word" if token.text == "a" and role == "predicate":
                return TargetTerm("constant", "iri", RDF_TYPE, "a", token.line)
        if role == "object" and token.kind in ("column", "string", "number", "word"):
            return self.literal(token)
        wanted = "an IRI" if role in ("predicate", "graph") else "an IRI or blank node"
        raise self.unexpected(token, "an IRI or a literal" if role == "object" else wanted)

    def make_iri(self, token: TargetToken, text: str) -> TargetTerm:
        if re.fullmatch(r"\{[^{}]+\}", text):
            return TargetTerm("column", "iri", text[1:-1], token.text, token.line)
        form = "template" if "{" in text else "constant"
        if NO_IRI.search(re.sub(r"\{[^{}]+\}|\\[{}]", "", text)) or (
            form == "constant" and ":" not in text
        ):
            raise TargetRefusal(
                f"{token.text} is not an IRI",
                why="IRIs have a scheme, and no spaces, quotes or braces",
                fix="write the whole IRI, or a prefix that is declared",
                line=token.line,
            )
        return TargetTerm(form, "iri", text, token.text, token.line)

    def expand(self, token: TargetToken) -> str:
        prefix, _, local = token.text.partition(":")
        if prefix not in self.prefixes:
            raise TargetRefusal(
                f"unknown prefix {prefix}:",
                why="[PrefixDeclaration] does not declare it",
                fix=f"add a line {prefix}: IRI to [PrefixDeclaration]",
                line=token.line,
            )
        return self.prefixes[prefix] + local

    def literal(self, token: TargetToken) -> TargetTerm:
        datatype, language = None, None
        if token.kind == "number":
            plain = "decimal" if "." in token.text else "integer"
            datatype = XSD + ("double" if "e" in token.text.lower() else plain)
            return TargetTerm("constant", "literal", token.text, token.text, token.line, datatype)
        if token.kind == "word":
            if token.text not in ("true", "false"):
                raise self.unexpected(token, "an IRI or a literal")
            return TargetTerm(
                "constant", "literal", token.text, token.text, token.line, XSD + "boolean"
            )
        if self.peek().kind == "mark":
            self.take()
            named = self.take()
            if named.kind not in ("iri", "name"):
                raise self.unexpected(named, "a datatype's IRI")
            text = named.text[1:-1] if named.kind == "iri" else self.expand(named)
            datatype = self.make_iri(named, text).text
            if "{" in text:
                raise self.unexpected(named, "a datatype's IRI")
        elif self.peek().kind == "tag":
            language = self.take().text[1:].lower()  # compared without case
        body = token.text[1:-1]
        form = "column"
        if token.kind == "string":
            escapes = {'\\"': '"', "\\n": "\n", "\\t": "\t", "\\r": "\r"}
            body = re.sub(r'\\["ntr]', lambda m: escapes[m[0]], body)
            whole = re.fullmatch(r"\{([^{}]+)\}", body)
            if whole and datatype not in (None, XSD + "string"):
                body = whole[1]  # the text of a column, read as the datatype: the column's value
            else:
                form = "template" if re.search(r"(?<!\\)\{", body) else "constant"
        if form == "constant":
            body = re.sub(r"\\([{}\\])", r"\1", body)
        return TargetTerm(form, "literal", body, token.text, token.line, datatype, language)

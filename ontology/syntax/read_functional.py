"""Read OWL 2 functional syntax into RDF triples, by the W3C mapping to RDF graphs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rdflib import OWL, RDF, RDFS, XSD, BNode, Literal, URIRef
from rdflib.term import Node

from ontoweir.errors import OntologyError, Source
from ontoweir.ontology.syntax.map_axioms import Add, Call, NoAxiom, Part, map_axiom

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<iri><[^<>"{}|^`\\\s]*>)
      | (?P<text>"(?:[^"\\]|\\.)*")
      | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
      | (?P<type>\^\^)
      | (?P<mark>[()=])
      | (?P<blank>_:[^\s()=]+)
      | (?P<word>[^\s()=<>"]+)""",
    re.VERBOSE,
)
_PREFIXES = {
    "owl": str(OWL),
    "rdf": str(RDF),
    "rdfs": str(RDFS),
    "xsd": str(XSD),
}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


def read_functional(text: str, file: str, add: Add) -> None:
    """Hand every triple of an ontology in functional syntax to `add`, with its line.

    Raises:
        OntologyError: the syntax is broken, or a prefix is not declared.
    """
    reader = _Reader(text, file, add)
    try:
        reader.read()
    except NoAxiom as error:
        raise broken_syntax(error.what, Source(file, error.line)) from None
    except RecursionError:
        raise broken_syntax("expressions are nested too deeply", reader.here()) from None
    except ValueError as error:  # rdflib refuses a language tag, say
        raise broken_syntax(str(error), reader.here()) from None


def broken_syntax(what: str, source: Source) -> OntologyError:
    """The error for a file that is not in OWL 2's structural syntax."""
    return OntologyError(
        f"broken ontology syntax: {what}",
        why="it does not follow the OWL 2 functional-style or XML syntax",
        fix="correct it there or just before",
        source=source,
    )


class _Reader:
    """One pass over the tokens of one file."""

    def __init__(self, text: str, file: str, add: Add) -> None:
        self.file, self.add = file, add
        self.tokens = list(self._tokenize(text))
        self.place = 0
        self.prefixes = dict(_PREFIXES)

    def _tokenize(self, text: str) -> Iterator[_Token]:
        line, start = 1, 0
        while start < len(text):
            found = _TOKEN.match(text, start)
            if found is None:
                raise self._error(f"unexpected {text[start]!r}", line)
            if found.lastgroup != "space":
                yield _Token(str(found.lastgroup), found[0], line)
            line += found[0].count("\n")
            start = found.end()

    def _error(self, what: str, line: int) -> OntologyError:
        return broken_syntax(what, Source(self.file, line))

    def here(self) -> Source:
        """The place that is being read."""
        return Source(self.file, self.tokens[min(self.place, len(self.tokens)) - 1].line)

    # -- reading -----------------------------------------------------------------------------

    def _peek(self) -> _Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def _next(self, expected: str | None = None) -> _Token:
        token = self._peek()
        if token is None:
            last = self.tokens[-1].line if self.tokens else 1
            raise self._error("the file ends too early", last)
        if expected is not None and token.text != expected:
            raise self._error(f"{token.text!r} where {expected!r} is expected", token.line)
        self.place += 1
        return token

    def read(self) -> None:
        while (token := self._peek()) is not None and token.text == "Prefix":
            self._next()
            self._next("(")
            name = self._next()
            self._next("=")
            iri = self._next()
            if not name.text.endswith(":") or iri.kind != "iri":
                raise self._error("a prefix is Prefix(name:=<IRI>)", name.line)
            self.prefixes[name.text[:-1]] = iri.text[1:-1]
            self._next(")")
        self._next("Ontology")
        self._next("(")
        header = self._header()
        while (token := self._peek()) is not None and token.text != ")":
            map_axiom(self._call(), header, self.add)
        self._next(")")
        extra = self._peek()
        if extra is not None:
            raise self._error(f"{extra.text!r} after the end of the ontology", extra.line)

    def _header(self) -> Node:
        """The ontology's IRI, with its version; a blank node if it has none."""
        found: list[Node] = []
        while (token := self._peek()) is not None and token.text != ")" and not self._calls():
            found.append(self._node(self._next()))
            if len(found) > 2 or not isinstance(found[-1], URIRef):
                raise self._error(f"{token.text!r} where an axiom is expected", token.line)
        header = found[0] if found else BNode()
        self.add(header, RDF.type, OWL.Ontology, None)
        for version in found[1:]:
            self.add(header, OWL.versionIRI, version, None)
        return header

    def _calls(self) -> bool:
        if ":" in self.tokens[self.place].text:  # a name before a group, as in HasKey(:C (:p))
            return False
        after = self.tokens[self.place + 1] if self.place + 1 < len(self.tokens) else None
        return after is not None and after.text == "("

    def _call(self) -> Call:
        name = self._next()
        if name.kind != "word":
            raise self._error(f"{name.text!r} where an axiom or expression is expected", name.line)
        self._next("(")
        arguments: list[Part] = []
        groups = 0
        while (token := self._peek()) is not None and (token.text != ")" or groups):
            if token.text in ("(", ")"):  # a group of properties, as in HasKey(C (P) (Q))
                groups += 1 if self._next().text == "(" else -1
                continue
            arguments.append(
                self._call() if token.kind == "word" and self._calls() else self._node(self._next())
            )
        self._next(")")
        return Call(name.text, tuple(arguments), name.line)

    def _node(self, token: _Token) -> Node:
        match token.kind:
            case "iri":
                return URIRef(token.text[1:-1])
            case "blank":
                return BNode(token.text[2:])
            case "text":
                return self._literal(token)
            case "word":
                prefix, colon, local = token.text.partition(":")
                if not colon:
                    if token.text.isdigit():
                        return Literal(int(token.text))
                    raise self._error(f"{token.text!r} is not an IRI", token.line)
                if prefix not in self.prefixes:
                    raise self._error(f"the prefix {prefix + ':'!r} is not declared", token.line)
                return URIRef(self.prefixes[prefix] + local)
            case _:
                raise self._error(f"unexpected {token.text!r}", token.line)

    def _literal(self, token: _Token) -> Node:
        text = re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL)
        after = self._peek()
        if after is not None and after.kind == "type":
            self._next()
            kind = self._node(self._next())
            return Literal(text, datatype=URIRef(str(kind)))
        if after is not None and after.kind == "language":
            self._next()
            return Literal(text, lang=after.text[1:])
        return Literal(text)

"""The triples that a text of SPARQL writes one after another, with where they stand."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken

_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


_Step: TypeAlias = tuple[str, str | None, bool]
"""A predicate of a path as it is written, its IRI, and whether it is turned around."""


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple: its terms as they are written, the place of its object's first token, and the IRI
    of its predicate, or of the class of its subject (None: a variable)."""

    subject: str
    verb: str
    object: str
    at: int
    iri: str | None
    is_class: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is said of one subject, from a token to another one; `plain`: as it is written, each
    triple with terms of its own (else blank nodes or paths have been given names)."""

    first: int
    last: int
    triples: tuple[Triple, ...]
    plain: bool


class _Unread(Exception):
    """What is written is not read here: it stays as it is."""


def read_sentences(
    tokens: Sequence[SparqlToken], places: range, name_it: Callable[[], str]
) -> Iterator[Sentence]:
    """The sentences of a block of triples; those that have paths with * or | or lists are left out.

    Args:
        tokens: of the whole text.
        places: of the block.
        name_it: the name of another variable, for a blank node in brackets or within a path.
    """
    first = places.start
    while first < places.stop:
        if tokens[first].text == ".":
            first += 1
            continue
        last = _end_of(tokens, first, places.stop)
        reader = _Reader(tokens, first, last, name_it)
        try:
            triples = reader.read()
        except _Unread:
            triples = ()
        if triples:
            yield Sentence(first, last - 1, triples, reader.plain)
        first = last


def write_instead(edit: Edit, sentence: Sentence, said: Sequence[str]) -> None:
    """Write other patterns in the place of a sentence, after which a stop may stand already."""
    after = edit.tokens[sentence.last + 1].text if sentence.last + 1 < len(edit.tokens) else ""
    text = " ".join(said)
    edit.blank(sentence.first, sentence.last)
    edit.before(sentence.first, f"{text.removesuffix(' .') if after == '.' else text} ")


def _end_of(tokens: Sequence[SparqlToken], first: int, stop: int) -> int:
    """Behind the last token of a sentence."""
    depth = 0
    for n in range(first, stop):
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(tokens[n].text, 0)
        if depth == 0 and tokens[n].text == ".":
            return n
    return stop


class _Reader:
    def __init__(
        self, tokens: Sequence[SparqlToken], first: int, last: int, name_it: Callable[[], str]
    ) -> None:
        self.tokens, self.n, self.last, self.name_it = tokens, first, last, name_it
        self.plain, self.made = True, list[Triple]()
        self.prefixes = {
            p.text.removesuffix(":"): i.text[1:-1]
            for w, p, i in zip(tokens, tokens[1:], tokens[2:], strict=False)
            if w.text.upper() == "PREFIX" and p.kind == "pname" and i.kind == "iri"
        }

    def read(self) -> tuple[Triple, ...]:
        subject = self._term()
        if self.n < self.last:
            self._properties(subject, self.last)
        if self.n != self.last:
            raise _Unread
        return tuple(self.made)

    def _properties(self, subject: str, end: int) -> None:
        """`p o, o; p o`, up to a token."""
        while self.n < end:
            if self._text() == ";":
                self.n += 1
                continue
            steps = self._path()
            while True:
                self._step(subject, steps)
                if self.n >= end or self._text() != ",":
                    break
                self.n += 1
            if self.n < end and self._text() != ";":
                raise _Unread

    def _step(self, subject: str, steps: list[_Step]) -> None:
        """One triple, or those of a path."""
        at = self.n
        named = self._iri(self._token())
        last = self._term()
        here = subject
        for k, (verb, iri, inverse) in enumerate(steps):
            there = last if k == len(steps) - 1 else self.name_it()
            ends = (there, here) if inverse else (here, there)
            is_class = iri == _TYPE
            if is_class:
                iri = None if inverse or k < len(steps) - 1 else named
            self.made.append(Triple(ends[0], verb, ends[1], at, iri, is_class))
            here = there

    def _path(self) -> list[_Step]:
        """A predicate, or predicates one after another."""
        steps: list[_Step] = []
        while True:
            inverse = self._text() == "^"
            self.n += inverse
            token = self._token()
            self.n += 1
            if token.kind == "var":
                steps.append((token.text, None, inverse))
            elif token.kind in ("iri", "pname"):
                steps.append((token.text, self._iri(token), inverse))
            elif token.text == "a":
                steps.append((token.text, _TYPE, inverse))
            else:
                raise _Unread
            self.plain = self.plain and not inverse
            if self._text() != "/":
                break
            self.plain = False
            self.n += 1
        if self._text() in ("*", "+", "?", "|", "/", "!"):
            raise _Unread
        return steps

    def _term(self) -> str:
        """A term, as it is written; of brackets a name."""
        token = self._token()
        if token.text == "[":
            self.n += 1
            if self._text() == "]":
                self.n += 1
                self.plain = False
                return self.name_it()
            self.plain = False
            name, end = self.name_it(), self._closing()
            self._properties(name, end)
            if self.n != end:
                raise _Unread
            self.n += 1
            return name
        signed = token.text in ("+", "-")
        if not signed and (token.kind == "op" or token.text.upper() in ("_", "GRAPH")):
            raise _Unread
        first = self.n
        self.n += 1 + signed
        if token.kind == "string":
            self._tag()
        return self._write(first)

    def _tag(self) -> None:
        """A language or a datatype behind a string."""
        if self.n < self.last and self._text() == "^^":
            self.n += 2
        elif self.n < self.last and self._text() == "@":
            self.n += 2
            while self.n + 1 < self.last and self._text() == "-":
                self.n += 2

    def _write(self, first: int) -> str:
        return "".join(t.text for t in self.tokens[first : self.n])

    def _closing(self) -> int:
        depth = 1
        for n in range(self.n, self.last):
            depth += {"[": 1, "]": -1}.get(self.tokens[n].text, 0)
            if depth == 0:
                return n
        raise _Unread

    def _token(self) -> SparqlToken:
        if self.n >= self.last:
            raise _Unread
        return self.tokens[self.n]

    def _text(self) -> str:
        return self.tokens[self.n].text if self.n < self.last else ""

    def _iri(self, token: SparqlToken) -> str | None:
        if token.kind == "iri":
            return token.text[1:-1]
        if token.kind != "pname" or token.text.startswith("_:"):
            return None
        prefix, _, name = token.text.partition(":")
        return self.prefixes.get(prefix, "") + name

"""Patterns of nodes that have their time in their names, as patterns in GRAPH of that time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from typing import Protocol

from ontoweir.errors import Source
from ontoweir.rewriter.absence.spell_stars import list_scope
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import (
    CLAUSES,
    Item,
    ItemKind,
    close_of,
    is_select,
    list_items,
)
from ontoweir.rewriter.dated.node_times import StreamKey
from ontoweir.rewriter.dated.read_triples import (
    Sentence,
    Triple,
    read_sentences,
    write_instead,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken


class Times(Protocol):
    """Which nodes of the data have their time in their names (NodeTimes)."""

    rests: dict[StreamKey, None]

    def are_dated(self, iri: str, /, *, is_class: bool, at_object: bool = False) -> bool:
        """Whether all members of a class, or subjects (or objects) of a property, have."""
        ...

    def is_time(self, iri: str, /) -> bool:
        """Whether each triple of a property has its time as its object."""
        ...


@dataclass(frozen=True, slots=True)
class DatedText:
    """A query whose patterns of dated nodes are in GRAPH; `lines`: those that were changed;
    `rests`: the keys of whole streams by which nodes have one time."""

    text: str
    lines: frozenset[int]
    rests: tuple[StreamKey, ...]

    def place_back(self, place: Source | None) -> Source | None:
        """A place in the text as one of the text as it was given."""
        if place is None or place.line not in self.lines:
            return place
        return Source(place.file, place.line)


def date_nodes(text: str, times: Times) -> DatedText | None:
    """A query in which what is said outside of GRAPH of nodes that have their time in their names
    is said in GRAPH of that time: `?o a :Reading ; :value ?v ; :at ?t` becomes `GRAPH ?t { ?o a
    :Reading ; :value ?v ; :at ?t_told }`, where each triple of :at has its own time as its object,
    and `GRAPH ?o_time { … }` where no such triple is asked for. It has the same solutions, each as
    often: all triples of a dated node are in the graph of one time. (None: it has no such node.)

    Args:
        text: SPARQL; of CONSTRUCT and ASK the SELECT that it stands for.
        times: which nodes of the data are dated.
    """
    edit = Edit(_write_question_marks(text))
    opens = next((n for n, t in enumerate(edit.tokens) if t.text == "{"), None)
    if opens is None:
        return None
    reader = _Reader(edit.tokens, times)
    reader.read(opens)
    reader.choose_times()
    if not any(g.times for g in reader.groups):
        return None
    return _Writer(edit, reader).write()


def _write_question_marks(text: str) -> str:
    """$x as ?x, which is the same variable."""
    made = list(text)
    for token in Edit(text).tokens:
        if token.kind == "var":
            made[token.offset] = "?"
    return "".join(made)


@dataclass(slots=True)
class _Group:
    """A group of patterns, between its braces; the group around it, and whether this one is asked
    beside each solution of that one, whose variables it sees.

    `dated`: its nodes that have their time in their names. `times`: the variables of their times.
    """

    opens: int
    closes: int
    around: "_Group | None"
    beside: bool
    sentences: tuple[Sentence, ...]
    dated: set[str] = field(default_factory=set)
    times: dict[str, str] = field(default_factory=dict)

    @property
    def triples(self) -> Iterator[Triple]:
        """All that it says."""
        return (triple for sentence in self.sentences for triple in sentence.triples)

    def time_of(self, triple: Triple) -> str | None:
        """The variable of the time of a triple."""
        return self.times.get(triple.subject) or self.times.get(triple.object)


class _Reader:
    """What a text says of dated nodes."""

    def __init__(self, tokens: Sequence[SparqlToken], times: Times) -> None:
        self.tokens, self.times = tokens, times
        self.taken = {t.text for t in tokens if t.kind == "var"}
        self.groups: list[_Group] = []
        self.stars: dict[int, tuple[str, ...]] = {}
        """The places of *, and what each stands for."""

    def name(self, stem: str) -> str:
        """A variable that the text does not have."""
        names = (f"?{stem}{'' if k == 0 else k}" for k in count())
        made = next(n for n in names if n not in self.taken)
        self.taken.add(made)
        return made

    def read(self, opens: int, around: _Group | None = None, *, beside: bool = False) -> None:
        """Find the dated nodes of a group, and of those within it."""
        if is_select(self.tokens, opens):
            opens = next(n for n in range(opens + 1, len(self.tokens)) if self._is(n, "{"))
            around = None
        if around is None:
            self._read_star(opens)
        items = list_items(self.tokens, opens)
        sentences = tuple(
            sentence
            for item in items
            if item.kind is ItemKind.TRIPLES
            for sentence in read_sentences(self.tokens, item.places, lambda: self.name("node"))
        )
        group = _Group(opens, close_of(self.tokens, opens), around, beside, sentences)
        known = set[str]() if around is None else around.dated
        group.dated = {*known, *(n for t in group.triples for n in self._list_dated(t))}
        self.groups.append(group)
        for item in items:
            if item.kind not in (ItemKind.GRAPH, ItemKind.VALUES, ItemKind.BIND):
                for inner, _ in item.braces:
                    self.read(inner, group, beside=_is_beside(item))

    def _is(self, n: int, text: str) -> bool:
        return self.tokens[n].text == text

    def _read_star(self, opens: int) -> None:
        """Note the * of the SELECT whose body opens with a brace."""
        star = next((n for n in range(opens - 1, -1, -1) if self._is(n, "*")), None)
        words = [t.text.upper() for t in self.tokens[max(0, (star or 0) - 2) : star]]
        if star is None or not (words[-1:] == ["SELECT"] or words[:1] == ["SELECT"]):
            return
        if any(self._is(n, "{") for n in range(star, opens)):
            return
        graphs = {
            self.tokens[n + 1].text[1:]
            for n in range(opens, close_of(self.tokens, opens))
            if self.tokens[n].text.upper() == "GRAPH"
        }
        names = dict.fromkeys(list_scope(self.tokens, opens))
        self.stars[star] = tuple(n for n in names if n not in graphs)

    def _list_dated(self, triple: Triple) -> Iterator[str]:
        """The nodes of a triple that is said only of those that have their time in their names."""
        if triple.iri is None:
            return
        for at_object in (False, True)[: 1 if triple.is_class else 2]:
            node = triple.object if at_object else triple.subject
            if _is_node(node) and self.times.are_dated(
                triple.iri, is_class=triple.is_class, at_object=at_object
            ):
                yield node

    def choose_times(self) -> None:
        """Give each dated node, in each group that says something of it, the variable of its time:
        one that it is asked for, if it can be; that of the group around; or another one."""
        told = {
            t
            for group in self.groups
            for t in group.triples
            if t.subject in group.dated and self._tells_time(t)
        }
        places = {t.at for t in told}
        used = {self.tokens[n].text for n in self._list_used() if n not in places}
        for group in self.groups:
            nodes = dict.fromkeys(n for t in group.triples for n in (t.subject, t.object))
            for node in (n for n in nodes if n in group.dated):
                asked = (
                    t.object
                    for t in group.triples
                    if t.subject == node and t in told and t.object not in used
                )
                group.times[node] = (
                    next(asked, None) or self._inherit(group, node) or self._name_time(node)
                )

    def _tells_time(self, triple: Triple) -> bool:
        return (
            triple.iri is not None
            and not triple.is_class
            and triple.object.startswith("?")
            and self.times.is_time(triple.iri)
        )

    def _list_used(self) -> Iterator[int]:
        """The places of variables in triples and VALUES, and of those that BIND makes."""
        for n, token in enumerate(self.tokens):
            if token.kind == "var" and self.tokens[n - 1].text.upper() == "AS":
                yield from (n for k in self._before(n, "BIND") if close_of(self.tokens, k + 1) > n)
            elif token.kind == "var":
                yield from (n for k in self._before(n, "VALUES") if not self._closes(k, n))
        for opens in (n for n, t in enumerate(self.tokens) if t.text == "{"):
            if is_select(self.tokens, opens):
                continue
            for item in list_items(self.tokens, opens):
                if item.kind in (ItemKind.TRIPLES, ItemKind.VALUES):
                    yield from (n for n in item.places if self.tokens[n].kind == "var")

    def _before(self, n: int, word: str) -> Iterator[int]:
        """The place of the last such word before a token, if there is one."""
        found = (k for k in range(n, -1, -1) if self.tokens[k].text.upper() == word)
        yield from (k for k in (next(found, None),) if k is not None)

    def _closes(self, first: int, n: int) -> bool:
        return any(self._is(k, "}") for k in range(first, n))

    def _inherit(self, group: _Group, node: str) -> str | None:
        """The variable that a group around has for the time of a node, where this one sees it, or
        does not name it otherwise."""
        beside, inner = group.beside, group
        while (around := inner.around) is not None:
            if node in around.times:
                time = around.times[node]
                named = any(self._is(n, time) for n in range(inner.opens, inner.closes))
                return None if named and not beside else time
            beside, inner = beside and around.beside, around
        return None

    def _name_time(self, node: str) -> str:
        return self.name(f"{node.lstrip('?$_:')}_time")


def _is_node(term: str) -> bool:
    """Whether a term is a variable or a blank node."""
    return term.startswith(("?", "_:"))


def _is_beside(item: Item) -> bool:
    """Whether what is in the braces of an item is asked beside each solution."""
    return item.kind is ItemKind.FILTER or (
        item.kind in CLAUSES and item.kind is not ItemKind.MINUS
    )


class _Writer:
    """Writes the text with its GRAPHs."""

    def __init__(self, edit: Edit, reader: _Reader) -> None:
        self.edit, self.tokens, self.reader = edit, edit.tokens, reader
        self.lines = set[int]()
        self.graphs = {time for g in reader.groups for time in g.times.values()}
        self.blank = {
            t.text: reader.name(t.text[2:])
            for t in dict.fromkeys(self.tokens)
            if t.kind == "pname" and t.text.startswith("_:")
        }

    def write(self) -> DatedText:
        """The changed text."""
        for n, token in enumerate(self.tokens):
            if token.text in self.blank:
                self.edit.put(n, self.blank[token.text])
                self.lines.add(token.line)
        for group in self.reader.groups:
            for sentence in group.sentences:
                if any(group.time_of(t) is not None for t in sentence.triples):
                    self._write(group, sentence)
                    places = range(sentence.first, sentence.last + 1)
                    self.lines.update(self.tokens[n].line for n in places)
        for star, names in self.reader.stars.items():
            self.edit.put(star, " ".join(f"?{name}" for name in names))
            self.lines.add(self.tokens[star].line)
        rests = tuple(self.reader.times.rests)
        return DatedText(self.edit.finish(), frozenset(self.lines), rests)

    def _is_whole(self, group: _Group, sentence: Sentence) -> bool:
        """Whether a sentence is in one GRAPH as it is written."""
        return sentence.plain and len({group.time_of(t) for t in sentence.triples}) == 1

    def _write(self, group: _Group, sentence: Sentence) -> None:
        filters = list[str]()
        if self._is_whole(group, sentence):
            self.edit.before(sentence.first, f"GRAPH {group.time_of(sentence.triples[0])} {{ ")
            for triple in sentence.triples:
                term = self._write_object(group, triple, filters)
                if term != triple.object:
                    self.edit.put(triple.at, term)
            self.edit.after(sentence.last, f" }}{''.join(filters)}")
            return
        made = list[str]()
        for time, triples in groupby(sentence.triples, group.time_of):
            said = " . ".join(self._write_triple(group, t, filters) for t in triples)
            made.append(f"{said} ." if time is None else f"GRAPH {time} {{ {said} }}")
        write_instead(self.edit, sentence, [*made, *filters])

    def _write_triple(self, group: _Group, triple: Triple, filters: list[str]) -> str:
        subject = self.blank.get(triple.subject, triple.subject)
        return f"{subject} {triple.verb} {self._write_object(group, triple, filters)}"

    def _write_object(self, group: _Group, triple: Triple, filters: list[str]) -> str:
        """The object of a triple: no variable of a GRAPH, but one that is equal to it."""
        term = self.blank.get(triple.object, triple.object)
        if term not in self.graphs:
            return term
        told = self.reader.name(f"{term[1:]}_told")
        if term != group.time_of(triple):
            filters.append(f" FILTER({told} = {term})")
        return told

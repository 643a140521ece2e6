"""Reads Ontop's mapping format, .obda, as the R2RML graph that says the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.model.assertion import RefusedMap
from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.mappings.r2rml.locate_turtle import split_lines
from ontoweir.mappings.r2rml.mapping_file import NO_IRI, PARSE_BASE, RR, MappingFile
from ontoweir.mappings.r2rml.name_target import has_odd_column, name_target
from ontoweir.mappings.r2rml.parse_obda_target import (
    TargetRefusal,
    TargetTerm,
    TargetTriple,
    parse_obda_target,
)
from ontoweir.mappings.r2rml.r2rml_document import RDF_TYPE

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

_PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_SECTION = re.compile(r"\s*\[(PrefixDeclaration|SourceDeclaration|MappingDeclaration)\](.*)")
_SECTIONS = ("PrefixDeclaration", "SourceDeclaration", "MappingDeclaration")
_HEADING = re.compile(r"\s*\[(\w+)\](\s*@collection\s*\[\[)?\s*")
_PREFIX = re.compile(r"\s*([\w.-]*):\s+<?([^\s<>]+)>?\s*")
_KEY = re.compile(r"(\s*)(mappingId|target|source)(?=\s|$)[ \t]*")


@dataclass(slots=True)
class _Mapping:
    """One mapping: each part's text with the line it starts at."""

    line: int
    last: int
    parts: dict[str, tuple[str, int]]


def _swallows(mapping: _Mapping) -> bool:
    """Whether it may have taken in another mapping, whose mappingId is misspelt, or triples in a
    column's name that no brace ends: if it is refused, what it could be about is unknown."""
    lines = (line for text, _ in mapping.parts.values() for line in text.split("\n")[1:])
    return any(_KEY.match(line) for line in lines) or has_odd_column(
        mapping.parts.get("target", ("", 0))[0]
    )


def read_obda(shown: str, text: str) -> MappingFile:
    """The mappings as triples maps, one for each mapping and subject.

    Args:
        shown: the file's name in messages.
        text: the file.

    Raises:
        MappingError: it is not an .obda file, or a target is beyond triples; with its line.
    """
    return _Reader(shown, text).read()


class _Reader:
    def __init__(self, shown: str, text: str) -> None:
        from rdflib import Graph

        self.shown, self.text = shown, text
        self.prefixes = dict(_PREFIXES)
        self.mappings: list[_Mapping] = []
        self.graph: Graph = Graph()
        self.blocks: dict[Node, tuple[str, tuple[int, int]]] = {}
        self.spelled: dict[str, str] = {}
        self.doubtful: set[Node] = set()
        self.counter = 0

    def error(self, line: int, what: str, *, why: str, fix: str) -> MappingError:
        return MappingError(what, why=why, fix=fix, source=Source(self.shown, line))

    def read(self) -> MappingFile:
        self._split()
        if not self.mappings:
            raise self.error(
                1,
                "no mapping",
                why="an .obda file has [MappingDeclaration] @collection [[ mappings ]]",
                fix="write mappings of mappingId, target and source",
            )
        seen: dict[str, int] = {}
        refused: list[RefusedMap] = []
        for mapping in self.mappings:
            try:
                name = self._name(mapping)
                if name in seen:
                    raise self.error(
                        mapping.line,
                        f"the mappingId {name} occurs twice",
                        why=f"line {seen[name]} has it too",
                        fix="give each mapping its own mappingId",
                    )
                seen[name] = mapping.line
                self._add(mapping, name)
            except MappingError as error:
                refused.append(self._refuse(mapping, error))
        return MappingFile(
            self.shown,
            self.text,
            self.graph,
            self.blocks,
            self.spelled,
            refused=tuple(refused),
            doubtful=frozenset(self.doubtful),
        )

    def _refuse(self, mapping: _Mapping, error: MappingError) -> RefusedMap:
        name = mapping.parts.get("mappingId", ("", 0))[0].strip().partition("\n")[0]
        names = None
        if not _swallows(mapping):
            names = name_target(mapping.parts.get("target", ("", 0))[0], self.prefixes)
        return RefusedMap(name, error) if names is None else RefusedMap(name, error, *names)

    def _split(self) -> None:
        section = ""
        for number, line in enumerate(split_lines(self.text), start=1):
            if (heading := _SECTION.fullmatch(line)) is not None:
                section = heading[1]
                opening = heading[2].strip()
                if section == "MappingDeclaration" and opening != "@collection [[":
                    raise self.error(
                        number,
                        f"{opening!r} after [MappingDeclaration]",
                        why="mappings are a collection",
                        fix="write [MappingDeclaration] @collection [[",
                    )
            elif not section and (not line.strip() or line.strip()[0] in ";#"):
                continue
            elif section != "MappingDeclaration" and (heading := _HEADING.fullmatch(line)):
                raise self.error(
                    number,
                    f"unknown section [{heading[1]}]",
                    why="sections are " + ", ".join(f"[{s}]" for s in _SECTIONS),
                    fix=did_you_mean(heading[1], _SECTIONS),
                )
            elif section == "PrefixDeclaration":
                self._read_prefix(number, line)
            elif section == "MappingDeclaration":
                if line.strip() == "]]":
                    section = "the end"
                else:
                    self._read_line(number, line)
            elif section != "SourceDeclaration" and line.strip():
                raise self.error(
                    number,
                    f"{line.strip()[:40]!r} outside of all sections",
                    why="an .obda file has [PrefixDeclaration] and [MappingDeclaration]",
                    fix="move it into its section, or remove it",
                )
        if section == "MappingDeclaration":
            raise self.error(
                len(split_lines(self.text)),
                "the collection of mappings is not closed",
                why="it ends with a line ]]",
                fix="add ]] at the end",
            )

    def _read_prefix(self, number: int, line: str) -> None:
        if not line.strip() or line.strip()[0] in ";#":
            return
        declared = _PREFIX.fullmatch(line)
        if declared is None:
            raise self.error(
                number,
                f"{line.strip()!r} declares no prefix",
                why="a line of [PrefixDeclaration] is prefix: IRI",
                fix="write e.g. ex: http://example.org/",
            )
        if NO_IRI.search(declared[2]):
            raise self.error(
                number,
                f"<{declared[2]}> is not an IRI",
                why="IRIs have no quotes, braces or backslashes",
                fix="correct it, or percent-encode the character",
            )
        self.prefixes[declared[1]] = declared[2]

    def _read_line(self, number: int, line: str) -> None:
        key = _KEY.match(line)
        started = self.mappings[-1].parts if self.mappings else {}
        if key is not None and (key[2] == "mappingId" or key[2] not in started):
            if key[2] == "mappingId":
                self.mappings.append(_Mapping(number, number, {}))
            elif not self.mappings:
                raise self.error(
                    number,
                    f"{key[2]} before mappingId",
                    why="it begins a mapping",
                    fix="write mappingId first",
                )
            self.mappings[-1].parts[key[2]] = (line[key.end() :], number)
            self.mappings[-1].last = number
            return
        bare = line.strip()
        in_target = bool(started) and list(started)[-1] == "target"
        if not bare or bare[0] == "#" or (bare[0] == ";" and not in_target):
            return  # a comment; in a target `;` continues the subject
        if not started:
            raise self.error(
                number,
                f"{line.strip()[:40]!r} before the first mapping",
                why="a mapping begins with mappingId",
                fix="write mappingId first",
            )
        last = list(started)[-1]
        before, begun = started[last]
        gap = number - begun - before.count("\n")
        started[last] = (before + "\n" * gap + line, begun)
        self.mappings[-1].last = number

    def _name(self, mapping: _Mapping) -> str:
        for key in ("mappingId", "target", "source"):
            if not mapping.parts.get(key, ("", 0))[0].strip():
                raise self.error(
                    mapping.parts.get(key, ("", mapping.line))[1],
                    f"a mapping without {key}",
                    why="it has mappingId, target and source",
                    fix=f"add a line {key} …",
                )
        return mapping.parts["mappingId"][0].strip()

    def _add(self, mapping: _Mapping, name: str) -> None:
        target, first = mapping.parts["target"]
        try:
            triples = parse_obda_target(target, self.prefixes)
        except TargetRefusal as refusal:
            raise self.error(
                first + refusal.line, f"{name}: {refusal.what}", why=refusal.why, fix=refusal.fix
            ) from None
        for term in (t for triple in triples for t in triple if t is not None):
            if term.form == "blank":
                raise self.error(
                    first + term.line,
                    f"{name}: the blank node {term.spelled} has no column",
                    why="all rows would make the same blank node, which R2RML does not say",
                    fix=f"write {term.spelled}{{column}}, or an IRI",
                )
        by_subject: dict[tuple[str, str, str, str | None], list[TargetTriple]] = {}
        for triple in triples:
            subject, graph = triple.subject, triple.graph
            key = (subject.form, subject.kind, subject.text, graph.text if graph else None)
            by_subject.setdefault(key, []).append(triple)
        for number, own in enumerate(by_subject.values(), start=1):
            self._add_triples_map(mapping, name, number, own)

    def _add_triples_map(
        self, mapping: _Mapping, name: str, number: int, triples: list[TargetTriple]
    ) -> None:
        from urllib.parse import quote

        from rdflib import Literal, URIRef

        node = URIRef(f"{PARSE_BASE}{quote(name)}/{number}")
        self.blocks[node] = (name, (mapping.line, mapping.last))
        if _swallows(mapping):
            self.doubtful.add(node)
        table = self._node()
        self._state(node, "logicalTable", table)
        self._state(table, "sqlQuery", Literal(mapping.parts["source"][0].rstrip()))
        subject = self._term(triples[0].subject)
        self._state(node, "subjectMap", subject)
        if (graph := triples[0].graph) is not None:
            self._state(subject, "graphMap", self._term(graph))
        for _, predicate, value, _ in triples:
            is_type = predicate.text == RDF_TYPE and predicate.form == "constant"
            if is_type and value.form == "constant" and value.kind == "iri":
                self._state(subject, "class", URIRef(value.text))
                continue
            pair = self._node()
            self._state(node, "predicateObjectMap", pair)
            self._state(pair, "predicateMap", self._term(predicate))
            self._state(pair, "objectMap", self._term(value))

    def _term(self, term: TargetTerm) -> Node:
        """A term map."""
        from rdflib import Literal, URIRef

        node = self._node()
        self.spelled[term.text] = term.spelled
        if term.form == "constant":
            constant = (
                URIRef(term.text)
                if term.kind == "iri"
                else Literal(
                    term.text,
                    lang=term.language,
                    datatype=None if term.datatype is None else URIRef(term.datatype),
                    normalize=False,
                )
            )
            self._state(node, "constant", constant)
            return node
        self._state(node, term.form, Literal(term.text))
        kinds = {"iri": "IRI", "blank": "BlankNode", "literal": "Literal"}
        self._state(node, "termType", URIRef(RR + kinds[term.kind]))
        if term.datatype is not None:
            self._state(node, "datatype", URIRef(term.datatype))
        if term.language is not None:
            self._state(node, "language", Literal(term.language))
        return node

    def _node(self) -> Node:
        from rdflib import BNode

        self.counter += 1
        return BNode(f"obda{self.counter:06}")

    def _state(self, subject: Node, term: str, value: Node) -> None:
        from rdflib import URIRef

        self.graph.add((subject, URIRef(RR + term), value))

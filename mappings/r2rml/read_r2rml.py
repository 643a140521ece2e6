"""Reads an R2RML document: https://www.w3.org/TR/r2rml/, sections 5 to 9."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.model.assertion import RefusedMap, TermKind
from ontoweir.mappings.r2rml.mapping_file import (
    NO_IRI,
    PARSE_BASE,
    RR,
    MappingFile,
    Place,
    base_of,
    check_language,
    place_node,
)
from ontoweir.mappings.r2rml.open_mapping import open_mapping
from ontoweir.mappings.r2rml.parse_template import parse_template
from ontoweir.mappings.r2rml.r2rml_document import (
    RDF_TYPE,
    AnyTerm,
    JoinCondition,
    LogicalTable,
    ParentReference,
    PredicateObjectMap,
    R2rmlDocument,
    RdfTerm,
    RowTerm,
    TriplesMap,
)

if TYPE_CHECKING:
    from rdflib.term import Node

_KINDS: dict[str, TermKind] = {
    RR + "IRI": "iri",
    RR + "BlankNode": "blank",
    RR + "Literal": "literal",
}


def read_r2rml(path: Path, *, base: str | None = None, partial: bool = False) -> R2rmlDocument:
    """All triples maps of a mapping file.

    Args:
        path: R2RML in Turtle, or an .obda file.
        base: the base IRI; by default the document's @base, else http://example.com/base/.
        partial: a triples map that is wrong is listed in `refused`, and others are read.

    Raises:
        MappingError: no such file, not Turtle, or not R2RML; with its line.
    """
    file = open_mapping(path)
    if base is None:
        base = base_of(file)
    reader = _Reader(file, base)
    if not partial:
        for wrong in (*(e for _, e in file.wrong), *(r.error for r in file.refused)):
            raise wrong
        return R2rmlDocument(tuple(reader.read(p, n) for n, p in reader.nodes().items()), base)
    return reader.read_partially()


class _Reader:
    def __init__(self, file: MappingFile, base: str) -> None:
        self.file, self.base = file, base

    def read_partially(self) -> R2rmlDocument:
        """All triples maps that can be read, and the refused ones with their errors."""
        maps: list[TriplesMap] = []
        refused: list[tuple[str, RefusedMap]] = [("", r) for r in self.file.refused]
        left = dict(self.file.wrong)
        reported: set[str] = set()
        for node, place in self.nodes().items():
            try:
                if left:
                    inside = left.keys() & self._below(node)[0]
                    reported |= inside
                    for iri in sorted(inside):
                        raise self._placed(place, left[iri])
                maps.append(self.read(place, node))
            except MappingError as error:
                about = None if node in self.file.doubtful else self._below(node)[1]
                refused.append((str(node), RefusedMap(place.name, error, about)))
        for iri, wrong in left.items():
            if iri not in reported:
                refused.append(("", RefusedMap(self.file.shown, wrong)))
        doubtful = frozenset(map(str, self.file.doubtful))
        return R2rmlDocument(tuple(maps), self.base, tuple(refused), doubtful)

    def _placed(self, place: Place, error: MappingError) -> MappingError:
        what = f"{place.name}: {error.what}"
        return MappingError(what, why=error.why, fix=error.fix, source=error.source)

    def _below(self, node: Node) -> tuple[set[str], frozenset[str] | None]:
        """The IRIs in a triples map, those of properties among them; and the classes and properties
        that it could be about, whatever is wrong in it (None: any)."""
        from rdflib import BNode, Literal, URIRef

        wrong = dict(self.file.wrong)
        inside: set[str] = set()
        named: set[str] = set()
        known = True
        pending, seen = [node], {node}
        while pending:
            here = pending.pop()
            for predicate, value in self.file.graph.predicate_objects(here):
                inside.add(str(predicate))
                if not str(predicate).startswith(RR) and str(predicate) != RDF_TYPE:
                    named.add(self._absolute(str(predicate)))  # an object in the wrong place
                term = str(predicate).removeprefix(RR)
                if isinstance(value, URIRef):
                    inside.add(str(value))
                    named.add(self._absolute(str(value)))
                    known &= not NO_IRI.search(str(value))
                made = term == "predicateMap" or str(predicate) in wrong
                types = RDF_TYPE in map(str, self.file.values(here, "predicate"))
                made |= term == "objectMap" and types
                if term in ("predicate", "class") or (term == "object" and types):
                    known &= isinstance(value, URIRef)  # else what was meant is unknown
                if term == "predicateObjectMap":
                    known &= self._names_property(value)
                plain = isinstance(value, Literal) or (
                    isinstance(value, URIRef) and (value, None, None) not in self.file.graph
                )
                if made and not plain:  # perhaps from data
                    known &= any(isinstance(c, URIRef) for c in self.file.values(value, "constant"))
                follow = isinstance(value, BNode) or term.endswith("Map") or "logical" in term
                if follow and value not in seen and term != "parentTriplesMap":
                    seen.add(value)
                    pending.append(value)
        return inside, frozenset(named) if known else None

    def _absolute(self, text: str) -> str:
        """An IRI as the document's base has it."""
        relative = text.startswith(PARSE_BASE)
        return self.base + text.removeprefix(PARSE_BASE) if relative else text

    def _names_property(self, node: Node) -> bool:
        """Whether a predicate-object map says what it is about, if by a misspelt term."""
        from rdflib import URIRef

        held = list(self.file.graph.predicate_objects(node))
        made = any(str(p) == RR + "predicateMap" for p, _ in held)
        return made or any(isinstance(o, URIRef) and str(p) != RR + "object" for p, o in held)

    def nodes(self) -> dict[Node, Place]:
        """The nodes of all triples maps, in the order in which they are written."""
        from rdflib import RDF, URIRef

        graph = self.file.graph
        maps = set(graph.subjects(RDF.type, URIRef(RR + "TriplesMap")))
        for term in ("logicalTable", "subjectMap", "predicateObjectMap"):
            maps |= set(graph.subjects(URIRef(RR + term), None))
        if not maps and not self.file.refused:
            raise MappingError(
                "the document has no triples map",
                why="a mapping makes triples by rr:TriplesMap resources",
                fix="write one with rr:logicalTable and rr:subjectMap",
                source=Source(self.file.shown, 1),
            )
        places = {node: place_node(self.file, node) for node in maps}
        ordered = sorted(maps, key=lambda n: (places[n].block[0], str(n)))
        return {node: places[node] for node in ordered}

    def read(self, place: Place, node: Node) -> TriplesMap:
        """A triples map.

        Raises:
            MappingError: it is not R2RML.
        """
        table = self._logical_table(place, node)
        short = self.file.values(node, "subject")
        maps = self.file.values(node, "subjectMap")
        if len(short) + len(maps) != 1:
            raise place.error(
                f"{len(short) + len(maps) or 'no'} subject maps",
                why="a triples map has exactly one",
                fix="write one rr:subjectMap [ … ]",
            )
        classes: tuple[str, ...] = ()
        graphs: tuple[AnyTerm, ...] = ()
        if short:
            subject: AnyTerm = self._constant(place, short[0])
        else:
            subject = self._term_map(place, maps[0], "subject")
            given = [self._constant(place, c) for c in self.file.values(maps[0], "class")]
            if any(c.kind != "iri" for c in given):
                raise place.error(
                    "rr:class with a literal", why="a class is an IRI", fix="write its IRI"
                )
            classes = tuple(c.value for c in given)
            graphs = self._graphs(place, maps[0])
        if subject.kind == "literal":
            raise place.error(
                "the subject is a literal",
                why="a subject is an IRI or a blank node",
                fix="write rr:termType rr:IRI or rr:BlankNode",
                near="rr:Literal",
            )
        pairs = self.file.values(node, "predicateObjectMap")
        return TriplesMap(
            str(node),
            place.name,
            table,
            subject,
            classes,
            graphs,
            tuple(self._predicate_object(place, p) for p in pairs),
            place.source(),
        )

    def _logical_table(self, place: Place, node: Node) -> LogicalTable:
        from rdflib import Literal

        table = self.file.value(node, "logicalTable", place)
        name = None if table is None else self.file.value(table, "tableName", place)
        query = None if table is None else self.file.value(table, "sqlQuery", place)
        if (name is None) == (query is None):
            raise place.error(
                "no rr:tableName or rr:sqlQuery"
                if name is None
                else "rr:tableName and rr:sqlQuery",
                why="a triples map has one logical table",
                fix=self.file.mend_table(node),
            )
        given = name if name is not None else query
        if not isinstance(given, Literal):
            raise place.error(
                "the logical table is not a string", why="R2RML", fix="write a string"
            )
        text = str(given)
        source = place.source(text)
        for version in self.file.values(table, "sqlVersion") if table is not None else []:
            if str(version) != RR + "SQL2008":
                raise place.error(
                    f"the SQL version {version}",
                    why="R2RML defines rr:SQL2008 alone",
                    fix="write rr:SQL2008, or leave rr:sqlVersion out",
                    near="sqlVersion",
                )
        return (
            LogicalTable(text, None, source) if query is None else LogicalTable(None, text, source)
        )

    def _graphs(self, place: Place, node: Node) -> tuple[AnyTerm, ...]:
        graphs: list[AnyTerm] = [self._constant(place, g) for g in self.file.values(node, "graph")]
        graphs += [self._term_map(place, g, "graph") for g in self.file.values(node, "graphMap")]
        for graph in graphs:
            if graph.kind != "iri":
                raise place.error(
                    "the graph is a " + ("literal" if graph.kind == "literal" else "blank node"),
                    why="a graph is named by an IRI",
                    fix="write rr:termType rr:IRI, or leave it out",
                    near="graph",
                )
        return tuple(graphs)

    def _predicate_object(self, place: Place, node: Node) -> PredicateObjectMap:
        predicates: list[AnyTerm] = [
            self._constant(place, p) for p in self.file.values(node, "predicate")
        ]
        predicates += [
            self._term_map(place, p, "predicate") for p in self.file.values(node, "predicateMap")
        ]
        objects: list[AnyTerm | ParentReference] = [
            self._constant(place, o) for o in self.file.values(node, "object")
        ]
        for map_node in self.file.values(node, "objectMap"):
            parent = self.file.value(map_node, "parentTriplesMap", place)
            objects.append(
                self._term_map(place, map_node, "object")
                if parent is None
                else self._reference(place, map_node, parent)
            )
        if not predicates or not objects:
            raise place.error(
                "a predicate-object map without " + ("object" if predicates else "predicate"),
                why="it makes no triple",
                fix="add rr:predicate and rr:objectMap",
            )
        if any(p.kind != "iri" for p in predicates):
            raise place.error(
                "the predicate is not an IRI", why="RDF", fix="write rr:termType rr:IRI"
            )
        return PredicateObjectMap(
            tuple(predicates), tuple(objects), self._graphs(place, node), place.source()
        )

    def _reference(self, place: Place, node: Node, parent: Node) -> ParentReference:
        if (parent, None, None) not in self.file.graph:
            raise place.error(
                f"rr:parentTriplesMap {place_node(self.file, parent).name} does not exist",
                why="the object is the subject of that triples map",
                fix="name a triples map of this file",
                near="rr:parentTriplesMap",
            )
        joins = []
        for join in self.file.values(node, "joinCondition"):
            child = self.file.value(join, "child", place)
            mate = self.file.value(join, "parent", place)
            if child is None or mate is None:
                raise place.error(
                    "rr:joinCondition without child or parent",
                    why="it equates a child's column with a parent's",
                    fix='write [ rr:child "…"; rr:parent "…" ]',
                    near="joinCondition",
                )
            texts = str(child), str(mate)
            joins.append(JoinCondition(*texts, *(place.source(t) for t in texts)))
        return ParentReference(str(parent), tuple(joins), place.source("parentTriplesMap"))

    def _constant(self, place: Place, node: Node) -> RdfTerm:
        from rdflib import Literal, URIRef

        if isinstance(node, Literal):
            datatype = None if node.datatype is None else str(node.datatype)
            language = node.language.lower() if node.language else None
            return RdfTerm(str(node), "literal", datatype, language)
        if not isinstance(node, URIRef):
            raise place.error(
                "a blank node as constant", why="R2RML", fix="write an IRI or a literal"
            )
        text = str(node)
        if text.startswith(PARSE_BASE):
            text = self.base + text.removeprefix(PARSE_BASE)
        if NO_IRI.search(text) or ":" not in text:
            raise place.error(
                f"{text!r} is not an IRI",
                why="IRIs have a scheme, and no spaces or quotes",
                fix="correct the IRI",
                near=text,
            )
        return RdfTerm(text, "iri")

    def _term_map(self, place: Place, node: Node, role: str) -> AnyTerm:
        given = {k: self.file.value(node, k, place) for k in ("constant", "column", "template")}
        present = [k for k, v in given.items() if v is not None]
        if len(present) != 1:
            raise place.error(
                f"a term map with {' and '.join('rr:' + k for k in present) or 'no value'}",
                why="it has exactly one of rr:constant, rr:column, rr:template",
                fix="keep one of them" if present else 'write one, such as rr:column "name"',
            )
        if (constant := given["constant"]) is not None:
            return self._constant(place, constant)
        text = str(given[present[0]])
        datatype = self.file.value(node, "datatype", place)
        language = self.file.value(node, "language", place)
        if datatype is not None and language is not None:
            raise place.error(
                "rr:datatype and rr:language",
                why="a literal has a language tag or another datatype",
                fix="keep one of them",
                near="rr:language",
            )
        if language is not None:
            check_language(place, str(language))
        parts = ((True, text),) if present[0] == "column" else parse_template(text)
        if parts is None:
            raise place.error(
                f"the template {text!r} has braces that do not match",
                why="columns are written {column}, a brace itself \\\\{",
                fix="mend the template",
                near=text,
            )
        return RowTerm(
            parts,
            present[0] == "template",
            self._kind(place, node, role, present[0], datatype or language),
            None if datatype is None else self._constant(place, datatype).value,
            None if language is None else str(language).lower(),
            place.source(text),
        )

    def _kind(
        self, place: Place, node: Node, role: str, value: str, marked: Node | None
    ) -> TermKind:
        given = self.file.value(node, "termType", place)
        if given is None:
            if marked is not None and role != "object":
                raise place.error(
                    f"a {role} with rr:datatype or rr:language",
                    why="only literals have them, and only objects are literals",
                    fix="remove it",
                )
            literal = role == "object" and (value == "column" or marked is not None)
            return "literal" if literal else "iri"
        kind = _KINDS.get(str(given))
        if kind is None or (kind != "literal" and marked is not None):
            raise place.error(
                f"rr:termType {given}",
                why="it is rr:IRI, rr:BlankNode, or rr:Literal (alone with datatype or language)",
                fix="correct rr:termType",
                near="termType",
            )
        return kind

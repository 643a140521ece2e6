"""An R2RML file as an RDF graph with places: what the readers of its parts share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.locate_turtle import locate_block, locate_text, locate_word
from ontoweir.mappings.read_table import did_you_mean

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

RR = "http://www.w3.org/ns/r2rml#"
_KNOWN = [
    "logicalTable",
    "tableName",
    "sqlQuery",
    "sqlVersion",
    "subject",
    "subjectMap",
    "class",
    "predicateObjectMap",
    "predicate",
    "predicateMap",
    "object",
    "objectMap",
    "column",
    "template",
    "constant",
    "datatype",
    "language",
    "termType",
    "inverseExpression",
    "parentTriplesMap",
    "joinCondition",
    "child",
    "parent",
    "graph",
    "graphMap",
]
_TERMS = {
    *_KNOWN,
    *["IRI", "BlankNode", "Literal", "defaultGraph", "SQL2008", "TriplesMap", "R2RMLView"],
}
_TERMS |= {"LogicalTable", "BaseTableOrView", "SubjectMap", "PredicateMap", "ObjectMap", "Join"}
_TERMS |= {"TermMap", "PredicateObjectMap", "RefObjectMap", "GraphMap"}


@dataclass(frozen=True, slots=True)
class MappingFile:
    """A parsed mapping file; `shown` is its name in messages."""

    shown: str
    text: str
    graph: Graph

    def values(self, node: Node, term: str) -> list[Node]:
        """The objects of `node rr:term ?`, in a fixed order."""
        from rdflib import URIRef

        return sorted(self.graph.objects(node, URIRef(RR + term)), key=self._order)

    def _order(self, node: Node) -> tuple[int, str]:
        return (self.text.find(str(node)), str(node))

    def value(self, node: Node, term: str, where: Place) -> Node | None:
        """The only object of `node rr:term ?`, or None.

        Raises:
            MappingError: there are several.
        """
        found = self.values(node, term)
        if len(found) > 1:
            raise where.error(
                f"{len(found)} values of rr:{term}",
                why="R2RML allows one here",
                fix=f"keep one rr:{term}",
            )
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Place:
    """Where messages about a triples map point: its statement in the file."""

    file: MappingFile
    name: str
    block: tuple[int, int]

    def source(self, near: str | None = None) -> Source:
        """The place of a text inside the triples map, else of the triples map."""
        line = self.block[0] if near is None else locate_text(self.file.text, near, self.block)
        return Source(self.file.shown, line)

    def error(self, what: str, *, why: str, fix: str, near: str | None = None) -> MappingError:
        """An error in this triples map."""
        return MappingError(f"{self.name}: {what}", why=why, fix=fix, source=self.source(near))


def open_mapping(path: Path) -> MappingFile:
    """Parses a Turtle file.

    Raises:
        MappingError: missing, no Turtle, or with unknown R2RML terms.
    """
    from rdflib import Graph

    shown = str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MappingError(
            f"cannot read the mapping: {error}",
            why="it must be a readable UTF-8 file",
            fix="correct the path in [project] mappings",
            source=Source(shown),
        ) from None
    if path.suffix == ".obda":
        raise MappingError(
            "Ontop's .obda format is not read yet",
            why="mappings are read as R2RML in Turtle",
            fix="convert it: ontop mapping to-r2rml -i FILE.obda -o FILE.ttl",
            source=Source(shown, 1),
        )
    graph = Graph()
    try:
        graph.parse(data=text, format="turtle", publicID="http://ontoweir.invalid/base/")
    except Exception as error:  # rdflib raises BadSyntax and, for some inputs, anything else
        lines = getattr(error, "lines", None)
        reason = getattr(error, "_why", None) or str(error).splitlines()[0]
        raise MappingError(
            f"no Turtle: {reason}",
            why="R2RML mappings are written in Turtle",
            fix="mend the text before or at this line",
            source=Source(shown, lines + 1 if isinstance(lines, int) else 1),
        ) from None
    file = MappingFile(shown, text, graph)
    for term in {t for triple in graph for t in triple if str(t).startswith(RR)}:
        name = str(term).removeprefix(RR)
        if name not in _TERMS:
            raise MappingError(
                f"unknown R2RML term rr:{name}",
                why="the R2RML vocabulary has no such term",
                fix=did_you_mean(name, _TERMS),
                source=Source(shown, locate_word(text, name)),
            )
    return file


def place_node(file: MappingFile, node: Node) -> Place:
    """The statement about `node`."""
    from rdflib import BNode, URIRef

    spelled: list[str] = []
    name = "triples map"
    if isinstance(node, URIRef):
        short = node.n3(file.graph.namespace_manager)
        relative = str(node)
        declared = re.findall(r"^\s*@?base\s*<([^>]*)>", file.text, re.IGNORECASE | re.MULTILINE)
        for base in (*declared, "http://ontoweir.invalid/base/"):
            relative = relative.removeprefix(base)
        name = f"<{relative}>" if relative != str(node) else short
        spelled = [name, short, f"<{node}>", f"<{relative}>"]
        for prefix, namespace in file.graph.namespaces():
            if namespace and str(node).startswith(str(namespace)):
                spelled.append(f"{prefix}:{str(node)[len(namespace) :]}")
    elif isinstance(node, BNode):
        spelled = [f"_:{node}"]
    return Place(file, name, locate_block(file.text, tuple(spelled)))


def join_names(nodes: Sequence[object]) -> str:
    """Names in a message."""
    return ", ".join(str(n) for n in nodes)

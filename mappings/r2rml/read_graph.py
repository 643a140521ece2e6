"""An R2RML file as an RDF graph with places: what the readers of its parts share."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.model.assertion import RefusedMap
from ontoweir.mappings.model.read_table import did_you_mean
from ontoweir.mappings.r2rml.locate_turtle import locate_block, locate_text, locate_word

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

RR = "http://www.w3.org/ns/r2rml#"
PARSE_BASE = "http://ontoweir.invalid/base/"
"""Stands for the base IRI of a document that declares none."""
NO_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
"""A character that no IRI has."""
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
    """A parsed mapping file; `shown` is its name in messages.

    Where the graph is not written in the file itself (.obda): `blocks` gives the name and the
    first and last line of a triples map, `spelled` how the file writes a template.
    """

    shown: str
    text: str
    graph: Graph
    blocks: Mapping[Node, tuple[str, tuple[int, int]]] = field(default_factory=dict)
    spelled: Mapping[str, str] = field(default_factory=dict)
    wrong: tuple[tuple[str, MappingError], ...] = ()
    """IRIs that may not be there, each with why."""
    refused: tuple[RefusedMap, ...] = ()
    """Mappings that are no triples maps."""
    _index: dict[Node, dict[str, list[Node]]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def values(self, node: Node, term: str) -> list[Node]:
        """The objects of `node rr:term ?`, in the order in which they were written."""
        if node not in self._index:
            found: dict[str, list[Node]] = {}
            for predicate, value in self.graph.predicate_objects(node):
                if str(predicate).startswith(RR):
                    found.setdefault(str(predicate)[len(RR) :], []).append(value)
            self._index[node] = found
        return self._index[node].get(term, [])

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
                fix=f"keep one rr:{term}; if two triples maps have this name, rename one",
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
        if near is None:
            return Source(self.file.shown, self.block[0])
        line = locate_text(self.file.text, self.file.spelled.get(near, near), self.block)
        return Source(self.file.shown, line)

    def error(self, what: str, *, why: str, fix: str, near: str | None = None) -> MappingError:
        """An error in this triples map."""
        return MappingError(f"{self.name}: {what}", why=why, fix=fix, source=self.source(near))


def open_mapping(path: Path) -> MappingFile:
    """Parses a Turtle file, or an .obda file into the R2RML that says the same.

    Unknown R2RML terms, and what is no IRI, are told in `wrong`: the triples maps that have them
    are wrong, others need not be.

    Raises:
        MappingError: missing, or no Turtle (no .obda).
    """
    from rdflib import Graph

    shown = str(path)
    line = None
    try:
        data = path.read_bytes()
        line = 1
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, UnicodeDecodeError):
            line = data.count(b"\n", 0, error.start) + 1
        raise MappingError(
            f"cannot read the mapping: {error}",
            why="it must be a readable UTF-8 file",
            fix="correct the path in [project] mappings"
            if line is None
            else "save the file in UTF-8",
            source=Source(shown, line),
        ) from None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if path.suffix == ".obda":
        from ontoweir.mappings.r2rml.read_obda import read_obda

        return read_obda(shown, text)
    graph = Graph()
    noise = logging.getLogger("rdflib.term")
    level = noise.level
    try:
        noise.setLevel(logging.CRITICAL)  # what it warns of is refused below, with its line
        graph.parse(data=text, format="turtle", publicID=PARSE_BASE)
    except Exception as error:  # rdflib raises BadSyntax and, for some inputs, anything else
        lines = getattr(error, "lines", None)
        reason = (
            getattr(error, "_why", None) or (str(error) or type(error).__name__).splitlines()[0]
        )
        raise MappingError(
            f"no Turtle: {reason}",
            why="R2RML mappings are written in Turtle",
            fix="mend the text before or at this line",
            source=Source(shown, min(lines, text.count("\n")) + 1 if isinstance(lines, int) else 1),
        ) from None
    finally:
        noise.setLevel(level)
    return MappingFile(shown, text, graph, wrong=tuple(_find_wrong(shown, text, graph)))


def _find_wrong(shown: str, text: str, graph: Graph) -> Iterator[tuple[str, MappingError]]:
    """IRIs with characters that no IRI has, which rdflib lets pass; then unknown R2RML terms."""
    from rdflib import URIRef

    iris = sorted({str(t) for triple in graph for t in triple if isinstance(t, URIRef)})
    for iri in iris:
        if NO_IRI.search(iri):
            written = iri.removeprefix(PARSE_BASE)
            line = locate_text(text, written, (1, text.count("\n") + 1))
            yield (
                iri,
                MappingError(
                    f"<{written}> is no IRI",
                    why="IRIs have no spaces, quotes, braces or angle brackets",
                    fix="correct it, or percent-encode the character",
                    source=Source(shown, line),
                ),
            )
    for iri in iris:
        name = iri.removeprefix(RR)
        if name != iri and name not in _TERMS:
            yield (
                iri,
                MappingError(
                    f"unknown R2RML term rr:{name}",
                    why="the R2RML vocabulary has no such term",
                    fix=did_you_mean(name, _TERMS),
                    source=Source(shown, locate_word(text, name)),
                ),
            )


def place_node(file: MappingFile, node: Node) -> Place:
    """The statement about `node`."""
    from rdflib import BNode, URIRef

    if node in file.blocks:
        return Place(file, *file.blocks[node])
    spelled: list[str] = []
    name = "triples map"
    if isinstance(node, URIRef):
        short = node.n3(file.graph.namespace_manager)
        relative = str(node)
        for base in (*_declared_bases(file.text), PARSE_BASE):
            relative = relative.removeprefix(base)
        name = f"<{relative}>" if relative != str(node) else short
        spelled = [name, short, f"<{node}>", f"<{relative}>"]
        for prefix, namespace in file.graph.namespaces():
            if namespace and str(node).startswith(str(namespace)):
                spelled.append(f"{prefix}:{str(node)[len(namespace) :]}")
    elif isinstance(node, BNode):
        spelled = [f"_:{node}"]
    return Place(file, name, locate_block(file.text, tuple(spelled)))


def has_scheme(text: str) -> bool:
    """Whether a text begins an absolute IRI."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) is not None


def base_of(file: MappingFile) -> str:
    """The base of relative IRIs that rows make: the document's @base, else that of W3C's cases."""
    return next(iter(_declared_bases(file.text)), "http://example.com/base/")


@lru_cache(maxsize=8)
def _declared_bases(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"^\s*@?base\s*<([^>]*)>", text, re.IGNORECASE | re.MULTILINE))


def check_language(place: Place, tag: str) -> None:
    """Refuses what is no language tag: BCP 47, with a registered primary subtag's 2 or 3 letters.

    Raises:
        MappingError: it is none, as "english".
    """
    if not re.fullmatch(r"[a-zA-Z]{2,3}(-[a-zA-Z0-9]{1,8})*", tag):
        raise place.error(
            f"the language tag {tag!r}",
            why="language tags follow BCP 47",
            fix='write a tag like "en" or "en-GB"',
            near=tag,
        )

"""A mapping file as an RDF graph with places: what both formats are read into."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from ontoweir.errors import MappingError, Source
from ontoweir.mappings.model.assertion import RefusedMap
from ontoweir.mappings.r2rml.locate_turtle import locate_block, locate_text

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

RR = "http://www.w3.org/ns/r2rml#"
PARSE_BASE = "http://ontoweir.invalid/base/"
"""Stands for the base IRI of a document that declares none."""
NO_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
"""A character that no IRI has."""


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
    """Mappings that are not triples maps."""
    doubtful: frozenset[Node] = frozenset()
    """Triples maps that could be about anything, if they are refused."""
    _index: dict[Node, dict[str, list[Node]]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    _prefixes: list[tuple[str, str]] = field(
        init=False, repr=False, compare=False, default_factory=list
    )

    def prefixes(self) -> tuple[tuple[str, str], ...]:
        """The prefixes of the graph, each with its namespace."""
        if not self._prefixes:
            self._prefixes.extend((p, str(n)) for p, n in self.graph.namespaces())
        return tuple(self._prefixes)

    def index(self, triples: Iterable[tuple[Node, Node, Node]]) -> None:
        """Index the triples of the graph, which are known in the order in which they were written:
        else each subject's are looked up when they are asked for."""
        names: dict[Node, str] = {}
        found: dict[tuple[Node, Node], dict[Node, None]] = {}
        for subject, predicate, value in triples:
            if predicate not in names:
                names[predicate] = str(predicate)
            if names[predicate].startswith(RR):
                found.setdefault((subject, predicate), {})[value] = None
            self._index.setdefault(subject, {})
        for (subject, predicate), objects in found.items():
            self._index[subject][names[predicate][len(RR) :]] = list(objects)

    def values(self, node: Node, term: str) -> list[Node]:
        """The objects of `node rr:term ?`, in the order in which they were written."""
        objects = self._index.get(node)
        if objects is None:
            objects = self._index[node] = {}
            for predicate, value in self.graph.predicate_objects(node):
                if str(predicate).startswith(RR):
                    objects.setdefault(str(predicate)[len(RR) :], []).append(value)
        return objects.get(term, [])

    def mend_table(self, node: Node) -> str:
        """What to write in a triples map without a logical table; of RML, whose sources are files,
        in the words of R2RML."""
        plain = 'write rr:logicalTable [ rr:tableName "…" ]'
        if any(
            str(p).endswith(("#logicalSource", "/logicalSource"))
            for p in self.graph.predicates(node)
        ):
            return (
                "RML's logicalSource is not read: declare its file as the source of a table in "
                f"ontoweir.toml, {plain}, with that table's name, and rr:column for rml:reference"
            )
        return plain

    def value(self, node: Node, term: str, where: Place) -> Node | None:
        """The only object of `node rr:term ?`, or None.

        Raises:
            MappingError: there are several.
        """
        objects = self.values(node, term)
        if len(objects) > 1:
            raise where.error(
                f"{len(objects)} values of rr:{term}",
                why="R2RML allows one here",
                fix=f"keep one rr:{term}; if two triples maps have this name, rename one",
            )
        return objects[0] if objects else None


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


def place_node(file: MappingFile, node: Node) -> Place:
    """The statement about `node`."""
    from rdflib import BNode, URIRef

    if node in file.blocks:
        return Place(file, *file.blocks[node])
    spelled: list[str] = []
    name = "triples map"
    if isinstance(node, URIRef):
        wrong = NO_IRI.search(node)  # rdflib reads such ones, and does not write them
        short = f"<{node[: wrong.start()]}…>" if wrong else node.n3(file.graph.namespace_manager)
        relative = str(node)
        for base in (*_declared_bases(file.text), PARSE_BASE):
            relative = relative.removeprefix(base)
        whole = str(node)
        name = f"<{relative}>" if relative != whole and not wrong else short
        spelled = [name, short, f"<{whole}>", f"<{relative}>"]
        for prefix, namespace in file.prefixes():
            if namespace and whole.startswith(namespace):
                spelled.append(f"{prefix}:{whole[len(namespace) :]}")
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
    """Refuses what is not a language tag: BCP 47, with a primary subtag of 2 or 3 letters.

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

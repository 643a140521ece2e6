"""Which nodes have their time in their names: of what mappings make, all triples of such a node
hold at one time."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingAssertion,
    MappingSet,
    SourceColumn,
    TemplateMap,
    TermMap,
)
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.column_types import XSD
from ontoweir.ontology.axioms import Exists, Role
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.model.hierarchy import Hierarchy
from ontoweir.rewriter.tmappings.instantiate_assertion import instantiate_assertion
from ontoweir.rewriter.tmappings.may_meet import TextAtoms, differ_at_ends, list_atoms_of, may_meet

StreamKey: TypeAlias = tuple[str, tuple[str, ...]]
"""A stream, and columns of it that no two of its rows have in common."""


@dataclass(frozen=True, slots=True)
class _Name:
    """How IRIs or blank nodes are named: the fixed texts of a template (None: a column); which of
    its columns are the time that its triples hold at; of which stream, and the columns of its row.

    `told`: a name tells the values that it is made of. `ends`: it ends with the time, and with a
    fixed text after it. (No time is written as the end of another one, so that it is told.)
    """

    kind: str
    texts: tuple[str | None, ...]
    atoms: TextAtoms
    times: frozenset[int]
    stream: str | None
    columns: tuple[str | None, ...]
    told: bool
    ends: str | None

    @property
    def fixed(self) -> tuple[str, str]:
        """The fixed texts that it begins and ends with."""
        return (self.texts[0] or "", self.texts[-1] or "") if self.texts else ("", "")


class _Index:
    """Names by the text that they begin with: those of others never meet."""

    def __init__(self, names: Iterable[_Name]) -> None:
        self._of: dict[str, dict[_Name, None]] = {}
        for name in names:
            self._of.setdefault(name.fixed[0], {})[name] = None
        self._sorted = sorted(self._of)

    def near(self, name: _Name) -> Iterator[_Name]:
        """The names of which one begins as another one does."""
        begin = name.fixed[0]
        for length in range(len(begin)):
            yield from self._of.get(begin[:length], ())
        for longer in self._sorted[bisect_left(self._sorted, begin) :]:
            if not longer.startswith(begin):
                break
            yield from self._of[longer]


@dataclass(slots=True)
class KnownTimes:
    """What is known of the nodes of mappings, for all queries: of those of classes and properties,
    and of each way to name them, by which keys they have one time (None: they may have several)."""

    found: dict[tuple[str, bool, bool], tuple[StreamKey, ...] | None] = field(default_factory=dict)
    named: dict[_Name, tuple[StreamKey, ...] | None] = field(default_factory=dict)
    index: _Index | None = None


@dataclass(slots=True)
class NodeTimes:
    """Whether the nodes of a pattern have their time in their names.

    `mappings`: of the graphs that are asked for. `compile_one`: those of a class or property, with
    the hierarchy compiled in. `known`: of these mappings, catalog and ontology.
    """

    mappings: MappingSet
    compile_one: Callable[[str], MappingSet]
    catalog: Catalog
    tbox: Hierarchy
    known: KnownTimes = field(default_factory=KnownTimes)
    rests: dict[StreamKey, None] = field(default_factory=dict)
    """The keys of whole streams by which nodes have one time."""

    def are_dated(self, iri: str, *, is_class: bool, at_object: bool = False) -> bool:
        """Whether all that the data says of a member of a class, or of the subjects (or objects) of
        a property, holds at one time, whatever is said and wherever it comes from."""
        key = iri, is_class, at_object
        if key not in self.known.found:
            self.known.found[key] = self._find(*key)
        found = self.known.found[key]
        self.rests.update(dict.fromkeys(found or ()))
        return found is not None

    def is_time(self, iri: str) -> bool:
        """Whether each triple of a property has the time that it holds at as its object."""
        assertions = self._list(iri, is_class=False)
        told = bool(assertions) and all(_tells_time(a, self.catalog) for a in assertions)
        return told and not self._is_implied(iri, at_object=False)

    def _list(self, iri: str, *, is_class: bool) -> tuple[MappingAssertion, ...]:
        compiled = self.compile_one(iri)
        return compiled.classes_of(iri) if is_class else compiled.properties_of(iri)

    def _find(self, iri: str, is_class: bool, at_object: bool) -> tuple[StreamKey, ...] | None:
        if not is_class and self._is_implied(iri, at_object=at_object):
            return None
        assertions = self._list(iri, is_class=is_class)
        if not assertions or any(a.stream_alias is None for a in assertions):
            return None
        keys = dict[StreamKey, None]()
        for assertion in assertions:
            name = _read_name(assertion, self.catalog, at_object=at_object)
            by = None if name is None else self._find_named(name)
            if by is None:
                return None
            keys.update(dict.fromkeys(by))
        return tuple(keys)

    def _find_named(self, name: _Name) -> tuple[StreamKey, ...] | None:
        """By which keys the nodes of a name have one time (None: they may have several)."""
        if name not in self.known.named:
            if self.known.index is None:
                self.known.index = _Index(self._read_names())
            keys = dict[StreamKey, None]()
            self.known.named[name] = None
            for other in self.known.index.near(name):
                by = _by_what(name, other, self.catalog)
                if by is None:
                    return None
                keys.update(dict.fromkeys(by))
            self.known.named[name] = tuple(keys)
        return self.known.named[name]

    def _is_implied(self, iri: str, *, at_object: bool) -> bool:
        """Whether the ontology says of some things that they have the property, or are what others
        have, but not of what: such triples are in no mapping."""
        role = Role(iri, inverse=at_object)
        own = {Exists(r) for r, _ in self.tbox.subroles(role)}
        return any(basic not in own for basic, _ in self.tbox.subconcepts(Exists(role)))

    def _read_names(self) -> Iterator[_Name]:
        """How all nodes are named of which mappings or facts say something."""
        for assertion in self.mappings.assertions:
            for at_object in (False, True):
                name = _read_name(assertion, self.catalog, at_object=at_object)
                if name is not None:
                    yield name


def _read_name(assertion: MappingAssertion, catalog: Catalog, *, at_object: bool) -> _Name | None:
    """How the subjects or objects of an assertion are named (None: they are no nodes)."""
    term = assertion.object if at_object else assertion.subject
    match term:
        case None | ColumnMap():
            return None
        case ConstantMap(value=value, is_iri=is_iri):
            if not is_iri:
                return None
            return _Name("iri", (value,), tuple(value), frozenset(), None, (None,), True, None)
        case TemplateMap(kind=kind):
            return (
                None if kind == "literal" else _read_template(assertion, term, catalog, at_object)
            )


def _read_template(
    assertion: MappingAssertion, term: TemplateMap, catalog: Catalog, at_object: bool
) -> _Name:
    instance = instantiate_assertion(assertion, 1, catalog)
    output = instance.object if at_object else instance.subject
    assert output is not None
    types = Types(catalog, instance.occurrences)
    tables = {t.alias: t.table for t in assertion.source.tables}
    alias = assertion.stream_alias
    stream = None if alias is None else tables[alias]
    timestamp = None if stream is None else catalog.streams[stream].timestamp
    columns = tuple(
        p.column if isinstance(p, SourceColumn) and p.alias == alias else None for p in term.parts
    )
    times = frozenset(n for n, c in enumerate(columns) if c is not None and c == timestamp)
    last = max((n for n, p in enumerate(term.parts) if isinstance(p, SourceColumn)), default=-1)
    after = "".join(p for p in term.parts[last + 1 :] if isinstance(p, str))
    return _Name(
        term.kind,
        tuple(p if isinstance(p, str) else None for p in term.parts),
        list_atoms_of(output, types),
        times,
        stream,
        columns,
        is_injective(output, types),
        after if last in times else None,
    )


def _by_what(name: _Name, other: _Name, catalog: Catalog) -> tuple[StreamKey, ...] | None:
    """By which keys of whole streams two rows that make the same node have one time: by none where
    it is in the name, or where no node is of both (None: they may have two times)."""
    if name.kind != other.kind or differ_at_ends(name.fixed, other.fixed):
        return ()
    alike = name.texts == other.texts and name.told and other.told
    if (alike and name.times & other.times) or (name.ends is not None and name.ends == other.ends):
        return ()
    if alike and name.stream is not None and name.stream == other.stream:
        shared = {
            c for c, d in zip(name.columns, other.columns, strict=True) if c is not None and c == d
        }
        stream = catalog.streams[name.stream]
        for key in stream.keys:
            if stream.timestamp not in key and shared.issuperset(key):
                return ((name.stream, key),)
    return None if may_meet(name.atoms, other.atoms) else ()


def _tells_time(assertion: MappingAssertion, catalog: Catalog) -> bool:
    term: TermMap | None = assertion.object
    if not isinstance(term, ColumnMap) or term.column.alias != assertion.stream_alias:
        return False
    if term.datatype not in (None, f"{XSD}dateTime") or term.language is not None:
        return False  # another literal than a time is
    tables = {t.alias: t.table for t in assertion.source.tables}
    return term.column.column == catalog.streams[tables[term.column.alias]].timestamp

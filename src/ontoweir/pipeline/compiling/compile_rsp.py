"""Compile RSP-QL and C-SPARQL: SPARQL, of which each time of a window sees its stream alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.assertion import (
    ConstantMap,
    MappingAssertion,
    MappingSet,
    TemplateMap,
    TermMap,
)
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.compiling.compile_branches import compile_branches
from ontoweir.pipeline.compiling.compiler import Compiler
from ontoweir.pipeline.compiling.compiler_around import CompilerAround
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.rsp.find_stream import find_stream, name_stream
from ontoweir.rewriter.rsp.meet_makers import Ends, Way
from ontoweir.rewriter.rsp.read_head import asks_windows
from ontoweir.rewriter.rsp.stream_part import StreamPart, admit_parts
from ontoweir.rewriter.rsp.translate_rsp import translate_rsp
from ontoweir.rewriter.rsp.window import Known, Predicate, RspQuery
from ontoweir.rewriter.starql.translate_starql import asks_sequence, translate_starql
from ontoweir.rewriter.tmappings.list_classes import list_classes
from ontoweir.rewriter.tmappings.may_meet import differ_at_ends

TOLD = {"rstream": "snapshots", "istream": "insertions", "dstream": "deletions"}
"""What is written of each kind of stream."""
_DEFAULT: tuple[str, ...] = ()


@dataclass(frozen=True)
class WindowCompiler(CompilerAround):
    """A project, of whose mappings each time of a window sees the rows of its stream, and what is
    outside of windows static data."""

    seen: dict[str, tuple[StreamPart, ...]]
    file: str
    windowed: bool = True
    """A window is one graph; else (STARQL) each of its times has one."""

    @property
    def mappings(self) -> MappingSet:
        return replace(self.whole.mappings, admit=self._admit, windowed=self.windowed)

    def map_over(self, catalog: Catalog) -> MappingSet:
        return replace(self.whole.map_over(catalog), admit=self._admit, windowed=self.windowed)

    def compile_branches(
        self,
        branches: tuple[ConjunctiveQuery, ...],
        *,
        catalog: Catalog | None = None,
        quiet: bool = False,
    ) -> CompiledQuery:
        return compile_branches(self, branches, catalog=catalog, quiet=quiet)

    def _admit(
        self, time: str | None, assertions: tuple[MappingAssertion, ...]
    ) -> tuple[MappingAssertion, ...]:
        if time is None:
            return tuple(a for a in assertions if a.stream_alias is None)
        if time not in self.seen:
            raise QueryError(
                f"a window whose time is ?{time} here",
                why="which stream it is of is known by the name of its time",
                fix="write the windows in SPARQL: GRAPH ?t { … } and NOW()",
                source=Source(self.file),
            )
        return admit_parts(assertions, self.seen[time])


def open_windows(
    workspace: Compiler, text: str, file: str, catalog: Catalog | None
) -> tuple[WindowCompiler, RspQuery] | None:
    """A text of RSP-QL, C-SPARQL or STARQL as SPARQL, and what compiles it (None: it is SPARQL).

    Raises:
        QueryError: what is not read; a stream that is not known.
    """
    sequence = asks_sequence(text)
    if not sequence and not asks_windows(text):
        return None
    looking = _Looking(workspace, catalog or workspace.project.catalog)
    known = Known(
        lambda iri, place: find_stream(iri, looking.catalog, place),
        looking.list_ways,
        looking.is_one_row,
        frozenset(
            g.value
            for a in workspace.mappings.assertions
            for g in a.graphs
            if isinstance(g, ConstantMap)
        ),
        looking.list_classes,
        lambda name, place: name_stream(name, looking.catalog, place),
        lambda name: looking.catalog.streams[name].step_us,
    )
    read = (translate_starql if sequence else translate_rsp)(text, file, known)
    for message, place in read.warnings if catalog is None else ():
        workspace.on_warning(f"{place}: {message}")
    return WindowCompiler(workspace, dict(read.seen), file, not sequence), read


@dataclass(frozen=True, slots=True)
class _Looking:
    """What is asked of the mappings, with the hierarchy compiled in."""

    workspace: Compiler
    catalog: Catalog

    def find(self, predicate: Predicate) -> tuple[MappingAssertion, ...]:
        iri, is_class = predicate
        shared = self.workspace.tmappings
        selected = shared.select(self.workspace.mappings, _DEFAULT)
        compiled = selected if selected.compiled else shared.compile(selected, _DEFAULT, {iri})
        return compiled.classes_of(iri) if is_class else compiled.properties_of(iri)

    def list_ways(self, predicate: Predicate) -> tuple[Way, ...]:
        """How the triples of a predicate are made."""
        return tuple(
            Way(stream_of(a), (_iri_ends(a.subject), _iri_ends(a.object)))
            for a in self.find(predicate)
        )

    def list_classes(self, beside: Sequence[Predicate]) -> tuple[Predicate, ...]:
        """The classes that a subject of all of these predicates may be in."""
        subjects = [[_ends(a) for a in self.find(p)] for p in beside]
        return tuple(
            (iri, True)
            for iri in list_classes(self.workspace.mappings, self.workspace.tmappings)
            if any(
                all(any(not differ_at_ends(ends, e) for e in found) for found in subjects)
                for ends in (_ends(a) for a in self.find((iri, True)))
            )
        )

    def is_one_row(self, predicates: Sequence[Predicate], streams: frozenset[str]) -> bool:
        """Whether subjects are made by one template with the time in it, or with a key without the
        time: so all their triples are of one time."""
        found = [a for p in predicates for a in self.find(p) if stream_of(a) in streams]
        shapes = {_shape(a) for a in found}
        if len(streams) != 1 or len(shapes) != 1 or None in shapes:
            return False
        (shape,), (name,) = shapes, streams
        assert shape is not None
        stream, columns = self.catalog.streams[name], {p for p, text in shape if not text}
        lasting = [key for key in stream.keys if stream.timestamp not in key]
        return stream.timestamp in columns or any(columns.issuperset(key) for key in lasting)


def _ends(assertion: MappingAssertion) -> tuple[str, str]:
    """What a subject begins and ends with."""
    return _iri_ends(assertion.subject) or ("", "")


def _iri_ends(term: TermMap | None) -> Ends:
    """What an IRI begins and ends with (None: it is a literal, or made of a column alone)."""
    match term:
        case TemplateMap(parts=parts, kind="iri" | "blank"):
            first, last = parts[0], parts[-1]
            return first if isinstance(first, str) else "", last if isinstance(last, str) else ""
        case ConstantMap(value=value, is_iri=True):
            return value, value
        case _:
            return None


def _shape(assertion: MappingAssertion) -> tuple[tuple[str, bool], ...] | None:
    """The parts of a subject that tells rows of the stream apart by its columns: which are texts
    (None: it may not)."""
    if not isinstance(assertion.subject, TemplateMap):
        return None
    parts = assertion.subject.parts
    for part, after in pairwise(parts):
        if not isinstance(part, str) and not (isinstance(after, str) and set(after) & set("/#?:")):
            return None
    if any(not isinstance(p, str) and p.alias != assertion.stream_alias for p in parts):
        return None
    return tuple((p, True) if isinstance(p, str) else (p.column, False) for p in parts)


def stream_of(assertion: MappingAssertion) -> str | None:
    """The stream whose rows make its triples (None: static data)."""
    return next(
        (t.table for t in assertion.source.tables if t.alias == assertion.stream_alias), None
    )

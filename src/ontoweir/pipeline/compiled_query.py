"""A query on its way from its text to the tables."""

from dataclasses import dataclass

from ontoweir.mappings.model.assertion import RefusedMap
from ontoweir.mappings.model.catalog import Catalog, ColumnType
from ontoweir.rewriter.algebra.trace_steps import TraceStep
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sparql.parse_query import parse_query


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A query on its way down: as written (its branches; none for plain SQL), rewritten over the
    TBox, unfolded into SPJ. `incomplete`: the triples maps that are refused and left out, and could
    make what it asks for."""

    name: str
    branches: tuple[ConjunctiveQuery, ...]
    rewritten: tuple[ConjunctiveQuery, ...]
    union: SpjUnion
    warnings: tuple[str, ...] = ()
    trace: tuple[TraceStep, ...] = ()
    incomplete: tuple[RefusedMap, ...] = ()


def parse_values(query: ConjunctiveQuery, values: frozenset[str]) -> tuple[ConjunctiveQuery, ...]:
    """A query parsed again, where more of what SELECTs within it show are values, and no times.

    Args:
        query: a branch of it.
        values: their properties.
    """
    inner, file = query.inner[0], "" if query.source is None else query.source.file
    return parse_query(inner.text, name=query.name, file=file, values=inner.values | values)


def list_types(catalog: Catalog) -> list[tuple[str, int, list[tuple[str, ColumnType]]]]:
    """The streams, their steps, and the types of their columns: what mappings depend on."""
    return [
        (s.name, s.step_us, [(c.name, c.type) for c in s.columns]) for s in catalog.streams.values()
    ]

"""The columns of answers that are rows of a stream: their types, domains and times."""

from collections.abc import Sequence
from dataclasses import replace

from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    ColumnType,
    Reference,
    Stream,
    StringType,
)
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.algebra.equality_classes import Types, constant_type
from ontoweir.rewriter.model.spj import (
    Attribute,
    ConstantOutput,
    LiteralOutput,
    NullOutput,
    Output,
    SpjQuery,
    SpjUnion,
    ViewBranch,
)
from ontoweir.rewriter.nulls.list_nullable_names import list_nullable_names
from ontoweir.rewriter.views.declare_view import declare_stream


def is_single(found: SpjUnion, catalog: Catalog) -> bool:
    """Whether every answer is of one row of a stream, and static ones."""
    return all(sum(o.table in catalog.streams for o in q.occurrences) == 1 for q in found.disjuncts)


def time_behind(query: SpjQuery, name: str, catalog: Catalog) -> int | None:
    """How long a variable is before the timestamp of the stream that it is of, in µs (None: it is
    another value)."""
    output = dict(query.outputs)[name]
    if not isinstance(output, LiteralOutput):
        return None
    of = {o.alias: o.table for o in query.occurrences}
    stream = catalog.streams.get(of[output.value.alias])
    column = None if stream is None else stream.column(output.value.column)
    if column is None or column.bucket is None or column.bucket.buckets != Moments():
        return None
    return column.bucket.behind_us if column.bucket.sliding is None else None


def declare_columns(
    found: SpjUnion, shown: Sequence[str], stamps: Sequence[Attribute], catalog: Catalog
) -> Stream:
    """A stream of what a query shows: its columns, where their values are held, how long after
    others' rows they come, and how many rows there are at a time, if every answer has the time of
    one row.

    Args:
        found: the query; what is no column of it is a text, but for a number or a boolean.
        shown: the variables that are columns.
        stamps: of each disjunct, the timestamp of that row.
        catalog: the tables.
    """
    branches: list[ViewBranch] = []
    constants = {
        name
        for query in found.disjuncts
        for name, output in query.outputs
        if not isinstance(output, LiteralOutput | NullOutput)
    }
    kinds: dict[str, set[ColumnType]] = {name: set() for name in shown}
    for query, own in zip(found.disjuncts, stamps, strict=True):
        outputs = dict(query.outputs)
        types = Types(catalog, query.occurrences)
        attributes = []
        for name in shown:
            output = outputs[name]
            kinds[name].add(_type_term(output, types))
            if isinstance(output, LiteralOutput | NullOutput) and name not in constants:
                attributes.append(output.value)
            else:  # replaced below
                attributes.append(own)
        branches.append(ViewBranch(query.occurrences, query.conditions, tuple(attributes), own))
    stream = declare_stream("", branches, catalog, distinct=False)
    named = {c.name: n for n, c in zip(shown, stream.columns, strict=True)}
    known = {c for c, n in named.items() if n not in constants}
    null = list_nullable_names(found, catalog)
    columns = tuple(
        _declare_terms(n, kinds[n], found)
        if n in constants
        else replace(c, name=n, source=None, nullable=n in null)
        for n, c in zip(shown, stream.columns, strict=True)
    )
    references = tuple(
        Reference((named[r.columns[0]],), r.relation, r.to)
        for r in stream.references
        if r.columns[0] in known
    )
    lags = tuple(
        replace(lag, columns=tuple(named[c] for c in lag.columns), one=False)
        for lag in stream.lags
        if known >= set(lag.columns)
    )
    return replace(stream, columns=columns, references=references, lags=lags)


def _declare_terms(name: str, kinds: set[ColumnType], found: SpjUnion) -> Column:
    """A column of terms that are no columns; of some texts, one of these."""
    kind = next(iter(kinds)) if len(kinds) == 1 else StringType()
    terms = {dict(query.outputs)[name] for query in found.disjuncts}
    texts = sorted(t.value for t in terms if isinstance(t, ConstantOutput))
    few = kind == StringType() and len(texts) == len(terms)
    return Column(name, kind, enum=tuple(dict.fromkeys(texts)) if few else None)


def _type_term(output: Output, types: Types) -> ColumnType:
    """The type of a column that shows a term."""
    if isinstance(output, LiteralOutput | NullOutput):
        return types.type_of(output.value)
    return constant_type(output) if isinstance(output, ConstantOutput) else StringType()

"""Sets of answers that name something with its time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.algebra.is_injective import is_injective
from ontoweir.rewriter.model.spj import (
    Attribute,
    IriOutput,
    Output,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
)

_Shape: TypeAlias = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class _Timed:
    """A term with a time in its text: the time's column, how far it is behind that of its row; the
    fixed texts, if they tell what is between them, with the time's place; and what is after the
    time, if it is the last that varies."""

    time: Attribute
    bucket: TimeBucket
    shape: tuple[_Shape, int] | None
    after: str | None


def close_by_names(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """A set query whose disjuncts are marked with the time (`SpjQuery.closing`) that is in the text
    of one of their terms, such as `http://x/observation/{sensor}/{ts}`: equal answers have equal
    times, so that an answer is forgotten when nothing of its time can match any more. Any other
    query as it is, and one that is marked already (close_by_time).

    Args:
        union: a query.
        catalog: with its views and buckets (`extend_catalog`).
    """
    if not union.distinct or union.aggregation is not None or not union.disjuncts:
        return union
    if any(query.closing is not None for query in union.disjuncts):
        return union
    for variable in union.variables:
        found = [_read(dict(q.outputs)[variable], q, catalog) for q in union.disjuncts]
        known = [timed for timed in found if timed is not None]
        if len(known) == len(found) and _are_told(known):
            pairs = zip(union.disjuncts, known, strict=True)
            return replace(
                union, disjuncts=tuple(replace(q, closing=timed.time) for q, timed in pairs)
            )
    return union


def _read(output: Output, query: SpjQuery, catalog: Catalog) -> _Timed | None:
    """The last time in a term (None: there is none)."""
    if not isinstance(output, IriOutput | TemplateLiteralOutput):
        return None
    parts = output.parts
    tables = {o.alias: o.table for o in query.occurrences}
    for n in reversed(range(len(parts))):
        part = parts[n]
        if isinstance(part, Attribute):
            stream = catalog.table(tables[part.alias])
            column = stream.column(part.column) if isinstance(stream, Stream) else None
            bucket = None if column is None else column.bucket
            if bucket is None or not isinstance(bucket.buckets, Moments):
                continue
            texts = tuple(p if isinstance(p, str) else None for p in parts)
            told = is_injective(output, Types(catalog, query.occurrences))
            last = all(isinstance(p, str) for p in parts[n + 1 :])
            after = "".join(p for p in parts[n + 1 :] if isinstance(p, str))
            return _Timed(part, bucket, (texts, n) if told else None, after if last else None)
    return None


def _are_told(found: Sequence[_Timed]) -> bool:
    """Whether equal terms have equal times: no time is written as the end of another one."""
    first = found[0]
    if any(timed.bucket != first.bucket for timed in found):
        return False
    return any(
        of_first is not None and all(of_each == of_first for of_each in each)
        for of_first, each in (
            (first.shape, [timed.shape for timed in found]),
            (first.after, [timed.after for timed in found]),
        )
    )

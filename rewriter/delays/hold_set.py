"""Sets of rows in windows on a grid of time, or of several lengths: as rows, told once."""

from collections.abc import Collection
from dataclasses import replace

from ontoweir.mappings.model.catalog import IntType
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.buckets.make_column import NEVER
from ontoweir.rewriter.model.joined import Joined, JoinedPart
from ontoweir.rewriter.model.spj import ConstantOutput, SpjQuery, SpjUnion, output_attributes

_PART = "part"


def hold_set(union: SpjUnion) -> SpjUnion:
    """SELECT DISTINCT of rows in windows on a grid of time (`ts >= date_trunc('hour', NOW())`,
    RANGE … STEP …), or UNION of such in windows of several lengths, as rows that come and go, of
    which each answer is told once. Another query as it is: where a row is in its window from when,
    and until when, differs from its time by the same for all rows, less is kept of a set.
    """
    plain = union.aggregation is None and union.joined is None and union.standing is None
    edges = (*union.ends, *union.begins)
    if not (union.distinct and union.ends and plain and _differ(union, edges)):
        return union
    shown = tuple((v, f"0 {v}") for v in union.variables if v not in edges)
    ends, begins = (tuple(f"0 {v}" for v in names) for names in (union.ends, union.begins))
    part = JoinedPart(replace(union, distinct=False), until=ends, since=begins)
    number = (_PART, ConstantOutput("0", is_iri=False, kind=IntType()))
    disjuncts = tuple(
        replace(q, outputs=(number, *((f"0 {name}", output) for name, output in q.outputs)))
        for q in union.disjuncts
    )
    return replace(
        union,
        variables=(_PART, *(f"0 {v}" for v in union.variables)),
        disjuncts=disjuncts,
        distinct=False,
        ends=(),
        begins=(),
        joined=Joined(_PART, (part,), shown, distinct=True),
    )


def _differ(union: SpjUnion, edges: Collection[str]) -> bool:
    """Whether a row enters, or leaves, its window at a time of a grid; or rows do so sooner in some
    of the queries than in others."""
    buckets = {column.name: column.bucket for _, column in union.buckets if column.bucket}
    read = [_list_read(query, edges) for query in union.disjuncts]
    every = {name for names in read for name in names}
    if NEVER.name in every:
        return False
    grids = (b for n in every if (b := buckets.get(n)) is not None)
    return len({*read}) > 1 or any(not isinstance(bucket.buckets, Moments) for bucket in grids)


def _list_read(query: SpjQuery, edges: Collection[str]) -> frozenset[str]:
    """The columns that say when rows enter, and leave, their windows."""
    outputs = (output for name, output in query.outputs if name in edges)
    return frozenset(a.column for output in outputs for a in output_attributes(output))

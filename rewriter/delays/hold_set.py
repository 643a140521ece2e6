"""Sets of rows in windows on a grid of time: as rows, told once."""

from collections.abc import Collection
from dataclasses import replace

from ontoweir.mappings.model.catalog import IntType
from ontoweir.mappings.model.time_bucket import Moments
from ontoweir.rewriter.buckets.make_column import NEVER
from ontoweir.rewriter.model.joined import Joined, JoinedPart
from ontoweir.rewriter.model.spj import ConstantOutput, SpjUnion, output_attributes

_PART = "part"


def hold_set(union: SpjUnion) -> SpjUnion:
    """SELECT DISTINCT of rows in windows on a grid of time (`ts >= date_trunc('hour', NOW())`,
    RANGE … STEP …), as rows that come and go, of which each answer is told once. Another query as
    it is: where a row is in its window from when, and until when, differs from its time by the same
    for all rows, less is kept of a set.
    """
    plain = union.aggregation is None and union.joined is None and union.standing is None
    edges = (*union.ends, *union.begins)
    if not (union.distinct and union.ends and plain and _is_on_grid(union, edges)):
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


def _is_on_grid(union: SpjUnion, edges: Collection[str]) -> bool:
    """Whether a row enters, or leaves, its window at a time of a grid."""
    buckets = {column.name: column.bucket for _, column in union.buckets if column.bucket}
    read = {
        attribute.column
        for query in union.disjuncts
        for name, output in query.outputs
        if name in edges
        for attribute in output_attributes(output)
    }
    if NEVER.name in read:
        return False
    grids = (b for n in read if (b := buckets.get(n)) is not None)
    return any(not isinstance(bucket.buckets, Moments) for bucket in grids)

"""Groups of rows that come and go, which are joined; and of the joined rows."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from ontoweir.checker.split.split_aggregates import split_aggregates
from ontoweir.checker.split.split_by_keys import list_singly
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.aggregates.row_union import row_union
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.joined import Joined, JoinedPart
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.runtime.changes.group_changes import pair_changes
from ontoweir.runtime.changes.standing_groups import group_standing
from ontoweir.runtime.columnar.frame import LONG_AGO
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork, plan_aggregates
from ontoweir.runtime.groups.shape_rows import find_holding, shape_rows
from ontoweir.runtime.results.render_results import AT, INSTANT, MULTIPLICITY
from ontoweir.runtime.spans.spans import NEVER, Spans


def plan_part_groups(part: JoinedPart[SpjUnion], catalog: Catalog) -> AggregateWork | None:
    """What makes the groups of a part's rows (None: rows are joined).

    Args:
        part: of a join.
        catalog: with its views, buckets and derived columns.
    """
    if part.groups is None:
        return None
    names = part.groups.variables
    disjuncts = tuple(
        replace(q, outputs=tuple((n, o) for n, o in q.outputs if n in names))
        for q in part.query.disjuncts
    )
    rows = replace(part.query, variables=names, disjuncts=disjuncts, aggregation=part.groups)
    return _plan(replace(rows, ends=(), begins=()), catalog)


def plan_row_groups(joined: Joined[SpjUnion], catalog: Catalog) -> AggregateWork | None:
    """What makes the groups of the joined rows (None: rows are told)."""
    if joined.row is None or joined.row.groups is None:
        return None
    return _plan(*row_union(joined.row.columns, joined.row.groups, catalog))


def _plan(rows: SpjUnion, catalog: Catalog) -> AggregateWork:
    parts = split_aggregates(rows, singly=list_singly(rows, catalog))
    work = plan_aggregates(rows, [(part, 1) for part in parts], catalog)
    return replace(work, sliding=True)


def pair_groups(
    work: AggregateWork, sides: tuple[Spans, Spans], begun: tuple[bool, int | None], now: int
) -> Spans:
    """The groups of rows, that hold or did since the last time.

    Args:
        work: what makes them.
        sides: the rows that held, and those with the ones that came.
        begun: of what is not grouped, whether it had a row before, and since when it has one (µs;
            None: not yet).
        now: µs since 1970.
    """
    before = hold_groups_of(work, sides[0], begun=begun[0])
    told = group_standing(work, sides[1], begun[1], now)
    made = pair_changes(before, told)
    if MULTIPLICITY in made.rows.column_names:  # groups that say how often their rows are there
        return replace(made, rows=made.rows.drop_columns([MULTIPLICITY]))
    return made


def hold_groups_of(work: AggregateWork, spans: Spans, *, begun: bool) -> pa.Table:
    """The rows of the groups of rows that hold; `begun`: what is not grouped has one."""
    now = LONG_AGO + 1
    held = np.flatnonzero((spans.begins == LONG_AGO) & (spans.ends == NEVER))
    mine = spans.take(held)
    mine = replace(mine, begins=np.full(len(held), now, dtype=np.int64))
    rows = group_standing(work, mine, now if begun else None, now)
    return rows.select(list(work.aggregation.columns))


def shape_spans(shape: Aggregation, spans: Spans) -> Spans:
    """The rows that are there, with what is computed of them."""
    if shape.having is not None:
        there = find_holding(shape, spans.rows).to_numpy(zero_copy_only=False)
        spans = spans.take(np.flatnonzero(there))
    size = len(spans.begins)
    if not shape.columns:  # a table without columns does not know how many rows it has
        return replace(spans, rows=pa.table({"": pa.nulls(size)}))
    times = pa.array(np.zeros(size, dtype=np.int64)).cast(INSTANT)
    rows = shape_rows(replace(shape, having=None), spans.rows.append_column(AT, times))
    return replace(spans, rows=rows.drop_columns([AT]))

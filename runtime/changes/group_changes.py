"""Groups of the rows of other groups, which come and go, as changes."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ontoweir.checker.split.split_aggregates import split_aggregates
from ontoweir.checker.split.split_by_keys import list_singly
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.runtime.changes.sliding_groups import OP, slide_groups, standing_groups
from ontoweir.runtime.changes.standing_groups import group_standing
from ontoweir.runtime.columnar.frame import LONG_AGO
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork, plan_aggregates
from ontoweir.runtime.groups.code_rows import code_rows
from ontoweir.runtime.groups.list_matches import NO_PART, PART
from ontoweir.runtime.results.render_results import AT, MULTIPLICITY
from ontoweir.runtime.spans.spans import NEVER, Spans


def plan_groups_around(union: SpjUnion, catalog: Catalog) -> AggregateWork | None:
    """What makes the groups that are told of the rows of a query's groups (None: the rows are
    told).

    Args:
        union: the query.
        catalog: with its views, buckets and derived columns.
    """
    around = None if union.aggregation is None else union.aggregation.around
    if around is None:
        return None
    disjuncts = tuple(
        replace(q, outputs=tuple((n, o) for n, o in q.outputs if n in around.variables))
        for q in union.disjuncts
    )
    rows = replace(
        union,
        variables=around.variables,
        disjuncts=disjuncts,
        aggregation=around,
        ends=(),
        begins=(),
    )
    parts = split_aggregates(rows, singly=list_singly(rows, catalog))
    work = plan_aggregates(rows, [(part, 1) for part in parts], catalog)
    return replace(work, sliding=True)


def group_changes(
    inner: AggregateWork,
    groups: AggregateWork,
    held: "pa.Table | None",
    answers: pa.Table,
    now: int,
) -> "tuple[pa.Table, pa.Table | None]":
    """As slide_groups, of the groups that are told of the rows of `inner`. Nothing is kept for
    them: what holds follows from what is kept for `inner`."""
    told, left = slide_groups(inner, held, answers, now)
    before = None if held is None else standing_groups(inner, held)
    known = [at for t in (held, answers) if t is not None and (at := _find_begin(t)) is not None]
    begun = min(known, default=None)
    return group_standing(groups, pair_changes(before, told), begun, now), left


def groups_around(inner: AggregateWork, groups: AggregateWork, held: pa.Table) -> pa.Table:
    """The rows of the groups that hold, of what group_changes holds."""
    now = LONG_AGO + 1
    rows = standing_groups(inner, held)
    begins, ends = (np.full(rows.num_rows, at, dtype=np.int64) for at in (now, NEVER))
    spans = Spans(rows, begins, ends, rows.column(MULTIPLICITY).to_numpy())
    begun = now if _find_begin(held) == LONG_AGO else None
    return group_standing(groups, spans, begun, now).select(list(groups.aggregation.columns))


def _find_begin(matches: pa.Table) -> int | None:
    """Since when there is a row of all, whatever holds (µs; LONG_AGO: it has begun; None: that is
    not told)."""
    if PART not in matches.column_names:
        return None
    mine = matches.filter(pc.equal(matches.column(PART), NO_PART))
    return None if not mine.num_rows else int(pc.min(mine.column(AT).cast(pa.int64())).as_py())


def pair_changes(before: "pa.Table | None", told: pa.Table) -> Spans:
    """The rows that held before, and those that begin, each until an equal one ends: which of equal
    ones does not matter. Where none says how often it holds, each does once."""
    shown = [n for n in told.column_names if n not in (OP, AT)]
    begin = pc.equal(told.column(OP), "+").to_numpy()
    times = told.column(AT).cast(pa.int64()).to_numpy()
    came = told.select(shown).filter(pa.array(begin))
    rows, begins = came, times[begin]
    if before is not None and before.num_rows:
        rows = pa.concat_tables([before.select(shown), came])
        begins = np.append(np.full(before.num_rows, LONG_AGO, dtype=np.int64), begins)
    gone = told.select(shown).filter(pa.array(~begin))
    codes, _ = code_rows(pa.concat_tables([rows, gone]), shown)
    ends = np.full(rows.num_rows, NEVER, dtype=np.int64)
    mine, others = codes[: rows.num_rows], codes[rows.num_rows :]
    first = np.lexsort((begins, mine))
    over = np.lexsort((times[~begin], others))
    ended = others[over]
    number = np.arange(len(over)) - np.searchsorted(ended, ended)  # of the ends of equal rows
    ends[first[np.searchsorted(mine[first], ended) + number]] = times[~begin][over]
    weights = np.ones(rows.num_rows, dtype=np.int64)
    if MULTIPLICITY in rows.column_names:
        weights = rows.column(MULTIPLICITY).to_numpy()
    return Spans(rows, begins, ends, weights)

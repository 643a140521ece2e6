"""How many rows of state an aggregate query's plans have of what they have answered."""

from collections.abc import Iterator

import numpy as np

from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.runtime.engine.execution import ExecutionContext, ExecutionState
from ontoweir.runtime.results.group_state import GroupState
from ontoweir.runtime.results.measures import MeasureKind

_EXTREMES = {AggregateFunction.MIN: MeasureKind.MIN, AggregateFunction.MAX: MeasureKind.MAX}


def count_own(work: ExecutionContext, state: ExecutionState) -> int:
    """As the plans of a range have it, which know of no range before; of parts of one plan."""
    rows = 0
    for index, _ in _single(work):
        held = state.kernels[index].stored.get(work.plans[index].tables[-1].members)
        rows += 0 if held is None else held.rows
    return rows


def count_emitted(work: ExecutionContext, groups: GroupState) -> int:
    """As one range would have it after the same marker: for minima and maxima a row a group, for
    distinct values a row a value; of parts of one plan."""
    rows = 0
    for _, part in _single(work):
        first = part.aggregates[0]
        if first.function is AggregateFunction.COUNT_DISTINCT:
            column = (MeasureKind.DISTINCT, first.argument)
            held = groups.measures.get(column)
            rows += 0 if held is None else int(held.values.sum())
        else:
            column = (_EXTREMES[first.function], first.argument)
            held = groups.measures.get(column)
            rows += 0 if held is None else int(np.count_nonzero(held.valid))
    return rows


def _single(work: ExecutionContext) -> Iterator[tuple[int, AggregatePart]]:
    """The parts whose answers are kept (sets), and which have one plan, with its place."""
    assert work.aggregates is not None
    index = 0
    for part, plans in work.aggregates.parts:
        if plans == 1 and part.union.distinct and work.plans[index].tables[-1].stored:
            yield index, part
        index += plans

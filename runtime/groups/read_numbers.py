"""What a plan's results say of the arguments of aggregates, as numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.checker.split.split_aggregates import AggregatePart
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.spj import FoldFunction, LiteralOutput
from ontoweir.runtime.columnar.add_exact import add_exact, narrow
from ontoweir.runtime.columnar.columns import frontier, total, value
from ontoweir.runtime.columnar.encode import unscale_floats
from ontoweir.runtime.columnar.frame import WEIGHT, Array, Frame
from ontoweir.runtime.kernel.plan_view import frontier_bias, turn
from ontoweir.runtime.pool.rank_texts import list_texts
from ontoweir.runtime.pool.text_table import TextTable
from ontoweir.runtime.results.aggregate_columns import ArgumentScale
from ontoweir.runtime.results.exact_sums import add_doubles
from ontoweir.runtime.results.measures import ALL_MATCHES, TEXTS, Measure, MeasureKind

_MAX_INT64 = (1 << 63) - 1


def read_numbers(
    part: AggregatePart,
    plan: SynopsisPlan,
    results: Frame,
    scales: Mapping[str, ArgumentScale],
    texts: "RowTexts | None" = None,
) -> dict[Measure, Array]:
    """What a plan's results say of the arguments of its part, in units of their scales; of `texts`
    (needed where one of a part's is chosen) they are those of the rows."""
    form = plan.form
    numbers: dict[Measure, Array] = {}
    if part.once:
        arguments = {v for a in part.aggregates for v in a.arguments} & {*part.union.variables}
        return {
            (MeasureKind.VALUE, a): _read_text(a, texts)
            if scales[a].kind == "text"
            else _read_value(a, plan, results, scales)
            for a in arguments & {*scales}
            if a
        }
    if part.chosen is not None:
        kind = MeasureKind(part.aggregates[0].function.lower())
        return {(kind, part.chosen): _read_text(part.chosen, texts)}
    for place, fold in enumerate(form.folds or ()):
        counted = form.unit_of(form.classes[fold.value].kind)
        unit = _Unit(counted, scales[fold.name].scale, scales[fold.name].kind)
        if fold.function is FoldFunction.SUM:
            numbers[(MeasureKind.SUM, fold.name)] = unit.convert(results[total(place)])
            continue
        sign = 1 if fold.function is FoldFunction.MIN else -1
        (kept,) = plan.tables[-1].frontier
        best, beside = turn(results[frontier(0)], sign)  # -(f + bias) = ~f + 1 - bias
        shift = fold.shift + beside + sign * frontier_bias(kept, form)
        numbers[(fold.function.value, fold.name)] = unit.convert(_shifted(best, shift))
    first = part.aggregates[0]
    if part.added:
        values = [_read_value(argument, plan, results, scales) for argument in part.added]
        functions = [a.function for a in part.aggregates]
        return add_doubles(part.added, values, results[WEIGHT], functions)
    if part.closes and first.function in (AggregateFunction.MIN, AggregateFunction.MAX):
        assert first.argument is not None
        kind = MeasureKind(first.function.lower())
        numbers[(kind, first.argument)] = _read_value(first.argument, plan, results, scales)
    if first.function.lists:  # whose codes depend on the groups (code_lists)
        nothing = np.zeros(results.rows, dtype=np.int64)
        numbers[(MeasureKind.HISTOGRAM, first.argument, TEXTS)] = nothing
        numbers[ALL_MATCHES] = results[WEIGHT]
    elif first.function.ranks:
        assert first.argument is not None
        numbers[(MeasureKind.HISTOGRAM, first.argument)] = _read_value(
            first.argument, plan, results, scales
        )
        numbers[ALL_MATCHES] = results[WEIGHT]
    return numbers


class RowTexts(NamedTuple):
    """Rows of a part, and what codes of texts in them stand for (None: they have texts)."""

    rows: "pa.Table"
    texts: TextTable | None


def _read_text(argument: str, texts: RowTexts | None) -> Array:
    """The values of an argument, texts, as objects."""
    assert texts is not None
    return list_texts(texts.rows.column(argument), texts.texts)


def _read_value(
    argument: str, plan: SynopsisPlan, results: Frame, scales: Mapping[str, ArgumentScale]
) -> Array:
    """The values of an argument that is among the results."""
    form, scale = plan.form, scales[argument]
    output = dict(form.query.outputs)[argument]
    assert isinstance(output, LiteralOutput)
    group = form.classes[form.class_of[output.value]]
    column = _shifted(results[value(group.index)], dict(group.attributes)[output.value])
    return _Unit(form.unit_of(group.kind), scale.scale, scale.kind).convert(column)


def _shifted(column: Array, shift: Any) -> Array:
    return narrow(add_exact(column, shift), "a number that is aggregated")


@dataclass(frozen=True, slots=True)
class _Unit:
    unit: int
    scale: int | None
    kind: str

    def convert(self, column: Array) -> Array:
        """From 1/unit to multiples of 10^-scale; exact, as columns have at most that many
        decimal places."""
        if self.scale is None:
            return unscale_floats(column, self.unit)
        if self.kind != "number":
            return column
        if column.dtype != np.int64:
            column = np.rint(column).astype(np.int64)
        up, down = 10**self.scale, self.unit
        if up < down:
            fewer: Array = column // (down // up)
            return fewer
        wide = up // down
        if (
            wide > 1
            and len(column)
            and max(-int(column.min()), int(column.max())) > _MAX_INT64 // wide
        ):
            return narrow(column.astype(object) * wide, "a number that is aggregated")
        made: Array = column * wide
        return made

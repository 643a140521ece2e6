"""The columns of aggregate results, and the exact numbers that they are computed from."""

from dataclasses import dataclass
from typing import assert_never

import numpy as np
import pyarrow as pa

from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.model.spj import LiteralOutput, NullOutput, SpjUnion
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.results.render_results import AT, INSTANT, result_schema


@dataclass(frozen=True, slots=True)
class ArgumentScale:
    """How an argument's values are written as numbers.

    `scale`: numbers are whole multiples of 10^-scale; None: they are floats. `kind`: what they
    are: "number", "date" (days), "timestamp" (µs), "boolean" (1 is true), or "text" (objects).
    """

    kind: str
    scale: int | None

    @property
    def dtype(self) -> "np.dtype[np.generic]":
        """Of arrays of them."""
        if self.kind == "text":
            return np.dtype(object)
        return np.dtype(np.float64 if self.scale is None else np.int64)


def scale_argument(union: SpjUnion, catalog: Catalog, argument: str) -> ArgumentScale:
    """The finest scale that an argument's columns have in any disjunct."""
    scales: list[int | None] = []
    kind = "number"
    for query in union.disjuncts:
        output = next(o for name, o in query.outputs if name == argument)
        assert isinstance(output, LiteralOutput | NullOutput)  # check_aggregates saw to it
        column_type = Types(catalog, query.occurrences).type_of(output.value)
        kind, scale = _scale(column_type)
        scales.append(scale)
    if None in scales:
        return ArgumentScale(kind, None)
    return ArgumentScale(kind, max((s for s in scales if s is not None), default=0))


def _scale(kind: ColumnType) -> tuple[str, int | None]:
    match kind:
        case IntType():
            return "number", 0
        case DecimalType(scale=scale):
            return "number", scale
        case FloatType():
            return "number", None
        case DateType():
            return "date", 0
        case TimestampType():
            return "timestamp", 0
        case StringType():
            return "text", 0
        case BooleanType():
            return "boolean", 0
        case _:
            assert_never(kind)


def aggregate_schema(union: SpjUnion, catalog: Catalog) -> pa.Schema:
    """The columns of groups' rows: the group's variables, all aggregates, then `at`.

    COUNT is int64, SUM int64 or decimal, AVG and MEDIAN are doubles (the exact quotient,
    rounded once), MIN, MAX and QUANTILE as the column.
    """
    assert union.aggregation is not None
    plain = result_schema(union, catalog)
    made, panes = union.aggregation.aggregates, union.aggregation.panes
    kind = INSTANT if panes is None else plain.field(panes.variable).type
    fields = [
        *(
            plain.field(name) if name in union.aggregation.group else pa.field(name, kind)
            for name in union.aggregation.row
        ),
        *(pa.field(a.name, _type(a, union, catalog)) for a in made),
    ]
    return pa.schema([*fields, pa.field(AT, INSTANT)])


def _type(aggregate: Aggregate, union: SpjUnion, catalog: Catalog) -> pa.DataType:
    match aggregate.function:
        case AggregateFunction.COUNT | AggregateFunction.COUNT_DISTINCT:
            return pa.int64()
        case (
            AggregateFunction.AVG
            | AggregateFunction.AVG_DISTINCT
            | AggregateFunction.MEDIAN
            | AggregateFunction.PERCENTILE
            | AggregateFunction.VAR_POP
            | AggregateFunction.VAR_SAMP
            | AggregateFunction.COVAR_POP
            | AggregateFunction.REGR_SXX
        ):
            return pa.float64()
        case AggregateFunction.LIST | AggregateFunction.LIST_DISTINCT:
            return pa.string()
        case (
            AggregateFunction.SUM
            | AggregateFunction.SUM_DISTINCT
            | AggregateFunction.MIN
            | AggregateFunction.MAX
            | AggregateFunction.QUANTILE
        ):
            assert aggregate.argument is not None
            return _plain_type(scale_argument(union, catalog, aggregate.argument))
        case _:
            assert_never(aggregate.function)


def _plain_type(scale: ArgumentScale) -> pa.DataType:
    if scale.kind == "date":
        return pa.date32()
    if scale.kind == "timestamp":
        return arrow_type(TimestampType())
    if scale.kind in ("text", "boolean"):
        return pa.string() if scale.kind == "text" else pa.bool_()
    if scale.scale is None:
        return pa.float64()
    return pa.int64() if scale.scale == 0 else pa.decimal128(38, scale.scale)

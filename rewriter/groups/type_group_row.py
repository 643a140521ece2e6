"""What expressions over a group's row read: its columns, with their types."""

from typing import assert_never

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
from ontoweir.mappings.model.column_types import natural_datatype
from ontoweir.mappings.model.expression import Field
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.expressions.not_exact import NotExactError
from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction
from ontoweir.rewriter.model.spj import LiteralOutput, NullOutput, SpjUnion

_DIGITS = 19
"""So many digits have the numbers that decimals are computed by: whole numbers of 64 bits."""


def type_group_row(
    union: SpjUnion, catalog: Catalog, *, terms: bool
) -> dict[str, Field | NotExactError]:
    """By name, the columns of a group's row; or why one is not computed with.

    Args:
        union: an aggregate query.
        catalog: with its views, buckets and derived columns.
        terms: its outputs are RDF terms, whose datatypes count; else they are plain columns.
    """
    assert union.aggregation is not None
    row: dict[str, Field | NotExactError] = {}
    for name in union.aggregation.group:
        row[name] = _type_variable(name, union, catalog, terms=terms)
    if union.aggregation.panes is not None and (end := union.aggregation.panes.ends) is not None:
        row[end] = Field(end, TimestampType())
    for aggregate in union.aggregation.aggregates:
        row[aggregate.name] = Field(aggregate.name, _type_aggregate(aggregate, union, catalog))
    return row


def _type_variable(
    name: str, union: SpjUnion, catalog: Catalog, *, terms: bool
) -> Field | NotExactError:
    kinds: dict[ColumnType, None] = {}
    for query in union.disjuncts:
        output = dict(query.outputs)[name]
        plain = isinstance(output, NullOutput) or (
            isinstance(output, LiteralOutput) and output.language is None
        )
        if not plain:
            return NotExactError(
                f"?{name}, an IRI or a text of a language, in an expression of groups",
                f"compare ?{name} in a FILTER of the pattern",
            )
        assert isinstance(output, LiteralOutput | NullOutput)
        kind = Types(catalog, query.occurrences).type_of(output.value)
        if terms and isinstance(output, LiteralOutput) and not _is_natural(output.datatype, kind):
            return NotExactError(
                f"?{name}, whose values are mapped to <{output.datatype}>,",
                "map the column with its own datatype",
            )
        if isinstance(kind, DecimalType):
            kind = DecimalType(max(kind.precision, _DIGITS), kind.scale)
        kinds[kind] = None
    if len(kinds) > 1:
        return NotExactError(
            f"?{name}, whose values are of several types,", f"compare ?{name} in a FILTER"
        )
    return Field(name, next(iter(kinds), StringType()))


def _is_natural(datatype: str | None, kind: ColumnType) -> bool:
    natural = natural_datatype(kind)
    return datatype == natural or (isinstance(kind, StringType) and datatype is None)


def _type_aggregate(aggregate: Aggregate, union: SpjUnion, catalog: Catalog) -> ColumnType:
    """As runtime/results/aggregate_columns.py has them."""
    match aggregate.function:
        case AggregateFunction.COUNT | AggregateFunction.COUNT_DISTINCT:
            return IntType()
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
            return FloatType()
        case AggregateFunction.LIST | AggregateFunction.LIST_DISTINCT:
            return StringType()
        case (
            AggregateFunction.SUM
            | AggregateFunction.SUM_DISTINCT
            | AggregateFunction.MIN
            | AggregateFunction.MAX
            | AggregateFunction.QUANTILE
        ):
            return _type_argument(aggregate, union, catalog)
        case _:
            assert_never(aggregate.function)


def _type_argument(aggregate: Aggregate, union: SpjUnion, catalog: Catalog) -> ColumnType:
    kinds: list[ColumnType] = []
    for query in union.disjuncts:
        output = dict(query.outputs)[aggregate.argument or ""]
        assert isinstance(output, LiteralOutput | NullOutput)  # check_aggregates saw to it
        kinds.append(Types(catalog, query.occurrences).type_of(output.value))
    for kind in kinds:
        if isinstance(kind, FloatType | DateType | TimestampType | StringType | BooleanType):
            return kind
    scale = max((k.scale for k in kinds if isinstance(k, DecimalType)), default=0)
    return DecimalType(_DIGITS, scale) if scale else IntType()

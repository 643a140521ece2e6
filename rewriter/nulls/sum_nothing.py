"""The sum and the mean of no values, which are 0 in SPARQL."""

from collections.abc import Mapping
from dataclasses import replace

from ontoweir.mappings.model.catalog import FloatType
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value, map_fields
from ontoweir.rewriter.model.aggregation import AggregateFunction, Aggregation

_ZERO = (
    AggregateFunction.SUM,
    AggregateFunction.AVG,
    AggregateFunction.SUM_DISTINCT,
    AggregateFunction.AVG_DISTINCT,
)


def sum_nothing(groups: Aggregation, row: Mapping[str, object]) -> Aggregation:
    """What is told of solutions, where SUM and AVG of none are 0 (SPARQL 1.1, 18.5.1.3 and
    18.5.1.4); MIN, MAX and others have no value there. Only what is not grouped is over none.

    Args:
        groups: of SPARQL, with what it computes of groups.
        row: the columns of a group's row (type_group_row).
    """
    if groups.group:
        return groups
    values: dict[str, Expression] = {}
    hidden: dict[str, str] = {}
    for one in groups.aggregates:
        if one.function not in _ZERO:
            continue
        field = row[one.name]
        assert isinstance(field, Field)  # of aggregates there is a type
        if one.name in groups.columns:
            hidden[one.name] = f"{one.name}, if any"
        zero = Value(0.0 if isinstance(field.type, FloatType) else 0, field.type)
        inner = Field(hidden.get(one.name, one.name), field.type)
        values[one.name] = Call(Function.COALESCE, (inner, zero), field.type)
    if not values:
        return groups
    having = None if groups.having is None else map_fields(groups.having, values)
    return replace(
        groups,
        aggregates=tuple(replace(a, name=hidden.get(a.name, a.name)) for a in groups.aggregates),
        computed=(
            *((name, values[name]) for name in hidden),
            *((name, map_fields(made, values)) for name, made in groups.computed),
        ),
        having=having,
    )

"""The columns that are kept of a group: what of an argument, by name."""

from enum import StrEnum
from typing import Any, TypeAlias

from ontoweir.rewriter.model.aggregation import Aggregate, AggregateFunction


class MeasureKind(StrEnum):
    """What a column of a group holds of an argument; its text stands in checkpoints."""

    WEIGHT = "w"
    """How many matches there are; with an argument, those in which it has a value."""
    SUM = "s"
    """The sum of its values (int64 in units of the argument's scale, or float64)."""
    SQUARES = "sq"
    """A digit of the sum of its values' squares, or of products (exact_sums.py)."""
    MIN = "min"
    """Its least value (units)."""
    MAX = "max"
    """Its greatest value (units)."""
    DISTINCT = "distinct"
    """How many distinct values it has."""
    HISTOGRAM = "hist"
    """How often each value occurs, for a median; of new matches, their values."""
    VALUE = "value"
    """Its values, of new matches of groups that have one match each."""


Measure: TypeAlias = tuple[Any, ...]
"""A MeasureKind, and the argument; WEIGHT alone counts all matches."""

TEXTS = "texts"
"""What comes after the argument in the name of a HISTOGRAM of texts: its values are their codes."""


def rank_of(aggregate: Aggregate) -> Measure:
    """The measure that a median, another quantile, or the sum of distinct values is read from."""
    if aggregate.function.adds_distinct:
        return (MeasureKind.HISTOGRAM, aggregate.argument, AggregateFunction.SUM_DISTINCT)
    if aggregate.fraction is None:
        return (MeasureKind.HISTOGRAM, aggregate.argument)
    return (MeasureKind.HISTOGRAM, aggregate.argument, aggregate.function, str(aggregate.fraction))


ALL_MATCHES: Measure = (MeasureKind.WEIGHT,)

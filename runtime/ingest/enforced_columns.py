"""Constraints enforced on a stream's rows, even where no query uses the column."""

from ontoweir.mappings.model.catalog import Column, DateType, FloatType, Stream, TimestampType


def enforced_columns(stream: Stream) -> tuple[Column, ...]:
    """The columns whose constraints are enforced on a stream's rows, even where no query uses them,
    so that which rows are admitted does not depend on the queries.

    Those of keys and of references of one column, those with a declared domain, floating-point
    numbers (NaN is not a value), dates and times (which lie in the years 1 to 9999). Of sources
    other than Parquet, which has types of its own, all columns: a text may not be of its type.
    """
    named = {c for key in stream.keys for c in key}
    named |= {r.columns[0] for r in stream.references if len(r.columns) == 1}
    return tuple(
        c
        for c in stream.columns
        if stream.data.format != "parquet"
        or c.name in named
        or isinstance(c.type, FloatType | DateType | TimestampType)
        or has_domain(c)
    )


def has_domain(column: Column) -> bool:
    """Whether the catalog says which values a column has."""
    return not (column.enum is None and column.minimum is None and column.maximum is None)

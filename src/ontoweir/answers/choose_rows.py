"""Choose rows of answers: those that meet a condition, in an order, the first ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.errors import UsageError
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Column,
    ColumnType,
    DataSource,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.read_table import did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are wanted: that meet `where` (SQL; None: all), in the order of `sort` (columns;
    with DESC after them from the greatest down), the first `limit` (None: all), with some columns
    (none named: all)."""

    where: str | None = None
    sort: tuple[str, ...] = ()
    limit: int | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """Rows that were chosen; how many there are, and how many of these meet the condition."""

    rows: "pa.Table"
    total: int
    met: int


def choose_rows(tables: "Iterable[pa.Table]", wanted: Wanted) -> Chosen:
    """The rows that are wanted. No more than these are held at once, and one portion.

    Args:
        tables: all rows, some at a time.
        wanted: which of them.

    Raises:
        UsageError: there is no such column, or the condition is none.
    """
    import pyarrow as pa

    kept: pa.Table | None = None
    total = met = 0
    for table in tables:
        total += table.num_rows
        table = _meet(table, wanted.where)
        met += table.num_rows
        if kept is not None and not wanted.sort and kept.num_rows == wanted.limit:
            continue
        both = (
            table if kept is None else pa.concat_tables([kept, table], promote_options="permissive")
        )
        kept = _first(both, wanted)
    if kept is None:
        kept = pa.table({})
    if wanted.columns and kept.num_columns:
        kept = kept.select([_find(kept, name) for name in wanted.columns])
    return Chosen(kept, total, met)


def _first(table: "pa.Table", wanted: Wanted) -> "pa.Table":
    import pyarrow.compute as pc

    if wanted.sort and table.num_columns:
        keys = []
        for text in wanted.sort:
            name, _, way = text.strip().rpartition(" ")
            turned = way.upper() == "DESC" and bool(name)
            column = _find(table, name.strip() if turned else text.strip())
            keys.append((column, "descending" if turned else "ascending"))
        table = table.take(pc.sort_indices(table, sort_keys=keys))
    return table if wanted.limit is None else table.slice(0, wanted.limit)


def _find(table: "pa.Table", name: str) -> str:
    if name in table.column_names:
        return name
    raise UsageError(
        f"there is no column {name!r}",
        why=f"the answers have {', '.join(table.column_names)}",
        fix=did_you_mean(name, table.column_names),
    )


def _meet(table: "pa.Table", where: str | None) -> "pa.Table":
    """The rows that meet a condition: for which it is neither false nor unknown."""
    from ontoweir.mappings.expressions.evaluate import evaluate
    from ontoweir.mappings.sql_expressions.read_condition import read_condition

    if where is None:
        return table
    plain = {n: _plain(table.column(n)) for n in table.column_names}
    known = {n: _column_type(values.type) for n, values in plain.items()}
    columns = tuple(Column(n, kind) for n, kind in known.items() if kind is not None)
    relation = Relation("answers", DataSource("parquet", None), columns)
    condition = read_condition(where, relation)
    held = {c.name: plain[c.name] for c in columns}
    return table.filter(evaluate(condition, held, table.num_rows))


def _plain(values: "pa.ChunkedArray") -> "pa.Array":
    import pyarrow as pa

    values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kind = values.type
    if pa.types.is_integer(kind):
        return values.cast(pa.int64())
    if pa.types.is_timestamp(kind):
        return values.cast(pa.timestamp("us", tz="UTC"))
    if pa.types.is_float32(kind):
        return values.cast(pa.float64())
    return values.cast(pa.string()) if pa.types.is_large_string(kind) else values


def _column_type(kind: "pa.DataType") -> ColumnType | None:
    """The type of a column that conditions can name (None: they cannot)."""
    import pyarrow as pa

    tests: Sequence[tuple[bool, ColumnType]] = (
        (pa.types.is_integer(kind), IntType()),
        (pa.types.is_floating(kind), FloatType()),
        (pa.types.is_string(kind), StringType()),
        (pa.types.is_boolean(kind), BooleanType()),
        (pa.types.is_date(kind), DateType()),
        (pa.types.is_timestamp(kind), TimestampType()),
    )
    if pa.types.is_decimal(kind):
        return DecimalType(kind.precision, kind.scale)
    return next((made for holds, made in tests if holds), None)

"""Reads CAST and TRY_CAST in expressions of SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.expressions import build
from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.column_types import name_column_type, parse_constant
from ontoweir.mappings.model.expression import Call, Expression, Function, Value
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp


def read_cast(
    tree: exp.Cast,
    read: Callable[[exp.Expr], Expression],
    refuse: Callable[..., Exception],
) -> Expression:
    """CAST or TRY_CAST: NULL where the type does not hold the value, as in Spark.

    Raises:
        SqlRefusal: it is to no type of the catalog, or not the same in every SQL.
    """
    for key, value in tree.args.items():
        if value and key not in ("this", "to", "_type", "safe"):
            raise refuse(tree, why=f"its {key} is not read")
    wanted, short = _cast_type(tree, refuse)
    inner = read(tree.this)
    given = inner.type
    if isinstance(inner, Value):
        if inner.value is None:
            return build.null(wanted)
        if isinstance(given, StringType) and isinstance(wanted, DateType | TimestampType):
            constant = parse_constant(str(inner.value), wanted)
            if constant is None:
                raise refuse(tree, why=f"{inner.value!r} is no such time")
            return Value(constant, wanted)
    if given == wanted and not short:
        return inner
    _require_cast(tree, inner, wanted, refuse)
    made: Expression = Call(Function.TRY_CAST, (inner,), wanted)
    if given == wanted:
        made = inner
    if short:  # 32 bits
        ends = [Value(n, IntType()) for n in (-(2**31), 2**31 - 1)]
        inside = Call(
            Function.AND,
            (
                build.compare(Function.AT_LEAST, made, ends[0]),
                build.compare(Function.AT_MOST, made, ends[1]),
            ),
            BooleanType(),
        )
        return build.choose([(inside, made)], build.null(IntType()))
    return made


def _require_cast(
    tree: exp.Cast, inner: Expression, wanted: ColumnType, refuse: Callable[..., Exception]
) -> None:
    given = inner.type
    whole = isinstance(inner, Call) and inner.function in (
        Function.FLOOR,
        Function.CEIL,
        Function.ROUND,
    )
    if isinstance(given, DecimalType):
        whole = given.scale == 0
    match given, wanted:
        case ((DecimalType() | FloatType()), IntType()) if not whole:
            raise refuse(
                tree,
                why="Spark cuts off what is behind the point, other SQL rounds",
                fix="write FLOOR, CEIL or ROUND inside the CAST",
            )
        case DecimalType(scale=scale), StringType() if scale <= 6:
            return
        case (StringType(), _) | ((IntType() | BooleanType() | DateType()), StringType()):
            return
        case ((IntType() | DecimalType()), (IntType() | DecimalType() | FloatType())):
            return
        case FloatType(), IntType():
            return
        case BooleanType(), IntType():
            return
        case DateType(), TimestampType():
            return
        case TimestampType(), DateType():
            return
        case _:
            raise refuse(
                tree,
                why=f"{name_column_type(given)} as {name_column_type(wanted)} is not the same, "
                "exactly, in every SQL",
            )


def _cast_type(tree: exp.Cast, refuse: Callable[..., Exception]) -> tuple[ColumnType, bool]:
    """The type to cast to; whether it is of 32 bits."""
    from sqlglot import exp

    kinds = exp.DataType.Type
    to = tree.to
    simple: dict[object, ColumnType] = {
        kinds.BIGINT: IntType(),
        kinds.INT: IntType(),
        kinds.DOUBLE: FloatType(),
        kinds.TEXT: StringType(),
        kinds.VARCHAR: StringType(),
        kinds.BOOLEAN: BooleanType(),
        kinds.DATE: DateType(),
        kinds.TIMESTAMP: TimestampType(),
        kinds.TIMESTAMPTZ: TimestampType(),
        kinds.TIMESTAMPNTZ: TimestampType(),
        kinds.DATETIME: TimestampType(),
    }
    if to.this == kinds.DECIMAL:
        sizes = [int(p.name) for p in to.expressions] or [10, 0]
        digits, scale = sizes[0], sizes[1] if len(sizes) > 1 else 0
        if 0 < digits <= build.DIGITS and 0 <= scale <= digits:
            return DecimalType(digits, scale), False
    if to.this in simple and not to.expressions:
        return simple[to.this], to.this == kinds.INT
    if to.this == kinds.TIME:  # which Spark's words would call a timestamp
        raise refuse(
            tree,
            why="TIME, a time of the day, is compared, as in CAST(ts AS TIME) >= TIME '08:30:00', "
            "and is no type of the catalog",
            fix="write DATE_FORMAT(ts, 'HH:mm:ss'), or EXTRACT(HOUR FROM ts) * 60 + EXTRACT(MINUTE "
            "FROM ts)",
        )
    if to.this == kinds.FLOAT:
        raise refuse(
            tree,
            why="FLOAT and REAL have 32 bits in Spark, and 64 in others (REAL in SQLite and MySQL, "
            "FLOAT in PostgreSQL), so that the same text would be rounded differently; columns "
            "that are declared as float have 64 bits here",
            fix="write DOUBLE, which has 64 bits everywhere, or leave the CAST out",
        )
    raise refuse(
        tree,
        why=f"{show_sql(to)} is no type of the catalog",
        fix="write BIGINT, INT, DOUBLE, DECIMAL(p, s), STRING, BOOLEAN, DATE or TIMESTAMP",
    )

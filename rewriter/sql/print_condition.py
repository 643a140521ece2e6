"""Conditions, columns and outputs of SPJ queries as expressions of SQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, assert_never

from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
    TimestampType,
)
from ontoweir.mappings.model.parse_duration import UNITS_US
from ontoweir.rewriter.algebra.equality_classes import Types, constant_type
from ontoweir.rewriter.algebra.list_domains import DomainFilter
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    Compare,
    Condition,
    Constant,
    ConstantOutput,
    IriOutput,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    OneOf,
    Op,
    Output,
    TemplateLiteralOutput,
)

if TYPE_CHECKING:
    from sqlglot import exp


def needs_quotes(name: str) -> bool:
    """Whether a name is a word of SQL, or no plain one."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and not name[:1].isdigit()
    return not plain or name.lower() in _RESERVED


_WORDS = """
    all and any as between by case cross distinct else end from full group having in inner
    is join left limit like natural not null offset on or order outer right select table
    then to union using when where with date timestamp time user current interval values
    """
_RESERVED = frozenset(_WORDS.split())


def print_column(attribute: Attribute) -> exp.Column:
    """An attribute as a column of its alias."""
    from sqlglot import exp

    return exp.Column(
        this=exp.to_identifier(attribute.column, quoted=needs_quotes(attribute.column)),
        table=exp.to_identifier(attribute.alias, quoted=needs_quotes(attribute.alias)),
    )


def print_domain(domain: DomainFilter, types: Types, dialect: str) -> exp.Expr:
    """A declared domain as a condition; NULL lies in it where the query lets NULL pass."""
    from sqlglot import exp

    inside = _inside(domain, types, dialect)
    if not domain.nullable:
        return inside
    absent = exp.Is(this=print_column(domain.attribute), expression=exp.Null())
    return exp.Paren(this=exp.Or(this=inside, expression=absent))


def _inside(domain: DomainFilter, types: Types, dialect: str) -> exp.Expr:
    from sqlglot import exp

    attribute = domain.attribute
    column = print_column(attribute)

    def constant(value: Scalar) -> exp.Expr:
        return _constant(value, attribute, types, dialect)

    if domain.enum is not None:
        return exp.In(this=column, expressions=[constant(v) for v in domain.enum])
    if domain.minimum is None:
        assert domain.maximum is not None
        return exp.LTE(this=column, expression=constant(domain.maximum))
    if domain.maximum is None:
        return exp.GTE(this=column, expression=constant(domain.minimum))
    return exp.Between(this=column, low=constant(domain.minimum), high=constant(domain.maximum))


def print_condition(condition: Condition, types: Types, dialect: str) -> exp.Expr:
    """A conjunct of the selection in a dialect of SQL (`spark` or `duckdb`)."""
    from sqlglot import exp

    match condition:
        case IsNull(attribute=attribute):
            return exp.Is(this=print_column(attribute), expression=exp.Null())
        case NotNull(attribute=attribute):
            return exp.Not(this=exp.Is(this=print_column(attribute), expression=exp.Null()))
        case OneOf(attribute=attribute, values=values):
            listed = [_constant(v, attribute, types, dialect) for v in values]
            return exp.In(this=print_column(attribute), expressions=listed)
        case Compare(left=left, op=op, right=right, offset=offset):
            step = types.step_of(left)
            value: exp.Expr
            if isinstance(right, Constant):
                value = _constant(right.value, left, types, dialect)
            else:
                value = _shift(print_column(right), offset, step)
            return _comparison(op, print_column(left), value)
        case _ as unreachable:
            assert_never(unreachable)


def _comparison(op: Op, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    from sqlglot import exp

    match op:
        case Op.LT:
            return exp.LT(this=left, expression=right)
        case Op.LE:
            return exp.LTE(this=left, expression=right)
        case Op.EQ:
            return exp.EQ(this=left, expression=right)
        case Op.GE:
            return exp.GTE(this=left, expression=right)
        case Op.GT:
            return exp.GT(this=left, expression=right)
        case Op.NE:
            return exp.NEQ(this=left, expression=right)
        case _ as unreachable:
            assert_never(unreachable)


def _shift(column: exp.Expr, offset: int | Decimal, step: int | None) -> exp.Expr:
    """column + offset, as an interval in the largest whole unit for times."""
    from sqlglot import exp

    if offset == 0:
        return column
    sign = exp.Add if offset > 0 else exp.Sub
    if step is None:
        return sign(this=column, expression=exp.Literal.number(str(abs(offset))))
    amount = abs(int(offset)) * step
    unit = next(
        u for u in ("day", "hour", "minute", "second", "microsecond") if amount % UNITS_US[u] == 0
    )
    interval = exp.Interval(
        this=exp.Literal.string(str(amount // UNITS_US[unit])), unit=exp.var(unit.upper())
    )
    return sign(this=column, expression=interval)


def _constant(value: Scalar, left: Attribute, types: Types, dialect: str) -> exp.Expr:
    from sqlglot import exp

    step = types.step_of(left)
    if step is None:
        return print_literal(value, types.type_of(left), dialect)
    assert isinstance(value, int)
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value * step)
    text = instant.strftime("%Y-%m-%d %H:%M:%S")
    if instant.microsecond:
        text += f".{instant.microsecond:06d}"
    return _typed("timestamp", exp.Literal.string(text), dialect)


def print_literal(value: Scalar, kind: ColumnType, dialect: str) -> exp.Expr:
    """A constant of a column type."""
    from sqlglot import exp

    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, str):
        literal = exp.Literal.string(value)
        if isinstance(kind, DateType):
            return _typed("date", literal, dialect)
        if isinstance(kind, TimestampType):
            return _typed("timestamp", literal, dialect)
        return literal
    number = exp.Literal.number(format(abs(Decimal(str(value))), "f"))
    return exp.Neg(this=number) if value < 0 else number


_TYPED = ("spark", "spark2", "databricks", "duckdb", "postgres")
"""Dialects with the standard's typed literals, DATE '…', for both."""


def _typed(kind: str, text: exp.Literal, dialect: str) -> exp.Expr:
    """A date or a timestamp from its text."""
    from sqlglot import exp

    if dialect in _TYPED:
        return exp.Var(this=f"{kind.upper()} {text.sql(dialect=dialect)}")
    return exp.Cast(this=text, to=exp.DataType.build(kind, dialect=dialect))


def print_output(output: Output, types: Types) -> exp.Expr:
    """An answer's RDF term as SQL: its text, or its value where it is a literal of one."""

    match output:
        case LiteralOutput(value=value) | NullOutput(value=value):
            return print_column(value)
        case ConstantOutput(value=text):
            return _print_constant(text, constant_type(output))
        case IriOutput(parts=parts) | TemplateLiteralOutput(parts=parts):
            return _concat(parts, types)
        case BlankOutput(parts=parts):
            return _concat(("_:", *parts), types)
        case _ as unreachable:
            assert_never(unreachable)


def _print_constant(text: str, kind: ColumnType) -> exp.Expr:
    """A constant of the type that it is shown in."""
    from sqlglot import exp

    match kind:
        case FloatType():
            return exp.Literal.number(f"{text}e0")
        case IntType() | DecimalType():
            whole = isinstance(kind, DecimalType) and "." not in text
            return exp.Literal.number(f"{text}.0" if whole else text)
        case BooleanType():
            return exp.Boolean(this=text == "true")
        case _:
            return exp.Literal.string(text)


def _concat(parts: tuple[str | Attribute, ...], types: Types) -> exp.Expr:
    """CONCAT takes numbers in Spark and DuckDB alike: written as they are in an IRI."""
    from sqlglot import exp

    return exp.Anonymous(
        this="CONCAT",
        expressions=[
            exp.Literal.string(p) if isinstance(p, str) else print_text(p, types) for p in parts
        ],
    )


def print_text(attribute: Attribute, types: Types) -> exp.Expr:
    """A value as write_value writes it: 1.50 as 1.5, a timestamp with a T."""
    from sqlglot import exp

    column, kind = print_column(attribute), types.type_of(attribute)
    text = exp.cast(column, "string")
    if isinstance(kind, DecimalType) and kind.scale > 0:
        nothing, zeros = exp.Literal.string(""), exp.Literal.string("[.]?0+$")
        return exp.RegexpReplace(this=text, expression=zeros, replacement=nothing)
    if isinstance(kind, TimestampType):
        return exp.func("REPLACE", text, exp.Literal.string(" "), exp.Literal.string("T"))
    return column

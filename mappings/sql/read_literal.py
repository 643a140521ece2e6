"""Reads constants of SQL, and says where a piece of SQL is."""

import re
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Scalar
from ontoweir.mappings.sql.read_scope import SqlRefusal

if TYPE_CHECKING:
    from sqlglot import exp


def line_of(tree: "exp.Expr") -> int | None:
    """The line of the first name in a piece of SQL."""
    from sqlglot import exp

    names = tree.args.values() if isinstance(tree, exp.Column) else tree.find_all(exp.Identifier)
    lines = [
        int(n.meta["line"]) for n in names if isinstance(n, exp.Identifier) and "line" in n.meta
    ]
    return min(lines, default=None)


def keep_line(column: "exp.Expr") -> None:
    """Let the comparison around a column keep the line in which it is written, when something else
    is put in the column's place: what comes from a subquery has another."""
    from sqlglot import exp

    compared = column.find_ancestor(exp.Predicate)
    if compared is not None and (line := line_of(column)) is not None:
        compared.meta.setdefault("line", line)


def refuse_condition(tree: "exp.Expr", name: str, fix: str | None = None) -> SqlRefusal:
    """The refusal of a condition by its name."""
    return SqlRefusal(
        f"the condition {name} is outside the SQL read here",
        why="conditions compare columns, constants, and column + constant",
        fix=fix
        or "write comparisons with <, <=, =, >=, > or <>; of static relations: declare a relation "
        "with this SQL as its view",
        line=line_of(tree),
    )


def read_literal(tree: "exp.Expr") -> Scalar | None:
    """A number, string, boolean, date or timestamp constant; None for anything else."""
    from sqlglot import exp

    if isinstance(tree, exp.Paren):
        return read_literal(tree.this)
    if isinstance(tree, exp.Neg):
        inner = read_literal(tree.this)
        return -inner if isinstance(inner, (int, Decimal)) else None
    if isinstance(tree, exp.Literal):
        if tree.is_string:
            return str(tree.this)
        return _read_number(str(tree.this))
    if isinstance(tree, exp.Boolean):
        return bool(tree.this)
    if isinstance(tree, exp.Cast):
        return _read_cast(tree) if isinstance(tree.this, exp.Literal) else None
    return None


def _read_number(text: str) -> int | Decimal | None:
    """A number of reasonable size."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > 400:
        return None
    if len(number.as_tuple().digits) > _MAX_DIGITS and number != number.to_integral_value():
        return None
    return whole_number(number)


_MAX_DIGITS = 28
"""Digits of a fraction up to which Python computes exactly with it."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _read_cast(tree: "exp.Cast") -> Scalar | None:
    """A cast that leaves a literal's value as it is: DATE '…', TIMESTAMP '…', 3L, 2.5BD."""
    from sqlglot import exp

    kind, text, is_string = tree.to.this, str(tree.this.this), tree.this.is_string
    if kind == exp.DataType.Type.DATE:
        return text if is_string and _DAY.fullmatch(text) else None
    if kind in (
        exp.DataType.Type.TIMESTAMP,
        exp.DataType.Type.TIMESTAMPTZ,
        exp.DataType.Type.TIMESTAMPLTZ,
        exp.DataType.Type.TIMESTAMPNTZ,
        exp.DataType.Type.DATETIME,
    ):
        return text if is_string else None
    if kind in (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR) and not tree.to.expressions:
        return text if is_string else None
    number = _read_number(text)
    if kind in (exp.DataType.Type.INT, exp.DataType.Type.BIGINT):
        bits = 31 if kind == exp.DataType.Type.INT else 63
        fits = isinstance(number, int) and -(2**bits) <= number < 2**bits
        return number if fits else None
    if kind == exp.DataType.Type.DECIMAL and number is not None and len(tree.to.expressions) == 2:
        digits, scale = (int(p.this.this) for p in tree.to.expressions)
        scaled = abs(Decimal(number)).scaleb(scale)
        whole = scaled == scaled.to_integral_value() and scaled < Decimal(10) ** digits
        return number if whole else None
    return None


def plain_number(number: Fraction) -> int | Decimal:
    """A number that has finitely many decimal places, as an int where it is one."""
    if number.denominator == 1:
        return int(number)
    with localcontext() as context:
        context.prec = 1_000
        return Decimal(number.numerator) / Decimal(number.denominator)


def whole_number(number: Decimal) -> int | Decimal:
    """The number as an int where it is one."""
    return int(number) if number == number.to_integral_value() else number


def type_as_written(tree: "exp.Expr", constant: Scalar) -> Scalar:
    """A constant of the type that it is written in: 1.0 is a decimal, and 1e0 a double."""
    from sqlglot import exp

    number = tree.find(exp.Literal)
    text = "" if number is None or number.is_string else str(number.this).upper()
    if "E" in text and abs(Decimal(text).adjusted()) < _DOUBLES:
        return float(constant)
    return Decimal(f"{constant}.0") if "." in text and isinstance(constant, int) else constant


_DOUBLES = 300
"""Powers of 10 that a double certainly has."""

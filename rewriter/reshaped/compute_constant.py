"""A constant as a value that is computed of each row."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def compute_constant(value: "exp.Expr", column: "exp.Expr") -> "exp.Expr":
    """`CASE WHEN c IS NULL THEN v ELSE v END`: groups are told apart by what is computed of a row,
    and not by constants.

    Args:
        value: the constant.
        column: of the row, whichever; it is copied.
    """
    from sqlglot import exp

    missing = column.copy().is_(exp.null())
    return exp.Case(ifs=[exp.If(this=missing, true=value.copy())], default=value.copy())

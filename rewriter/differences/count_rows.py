"""Groups of the rows of several SELECTs that hold, which say how often each is an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.rewriter.expressions.spell_constants import spell

if TYPE_CHECKING:
    from sqlglot import exp

COUNT, FROM_BOTH = "how many", "rows of both"
OWN = "how many of its own"
"""The column that is 1 for rows that may be answers, and 0 for others."""
ONE_EACH = "one each"
"""What is noted of groups in which, of what a row of a window counts, all but one 1 cancel out."""
MULTIPLICITY = "multiplicity"
"""The column that says how often a row is an answer."""


@dataclass(frozen=True, slots=True)
class Side:
    """Rows, each counted as `sign`; `columns`: what tells them apart, in one order in all sides;
    `own`: 1 for rows that may be answers, where those are counted (never the sign: of two columns
    that are always equal one would be left)."""

    select: "exp.Select"
    columns: "tuple[exp.Expr, ...]"
    sign: int
    own: int = 0


def count_rows(
    sides: Sequence[Side], names: Sequence[str], having: str, often: str | None
) -> "exp.Select":
    """The groups of the rows of several SELECTs by their columns.

    Args:
        sides: the rows.
        names: what the first columns are called, which are shown; the others are not.
        having: of which groups rows are answers: SQL over `how many`, the sign of each row.
        often: how often they are, SQL likewise, or over `how many of its own` (None: once).
    """
    import sqlglot
    from sqlglot import exp

    own = [f"column {n}" for n in range(len(sides[0].columns))]
    rows: exp.Query | None = None
    for side in sides:
        select = side.select.copy()
        shown = [
            exp.alias_(e.copy(), n, quoted=True) for e, n in zip(side.columns, own, strict=True)
        ]
        numbers = {COUNT: _constant(side.columns[0], side.sign)}
        if often is not None and OWN in often:
            numbers[OWN] = _constant(side.columns[0], side.own)
        shown += [exp.alias_(n.copy(), name, quoted=True) for name, n in numbers.items()]
        select.set("expressions", shown)
        for number in numbers.values():  # there always is one: sums of them are over all rows
            select.where(exp.Not(this=exp.Is(this=number, expression=exp.Null())), copy=False)
        select.set("distinct", None)
        rows = select if rows is None else exp.union(rows, select, distinct=False, copy=False)
    assert rows is not None
    made = exp.Select()
    for name, column in zip(names, own, strict=False):
        made.append("expressions", exp.alias_(exp.column(column, quoted=True), name, quoted=True))
    if often is not None:
        made.append(
            "expressions",
            exp.alias_(sqlglot.parse_one(often, dialect="spark"), MULTIPLICITY, quoted=True),
        )
    alias = exp.TableAlias(this=exp.to_identifier(FROM_BOTH, quoted=True))
    made.set("from_", exp.From(this=exp.Subquery(this=rows, alias=alias)))
    made.set("group", exp.Group(expressions=[exp.column(c, quoted=True) for c in own]))
    made.set("having", exp.Having(this=sqlglot.parse_one(having, dialect="spark")))
    return made


def is_plain(select: "exp.Expr", *more: str) -> bool:
    """Whether it is columns of inner joins and a condition, and something more at most."""
    from sqlglot import exp

    if not isinstance(select, exp.Select):
        return False
    allowed = {"expressions", "from_", "where", "joins", *more}
    if {k for k, v in select.args.items() if v} - allowed:
        return False
    if any(j.args.get("side") or j.args.get("kind") in ("SEMI", "ANTI") for j in _joins(select)):
        return False
    return not any(e.find(exp.AggFunc, exp.Window, exp.Star, exp.Query) for e in select.expressions)


def _joins(select: "exp.Expr") -> "list[exp.Expr]":
    return list(select.args.get("joins") or ())


def _constant(beside: "exp.Expr", number: int) -> "exp.Expr":
    """A number, computed of a column that is read of each row."""
    from sqlglot import exp

    value: exp.Expr = exp.Literal.number(abs(number))
    value = exp.Neg(this=value) if number < 0 else value
    return spell(value, next(iter(beside.find_all(exp.Column))))

"""Rows whose key has a value."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Stream
from ontoweir.mappings.model.never_null import never_null
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.joins.find_absence import split_conjuncts

if TYPE_CHECKING:
    from sqlglot import exp


def require_values(
    select: "exp.Select", stream: Stream, key: Sequence[str], place: "exp.Expr", why: str
) -> None:
    """Rows whose key is NULL are no results: a condition says so, as of columns that are selected.

    Raises:
        SqlRefusal: a column is declared nullable, so that NULL would be a key, too.
    """
    from sqlglot import exp

    where = select.args.get("where")
    conjuncts = [] if where is None else list(split_conjuncts(where.this))
    for name in key:
        column = stream.column(name)
        if any(_says_value(c, name) for c in conjuncts):
            continue
        if column is not None and column.nullable:
            raise _refuse(place, f"{name}, which may be NULL, in PARTITION BY", name, why)
        of = exp.column(name, select.args["from_"].this.alias_or_name, quoted=True)
        there = exp.Not(this=exp.Is(this=of, expression=exp.Null()))
        select.where(there, copy=False)


def require_all(
    select: "exp.Select", stream: Stream, key: Sequence[str], place: "exp.Expr", why: str
) -> None:
    """Raise SqlRefusal where a row without a key could count in the windows by another one: it is
    no result, but a row like any other there."""
    where = select.args.get("where")
    conjuncts = [] if where is None else list(split_conjuncts(where.this))
    for name in key:
        if name not in never_null(stream) and not any(_says_value(c, name) for c in conjuncts):
            said = "of which no condition says that it has a value"
            what = f"a window by {name}, {said}, beside windows by other keys"
            raise _refuse(place, what, name, why)


def _refuse(place: "exp.Expr", what: str, name: str, why: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} is outside what is read of windows of rows",
        why=why,
        fix=f"add WHERE {name} IS NOT NULL",
        line=line_of(place),
    )


def _says_value(condition: "exp.Expr", name: str) -> bool:
    """Whether it is true of no row in which a column is NULL."""
    from sqlglot import exp

    one = condition.unnest()
    if isinstance(one, exp.Not):
        inner = one.this.unnest()
        missing = isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null)
        return missing and isinstance(inner.this, exp.Column) and inner.this.name == name
    if isinstance(one, exp.In):
        plain = one.args.get("query") is None
        return plain and isinstance(one.this, exp.Column) and one.this.name == name
    kinds = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
    sides = (one.this, one.expression) if isinstance(one, kinds) else ()
    return any(isinstance(side, exp.Column) and side.name == name for side in sides)

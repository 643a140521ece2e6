"""LEFT JOIN as what it is: the rows with a partner, and those without one, whose columns are
NULL."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.expressions.may_be_null import is_nullable
from ontoweir.mappings.model.catalog import ColumnType, Relation, Stream, TimestampType
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, column_names, find_name
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.expressions.spell_constants import find_column
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.nulls.fold_nulls import NotFoldedError, fold_nulls
from ontoweir.rewriter.nulls.type_null import type_null

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Outer:
    """A SELECT with a LEFT JOIN: that with an inner join in its place, and that with an ANTI JOIN
    (None: a condition leaves none of its rows); `alias`: of what is joined, whose columns are NULL
    in the latter."""

    inner: "exp.Select | None"
    without: "exp.Select | None"
    alias: str


def split_outer(select: "exp.Select", scope: Scope) -> Outer | None:
    """The first LEFT JOIN of a SELECT whose columns all have their tables. None: it has none.

    Args:
        select: the SELECT.
        scope: those of its tables that are declared.

    Raises:
        SqlRefusal: another outer join, or a condition on what may be NULL.
    """
    joins = select.args.get("joins") or ()
    for place, join in enumerate(joins):
        side = str(join.args.get("side") or "").upper()
        kind = str(join.args.get("kind") or "").upper()
        if not side or kind in ("SEMI", "ANTI"):
            continue
        if side != "LEFT" or join.args.get("method"):
            raise SqlRefusal(
                f"{side} JOIN beside other joins",
                why="of three tables and more, LEFT JOIN is read",
                fix="write LEFT JOIN with the tables in the other order"
                + (", and a UNION ALL with an ANTI JOIN" if side == "FULL" else ""),
                line=line_of(join),
            )
        if join.args.get("using"):
            raise SqlRefusal(
                "LEFT JOIN … USING",
                why="its columns are of the first table, and of no partner",
                fix="write LEFT JOIN … ON",
                line=line_of(join),
            )
        inner, without = select.copy(), select.copy()
        alias = join.this.alias_or_name
        for made, kinds in ((inner, (None, None)), (without, ("LEFT", "ANTI"))):
            changed = made.args["joins"][place]
            changed.set("side", kinds[0])
            changed.set("kind", kinds[1])
        return _settle(inner, without, alias, scope)
    return None


def turn_outer(select: "exp.Select") -> "exp.Select":
    """A SELECT over two tables whose RIGHT JOIN is a LEFT JOIN in the other order."""
    (join, *others) = select.args.get("joins") or (None,)
    if join is None or others or str(join.args.get("side") or "").upper() != "RIGHT":
        return select
    return _swap(select, ("LEFT", None))


def split_full(select: "exp.Select") -> "tuple[exp.Select, exp.Select, str, str] | None":
    """A SELECT over two tables with a FULL JOIN: that with a LEFT JOIN in its place, that of the
    rows of the second table without a partner, and the aliases of both (None: it has none).

    Raises:
        SqlRefusal: it has a condition besides, which may be on what is NULL.
    """
    (join, *others) = select.args.get("joins") or (None,)
    if join is None or others or str(join.args.get("side") or "").upper() != "FULL":
        return None
    if select.args.get("where") is not None or join.args.get("using"):
        raise SqlRefusal(
            "FULL JOIN with WHERE or USING",
            why="all columns may be NULL, and conditions on these are read of LEFT JOIN only",
            fix="write it in a subquery of either table, or as two queries with LEFT JOIN",
            line=line_of(join),
        )
    left = select.copy()
    left.args["joins"][0].set("side", "LEFT")
    left.args["joins"][0].set("kind", None)
    first = select.args["from_"].this.alias_or_name
    return left, _swap(select, ("LEFT", "ANTI")), first, join.this.alias_or_name


def _swap(select: "exp.Select", kinds: tuple[str, str | None]) -> "exp.Select":
    """A SELECT over two tables in the other order, by another join."""
    from sqlglot import exp

    made = select.copy()
    join, start = made.args["joins"][0], made.args["from_"]
    first, second = start.this, join.this
    side, kind = kinds
    joined = exp.Join(this=first.copy(), side=side, kind=kind, on=join.args.get("on"))
    made.set("from_", exp.From(this=second.copy()))
    made.set("joins", [joined])
    return made


def _settle(inner: "exp.Select", without: "exp.Select", alias: str, scope: Scope) -> Outer:
    """The conditions of both where they are about the columns of what is joined."""
    from sqlglot import exp

    gone = [alias]
    there, joined = _settle_joins(without, gone), True
    where = without.args.get("where")
    rest: list[exp.Expr] = []
    for conjunct in () if where is None else split_conjuncts(where.this):
        if not any(reads(conjunct, one) for one in gone):
            rest.append(conjunct)
        elif _is_null(conjunct) and reads(conjunct, alias):
            if not _is_joined_by(inner, conjunct, alias, scope):
                _require_value(without, conjunct.this.unnest(), alias)
            joined = False
        else:
            there = _fold(conjunct, gone, rest) and there
    without.set("where", exp.Where(this=exp.and_(*rest, copy=False)) if rest else None)
    if there and len(gone) > 1:
        _show_nulls(without, gone[1:], scope)
    return Outer(inner if joined else None, without if there else None, alias)


def _settle_joins(without: "exp.Select", gone: list[str]) -> bool:
    """Whether other joins may have rows where the columns of `gone` are NULL; their conditions say
    so then. A LEFT JOIN that finds no partner there is left out, and what it joins is added to
    `gone`."""
    from sqlglot import exp

    kept: list[exp.Expr] = []
    there = True
    for join in without.args.get("joins") or ():
        on, side = join.args.get("on"), str(join.args.get("side") or "").upper()
        kind = str(join.args.get("kind") or "").upper()
        name = join.this.alias_or_name
        if on is None or name == gone[0] or not any(reads(on, one) for one in gone):
            kept.append(join)
            continue
        if side not in ("", "LEFT") or join.args.get("method"):
            raise _refuse(on, gone[0])
        left: list[exp.Expr] = []
        if _fold(on, gone, left):
            join.set("on", left[0] if left else exp.true())
            kept.append(join)
        elif side == "LEFT" and kind != "ANTI" and kind != "SEMI":
            gone.append(name)
        else:
            there = there and kind == "ANTI"
    without.set("joins", kept)
    return there


def _show_nulls(without: "exp.Select", gone: Sequence[str], scope: Scope) -> None:
    """NULL in the place of the columns of what is not joined, in place."""
    from sqlglot import exp

    tables = {a.lower(): t for a, t in scope.tables.items()}
    column = find_column(without, scope.catalog)
    for item in list(without.expressions):
        if isinstance(item, exp.Column) and item.table.lower() in {g.lower() for g in gone}:
            item.replace(exp.alias_(item.copy(), item.name, quoted=True))
    for read in list(without.find_all(exp.Column)):
        if read.table.lower() not in {g.lower() for g in gone}:
            continue
        table = tables.get(read.table.lower())
        name = None if table is None else find_name(read.name, column_names(table))
        kind = None if table is None or name is None else _type_of(table, name)
        if column is None or kind is None:
            raise SqlRefusal(
                f"{show_sql(read)} of a LEFT JOIN with columns that another LEFT JOIN makes NULL",
                why="where it has no partner it is NULL, of a type that only a declared table says",
                fix="write the joins with declared tables; or both joins in a subquery of FROM",
                line=line_of(read),
            )
        read.replace(type_null(kind, column))


def _type_of(table: Stream | Relation, name: str) -> ColumnType | None:
    if isinstance(table, Stream) and name == table.timestamp:
        return TimestampType()
    column = table.column(name)
    return None if column is None else column.type


def _fold(conjunct: "exp.Expr", gone: Sequence[str], rest: "list[exp.Expr]") -> bool:
    """Whether a condition may hold where the columns of some aliases are NULL; what it says then is
    added to the rest.

    Raises:
        SqlRefusal: it is not looked into.
    """
    left: exp.Expr | bool = conjunct
    for alias in gone:
        try:
            left = left if isinstance(left, bool) else fold_nulls(left, alias)
        except NotFoldedError:
            raise _refuse(conjunct, alias) from None
    if isinstance(left, bool):
        return left
    rest.append(left)
    return True


def reads(tree: "exp.Expr", alias: str) -> bool:
    """Whether a column of an alias occurs."""
    from sqlglot import exp

    return any(c.table.lower() == alias.lower() for c in tree.find_all(exp.Column))


def _is_null(tree: "exp.Expr") -> bool:
    from sqlglot import exp

    return (
        isinstance(tree, exp.Is)
        and isinstance(tree.expression, exp.Null)
        and isinstance(tree.this.unnest(), exp.Column)
    )


def _is_joined_by(inner: "exp.Select", condition: "exp.Expr", alias: str, scope: Scope) -> bool:
    """Whether the column that is to be NULL has a value in any row that is joined: it is a stream's
    timestamp, or they are joined by it. Else it is not declared nullable.

    Raises:
        SqlRefusal: it is.
    """
    from sqlglot import exp

    column = condition.this.unnest()
    table = next((t for a, t in scope.tables.items() if a.lower() == alias.lower()), None)
    if isinstance(table, Stream) and column.name.lower() == table.timestamp.lower():
        return True
    on = next(
        j.args.get("on")
        for j in inner.args["joins"]
        if j.this.alias_or_name.lower() == alias.lower()
    )
    compares = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
    for conjunct in () if on is None else split_conjuncts(on):
        sides = [conjunct.this, conjunct.expression] if isinstance(conjunct, compares) else []
        if any(s.unnest().sql().lower() == column.sql().lower() for s in sides):
            return True
    name = None if table is None else find_name(column.name, column_names(table))
    if table is not None and name is not None and not is_nullable(table, name):
        return False
    raise SqlRefusal(
        f"{show_sql(condition)} of a LEFT JOIN by other columns",
        why="a partner may have NULL there too, so it does not say that there is none",
        fix="write LEFT ANTI JOIN, NOT EXISTS, or IS NULL of a column that ON compares, or one of "
        f"{alias} that is not nullable"
        + (f", or of {alias}.{table.timestamp}" if isinstance(table, Stream) else ""),
        line=line_of(condition),
    )


def _require_value(without: "exp.Select", column: "exp.Column", alias: str) -> None:
    """Let a partner be one only with a value in a column, in place: without one, it would be NULL
    in the row with that partner, too."""
    from sqlglot import exp

    join = next(j for j in without.args["joins"] if j.this.alias_or_name.lower() == alias.lower())
    there = exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))
    join.set("on", exp.and_(join.args.get("on"), there))


def _refuse(tree: "exp.Expr", alias: str) -> SqlRefusal:
    return SqlRefusal(
        f"the condition {show_sql(tree)} on columns of {alias}, which a LEFT JOIN makes NULL",
        why="of what may be NULL, comparisons, AND, OR, NOT, COALESCE, IS [NOT] NULL and EXISTS "
        "are read",
        fix="write a UNION ALL of the rows with a partner and, with LEFT ANTI JOIN, of the others",
        line=line_of(tree),
    )

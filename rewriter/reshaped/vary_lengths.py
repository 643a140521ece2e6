"""Lengths of time that rows say: `e.ts < t.ts + s.minutes * INTERVAL '1' MINUTE`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Column
from ontoweir.mappings.model.show_values import show_values
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_name
from ontoweir.mappings.sql.show_sql import show_sql

if TYPE_CHECKING:
    from sqlglot import exp

MOST = 64
"""So many values, at most, may a column have that says how long something lasts."""

_NAMED = {"to_seconds": "SECOND", "to_minutes": "MINUTE", "to_hours": "HOUR", "to_days": "DAY"}


def vary_lengths(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`s.minutes = 30 AND e.ts < t.ts + INTERVAL '30' MINUTE OR s.minutes = 60 AND …` for `e.ts <
    t.ts + s.minutes * INTERVAL '1' MINUTE`, in WHERE and ON, where the column has few values, and
    for `CASE … THEN INTERVAL … END`: how long rows wait is known for each. Beside NOW(), in a query
    of rows, a UNION ALL of a query for each value, with a window each. It may be changed.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: the values of such a column are not known, or too many.
    """
    from sqlglot import exp

    parts = _unite(tree, catalog)
    if parts:
        united: exp.Query = vary_lengths(parts[0], catalog)
        for part in parts[1:]:
            united = exp.union(united, vary_lengths(part, catalog), distinct=False, copy=False)
        return united
    compared = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ)
    between_all = [c for c in _list_asserted(tree) if isinstance(c, exp.Between)]
    for between in filter(_has_length, between_all):
        sides = ((exp.GTE, "low"), (exp.LTE, "high"))
        both = [k(this=between.this.copy(), expression=between.args[n].copy()) for k, n in sides]
        between.replace(exp.Paren(this=exp.and_(*both)))
    waiting = [c for c in _list_asserted(tree) if isinstance(c, compared) and _is_of_several(c)]
    while waiting:
        condition = waiting.pop()
        found = next((n for n in _list_lengths(condition) if _is_split(n, catalog)), None)
        if found is None:
            continue
        made = list(_split(condition, found, catalog))
        whole = exp.Paren(this=exp.or_(*made))
        condition.replace(whole)
        waiting += list(whole.find_all(*compared))
    return tree


def _unite(tree: "exp.Query", catalog: Catalog) -> "list[exp.Select]":
    """The queries for each value of a column that says how long before NOW() rows are (none: there
    is no such column, or the query is none of rows)."""
    from sqlglot import exp

    rows = {"expressions", "from_", "joins", "where"}
    if not isinstance(tree, exp.Select) or {k for k, v in tree.args.items() if v} - rows:
        return []
    if any(e.find(exp.AggFunc, exp.Window) is not None for e in tree.expressions):
        return []
    for condition in _list_asserted(tree):
        if not isinstance(condition, exp.LT | exp.LTE | exp.GT | exp.GTE):
            continue
        lengths = _list_lengths(condition) if any(map(_is_now, condition.walk())) else iter(())
        known = (n for n in lengths if _is_split(n, catalog))
        column = next((c for n in known if (c := _column_of(n)) is not None), None)
        if column is not None and _is_inner(column, tree):
            length = next(n for n in _list_lengths(condition) if _column_of(n) is column)
            return [
                _choose(tree, column, length, value)
                for value in _list_values(column, length, catalog)
            ]
    return []


def _choose(
    tree: "exp.Select", column: "exp.Column", length: "exp.Expr", value: int
) -> "exp.Select":
    """The query of the rows with a value of the column."""
    from sqlglot import exp

    made, same = tree.copy(), length.copy()
    chosen = exp.EQ(this=column.copy(), expression=exp.Literal.number(value))
    for node in [n for n in made.find_all(type(length)) if n == same]:
        node.replace(_put(node, value))
    return made.where(chosen, copy=False)


def _is_inner(column: "exp.Column", tree: "exp.Select") -> bool:
    """Whether it says of which table of the query it is, which no outer join may leave out."""
    joins = tree.args.get("joins") or []
    if any(j.args.get("side") or j.args.get("method") for j in joins):
        return False
    items = [tree.args["from_"].this, *(j.this for j in joins)] if tree.args.get("from_") else []
    return column.table.lower() in {item.alias_or_name.lower() for item in items}


def _is_now(node: "exp.Expr") -> bool:
    from sqlglot import exp

    if isinstance(node, exp.CurrentTimestamp | exp.CurrentDate):
        return True
    return isinstance(node, exp.Anonymous) and str(node.this).upper() == "NOW"


def _list_asserted(tree: "exp.Query") -> "Iterator[exp.Expr]":
    """What WHERE and ON say, below AND and OR alone."""
    from sqlglot import exp

    for clause in tree.find_all(exp.Where, exp.Join):
        said = clause.this if isinstance(clause, exp.Where) else clause.args.get("on")
        below = [said] if said is not None else []
        while below:
            condition = below.pop()
            if isinstance(condition, exp.And | exp.Or):
                below += (condition.right, condition.left)
            elif isinstance(condition, exp.Paren):
                below.append(condition.this)
            else:
                yield condition


def _has_length(condition: "exp.Expr") -> bool:
    return _is_of_several(condition) and next(_list_lengths(condition), None) is not None


def _is_of_several(condition: "exp.Expr") -> bool:
    """Whether it compares rows of several tables, or with NOW(): an expression of one row is
    computed when that comes."""
    from sqlglot import exp

    tables = {column.table.lower() for column in condition.find_all(exp.Column)}
    return len(tables) > 1 or any(map(_is_now, condition.walk()))


def _is_split(length: "exp.Expr", catalog: Catalog) -> bool:
    """Whether a length is one case for each value: a function of a row is one, too, where the
    values are not known, and an INTERVAL is refused then."""
    from sqlglot import exp

    if not isinstance(length, exp.TimestampAdd | exp.DateAdd | exp.TsOrDsAdd):
        return True
    column = _column_of(length)
    try:
        return column is not None and bool(_list_values(column, length, catalog))
    except SqlRefusal:
        return False


def _list_lengths(condition: "exp.Expr") -> "Iterator[exp.Expr]":
    """What says a length by a column, or by conditions."""
    from sqlglot import exp

    for node in condition.walk():
        if _column_of(node) is not None:
            yield node
        elif isinstance(node, exp.Case):
            results = [branch.args["true"] for branch in node.args["ifs"]]
            default = node.args.get("default")
            if default is not None and all(
                isinstance(r, exp.Interval) for r in (*results, default)
            ):
                yield node


def _column_of(node: "exp.Expr") -> "exp.Column | None":
    """The column that says a length (None: it is none)."""
    from sqlglot import exp

    given: exp.Expr | None = None
    if isinstance(node, exp.Mul):
        sides = [node.this.unnest(), node.expression.unnest()]
        given = next((s for s in sides if isinstance(s, exp.Column)), None)
        given = given if any(isinstance(s, exp.Interval) for s in sides) else None
    elif isinstance(node, exp.Interval) and node.this is not None:
        given = node.this.unnest()
    elif isinstance(node, exp.TimestampAdd | exp.DateAdd | exp.TsOrDsAdd):
        given = node.expression.unnest() if node.args.get("unit") is not None else None
    elif isinstance(node, exp.Anonymous) and str(node.this).lower() in _NAMED:
        given = node.expressions[0].unnest() if node.expressions else None
    return given if isinstance(given, exp.Column) else None


def _put(node: "exp.Expr", value: int) -> "exp.Expr":
    """What takes the place of a length where its column has a value."""
    from sqlglot import exp

    def interval(amount: int, unit: "exp.Expr") -> "exp.Expr":
        return exp.Interval(this=exp.Literal.string(str(amount)), unit=unit.copy())

    if isinstance(node, exp.Mul):
        sides = (node.this.unnest(), node.expression.unnest())
        length = next(s for s in sides if isinstance(s, exp.Interval))
        number = length.this.name if length.this is not None else ""
        if not number.isdigit() or length.args.get("unit") is None:
            raise _refuse(node, "it is no whole number of one unit", "write INTERVAL '1' MINUTE")
        return interval(value * int(number), length.args["unit"])
    if isinstance(node, exp.Interval):
        return interval(value, node.args["unit"])
    if isinstance(node, exp.Anonymous):
        return interval(value, exp.Var(this=_NAMED[str(node.this).lower()]))
    return exp.Add(this=node.this.copy(), expression=interval(value, node.args["unit"]))


def _split(condition: "exp.Expr", length: "exp.Expr", catalog: Catalog) -> "Iterator[exp.Expr]":
    """The cases of a condition, which exclude each other, each with a length that is known."""
    from sqlglot import exp

    def put(made: "exp.Expr") -> "exp.Expr":
        whole = exp.Paren(this=condition.copy())
        next(n for n in _list_lengths(whole) if n == length).replace(made)
        said: exp.Expr = whole.this
        return said

    column = _column_of(length)
    if column is not None:
        for value in _list_values(column, length, catalog):
            chosen = exp.EQ(this=column.copy(), expression=exp.Literal.number(value))
            yield exp.and_(chosen, put(_put(length, value)))
        return
    before: list[exp.Expr] = []
    for branch in length.args["ifs"]:
        of = length.this
        one = branch.this if of is None else exp.EQ(this=of.copy(), expression=branch.this.copy())
        _require_values(one, length, catalog)
        yield exp.and_(*before, exp.Paren(this=one.copy()), put(branch.args["true"].copy()))
        before.append(exp.Not(this=exp.Paren(this=one.copy())))
    yield exp.and_(*before, put(length.args["default"].copy()))


def _list_values(column: "exp.Column", length: "exp.Expr", catalog: Catalog) -> list[int]:
    """The values that a column may have."""
    found = _find_column(column, catalog)
    if found is None:
        raise _refuse(length, f"the column {column.name} is not known", "write its table before it")
    values: list[object] = list(found.enum or ())
    low, high = found.minimum, found.maximum
    if not values and isinstance(low, int) and isinstance(high, int) and high - low < MOST:
        values = list(range(low, high + 1))
    whole = [v for v in values if isinstance(v, int) and not isinstance(v, bool)]
    if not whole or len(whole) < len(values) or len(whole) > MOST:
        known = f"it has {show_values(values)}" if values else "its values are not declared"
        raise _refuse(
            length,
            f"how long rows wait for each other must be known before, and {known}",
            f"declare enum = […] of {column.name}, {MOST} whole numbers at most",
        )
    return whole


def _require_values(condition: "exp.Expr", length: "exp.Expr", catalog: Catalog) -> None:
    """Refuse a CASE whose conditions may be unknown."""
    from sqlglot import exp

    for column in condition.find_all(exp.Column):
        found = _find_column(column, catalog)
        if found is not None and found.nullable:
            raise _refuse(
                length,
                f"{column.name} may be NULL, of which the last length is meant",
                "write COALESCE, or a condition that it IS NOT NULL and two queries",
            )


def _find_column(column: "exp.Column", catalog: Catalog) -> Column | None:
    """The column of a table, in the SELECT that names it, or one around it."""
    from sqlglot import exp

    around: exp.Expr | None = column.find_ancestor(exp.Select)
    while isinstance(around, exp.Select):
        start = around.args.get("from_")
        items = [] if start is None else [start.this]
        items += [join.this for join in around.args.get("joins") or ()]
        for item in items:
            name = find_name(item.name, [*catalog.streams, *catalog.relations])
            mine = column.table.lower() in ("", item.alias_or_name.lower())
            if isinstance(item, exp.Table) and mine and name is not None:
                table = catalog.table(name)
                known = find_name(column.name, [c.name for c in table.columns])
                if known is not None:
                    return table.column(known)
        around = around.find_ancestor(exp.Select)
    return None


def _refuse(length: "exp.Expr", why: str, fix: str) -> SqlRefusal:
    what = f"{show_sql(length)}, a length of time that rows say"
    return SqlRefusal(what, why=why, fix=fix, line=line_of(length))

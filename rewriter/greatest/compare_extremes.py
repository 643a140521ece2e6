"""A time that equals the greatest, or the least, of those of its key."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, find_name
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp


def compare_extremes(select: "exp.Select", catalog: Catalog) -> None:
    """NOT EXISTS (a later one) for `a.ts = (SELECT MAX(b.ts) FROM stream b WHERE b.k = a.k)`, or
    `(a.k, a.ts) IN (SELECT k, MAX(ts) FROM stream GROUP BY k)`, and of an earlier one for MIN, in
    place: where the row is one of those that are looked at.

    Args:
        select: the query, or a part of it.
        catalog: the tables.

    Raises:
        SqlRefusal: another subquery stands for a value.
    """
    from sqlglot import exp

    name_extremes(select, catalog)
    for inner in select.find_all(exp.Subquery):
        if inner.find_ancestor(exp.Select) is select and _is_value(inner):
            raise SqlRefusal(
                f"a subquery as a value, {show_sql(inner)}, is outside the SQL read here",
                why="a value that is computed of many rows changes with them",
                fix="of static relations: declare a relation with this SQL as its view, "
                '[relations.NAME] source = { view = "SELECT …" }, and join it; the latest row of a '
                "stream until then: (SELECT x FROM t WHERE t.k = s.k AND t.ts <= s.ts ORDER BY "
                "t.ts DESC LIMIT 1), or ASOF JOIN",
                line=line_of(inner),
            )


def name_extremes(select: "exp.Select", catalog: Catalog) -> None:
    """The same, of what is read so alone; also of other columns that are never NULL, of which the
    row has the greatest, or the least, value.

    Args:
        select: the query, or a part of it.
        catalog: the tables.
    """
    from sqlglot import exp

    where, streams = select.args.get("where"), _find_streams(select, catalog)
    for conjunct in [] if where is None else list(split_conjuncts(where.this)):
        if isinstance(conjunct, exp.In) and (equal := _read_group(conjunct, select)) is not None:
            conjunct.replace(equal)
    for conjunct in [] if where is None else list(split_conjuncts(where.this)):
        _name_row(conjunct, select)
    conjuncts = [] if where is None else list(split_conjuncts(where.this))
    said = [_qualify(c, select) for c in conjuncts]
    for conjunct in conjuncts:
        if not isinstance(conjunct, exp.EQ):
            continue
        for time, inner in (
            (conjunct.this, conjunct.expression),
            (conjunct.expression, conjunct.this),
        ):
            made = _read(time, inner, said)
            if made is not None and _is_same(time, inner, streams):
                conjunct.replace(_want_keys(made, time, streams))
                break


def _want_keys(absent: "exp.Expr", time: "exp.Expr", streams: Mapping[str, Stream]) -> "exp.Expr":
    """The condition that no other row is, of rows whose key has a value: there is no greatest time
    of rows without a key, to which no row is equal."""
    from sqlglot import exp

    assert isinstance(time, exp.Column)
    stream, inner = streams[time.table.lower()], absent.find(exp.Select)
    assert inner is not None
    other = inner.args["from_"].this.alias_or_name
    made = absent
    for condition in split_conjuncts(inner.args["where"].this):
        if not _is_key(condition, time.table, other):
            continue
        name = find_name(condition.this.name, [c.name for c in stream.columns])
        column = None if name is None else stream.column(name)
        if column is not None and column.nullable:
            key = exp.column(column.name, time.table, quoted=True)
            made = exp.and_(made, exp.Not(this=exp.Is(this=key, expression=exp.Null())))
    return made


def _name_row(condition: "exp.Expr", select: "exp.Select") -> None:
    """Say of which table a time is that equals that of a subquery, where there is one; in place."""
    from sqlglot import exp

    start = select.args.get("from_")
    if not isinstance(condition, exp.EQ) or start is None or select.args.get("joins"):
        return
    sides = (condition.this, condition.expression)
    if any(isinstance(side, exp.Subquery) for side in sides):
        for side in sides:
            if isinstance(side, exp.Column) and not side.table:
                side.set("table", exp.to_identifier(start.this.alias_or_name))


def _read_group(condition: "exp.In", select: "exp.Select") -> "exp.Expr | None":
    """`a.ts = (SELECT MAX(b.ts) …)` for a row of columns that is the key and the extreme time of a
    group; None: it is something else."""
    from sqlglot import exp

    row, inner = condition.this.unnest(), condition.args.get("query")
    query = inner.this if isinstance(inner, exp.Subquery) else inner
    if not isinstance(row, exp.Tuple) or not isinstance(query, exp.Select):
        return None
    held = {k for k, v in query.args.items() if v} - {"expressions", "from_", "where", "group"}
    group, start = query.args.get("group"), query.args.get("from_")
    table = None if start is None else start.this
    items = [e.unalias() for e in query.expressions]
    if (
        held
        or group is None
        or not isinstance(table, exp.Table)
        or len(items) != len(row.expressions)
    ):
        return None
    found = [(c, e) for c, e in zip(row.expressions, items, strict=True)]
    times = [(c, e) for c, e in found if isinstance(e, (exp.Max, exp.Min))]
    keys = [(c, e) for c, e in found if isinstance(c, exp.Column) and isinstance(e, exp.Column)]
    named = {k.name.lower() for k in group.expressions if isinstance(k, exp.Column)}
    if len(times) != 1 or len(times) + len(keys) != len(found):
        return None
    if named != {e.name.lower() for _, e in keys} or len(group.expressions) != len(keys):
        return None
    own = select.args["from_"].this.alias_or_name if not select.args.get("joins") else None
    for column in row.find_all(exp.Column):
        if not column.table and own is not None:
            column.set("table", exp.to_identifier(own))
    other = f"{table.alias_or_name} beside"
    made = query.copy()
    made.set("group", None)
    made.args["from_"].this.set("alias", exp.TableAlias(this=exp.to_identifier(other, quoted=True)))
    for column in made.find_all(exp.Column):
        column.set("table", exp.to_identifier(other, quoted=True))
    equal = [
        exp.EQ(this=exp.column(e.name, other, quoted=True), expression=c.copy()) for c, e in keys
    ]
    for one in equal:
        made.where(one, copy=False)
    ((time, extreme),) = times
    shown = extreme.copy()
    for column in shown.find_all(exp.Column):
        column.set("table", exp.to_identifier(other, quoted=True))
    made.set("expressions", [shown])
    return exp.EQ(this=time.copy(), expression=exp.Subquery(this=made))


def _qualify(condition: "exp.Expr", select: "exp.Select") -> "exp.Expr":
    """A condition whose columns say of which table they are, where there is one."""
    from sqlglot import exp

    made = condition.copy()
    start = select.args.get("from_")
    if start is None or select.args.get("joins") or made.find(exp.Select) is not None:
        return made
    for column in made.find_all(exp.Column):
        if not column.table:
            column.set("table", exp.to_identifier(start.this.alias_or_name))
    return made


def _find_streams(select: "exp.Select", catalog: Catalog) -> dict[str, Stream]:
    """The streams of FROM and its joins, by their aliases in small letters."""
    tables = list_tables(select, catalog).tables
    return {alias.lower(): table for alias, table in tables.items() if isinstance(table, Stream)}


def _is_same(time: "exp.Expr", inner: "exp.Expr", streams: Mapping[str, Stream]) -> bool:
    """Whether both are timestamps of one stream, or a column of it that is never NULL."""
    from sqlglot import exp

    stream = streams.get(time.table.lower()) if isinstance(time, exp.Column) else None
    read = inner.this.args["from_"].this.name
    if stream is None or not isinstance(time, exp.Column):
        return False
    name = find_name(time.name, [stream.timestamp, *(c.name for c in stream.columns)])
    column = None if name is None else stream.column(name)
    valued = name == stream.timestamp or (column is not None and not column.nullable)
    return valued and find_name(read, [stream.name]) is not None


def _is_value(inner: "exp.Subquery") -> bool:
    """Whether a subquery stands for a value, and is no table, nor looked for in it."""
    from sqlglot import exp

    above = inner.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    if isinstance(above, exp.In) and inner.arg_key in ("query", "this"):
        return inner.arg_key == "this"
    tables = (exp.From, exp.Join, exp.Exists, exp.SetOperation, exp.CTE, exp.Subquery, exp.Table)
    return not isinstance(above, (*tables, exp.Any, exp.All, exp.Not, exp.Where, exp.Lateral))


def _read(time: "exp.Expr", inner: "exp.Expr", conjuncts: "list[exp.Expr]") -> "exp.Expr | None":
    from sqlglot import exp

    query = inner.this if isinstance(inner, exp.Subquery) else None
    if not isinstance(time, exp.Column) or not time.table or not isinstance(query, exp.Select):
        return None
    held = {k for k, v in query.args.items() if v} - {"expressions", "from_", "where"}
    found = query.expressions[0].unalias() if len(query.expressions) == 1 else None
    table = query.args["from_"].this if query.args.get("from_") else None
    where = query.args.get("where")
    if held or where is None or not isinstance(found, (exp.Max, exp.Min)):
        return None
    if not isinstance(table, exp.Table) or not isinstance(found.this, exp.Column):
        return None
    alias, own = table.alias_or_name, found.this
    if own.name.lower() != time.name.lower() or alias.lower() == time.table.lower():
        return None
    made = query.copy()
    other = made.args["from_"].this.alias_or_name
    for column in made.find_all(exp.Column):
        if not column.table:
            column.set("table", exp.to_identifier(other))
    for condition in split_conjuncts(made.args["where"].this):
        if not _is_key(condition, time.table, other) and not _is_said(
            condition, time.table, other, conjuncts
        ):
            return None  # the row may be none of those that are looked at
    later = exp.GT if isinstance(found, exp.Max) else exp.LT
    compare = later(this=exp.column(own.name, other), expression=time.copy())
    made.set("expressions", [exp.Literal.number(1)])
    return exp.Not(this=exp.Exists(this=made.where(compare, copy=False)))


def _is_key(condition: "exp.Expr", outer: str, other: str) -> bool:
    """Whether it says that a column of both rows is the same."""
    from sqlglot import exp

    if not isinstance(condition, exp.EQ):
        return False
    one, two = condition.this, condition.expression
    if not isinstance(one, exp.Column) or not isinstance(two, exp.Column):
        return False
    tables = {one.table.lower(), two.table.lower()}
    return one.name.lower() == two.name.lower() and tables == {outer.lower(), other.lower()}


def _is_said(condition: "exp.Expr", outer: str, other: str, conjuncts: "list[exp.Expr]") -> bool:
    """Whether a condition on the rows that are looked at is one on the row, too."""
    from sqlglot import exp

    renamed = condition.copy()
    for column in renamed.find_all(exp.Column):
        if column.table.lower() == other.lower():
            column.set("table", exp.to_identifier(outer))
    return renamed in conjuncts

"""The latest rows of keys, where NOT EXISTS says that none of their key is later."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import Scope, column_names, find_name
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.lasting.list_dated import list_dated
from ontoweir.rewriter.lasting.read_delay import read_delay
from ontoweir.rewriter.windows.read_sql_windows import is_now

if TYPE_CHECKING:
    from sqlglot import exp


def number_latest(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """`FROM (SELECT * FROM s QUALIFY RANK() OVER (PARTITION BY k ORDER BY ts DESC) = 1) AS s WHERE
    s.ts <= NOW() - …` for `FROM s WHERE s.ts <= NOW() - … AND NOT EXISTS (SELECT 1 FROM s AS z
    WHERE z.k = s.k AND z.ts > s.ts)`, or `s.ts = (SELECT MAX(z.ts) FROM s AS z WHERE z.k = s.k)`,
    of keys that have a value; of rows of which something holds, if it is said of both. Others stay
    as they are.

    Args:
        tree: the query, whose names are as they were written; it is not changed.
        catalog: the tables.
    """
    from sqlglot import exp

    made = tree.copy()
    for select, item in list_dated(made):
        name = find_name(item.name, catalog.streams) if isinstance(item, exp.Table) else None
        scope = list_tables(select, catalog)
        if name is None or catalog.streams[name].versions or item.alias_or_name not in scope.tables:
            continue
        alias, said = item.alias_or_name, list(split_conjuncts(select.args["where"].this))
        late = [c for c in said if any(map(is_now, c.walk()))]
        if read_delay(late, alias, catalog.streams[name], catalog) is None:
            continue
        for condition in said:
            found = _read(condition, said, alias, catalog.streams[name], scope)
            if found is not None:
                kept = [c.copy() for c in said if c is not condition and c not in found[1]]
                item.replace(_write(alias, catalog.streams[name], *found))
                select.set("where", None)
                select.where(*kept, copy=False)
                break
    return made


def _read(
    condition: "exp.Expr", said: "list[exp.Expr]", alias: str, stream: Stream, scope: Scope
) -> "tuple[list[str], list[exp.Expr]] | None":
    """The key of whose rows a condition says that none is later, and what it says of them that is
    said of the row, too (None: it says something else)."""
    from sqlglot import exp

    rows, greatest = _list_rows(condition, alias, stream)
    if rows is None:
        return None
    start, where = rows.args.get("from_"), rows.args.get("where")
    more = {k for k, v in rows.args.items() if v} - {"expressions", "from_", "where"}
    if more or start is None or where is None or not isinstance(start.this, exp.Table):
        return None
    other = start.this.alias_or_name
    if start.this.name.lower() != stream.name.lower() or other.lower() == alias.lower():
        return None
    columns = column_names(stream)

    def side(tree: "exp.Expr") -> tuple[bool, str] | None:
        """Whether it is a column of theirs, and which; without a table it is of theirs."""
        if not isinstance(tree, exp.Column):
            return None
        column, table = find_name(tree.name, columns), tree.table.lower()
        if column is None or table not in ("", other.lower(), alias.lower()):
            return None
        return table != alias.lower(), column

    keys, same, later = list[str](), list[exp.Expr](), 0
    for one in split_conjuncts(where.this):
        sides = (side(one.this), side(one.expression)) if isinstance(one, exp.Binary) else (None,)
        if None not in sides and len({s and s[0] for s in sides}) == 2:
            theirs, own = sorted((s for s in sides if s is not None), reverse=True)
            first = one.this if isinstance(one, exp.GT) else one.expression
            if isinstance(one, exp.EQ) and theirs[1] == own[1] != stream.timestamp:
                keys.append(own[1])
            elif isinstance(one, (exp.GT, exp.LT)) and side(first) == (True, stream.timestamp):
                later += own[1] == stream.timestamp
            else:
                return None
            continue
        mine = [c for c in said if _is_same(one, c, other, alias, scope)]
        if not mine:
            return None
        same += mine
    for key in keys:
        column = stream.column(key)
        told = [c for c in said if _is_told(c, key, alias)]
        if column is None or (column.nullable and not told):
            return None
        same += [c for c in told if c not in same]
    return (keys, same) if keys and later == (not greatest) else None


def _list_rows(
    condition: "exp.Expr", alias: str, stream: Stream
) -> "tuple[exp.Select | None, bool]":
    """The rows that a condition is about, NOT EXISTS or `ts = (SELECT MAX(ts) FROM …)` of a row's
    time; and whether it is the latter (None: it is neither)."""
    from sqlglot import exp

    if isinstance(condition, exp.Not) and isinstance(condition.this, exp.Exists):
        rows = condition.this.this
        return (rows, False) if isinstance(rows, exp.Select) else (None, False)
    if not isinstance(condition, exp.EQ):
        return None, False
    for own, value in (
        (condition.this, condition.expression),
        (condition.expression, condition.this),
    ):
        rows = value.this if isinstance(value, exp.Subquery) else None
        if not isinstance(rows, exp.Select) or not isinstance(own, exp.Column):
            continue
        made = rows.selects[0].unalias() if len(rows.selects) == 1 else None
        of = made.this if isinstance(made, exp.Max) else None
        if not isinstance(of, exp.Column) or of.table.lower() == alias.lower():
            continue
        times = [c.name.lower() for c in (own, of)]
        if times == [stream.timestamp.lower()] * 2 and own.table.lower() in ("", alias.lower()):
            return rows, True
    return None, False


def _is_told(condition: "exp.Expr", key: str, alias: str) -> bool:
    """Whether a condition says that a column of the row has a value."""
    from sqlglot import exp

    inner = condition.this if isinstance(condition, exp.Not) else None
    if not isinstance(inner, exp.Is) or not isinstance(inner.expression, exp.Null):
        return False
    column = inner.this
    if not isinstance(column, exp.Column):
        return False
    return column.name.lower() == key.lower() and column.table.lower() in ("", alias.lower())


def _is_same(one: "exp.Expr", mine: "exp.Expr", other: str, alias: str, scope: Scope) -> bool:
    """Whether something is said of their row as of the row itself, by its own columns."""
    from sqlglot import exp

    if one.find(exp.Query) or any(map(is_now, one.walk())):
        return False
    named = [exp.Paren(this=tree.copy()) for tree in (one, mine)]
    for holder, table in zip(named, (other, alias), strict=True):
        for column in holder.find_all(exp.Column):
            if column.table.lower() not in ("", table.lower()):
                return False
            if not column.table and len(scope.tables) > 1:
                return False
            column.set("table", None)
    return bool(named[0] == named[1])


def _write(alias: str, stream: Stream, keys: list[str], same: "list[exp.Expr]") -> "exp.Expr":
    """The latest rows of a key."""
    from sqlglot import exp

    def column(name: str) -> "exp.Expr":
        return exp.column(name, quoted=True)

    rows = exp.Select(expressions=[column(name) for name in column_names(stream)])
    rows = rows.from_(exp.Table(this=exp.to_identifier(stream.name, quoted=True)))
    held = exp.Select(expressions=[exp.Paren(this=c.copy()) for c in same])
    for read in held.find_all(exp.Column):
        read.set("table", None)
    rows.where(*(p.this for p in held.expressions), copy=False)
    order = [exp.Ordered(this=column(stream.timestamp), desc=True, nulls_first=False)]
    number = exp.Window(this=exp.Rank(), partition_by=[column(k) for k in dict.fromkeys(keys)])
    number.set("order", exp.Order(expressions=order))
    first = exp.EQ(this=number, expression=exp.Literal.number(1))
    rows.set("qualify", exp.Qualify(this=first))
    return exp.alias_(exp.Subquery(this=rows), alias, table=True, quoted=True)

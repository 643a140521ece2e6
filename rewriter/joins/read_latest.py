"""The latest, and the first, row of each key, as SQL has many phrasings for it."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, find_table
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import (
    WHY,
    LatestRows,
    is_plain,
    lacks_key,
    lacks_values,
    read_rows,
    refuse,
    replaced,
    require_apart,
    require_keys,
    resolve,
)
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_number
from ontoweir.rewriter.joins.read_later import read_later

if TYPE_CHECKING:
    from sqlglot import exp

OF_VALUES = (
    "of numbers of all times, say up to which, <= 3 or BETWEEN 2 AND 3, of one stream; "
    "for the greatest values of a bucket of time, number its groups: SELECT a, date_trunc('hour', "
    "ts) AS h, COUNT(*) … GROUP BY a, h QUALIFY RANK() OVER (PARTITION BY date_trunc('hour', ts) "
    "ORDER BY a DESC) <= 3; of one time, PARTITION BY ts; in a window that slides, MAX(a) … GROUP "
    "BY key"
)
"""What to write for the greatest of other values than times."""


def read_latest(tree: "exp.Query", catalog: Catalog) -> LatestRows:
    """A query with ROW_NUMBER() OVER (PARTITION BY … ORDER BY ts DESC) = 1, RANK, QUALIFY,
    ARG_MAX(x, ts) or NOT EXISTS (… a later one …) as rows that are replaced by later ones; where
    the first one is asked for, or that of a bucket of time, as NOT EXISTS.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.

    Raises:
        SqlRefusal: it is beyond that, or which row is the latest is not known.
    """
    from sqlglot import exp

    if isinstance(tree, exp.Select):
        for read in (_read_ranked, _read_greatest, read_later):
            if (made := read(tree, catalog)) is not None:
                return made
    for window in tree.find_all(exp.Window):
        if not is_number(window):
            continue
        order = window.args.get("order")
        late = order is None or bool(order.expressions[0].args.get("desc"))
        inside = tree.find(exp.Subquery, exp.With) is not None
        if inside and (not late or window.args.get("partition_by")):
            continue  # it is read when subqueries are merged
        _require_tables(tree, catalog)
        if tree.find(exp.Group) is not None:
            raise SqlRefusal(
                f"{show_sql(window)}, of groups, beside DISTINCT, or of buckets of time without a "
                "last number",
                why="rows are numbered before DISTINCT; and groups of a bucket of time are final, "
                "and so are their numbers among those of one bucket",
                fix="number around it, FROM (SELECT DISTINCT …); or PARTITION BY the bucket, and "
                "say up to which, QUALIFY RANK() OVER (…) <= 10",
                line=line_of(window),
            )
        raise SqlRefusal(
            f"{show_sql(window)}",
            why="ROW_NUMBER() and RANK() in another order than that of time are read where they "
            f"are 1, in the outermost SELECT or a subquery that is all of its FROM: {WHY}",
            fix="write QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) = 1",
            line=line_of(window),
        )
    return LatestRows(tree, None)


def _require_tables(tree: "exp.Query", catalog: Catalog) -> None:
    """Raise SqlRefusal where a table is not known: then it says nothing else."""
    from sqlglot import exp

    named = {cte.alias for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if table.name not in named | catalog.views.keys():
            find_table(table.name, catalog, line_of(table))


def _read_ranked(tree: "exp.Select", catalog: Catalog) -> LatestRows | None:
    """ROW_NUMBER() or RANK() = 1, in QUALIFY or around a subquery."""
    from sqlglot import exp

    found = _find_ranked(tree, catalog)
    if found is None:
        return None
    flat, window = found
    rows = flat.copy()
    scope, base = read_rows(rows, catalog, window)
    order = window.args.get("order")
    ordered = order.expressions if order is not None else []
    keys = list(window.args.get("partition_by") or ())
    if len(ordered) != 1 or resolve(scope, ordered[0].this) != (base[0], base[1].timestamp):
        raise refuse(
            window,
            f"the order of {show_sql(window)}",
            f"order by {base[1].timestamp} alone; {OF_VALUES}",
        )
    late = bool(ordered[0].args.get("desc"))
    columns = [resolve(scope, k) for k in keys]
    if isinstance(window.this, exp.RowNumber):
        require_apart(base, columns, rows, scope, window)
    if isinstance(window.this, exp.RowNumber) or not (late and all(columns)):
        require_keys(base, keys, rows, scope)
    if late and all(columns):
        return replaced(rows, [c for c in columns if c is not None], scope, window)
    return LatestRows(_without_other(rows, keys, base, scope, late=late), None)


def _find_ranked(tree: "exp.Select", catalog: Catalog) -> "tuple[exp.Select, exp.Window] | None":
    """The rows without their number, and how they are numbered."""
    from sqlglot import exp

    qualify = tree.args.get("qualify")
    if qualify is not None and not _has_rank(qualify, named_windows(tree)):
        return None
    if qualify is not None:
        if not _is_over_table(tree, catalog):
            return None
        flat = tree.copy()
        flat.set("qualify", None)
        window = equals_one(qualify.this, named_windows(tree))
        if window is None:
            raise refuse(
                qualify,
                f"QUALIFY {show_sql(qualify.this)}",
                f"write QUALIFY ROW_NUMBER() OVER … = 1; {OF_VALUES}",
            )
        flat.set("expressions", [e for e in flat.expressions if not _is_window(e)])
        return flat, window
    start = tree.args.get("from_")
    inner = None if start is None else start.this
    if not isinstance(inner, exp.Subquery) or not isinstance(inner.this, exp.Select):
        return None
    if not is_plain(inner):
        return None
    if not _is_over_table(inner.this, catalog):
        return None
    windows = named_windows(inner.this)
    where = tree.args.get("where")
    if not windows or where is None:
        return None
    rest = [c for c in split_conjuncts(where.this) if equals_one(c, windows) is None]
    chosen = [w for c in split_conjuncts(where.this) if (w := equals_one(c, windows))]
    others = [k for k in ("group", "having", "distinct", "joins") if tree.args.get(k)]
    if first := next((c for c in rest if _counts_rows(c, windows)), None):
        raise _refuse_first(first)
    if rest or len(chosen) != 1 or others:
        raise refuse(
            where,
            f"{(rest or [tree])[0].sql('spark')} beside the number of a row",
            "write conditions in the subquery, before rows are numbered, or a query over this one",
        )
    flat = inner.this.copy()
    shown = {e.alias_or_name.lower(): e for e in flat.expressions if not _is_window(e)}
    starred = [e for e in flat.expressions if e.find(exp.Star)]
    made: list[exp.Expr] = []
    for item in tree.expressions:
        column = item.unalias()
        if isinstance(column, exp.Star) or (isinstance(column, exp.Column) and column.is_star):
            made += [e for e in flat.expressions if not _is_window(e)]
            continue
        if not isinstance(column, exp.Column):
            raise refuse(item, show_sql(item), "compute in the subquery")
        of = shown.get(column.name.lower())
        if of is None and not starred:
            raise refuse(item, f"the column {column.name!r}", "select it in the subquery")
        value = exp.column(column.name) if of is None else of.unalias().copy()
        made.append(exp.alias_(value, item.alias_or_name, quoted=True))
    flat.set("expressions", made)
    return flat, chosen[0]


def _is_window(item: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(item.unalias(), exp.Window)


def named_windows(select: "exp.Select") -> "dict[str, exp.Window]":
    """The numbers of rows that a SELECT shows, by names that nothing else in it has."""
    from sqlglot import exp

    names = [e.alias_or_name.lower() for e in select.expressions]
    return {
        name: w
        for name, e in zip(names, select.expressions, strict=True)
        if isinstance(w := e.unalias(), exp.Window) and is_number(w) and names.count(name) == 1
    }


def equals_one(condition: "exp.Expr", named: "dict[str, exp.Window]") -> "exp.Window | None":
    """The window whose number a condition says to be 1."""
    from sqlglot import exp

    condition = condition.unnest()
    if not isinstance(condition, (exp.EQ, exp.LTE)):
        return None
    number, one = condition.this, condition.expression
    if not isinstance(one, exp.Literal) or one.is_string or str(one.this) != "1":
        return None
    if isinstance(number, exp.Column):
        number = named.get(number.name.lower(), number)
    return number if isinstance(number, exp.Window) and is_number(number) else None


def _counts_rows(condition: "exp.Expr", named: "dict[str, exp.Window]") -> bool:
    """Whether a condition is that the number of a row is at most one that is more than 1."""
    from sqlglot import exp

    condition = condition.unnest()
    number, limit = condition.this, condition.args.get("expression")
    least = isinstance(condition, (exp.LT, exp.LTE)) and isinstance(limit, exp.Literal)
    return least and isinstance(number, exp.Column) and number.name.lower() in named


def _refuse_first(condition: "exp.Expr") -> SqlRefusal:
    return SqlRefusal(
        f"the first rows of each key, of all times, {show_sql(condition)}, besides a join, "
        "another condition, or groups",
        why="a row that comes later may be among them, and one that was told is among them no more",
        fix="number the rows of one stream, by columns, and ask for nothing but their number: "
        "SELECT … FROM (SELECT …, ROW_NUMBER() OVER (PARTITION BY key ORDER BY x DESC, ts) AS n "
        "FROM stream WHERE …) WHERE n <= 3, which is told as changes; or ask for the greatest "
        "value of each bucket of time, which is final, MAX(x) … GROUP BY key, date_trunc('hour', "
        "ts)",
        line=line_of(condition),
    )


def _is_over_table(select: "exp.Select", catalog: Catalog) -> bool:
    """Whether the first item of FROM is a declared table."""
    from sqlglot import exp

    start = select.args.get("from_")
    table = None if start is None else start.this
    known = list_tables(select, catalog).tables
    return isinstance(table, exp.Table) and table.alias_or_name in known


def _has_rank(tree: "exp.Expr", named: "dict[str, exp.Window]") -> bool:
    """Whether it reads the number of a row; else it is read when subqueries are merged."""
    from sqlglot import exp

    columns = {c.name.lower() for c in tree.find_all(exp.Column)}
    return any(is_number(w) for w in tree.find_all(exp.Window)) or bool(columns & named.keys())


def _without_other(
    rows: "exp.Select",
    keys: "list[exp.Expr]",
    base: tuple[str, Stream],
    scope: Scope,
    *,
    late: bool,
) -> "exp.Select":
    """The rows beside which there is none of their key, of which NULL is one, that is later, or
    earlier."""
    from sqlglot import exp

    alias, stream = base
    other = f"{alias} beside"

    def rename(tree: "exp.Expr") -> "exp.Expr":
        made = tree.copy()
        for column in [made] if isinstance(made, exp.Column) else made.find_all(exp.Column):
            column.set("table", exp.to_identifier(other, quoted=True))
        return made

    def own(tree: "exp.Expr") -> "exp.Expr":
        made = tree.copy()
        for column in [made] if isinstance(made, exp.Column) else made.find_all(exp.Column):
            column.set("table", exp.to_identifier(alias, quoted=True))
        return made

    time = exp.column(stream.timestamp)
    compare = exp.GT if late else exp.LT
    conditions: list[exp.Expr] = []
    for key in keys:
        same: exp.Expr = exp.EQ(this=rename(key), expression=own(key))
        if lacks_key(base, key, rows, scope):
            neither = (exp.Is(this=side(key), expression=exp.Null()) for side in (rename, own))
            same = exp.or_(same, exp.and_(*neither))
        conditions.append(same)
    conditions.append(compare(this=rename(time), expression=own(time)))
    if (where := rows.args.get("where")) is not None:
        conditions.append(rename(where.this))
    table = exp.Table(this=exp.to_identifier(stream.name, quoted=True))
    table.set("alias", exp.TableAlias(this=exp.to_identifier(other, quoted=True)))
    inner = exp.select("1").from_(table).where(*conditions)
    return rows.copy().where(exp.Not(this=exp.Exists(this=inner)), copy=False)


def _read_greatest(tree: "exp.Select", catalog: Catalog) -> LatestRows | None:
    """ARG_MAX(x, ts) GROUP BY key."""
    from sqlglot import exp

    calls = [e.unalias() for e in tree.expressions if isinstance(e.unalias(), exp.ArgMax)]
    if not calls:
        return None
    alone = next((c for c in calls if c.args.get("expression") is None), None)
    if alone is not None:
        raise refuse(alone, f"{show_sql(alone)} of nothing", "write ARG_MAX(x, ts)")
    rows = tree.copy()
    for key in ("group", "having"):
        rows.set(key, None)
    first = calls[0]
    scope, base = read_rows(rows, catalog, first)
    time = base[0], base[1].timestamp
    group = tree.args.get("group")
    keys = list(group.expressions) if group is not None else []
    odd = next((c for c in calls if resolve(scope, c.expression) != time), None)
    if odd is not None:
        shown = [e.unalias() for e in tree.expressions]
        whole = (shown[int(k.name) - 1] if k.is_int else k for k in keys)  # GROUP BY 1
        by = ", ".join(k.sql("spark") for k in whole)
        part = f"PARTITION BY {by} " if by else ""
        raise refuse(
            odd,
            f"{show_sql(odd)}, which is not the timestamp and may be alike in several rows,",
            f"write SELECT {show_sql(odd.this)} … QUALIFY RANK() OVER ({part}ORDER BY "
            f"{show_sql(odd.expression)} DESC) = 1 in the place of GROUP BY, which tells all of "
            "them",
        )
    made: list[exp.Expr] = []
    there: dict[tuple[str, str], exp.Expr] = {}
    for item in tree.expressions:
        inner, name = item.unalias(), item.alias_or_name or item.sql("spark")
        greatest = isinstance(inner, exp.Max) and resolve(scope, inner.this) == time
        if isinstance(inner, exp.ArgMax) and resolve(scope, inner.expression) == time:
            value = inner.this
            of = resolve(scope, value)
            if of is None:
                raise refuse(item, show_sql(inner), "write ARG_MAX of a column")
            there[of] = value
        elif greatest:
            value = inner.this
        elif isinstance(inner, exp.Column):
            value = inner
        else:
            raise refuse(
                item,
                f"{show_sql(inner)} beside ARG_MAX",
                f"write ARG_MAX(x, {time[1]}), MAX({time[1]}) and the key; other aggregates beside "
                "it where a key of the stream is of the groups and the time, as keys = "
                f'[["key", "{time[1]}"]]; {OF_VALUES}',
            )
        made.append(exp.alias_(value.copy(), name, quoted=True))
    if tree.args.get("having"):
        raise refuse(first, "HAVING beside ARG_MAX", "leave it out")
    if len(there) > 1:
        raise refuse(
            first,
            "ARG_MAX of several columns, each of which passes over rows where it is NULL",
            "write QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) = 1, which shows "
            "the latest row",
        )
    columns = [resolve(scope, k) for k in keys]
    require_apart(base, columns, rows, scope, first)
    require_keys(base, keys, rows, scope)
    for alias, name in there:
        if alias == base[0] and lacks_values(base[1], alias, [name], rows, scope):
            raise SqlRefusal(
                f"{show_sql(first)} of {name}, which may be NULL",
                why="a key of which no row has a value has NULL, which ARG_MAX does not look for",
                fix=f"add WHERE {name} IS NOT NULL; or write QUALIFY ROW_NUMBER() OVER (PARTITION "
                "BY key ORDER BY ts DESC) = 1, which shows the latest row, whatever it holds",
                line=line_of(first),
            )
    rows.set("expressions", made)
    for value in there.values():
        rows.where(exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())), copy=False)
    return replaced(rows, [c for c in columns if c is not None], scope, first)

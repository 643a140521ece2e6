"""Rows of which later ones of their key take the place, as SQL reads them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.model.show_values import advise_key
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, column_names, find_name
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.windows.read_sql_grid import is_grid

if TYPE_CHECKING:
    from sqlglot import exp

WHY = "of rows with one key, the one with the greatest, or the least, timestamp of a stream is told"


@dataclass(frozen=True, slots=True)
class LatestRows:
    """A query of rows, of which of each key those with the latest timestamp hold; `key`: the places
    of the key in SELECT (None: what holds does not change)."""

    tree: "exp.Query"
    key: tuple[int, ...] | None


def read_rows(
    rows: "exp.Select", catalog: Catalog, place: "exp.Expr"
) -> tuple[Scope, tuple[str, Stream]]:
    """The names of a SELECT over tables, and its one stream.

    Raises:
        SqlRefusal: it has a subquery, or several streams, or groups.
    """
    scope, streams = expand_rows(rows, catalog, place, "latest")
    alone = not rows.args.get("joins")
    if len(streams) != 1 or not alone or rows.args.get("group") or rows.args.get("distinct"):
        raise refuse(
            place,
            "the latest of joined rows, or of groups",
            "write it of the rows of one stream alone",
        )
    return scope, streams[0]


def expand_rows(
    rows: "exp.Select", catalog: Catalog, place: "exp.Expr", which: str
) -> tuple[Scope, list[tuple[str, Stream]]]:
    """The names of a SELECT over tables, and its streams but for relations that change; * in it is
    expanded, in place. `which`: of which rows it is, for messages.

    Raises:
        SqlRefusal: it has a subquery.
    """
    from sqlglot import exp

    plain = _without_statics(rows, catalog) if which == "latest" else rows.copy()
    if plain.find(exp.Subquery, exp.Exists, exp.With) is not None:
        raise refuse(place, f"a subquery below the {which} rows", "write it over tables")
    scope, _, _ = read_from(plain, catalog)
    shown: list[exp.Expr] = []
    for item in rows.expressions:
        if not item.is_star:
            shown.append(item)
            continue
        of = item.table.lower() if isinstance(item, exp.Column) else ""
        for alias, table in scope.tables.items():
            if of not in ("", alias.lower()):
                continue
            shown += [exp.column(c, alias, quoted=True) for c in column_names(table)]
    rows.set("expressions", shown)
    streams = [(a, t) for a, t in scope.tables.items() if isinstance(t, Stream) and not t.versions]
    return scope, streams


def _without_statics(rows: "exp.Select", catalog: Catalog) -> "exp.Select":
    """A SELECT without the conditions that are of what is in static relations, which are of one row
    as others are."""
    from sqlglot import exp

    made = rows.copy()
    where = made.args.get("where")
    if where is not None:
        said = list(split_conjuncts(where.this))
        kept = [c for c in said if not is_of_statics(c, catalog)]
        if len(kept) < len(said):
            made.set("where", exp.Where(this=exp.and_(*(c.copy() for c in kept))) if kept else None)
    return made


def is_of_statics(condition: "exp.Expr", catalog: Catalog) -> bool:
    """Whether a condition is of what is, or is not, in static relations: EXISTS, IN, and their
    negations."""
    from sqlglot import exp

    inner = condition.unnest()
    inner = inner.this.unnest() if isinstance(inner, exp.Not) else inner
    if not isinstance(inner, (exp.Exists, exp.In)) or inner.find(exp.Query) is None:
        return False
    return all(find_name(t.name, catalog.relations) for t in inner.find_all(exp.Table))


def list_outer(
    condition: "exp.Expr", catalog: Catalog, beside: Mapping[str, set[str]] | None = None
) -> "list[exp.Column]":
    """The columns of a condition that are of the query around it, and not of static relations that
    subqueries in it read, or are `beside` it."""
    from sqlglot import exp

    made: list[exp.Column] = []
    for node in condition.find_all(exp.Column):
        if isinstance(node.this, exp.Star):
            continue
        within = [t for s in _queries(node) for t in s.find_all(exp.Table)]
        tables = {t.alias_or_name.lower(): relation_names(t, catalog) for t in within}
        tables |= beside or {}
        name, of = node.name.lower(), node.table.lower()
        if of not in tables and (of or not any(name in names for names in tables.values())):
            made.append(node)
    return made


def relation_names(table: "exp.Expr", catalog: Catalog) -> set[str]:
    """The columns of a static relation, in lower case (none: it is something else)."""
    name = find_name(table.name, catalog.relations)
    return {c.lower() for c in column_names(catalog.relations[name])} if name else set()


def _queries(node: "exp.Expr") -> "list[exp.Expr]":
    """The subqueries that an expression is in."""
    from sqlglot import exp

    found: list[exp.Expr] = []
    above = node.parent
    while above is not None:
        found += [above] if isinstance(above, exp.Select) else []
        above = above.parent
    return found


def require_apart(
    base: tuple[str, Stream],
    columns: "list[tuple[str, str] | None]",
    rows: "exp.Select",
    scope: Scope,
    place: "exp.Expr",
) -> None:
    """Raise SqlRefusal where two of some rows of a key may have one timestamp: no key that is
    declared tells them apart, or one of its columns may be NULL in them."""
    alias, stream = base
    mine = {c[1] for c in columns if c is not None and c[0] == alias} | {stream.timestamp}
    apart = [key for key in stream.keys if set(key) <= mine]
    free = [lacks_values(stream, alias, key, rows, scope) for key in apart]
    if apart and not all(free):
        return
    if free:
        raise SqlRefusal(
            f"{show_sql(place)} may choose among several rows of one timestamp, where "
            f"{free[0][0]} is NULL",
            why="NULL is one key, and no key of the stream tells rows apart in which it is",
            fix=f"add WHERE {free[0][0]} IS NOT NULL; or write RANK(), which keeps all of them",
            line=line_of(place),
        )
    key = (*sorted(mine - {stream.timestamp}), stream.timestamp)
    raise SqlRefusal(
        f"{show_sql(place)} may choose among several rows of one timestamp",
        why="which of them is the first, nobody could say",
        fix=f"{advise_key(stream, key)}; or write RANK(), which keeps all of them",
        line=line_of(place),
    )


def require_keys(
    base: tuple[str, Stream], keys: "Iterable[exp.Expr]", rows: "exp.Select", scope: Scope
) -> None:
    """Leave out rows of which a column of the key is NULL that is not declared so, in place: they
    are no results, and no key of the stream tells them apart."""
    from sqlglot import exp

    for key in keys:
        of = resolve(scope, key)
        column = base[1].column(of[1]) if of is not None and of[0] == base[0] else None
        if column is not None and not column.nullable:
            rows.where(exp.Not(this=exp.Is(this=key.copy(), expression=exp.Null())), copy=False)


def lacks_key(base: tuple[str, Stream], key: "exp.Expr", rows: "exp.Select", scope: Scope) -> bool:
    """Whether what rows are parted by may be NULL in them: a column that is declared so, or what is
    computed, but for a bucket, or a date, of time."""
    from sqlglot import exp

    of = resolve(scope, key)
    if of is None:
        dated = isinstance(key, exp.Cast) and resolve(scope, key.this) == (
            base[0],
            base[1].timestamp,
        )
        return not is_grid(key) and not dated
    return of[0] == base[0] and bool(lacks_values(base[1], base[0], [of[1]], rows, scope))


def lacks_values(
    stream: Stream, alias: str, names: "Iterable[str]", rows: "exp.Select", scope: Scope
) -> list[str]:
    """The columns of a stream, of some, that may be NULL in rows: they are declared so, and no
    condition of WHERE wants a value."""
    from sqlglot import exp

    where, valued = rows.args.get("where"), set[tuple[str, str] | None]()
    for condition in split_conjuncts(where.this) if where is not None else ():
        inner = condition.unnest()
        if isinstance(inner, exp.Not) and isinstance(inner.this.unnest(), exp.Is):
            inner = inner.this.unnest()
            valued |= {resolve(scope, inner.this)} if inner.expression == exp.Null() else set()
        elif isinstance(inner, (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
            if not isinstance(inner.expression, exp.All):  # of nothing it is true of NULL, too
                valued |= {resolve(scope, side) for side in (inner.this, inner.expression)}
        elif isinstance(inner, (exp.In, exp.Between)):
            valued.add(resolve(scope, inner.this))
    columns = [c for n in names if (c := stream.column(n)) is not None]
    return [c.name for c in columns if c.nullable and (alias, c.name) not in valued]


def is_plain(item: "exp.Expr") -> bool:
    """Whether a table, or subquery, of FROM has at most a name: no columns, sample or pivot."""
    alias = item.args.get("alias")
    more = {k for k, v in item.args.items() if v} - {"this", "alias"}
    return not more and (alias is None or not alias.args.get("columns"))


def replaced(
    rows: "exp.Select", columns: list[tuple[str, str]], scope: Scope, place: "exp.Expr"
) -> LatestRows:
    """Rows that later ones of their key replace."""
    shown = {
        of: n
        for n, e in reversed(list(enumerate(rows.expressions)))
        if (of := resolve(scope, e.unalias()))
    }
    missing = [f"{a}.{c}" for a, c in columns if (a, c) not in shown]
    if missing or not columns:
        raise SqlRefusal(
            f"the latest rows by {', '.join(missing)}, which is not selected"
            if missing
            else "the latest row of all",
            why="the key says which row takes the place of which",
            fix="select the key too" if missing else "add PARTITION BY, or GROUP BY, a key",
            line=line_of(place),
        )
    return LatestRows(rows, tuple(sorted(shown[c] for c in columns)))


def resolve(scope: Scope, tree: "exp.Expr") -> tuple[str, str] | None:
    from sqlglot import exp

    if not isinstance(tree, exp.Column) or isinstance(tree.this, exp.Star):
        return None
    try:
        found = scope.resolve(tree.table or None, tree.name)
    except SqlRefusal:
        return None
    return found.alias, found.column


def refuse(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} is outside what is read of latest rows", why=WHY, fix=fix, line=line_of(tree)
    )

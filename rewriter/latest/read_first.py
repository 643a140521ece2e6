"""The rows with the first numbers of each key, in any order, over all that came."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, column_names
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain, read_rows, resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_number
from ontoweir.rewriter.latest.hold_rows import hold_rows
from ontoweir.rewriter.latest.put_inside import put_inside
from ontoweir.rewriter.model.aggregation import FirstRows, Numbering, Standing
from ontoweir.rewriter.model.spj import SpjUnion

if TYPE_CHECKING:
    from sqlglot import exp

WHY = (
    "a row that comes later may be among the first, so that what holds are the rows of one stream, "
    "numbered once"
)
KEY, ORDER = "key of the first", "order of the first"
"""What the columns are called, with a number, by which rows are numbered."""


@dataclass(frozen=True, slots=True)
class _Numbered:
    """`rows`: the query, with 1 in the place of the number of a row; `window`: how they are
    numbered; `limit`: the greatest number; `number`: the column that shows it."""

    rows: "exp.Select"
    window: "exp.Window"
    limit: int
    number: str | None


def read_first(
    tree: "exp.Query",
    catalog: Catalog,
    read: "Callable[[exp.Select, frozenset[int]], SpjUnion]",
) -> SpjUnion | None:
    """ROW_NUMBER(), RANK() or DENSE_RANK() OVER (PARTITION BY key ORDER BY …) <= n, by QUALIFY or
    around a subquery, as rows that hold until n others come before them.

    None: it is something else: the first by time are final, and one latest row by time is
    replaced by the next (read_latest).

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        read: reads a SELECT of which the columns at some places may be NULL.

    Raises:
        SqlRefusal: it is beyond that, or which rows are the first is not known.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return None
    found = _find(put_inside(tree), catalog)
    if found is None:
        return None
    window, rows = found.window, found.rows
    order = window.args["order"].expressions
    keys = list(window.args.get("partition_by") or ())
    scope, base = read_rows(rows, catalog, window)
    columns = [resolve(scope, k) for k in keys]
    for item in order:
        if item.find(exp.AggFunc, exp.Window) is not None or item.args.get("with_fill"):
            raise _refuse(item, f"the order of {window.sql('spark')}", "order by columns")
    if number := {"spec"} & {k for k, v in window.args.items() if v}:
        raise _refuse(window, f"{number} of a number", "leave it out")
    _require_once(found.number, [e.alias_or_name for e in rows.expressions], window)
    by = [resolve(scope, o.this) for o in order]
    single = _find_single(base, columns, by)
    numbering = Numbering(_NUMBERINGS[type(window.this).__name__])
    if numbering is Numbering.ROWS and single is None:
        raise _refuse_equal(window, base, columns, by)
    shown = len(rows.expressions)
    named = [(e.copy(), f"{KEY} {n + 1}") for n, e in enumerate(keys)]
    named += [(o.this.copy(), f"{ORDER} {n + 1}") for n, o in enumerate(order)]
    extra = [exp.alias_(e, name, quoted=True) for e, name in named]
    rows.set("expressions", [*rows.expressions, *extra])
    start = shown + len(keys)
    of = [resolve(scope, e.unalias()) for e in rows.expressions]
    known = {n for n, c in enumerate(of) if c is not None and c[1] in (single or ())}
    free = frozenset(range(len(of))) - known
    made = read(rows, free)
    variables = made.variables
    first = FirstRows(
        numbering,
        found.limit,
        tuple(
            (variables[start + n], bool(o.args.get("desc")), bool(o.args.get("nulls_first")))
            for n, o in enumerate(order)
        ),
        single,
        None if found.number is None else _find_number(variables, found.number),
    )
    key = tuple(variables[shown:start])
    return hold_rows(made, Standing(key, hidden=tuple(variables[shown:]), first=first))


_NUMBERINGS = {"RowNumber": "ROW_NUMBER", "Rank": "RANK", "DenseRank": "DENSE_RANK"}


def _find_number(variables: tuple[str, ...], number: str) -> str:
    return next(v for v in variables if v == number)


def _find_single(
    base: tuple[str, Stream],
    columns: list[tuple[str, str] | None],
    by: list[tuple[str, str] | None],
) -> tuple[str, ...] | None:
    """A key of the stream by which rows of one key are never equal in the order (None: there is
    none). Rows in which a column of it is NULL may be equal, and are not shown, as its columns are
    not declared `nullable`."""
    alias, stream = base
    mine = {c[1] for c in (*columns, *by) if c is not None and c[0] == alias}
    for key in stream.keys:
        known = [c for name in key if (c := stream.column(name)) is not None]
        if set(key) <= mine and not any(c.nullable for c in known):
            return key
    return None


def _find(tree: "exp.Select", catalog: Catalog) -> _Numbered | None:
    """The query, if rows are chosen by their number."""
    from sqlglot import exp

    qualify = tree.args.get("qualify")
    start = tree.args.get("from_")
    inside = None if start is None else start.this
    if qualify is not None:
        windows = _name_windows(tree)
        chosen = _read_limit(qualify.this, windows)
        if chosen is None or not _is_over_table(tree, catalog):
            return None
        if not _is_plain(tree, "qualify") or not _is_by_value(tree, *chosen, catalog):
            return None
        rows, number = _put_number(tree, chosen[0])
        rows.set("qualify", None)
        return _Numbered(rows, *chosen, number)
    if not isinstance(inside, exp.Subquery) or not isinstance(inside.this, exp.Select):
        return None
    where, inner = tree.args.get("where"), inside.this
    if where is None or not is_plain(inside) or not _is_over_table(inner, catalog):
        return None
    windows = _name_windows(inner)
    conjuncts = list(split_conjuncts(where.this))
    read = [(c, w) for c in conjuncts if (w := _read_limit(c, windows)) is not None]
    if len(read) != 1:
        return None
    _, (window, limit) = read[0]
    if len(conjuncts) > 1 or not _is_plain(tree, "where") or not _is_plain(inner, "where"):
        return None
    if not _is_by_value(inner, window, limit, catalog):
        return None
    rows, number = _put_number(inner, window)
    named = [e.alias_or_name for e in rows.expressions if not e.is_star]
    if any(e.is_star for e in rows.expressions):
        tables = list_tables(inner, catalog).tables.values()
        named += [name for table in tables for name in column_names(table)]
    _require_once(number, named, window)
    return _select(tree, rows, inside.alias_or_name, _Numbered(rows, window, limit, number))


def _is_by_value(select: "exp.Select", window: "exp.Window", limit: int, catalog: Catalog) -> bool:
    """Whether rows are numbered by columns alone, but not from the first time on, nor only the one
    of the last time is asked for."""
    scope = list_tables(select, catalog)
    times = {(a, t.timestamp) for a, t in scope.tables.items() if isinstance(t, Stream)}
    columns = [resolve(scope, k) for k in window.args.get("partition_by") or ()]
    if not all(columns) or times & set(columns):
        return False
    order = window.args["order"].expressions
    if resolve(scope, order[0].this) not in times:
        return True
    return bool(order[0].args.get("desc")) and (limit > 1 or len(order) > 1)


def _select(tree: "exp.Select", rows: "exp.Select", own: str, found: _Numbered) -> _Numbered:
    """The columns of the subquery that are shown, as they are called."""
    from sqlglot import exp

    named = {e.alias_or_name.lower(): e for e in rows.expressions if not e.is_star}
    starred = any(e.is_star for e in rows.expressions)
    made: list[exp.Expr] = []
    number = None
    for item in tree.expressions:
        column = item.unalias()
        if column.is_star:
            made += [e.copy() for e in rows.expressions]
            number = found.number
            continue
        if not isinstance(column, exp.Column) or column.table.lower() not in ("", own.lower()):
            raise _refuse(item, item.sql("spark"), "compute in the subquery")
        of = named.get(column.name.lower())
        if of is None and not starred:
            raise _refuse(item, f"the column {column.name!r}", "select it in the subquery")
        value = exp.column(column.name) if of is None else of.unalias().copy()
        if of is not None and of.alias_or_name == found.number:
            if number is not None:
                raise _refuse(item, "the number of a row, twice", "select it once")
            number = item.alias_or_name
        made.append(exp.alias_(value, item.alias_or_name, quoted=True))
    rows.set("expressions", made)
    return replace(found, rows=rows, number=number)


def _put_number(select: "exp.Select", window: "exp.Window") -> "tuple[exp.Select, str | None]":
    """A SELECT with 1 in the place of the number of a row, and how it is called, if it is shown."""
    from sqlglot import exp

    rows = select.copy()
    number: str | None = None
    made: list[exp.Expr] = []
    for item in rows.expressions:
        if item.unalias() != window:
            made.append(item)
        elif number is None:
            number = item.alias_or_name or item.sql("spark")
            made.append(exp.alias_(exp.Literal.number(1), number, quoted=True))
        else:
            raise _refuse(item, "the number of a row, twice", "select it once")
    rows.set("expressions", made)
    for item in made:
        if item.find(exp.Window) is not None:
            raise _refuse(item, item.sql("spark"), "leave it out")
    return rows, number


def _require_once(number: str | None, names: list[str], window: "exp.Window") -> None:
    """Raise SqlRefusal where another column is called like the number of a row."""
    if number is not None and [n.lower() for n in names].count(number.lower()) > 1:
        raise _refuse(window, f"a second column called {number}", "call the number otherwise")


def _name_windows(select: "exp.Select") -> "dict[str, exp.Window]":
    from sqlglot import exp

    return {
        e.alias.lower(): w
        for e in select.expressions
        if isinstance(w := e.unalias(), exp.Window) and is_number(w)
    }


def _read_limit(
    condition: "exp.Expr", named: "dict[str, exp.Window]"
) -> "tuple[exp.Window, int] | None":
    """The numbers that a condition chooses: those up to one."""
    from sqlglot import exp

    condition = condition.unnest()
    left, right = condition.this, condition.args.get("expression")
    kinds: tuple[type[exp.Expr], ...] = (exp.LT, exp.LTE, exp.EQ)
    if isinstance(left, exp.Literal):
        left, right = right, left
        kinds = (exp.GT, exp.GTE, exp.EQ)
    if not isinstance(right, exp.Literal) or right.is_string or not right.is_int:
        return None
    if isinstance(left, exp.Column):
        left = named.get(left.name.lower(), left)
    if not isinstance(left, exp.Window) or not is_number(left) or not left.args.get("order"):
        return None
    limit = int(right.this) - isinstance(condition, (exp.LT, exp.GT))
    if not isinstance(condition, kinds) or limit < 1:
        return None
    if isinstance(condition, exp.EQ) and limit != 1:
        return None
    return left, limit


def _is_over_table(select: "exp.Select", catalog: Catalog) -> bool:
    """Whether the first item of FROM is a declared table."""
    from sqlglot import exp

    start = select.args.get("from_")
    table = None if start is None else start.this
    known = list_tables(select, catalog).tables
    return isinstance(table, exp.Table) and table.alias_or_name in known


def _is_plain(select: "exp.Select", more: str) -> bool:
    """Whether a SELECT has columns, FROM, WHERE, and something more at most."""
    return {k for k, v in select.args.items() if v} <= {"expressions", "from_", "where", more}


def _refuse(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    return SqlRefusal(
        f"{what} is outside what is read of the first rows", why=WHY, fix=fix, line=line_of(tree)
    )


def _refuse_equal(
    window: "exp.Window",
    base: tuple[str, Stream],
    columns: list[tuple[str, str] | None],
    by: list[tuple[str, str] | None],
) -> SqlRefusal:
    _, stream = base
    mine = list(dict.fromkeys(c[1] for c in (*columns, *by) if c is not None))
    timed = mine if stream.timestamp in mine else [*mine, stream.timestamp]
    order = "" if stream.timestamp in mine else f"order by {stream.timestamp} too, and "
    key = [c for c in timed if c in {c[1] for c in columns if c is not None}]
    key += [stream.timestamp]
    listed = ", ".join(f'"{n}"' for n in key)
    return SqlRefusal(
        f"{window.sql('spark')} may choose among equal rows",
        why="which of them is the first, nobody could say",
        fix=f"{order}declare keys = [[{listed}]] in [streams.{stream.name}], or another key of "
        "what rows are numbered by, without columns that may be NULL; or write RANK(), which keeps "
        "all of them",
        line=line_of(window),
    )

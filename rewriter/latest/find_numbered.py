"""Rows that are chosen by their number, in QUALIFY or around a subquery."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, column_names, find_name
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.joins.latest_rows import is_plain, resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.latest.join_around import join_around, list_statics
from ontoweir.rewriter.latest.number_around import name_windows, number_around
from ontoweir.rewriter.latest.read_limit import read_limits
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp

WHY = (
    "a row that comes later may be among the first, so that what holds are the rows of one stream, "
    "numbered once"
)


@dataclass(frozen=True, slots=True)
class Numbered:
    """`rows`: the query over tables, with 1 in the place of the number of a row; `window`: how they
    are numbered, by `keys`; `least`, `limit`: which numbers are told; `number`: the column that
    shows it; `told`: what holds of the rows that are told, and not only of those that are
    numbered."""

    rows: "exp.Select"
    window: "exp.Window"
    keys: "tuple[exp.Expr, ...]"
    least: int
    limit: int
    number: str | None
    told: "tuple[exp.Expr, ...]" = ()
    around: "exp.Select | None" = None


def find_numbered(tree: "exp.Select", catalog: Catalog) -> Numbered | None:
    """The query, if rows are chosen by their number (None: they are not).

    Args:
        tree: the query; what WITH names is in its place.
        catalog: the tables.

    Raises:
        SqlRefusal: what is asked of them besides is beyond what is read.
    """
    from sqlglot import exp

    if tree.args.get("qualify") is not None:
        return _read_qualify(tree, catalog)
    tree = number_around(tree)
    start, where = tree.args.get("from_"), tree.args.get("where")
    inside = None if start is None else start.this
    if not isinstance(inside, exp.Subquery) or not isinstance(inside.this, exp.Select):
        return None
    inner = inside.this
    if where is not None and is_plain(inside):
        _refuse_joined(inner, list(split_conjuncts(where.this)), catalog)
    if not is_plain(inside) or not _is_over_tables(inner, catalog):
        return None
    ons = [j.args["on"] for j in tree.args.get("joins") or () if j.args.get("on") is not None]
    said = [c for t in ([] if where is None else [where.this]) for c in split_conjuncts(t)]
    said += [c for t in ons for c in split_conjuncts(t)]
    found = read_limits(said, name_windows(inner))
    if found is None or not _is_plain(inner, "where", "joins"):
        return None
    around = list_statics(tree, catalog)
    if around is None or not _is_plain(tree, "where", "joins", *_AROUND):
        return None
    joined = bool(around) or bool(inner.args.get("joins"))
    if not _is_by_value(inner, found.window, found.limit, catalog, joined=joined):
        return None
    rows, number = _put_number(inner, found.window)
    rows = _expand(rows, catalog)
    require_once(number, [e.alias_or_name for e in rows.expressions], found.window)
    keys = tuple(found.window.args.get("partition_by") or ())
    made = Numbered(rows, found.window, keys, found.least, found.limit, number)
    return _select(tree, inside.alias_or_name, made, found.rest, catalog)


_AROUND = ("distinct", "group", "having")


def _read_qualify(tree: "exp.Select", catalog: Catalog) -> Numbered | None:
    from sqlglot import exp

    windows = name_windows(tree)
    known = [c for t in list_tables(tree, catalog).tables.values() for c in column_names(t)]
    for column in tree.args["qualify"].find_all(exp.Column):
        name = column.name.lower()
        if name in windows and not column.table and find_name(name, known) is not None:
            fix = "call the number otherwise, with AS"
            what = f"QUALIFY by {column.name}, the name of a number and of a column,"
            raise refuse_first(column, what, fix)
    said = list(split_conjuncts(tree.args["qualify"].this))
    _refuse_joined(tree, said, catalog)
    found = read_limits(said, windows)
    if found is None or not _is_over_tables(tree, catalog):
        return None
    joined = bool(tree.args.get("joins"))
    if not _is_plain(tree, "qualify", "where", "joins"):
        return None
    if not _is_by_value(tree, found.window, found.limit, catalog, joined=joined):
        return None
    rows, number = _put_number(tree, found.window)
    rows.set("qualify", None)
    scope = list_tables(tree, catalog)
    named = {e.alias.lower(): e.unalias() for e in tree.expressions if e.alias}

    def put(node: "exp.Expr") -> "exp.Expr":
        of = None
        if isinstance(node, exp.Column) and not node.table and resolve(scope, node) is None:
            of = named.get(node.name.lower())
        return node if of is None else exp.Paren(this=of.copy())

    told = tuple(c.copy().transform(put) for c in found.rest)
    refuse_windows(told)
    keys = tuple(found.window.args.get("partition_by") or ())
    return Numbered(rows, found.window, keys, found.least, found.limit, number, told)


def _refuse_joined(select: "exp.Select", said: "Sequence[exp.Expr]", catalog: Catalog) -> None:
    """Raise SqlRefusal where rows of several streams are numbered by values, and chosen by that."""
    tables = list_tables(select, catalog).tables
    streams = [a for a, t in tables.items() if isinstance(t, Stream)]
    if len(streams) < 2 or len(tables) < 1 + len(select.args.get("joins") or ()):
        return
    found = read_limits(list(said), name_windows(select))
    if found is None or not _is_by_value(select, found.window, found.limit, catalog, joined=True):
        return
    one, other = streams[0], streams[1]
    times = [t.timestamp for t in tables.values() if isinstance(t, Stream)]
    raise SqlRefusal(
        f"the first rows of {one} joined with {other}, of all times",
        why=WHY,
        fix=f"limit how much later one is, as in {other}.{times[1]} <= {one}.{times[0]} + INTERVAL "
        f"'1' HOUR, and ask for those beside which there is no greater one, NOT EXISTS (SELECT 1 "
        f"FROM {other} AS c WHERE … AND c.v > {other}.v), with the same limit; or for "
        f"MAX({other}.v) … GROUP BY {one}.{times[0]} and its columns: both are final then",
        line=line_of(found.window),
    )


def refuse_windows(told: "tuple[exp.Expr, ...]") -> None:
    """Raise SqlRefusal where a condition besides is not of a row."""
    from sqlglot import exp

    for one in told:
        if one.find(exp.Window, exp.AggFunc, exp.Query):
            fix = "say of the number which are told, n <= 3, and besides compare columns"
            raise refuse_first(one, show_sql(one), fix)


def _is_by_value(
    select: "exp.Select", window: "exp.Window", limit: int, catalog: Catalog, *, joined: bool
) -> bool:
    """Whether rows are numbered by columns alone, but, of all that came, not from the first time
    on, nor only the one of the last time is asked for, of a stream alone."""
    scope = list_tables(select, catalog)
    times = {(a, t.timestamp) for a, t in scope.tables.items() if isinstance(t, Stream)}
    columns = [resolve(scope, k) for k in window.args.get("partition_by") or ()]
    if not all(columns) or times & set(columns):
        return False
    order = window.args["order"].expressions
    if rows_leave(select):
        return True
    if resolve(scope, order[0].this) not in times:
        return True
    return bool(order[0].args.get("desc")) and (limit > 1 or len(order) > 1 or joined)


def _expand(select: "exp.Select", catalog: Catalog) -> "exp.Select":
    """A SELECT with the columns of its tables in the place of *, whose columns say of which table
    they are."""
    from sqlglot import exp

    made, scope = select.copy(), list_tables(select, catalog)
    shown: list[exp.Expr] = []
    for item in made.expressions:
        if not item.is_star:
            shown.append(item)
            continue
        star = item.this if isinstance(item, exp.Column) else item
        if {k for k, v in star.args.items() if v} - {"this"}:
            raise refuse_first(item, show_sql(item), "select the columns by name")
        of = item.table.lower() if isinstance(item, exp.Column) else ""
        for alias, table in scope.tables.items():
            if of in ("", alias.lower()):
                shown += [exp.column(c, alias, quoted=True) for c in column_names(table)]
    made.set("expressions", shown)
    for node in made.find_all(exp.Column):
        if not node.table and (found := resolve(scope, node)) is not None:
            node.set("table", exp.to_identifier(found[0], quoted=True))
    return made


def _select(
    tree: "exp.Select",
    own: str,
    found: Numbered,
    said: "tuple[exp.Expr, ...]",
    catalog: Catalog,
) -> Numbered:
    """What is shown of the subquery, and said around it."""
    from sqlglot import exp

    scope = list_tables(found.rows, catalog)
    put = _Put(found, own)
    window = put.qualify(found.window, scope)
    keys = tuple(window.args.get("partition_by") or ())
    made = join_around(found.rows, keys, list_statics(tree, catalog) or [], said, put, catalog)
    refuse_windows(made.told)
    items: list[exp.Expr] = []
    number = None
    for item in tree.expressions:
        column = item.unalias()
        plain = item.alias or isinstance(item, exp.Column)
        name = item.alias_or_name if plain else item.sql("spark")
        if isinstance(column, exp.Star) or (column.is_star and column.table.lower() == own.lower()):
            items += [e.copy() for e in found.rows.expressions]
            number = found.number
            if isinstance(column, exp.Star):
                items += made.all_columns()
        elif put.is_number(column):
            if number is not None:
                raise refuse_first(item, "the number of a row, twice", "select it once")
            number = name
            items.append(exp.alias_(exp.Literal.number(1), name, quoted=True))
        else:
            items.append(exp.alias_(made.put(column), name, quoted=True))
    made.rows.set("expressions", items)
    found = replace(
        found, rows=made.rows, window=window, keys=made.keys, number=number, told=made.told
    )
    if not any(tree.args.get(k) for k in _AROUND) and not aggregates(tree):
        return found
    if number is not None or found.least > 1:
        what = "DISTINCT or groups of numbered rows that show their number, or begin with another"
        raise refuse_first(tree, what, "ask for those up to one, n <= 3, and leave the number out")
    said_around = exp.Select()
    for key in _AROUND:
        if (part := tree.args.get(key)) is not None:
            said_around.set(key, made.put(part))
    return replace(found, around=said_around)


class _Put:
    """What a subquery shows in the place of its columns; `own`: how it is called."""

    def __init__(self, found: Numbered, own: str) -> None:
        self.own, self.number = own, found.number
        self.named = {e.alias_or_name.lower(): e.unalias() for e in found.rows.expressions}
        names = [e.alias_or_name.lower() for e in found.rows.expressions]
        self.twice = {n for n in names if names.count(n) > 1}

    def is_own(self, node: "exp.Column", others: Scope) -> bool:
        """Whether a column is the subquery's, and not one of tables beside it."""
        if node.table:
            return node.table.lower() == self.own.lower()
        return node.name.lower() in self.named and resolve(others, node) is None

    def is_number(self, node: "exp.Expr") -> bool:
        """Whether it is the number of a row."""
        from sqlglot import exp

        mine = isinstance(node, exp.Column) and node.table.lower() in ("", self.own.lower())
        number = None if self.number is None else self.number.lower()
        return mine and node.name.lower() == number

    def __call__(self, node: "exp.Column") -> "exp.Expr":
        """What is computed there."""
        from sqlglot import exp

        name = node.name.lower()
        if name not in self.named:
            raise refuse_first(node, f"the column {node.name!r}", "select it in the subquery")
        if self.is_number(node):
            fix = "select the number alone, and compute with it in the results"
            raise refuse_first(node, "what is computed with the number of a row", fix)
        if name in self.twice:
            raise refuse_first(node, f"a second column called {name}", "call one of them otherwise")
        of: exp.Expr = self.named[name].copy()
        return of if isinstance(of, exp.Column) else exp.Paren(this=of)

    @staticmethod
    def qualify(window: "exp.Window", scope: Scope) -> "exp.Window":
        """How rows are numbered, by columns that say of which table they are."""
        from sqlglot import exp

        made = window.copy()
        for node in made.find_all(exp.Column):
            if not node.table and (found := resolve(scope, node)) is not None:
                node.set("table", exp.to_identifier(found[0], quoted=True))
        return made


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
            raise refuse_first(item, "the number of a row, twice", "select it once")
    rows.set("expressions", made)
    for item in made:
        if item.find(exp.Window) is not None:
            raise refuse_first(item, show_sql(item), "leave it out")
    return rows, number


def require_once(number: str | None, names: list[str], window: "exp.Window") -> None:
    """Raise SqlRefusal where another column is called like the number of a row."""
    if number is not None and [n.lower() for n in names].count(number.lower()) > 1:
        what = f"a second column called {number}"
        raise refuse_first(window, what, "call the number otherwise")


def _is_over_tables(select: "exp.Select", catalog: Catalog) -> bool:
    """Whether FROM is one declared stream, with or without static relations."""
    from sqlglot import exp

    start, statics = select.args.get("from_"), list_statics(select, catalog)
    first = None if start is None else start.this
    if statics is None or not isinstance(first, exp.Table):
        return False
    return isinstance(list_tables(select, catalog).tables.get(first.alias_or_name), Stream)


def _is_plain(select: "exp.Select", *more: str) -> bool:
    """Whether a SELECT has columns, FROM, and something more at most."""
    return {k for k, v in select.args.items() if v} <= {"expressions", "from_", *more}


def refuse_first(tree: "exp.Expr", what: str, fix: str) -> SqlRefusal:
    """An error about the first rows."""
    return SqlRefusal(
        f"{what} is outside what is read of the first rows", why=WHY, fix=fix, line=line_of(tree)
    )

"""Rows of static relations with the latest row of a stream beside each, if there is one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal, column_names
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.differences.name_columns import is_static
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain, resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.read_latest import read_latest
from ontoweir.rewriter.windows.rows_leave import has_now, rows_leave

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class LatestBeside:
    """`written`: the query, of whose columns each says of which table it is; `own`: FROM and joins
    of the static relations; `scope`: these and the stream, of which rows are called `alias`;
    `rows`: what holds of the stream's rows of which the latest is looked for; `equal`: by the
    columns of its key, those of the relations that equal them."""

    written: "exp.Select"
    own: "exp.Select"
    scope: Scope
    alias: str
    rows: "tuple[exp.Expr, ...]"
    equal: "dict[str, exp.Expr]"

    @property
    def stream(self) -> Stream:
        """Of which the latest rows are."""
        stream = self.scope.tables[self.alias]
        assert isinstance(stream, Stream)
        return stream


def read_latest_beside(
    tree: "exp.Query", catalog: Catalog, settle: "Callable[[exp.Query, Catalog], exp.Query]"
) -> LatestBeside | None:
    """SELECT … FROM r LEFT JOIN (the latest row of each key) AS l ON l.k = r.k (None: it is
    something else).

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        settle: a query in the words that are read.

    Raises:
        SqlRefusal: which row is the latest is not known; or the join compares more than the key.
    """
    from sqlglot import exp

    join = _find_join(tree, catalog)
    if join is None or not isinstance(tree, exp.Select):
        return None
    own, alias = list_tables(tree, catalog), join.this.alias_or_name
    asked, windows = _take_windows(join.this.this)
    latest = read_latest(settle(asked, catalog), catalog)
    if latest.key is None or not isinstance(latest.tree, exp.Select):
        return None
    inner = latest.tree
    mine = list_tables(inner, catalog)
    (stream,) = mine.tables.values()
    shown = {e.alias_or_name.lower(): _rename(e.unalias(), mine, alias) for e in inner.expressions}
    written, scope = tree.copy(), Scope(catalog, {**own.tables, alias: stream})
    _open_using(written, alias, own)
    if not _put(written, own, alias, shown):
        return None
    on = next(j for j in written.args["joins"] if j.args.get("side")).args.get("on")
    keys = {resolve(mine, inner.expressions[place].unalias()) for place in latest.key}
    equal = _read_on(on, alias, {k[1] for k in keys if k is not None}, own)
    where = inner.args.get("where")
    said = [*([] if where is None else split_conjuncts(where.this)), *windows]
    local = [_rename(c, mine, alias) for c in said]
    start = exp.Select(from_=written.args["from_"].copy())
    start.set("joins", [j.copy() for j in written.args["joins"] if not j.args.get("side")])
    return LatestBeside(written, start, scope, alias, tuple(local), equal)


def _take_windows(select: "exp.Select") -> "tuple[exp.Select, list[exp.Expr]]":
    """The latest rows of all that came, and in which window these are: where a row of a key is
    shown, so are later ones of it, until they leave."""
    from sqlglot import exp

    made, where = select.copy(), select.args.get("where")
    if where is None or select.args.get("qualify") is None or not rows_leave(select):
        return made, []
    said = list(split_conjuncts(where.this))
    rest = [c.copy() for c in said if not has_now(c)]
    made.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    return made, [c.copy() for c in said if has_now(c)]


def _find_join(tree: "exp.Query", catalog: Catalog) -> "exp.Expr | None":
    """The LEFT JOIN of a SELECT over static relations with a subquery (None: it has none, or says
    more)."""
    from sqlglot import exp

    joins = tree.args.get("joins") or ()
    outer = [j for j in joins if j.args.get("side")]
    kinds = {str(j.args.get("kind") or "").upper() for j in joins if j not in outer}
    if not isinstance(tree, exp.Select) or len(outer) != 1 or kinds - {"", "INNER", "CROSS"}:
        return None
    (join,) = outer
    if str(join.args["side"]).upper() != "LEFT" or join.args.get("method") or join.args.get("kind"):
        return None
    inside, own = join.this, list_tables(tree, catalog)
    if not isinstance(inside, exp.Subquery) or not isinstance(inside.this, exp.Select):
        return None
    alias, names = inside.alias_or_name, {a.lower() for a in own.tables}
    if not is_static(own) or len(own.tables) != len(joins) or not is_plain(inside):
        return None
    allowed = {"expressions", "from_", "joins", "where", *_AROUND}
    more = {k for k, v in tree.args.items() if v} - allowed
    return None if more or not alias or alias.lower() in names else join


_AROUND = ("group", "having", "distinct")


def _rename(tree: "exp.Expr", mine: Scope, alias: str) -> "exp.Expr":
    """An expression of a subquery's table, which is called as the subquery is."""
    from sqlglot import exp

    def renamed(node: "exp.Expr") -> "exp.Expr":
        found = resolve(mine, node)
        return node if found is None else exp.column(found[1], alias, quoted=True)

    made: exp.Expr = tree.copy().transform(renamed)
    return made


def _open_using(select: "exp.Select", alias: str, own: Scope) -> None:
    """ON in the place of USING, of which the columns are those of the relations; in place."""
    from sqlglot import exp

    for join in select.args["joins"]:
        names = [n.name for n in join.args.get("using") or ()]
        if not names or not join.args.get("side"):
            continue
        found = [(n, resolve(own, exp.column(n))) for n in names]
        on = [
            exp.EQ(this=exp.column(n, alias), expression=exp.column(of[1], of[0], quoted=True))
            for n, of in found
            if of is not None
        ]
        if len(on) < len(names):
            return
        for column in list(select.find_all(exp.Column)):
            of = dict(found).get(column.name)
            if not column.table and of is not None:
                column.set("table", exp.to_identifier(of[0], quoted=True))
        join.set("using", None)
        join.set("on", exp.and_(*on))


def _put(select: "exp.Select", own: Scope, alias: str, shown: "dict[str, exp.Expr]") -> bool:
    """Columns of tables in the place of those of the subquery, and of `*`; in place. Whether each
    is of one table."""
    from sqlglot import exp

    items: list[exp.Expr] = []
    for item in select.expressions:
        star = isinstance(item, exp.Star)
        if not star and not item.is_star:
            items.append(item)
            continue
        of = "" if star else item.table.lower()
        if any((item if star else item.this).args.values()) and not item.is_star:
            return False
        items += [
            exp.column(c, a, quoted=True)
            for a, t in own.tables.items()
            if of in ("", a.lower())
            for c in column_names(t)
        ]
        if of in ("", alias.lower()):
            items += [exp.column(n, alias, quoted=True) for n in shown]
    named = [
        e if e.alias or not isinstance(e, exp.Column) else exp.alias_(e.copy(), e.name, quoted=True)
        for e in items
    ]
    select.set("expressions", named)
    around = [part for k in ("where", *_AROUND) if (part := select.args.get(k)) is not None]
    if any(n.find(exp.Query) for n in [*named, *around] if isinstance(n, exp.Expr)):
        return False
    for column in [c for c in select.find_all(exp.Column) if _is_of(c, select)]:
        table, name = column.table.lower(), column.name.lower()
        found = resolve(own, column)
        if table == alias.lower() or (not table and found is None and name in shown):
            if name not in shown:
                return False
            value = shown[name].copy()
            column.replace(value if isinstance(value, exp.Column) else exp.paren(value))
        elif found is None:
            if table or not _is_given(column, select):
                return False
        elif not table and name in shown:
            return False  # of both
        else:
            column.set("this", exp.to_identifier(found[1], quoted=True))
            column.set("table", exp.to_identifier(found[0], quoted=True))
    return True


def _is_of(column: "exp.Expr", select: "exp.Select") -> bool:
    """Whether it is not in the subquery."""
    from sqlglot import exp

    return column.find_ancestor(exp.Query) is select


def _is_given(column: "exp.Expr", select: "exp.Select") -> bool:
    """Whether it is a name that SELECT gives, in GROUP BY or HAVING."""
    from sqlglot import exp

    names = {e.alias.lower() for e in select.expressions if e.alias}
    return column.name.lower() in names and column.find_ancestor(exp.Group, exp.Having) is not None


def _read_on(
    on: "exp.Expr | None", alias: str, names: set[str], own: Scope
) -> "dict[str, exp.Expr]":
    """The columns of relations that equal those of the key.

    Raises:
        SqlRefusal: it says more, or less.
    """
    from sqlglot import exp

    made: dict[str, exp.Expr] = {}
    conjuncts: Sequence[exp.Expr] = [] if on is None else list(split_conjuncts(on))
    for one in conjuncts:
        sides = [one.this.unnest(), one.expression.unnest()] if isinstance(one, exp.EQ) else []
        mine = [s for s in sides if isinstance(s, exp.Column) and s.table == alias]
        theirs = [s for s in sides if resolve(own, s) is not None]
        if len(mine) != 1 or len(theirs) != 1 or mine[0].name not in names or mine[0].name in made:
            raise _refuse(one)
        made[mine[0].name] = theirs[0].copy()
    if made.keys() != names:
        raise _refuse(on)
    return made


def _refuse(place: "exp.Expr | None") -> SqlRefusal:
    what = "" if place is None else f", {show_sql(place)}"
    return SqlRefusal(
        f"the latest row beside a row of a static relation by more, or less, than its key{what}",
        why="ON says of which key the latest row is: by its columns, each equal to one of the "
        "relation",
        fix="say of which rows the latest is in the subquery, before they are numbered; what is "
        "asked of the latest row itself in WHERE, or in CASE in SELECT",
        line=None if place is None else line_of(place),
    )

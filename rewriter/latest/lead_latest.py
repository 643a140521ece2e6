"""The latest row of each key, however its SELECT is put, first in FROM with its number in WHERE."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Relation
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import is_plain
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.joins.own_nodes import is_number
from ontoweir.rewriter.joins.read_latest import equals_one, named_windows

if TYPE_CHECKING:
    from sqlglot import exp

_AROUND = ("where", "group", "having", "order")
_CHOOSING = {"expressions", "from_", "where", "qualify"}


def lead_latest(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A SELECT that joins the latest rows of each key, from a subquery or of WITH, with static
    relations, as SELECT … FROM (SELECT …, ROW_NUMBER() OVER (…) AS n …) AS l CROSS JOIN … WHERE
    l.n = 1 AND …; and what WITH names in its place, where it says which rows are the latest and is
    named once. Another query is as it was.

    Args:
        tree: the query, with names as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not any(map(_is_late, tree.find_all(exp.Window))):
        return tree
    made = tree.copy()
    while _put_in_place(made):
        pass
    while _merge(made):
        pass
    items = [i for i in (made.args.get("from_"), *(made.args.get("joins") or ())) if i is not None]
    for item in items:
        _flatten(item, made)
    if len(items) == 1:
        return made if _is_latest(items[0].this) else tree
    return made if _lead(made, catalog) else tree


def _is_late(window: "exp.Window") -> bool:
    """Whether it numbers rows from the latest on."""
    order = window.args.get("order")
    return is_number(window) and order is not None and bool(order.expressions[0].args.get("desc"))


def _put_in_place(tree: "exp.Select") -> bool:
    """Put a SELECT of WITH that numbers rows where it is named; whether there was one."""
    from sqlglot import exp

    named = tree.args.get("with_")
    if named is None or named.args.get("recursive"):
        return False
    for cte in named.expressions:
        uses = [t for t in tree.find_all(exp.Table) if t.name.lower() == cte.alias.lower()]
        body = cte.this
        if len(uses) != 1 or not isinstance(body, exp.Select) or cte.args["alias"].columns:
            continue
        (use,) = uses
        if {k for k, v in use.args.items() if v} - {"this", "alias"}:
            continue
        if not any(_is_late(w) for w in body.find_all(exp.Window)):
            continue
        use.replace(body.copy().subquery(use.alias_or_name))
        named.set("expressions", [c for c in named.expressions if c is not cte])
        if not named.expressions:
            tree.set("with_", None)
        return True
    return False


def _merge(tree: "exp.Select") -> bool:
    """Of FROM (SELECT … FROM l JOIN … WHERE …) AS x, put what that is of in its place; whether
    there was one."""
    from sqlglot import exp

    start = tree.args.get("from_")
    outer = None if start is None else start.this
    inner = outer.this if isinstance(outer, exp.Subquery) and is_plain(outer) else None
    if outer is None or not isinstance(inner, exp.Select):
        return False
    if tree.args.get("joins") or tree.args.get("qualify"):
        return False
    if not inner.args.get("joins") or not _has(inner, "expressions", "from_", "joins", "where"):
        return False
    if any(e.find(exp.AggFunc, exp.Window, exp.Query) or e.is_star for e in inner.expressions):
        return False
    shown = [e for e in tree.expressions if not isinstance(e.unalias(), exp.Star)]
    if len(shown) < len(tree.expressions):
        return False
    named = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
    parts = [*tree.expressions, *(tree.args.get(k) for k in _AROUND)]
    columns = [c for part in parts if part is not None for c in part.find_all(exp.Column)]
    known = {"", outer.alias_or_name.lower()}
    if any(c.table.lower() not in known or c.name.lower() not in named for c in columns):
        return False
    if any(part is not None and part.find(exp.Query) for part in parts):
        return False
    for item in tree.expressions:
        if isinstance(item, exp.Column):
            item.replace(exp.alias_(item.copy(), item.name, quoted=True))
    for part in (*tree.expressions, *(tree.args.get(k) for k in _AROUND)):
        for column in [] if part is None else list(part.find_all(exp.Column)):
            of = named[column.name.lower()].copy()
            column.replace(of if isinstance(of, exp.Column) else exp.Paren(this=of))
    tree.set("from_", inner.args["from_"].copy())
    tree.set("joins", [j.copy() for j in inner.args["joins"]])
    if (where := inner.args.get("where")) is not None:
        tree.where(where.this.copy(), copy=False)
    return True


def _flatten(item: "exp.Expr", around: "exp.Select") -> None:
    """Of FROM (SELECT a FROM (SELECT a, …, ROW_NUMBER() … AS n FROM t) WHERE n = 1 AND …), in
    place, the SELECT with QUALIFY, and what else WHERE says said around it."""
    from sqlglot import exp

    outer = item.this
    select = outer.this if isinstance(outer, exp.Subquery) and is_plain(outer) else None
    if not isinstance(select, exp.Select) or not _has(select, "expressions", "from_", "where"):
        return
    start, where = select.args.get("from_"), select.args.get("where")
    inside = None if start is None else start.this
    if where is None or not isinstance(inside, exp.Subquery) or not is_plain(inside):
        return
    rows = inside.this
    if not isinstance(rows, exp.Select) or not _is_over_table(rows) or rows.args.get("qualify"):
        return
    windows = named_windows(rows)
    said = list(split_conjuncts(where.this))
    chosen = [w for c in said if (w := equals_one(c, windows)) is not None]
    rest = [c for c in said if equals_one(c, windows) is None]
    shown = _show(select, rows, windows)
    if len(chosen) != 1 or shown is None or any(c.find(exp.Window, exp.Query) for c in rest):
        return
    read = [c for condition in rest for c in condition.find_all(exp.Column)]
    hidden = _hide(shown, read, rows, windows)
    if hidden is None or (hidden and any(e.is_star for e in around.expressions)):
        return
    shown += [exp.alias_(of, name, quoted=True) for name, of in hidden.values()]
    made = rows.copy()
    made.set("expressions", shown)
    one = exp.EQ(this=chosen[0].copy(), expression=exp.Literal.number(1))
    made.set("qualify", exp.Qualify(this=one))
    outer.set("this", made)
    for condition in rest:
        moved = condition.copy()
        for column in moved.find_all(exp.Column):
            name, _ = hidden.get(column.name.lower(), (column.name, column))
            moved_to = exp.column(name, outer.alias_or_name, quoted=True)
            column.set("this", moved_to.this)
            column.set("table", moved_to.args["table"])
        around.where(moved, copy=False)


def _show(
    select: "exp.Select", rows: "exp.Select", windows: "dict[str, exp.Window]"
) -> "list[exp.Expr] | None":
    """What a SELECT shows of a subquery's columns but the numbers (None: of something else)."""
    from sqlglot import exp

    kept = [e for e in rows.expressions if e.alias.lower() not in windows]
    star = any(isinstance(e, exp.Star) for e in kept)
    named = {e.alias_or_name.lower(): e for e in kept}
    shown: list[exp.Expr] = []
    for item in select.expressions:
        column = item.unalias()
        if isinstance(column, exp.Star) and not any(column.args.values()):
            shown += [e.copy() for e in kept]
            continue
        if not isinstance(column, exp.Column) or column.is_star:
            return None
        of = named.get(column.name.lower())
        if of is None and (not star or column.name.lower() in windows):
            return None
        made = exp.column(column.this.copy()) if of is None else of.unalias().copy()
        shown.append(exp.alias_(made, item.alias_or_name, quoted=True))
    return shown


def _hide(
    shown: "list[exp.Expr]",
    read: "list[exp.Column]",
    rows: "exp.Select",
    windows: "dict[str, exp.Window]",
) -> "dict[str, tuple[str, exp.Expr]] | None":
    """Columns that are read and not shown, with the names that they get, and what they are (None:
    one is unknown, or is shown as something else)."""
    from sqlglot import exp

    all_shown = any(isinstance(e, exp.Star) for e in shown)
    names = {e.alias_or_name.lower(): e.unalias() for e in shown}
    known = {e.alias_or_name.lower(): e.unalias() for e in rows.expressions}
    star = any(isinstance(e, exp.Star) for e in rows.expressions)
    made: dict[str, tuple[str, exp.Expr]] = {}
    for column in read:
        name = column.name.lower()
        of = known.get(name)
        if name in windows or (of is None and not star):
            return None
        of = exp.column(column.this.copy()) if of is None else of
        if name in names and names[name].sql() == of.sql():
            continue
        if of is not known.get(name) and all_shown and name not in names:
            continue
        made[name] = f"{column.name} of the latest", of.copy()
    return made


def _lead(tree: "exp.Select", catalog: Catalog) -> bool:
    """Put the one subquery of latest rows first, in place; whether that is done."""
    from sqlglot import exp

    joins = tree.args.get("joins") or []
    if tree.args.get("from_") is None:
        return False
    for join in joins:
        more = {k for k, v in join.args.items() if v} - {"this", "on", "kind"}
        if more or str(join.args.get("kind") or "").upper() not in ("", "INNER", "CROSS"):
            return False
    if any(e.is_star for e in tree.expressions):
        return False
    tables = [tree.args["from_"].this, *(join.this for join in joins)]
    where = tree.args.get("where")
    trees = [where, *(join.args.get("on") for join in joins)]
    said = [
        c
        for t in trees
        if t is not None
        for c in split_conjuncts(t.this if isinstance(t, exp.Where) else t)
    ]
    latest = [t for t in tables if _is_latest(t) or _is_numbered(t, said)]
    if len(latest) != 1:
        return False
    (first,) = latest
    others, known = [t for t in tables if t is not first], list_tables(tree, catalog).tables
    if not all(isinstance(known.get(t.alias_or_name), Relation) for t in others):
        return False
    if (qualify := first.this.args.get("qualify")) is not None:
        name = f"number of {first.alias_or_name}"
        window = equals_one(qualify.this, named_windows(first.this))
        assert window is not None
        first.this.set("qualify", None)
        first.this.append("expressions", exp.alias_(window.copy(), name, quoted=True))
        number = exp.column(name, first.alias_or_name, quoted=True)
        said.append(exp.EQ(this=number, expression=exp.Literal.number(1)))
    tree.set("from_", exp.From(this=first.copy()))
    tree.set("joins", [exp.Join(this=t.copy(), kind="CROSS") for t in others])
    tree.set("where", exp.Where(this=exp.and_(*(c.copy() for c in said))))
    return True


def _is_latest(item: "exp.Expr") -> bool:
    """Whether it is a subquery of the latest rows of a table, which QUALIFY alone chooses."""
    select = _rows_of(item)
    qualify = None if select is None else select.args.get("qualify")
    if select is None or qualify is None:
        return False
    windows = named_windows(select)
    window = equals_one(qualify.this, windows)
    return window is not None and _is_late(window) and not windows


def _is_numbered(item: "exp.Expr", said: "list[exp.Expr]") -> bool:
    """Whether it is a subquery of the rows of a table and their numbers, and these are said to be
    1."""
    from sqlglot import exp

    select = _rows_of(item)
    if select is None or select.args.get("qualify") is not None:
        return False
    windows = {n: w for n, w in named_windows(select).items() if _is_late(w)}
    own = item.alias_or_name.lower()
    return any(
        isinstance(c.unnest().this, exp.Column)
        and c.unnest().this.table.lower() in ("", own)
        and equals_one(c, windows) is not None
        for c in said
    )


def _rows_of(item: "exp.Expr") -> "exp.Select | None":
    from sqlglot import exp

    inner = item.this if isinstance(item, exp.Subquery) and is_plain(item) else None
    return inner if isinstance(inner, exp.Select) and _is_over_table(inner) else None


def _is_over_table(select: "exp.Select") -> bool:
    from sqlglot import exp

    start = select.args.get("from_")
    plain = start is not None and isinstance(start.this, exp.Table)
    return plain and _has(select, *_CHOOSING)


def _has(select: "exp.Select", *keys: str) -> bool:
    return not {k for k, v in select.args.items() if v} - {*keys}

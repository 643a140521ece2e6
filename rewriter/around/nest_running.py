"""HAVING of groups of all rows so far, which come and go, as a condition around them."""

from typing import TYPE_CHECKING

from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp

_READ = {"expressions", "from_", "where", "group", "having", "qualify", "order", "limit", "offset"}
_GROUPS = "groups so far"


def nest_running(tree: "exp.Query") -> "exp.Query":
    """`SELECT k, AVG(x) … FROM s GROUP BY k HAVING AVG(x) > 3` as `SELECT k, v … FROM (SELECT k,
    AVG(x) AS v FROM s GROUP BY k) WHERE v > 3`, of one table and columns of it, without a window;
    another query as it is.

    Args:
        tree: the query, whose names are as they were written.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or {k for k, v in tree.args.items() if v} - _READ:
        return tree
    group, having, start = (tree.args.get(n) for n in ("group", "having", "from_"))
    if group is None or having is None or start is None or has_now(tree):
        return tree
    keys = list(group.expressions)
    plain = all(isinstance(k, exp.Column) for k in keys) and len(group.args) == 1
    named = all(e.alias_or_name and not e.is_star for e in tree.expressions)
    if not (plain and keys and named and isinstance(start.this, exp.Table)):
        return tree
    return _nest(tree, keys) or tree


def _nest(tree: "exp.Select", keys: "list[exp.Expr]") -> "exp.Select | None":
    """The query around its groups (None: it reads other columns)."""
    from sqlglot import exp

    names: dict[exp.Expr, str] = {}
    given = {e.alias.lower(): e.unalias() for e in tree.expressions if e.alias}
    known = {k.name.lower() for k in keys}

    def write(part: "exp.Expr", *, opens: bool) -> "exp.Expr | None":
        """What reads the groups' columns in the place of keys and aggregates; `opens`: names that
        SELECT gives are what they stand for."""
        holder = exp.Paren(this=part.copy())
        for column in list(holder.find_all(exp.Column)) if opens else ():
            name = column.name.lower()
            if not column.table and name in given and name not in known:
                column.replace(exp.paren(given[name].copy()))
        for call in list(holder.find_all(exp.AggFunc, exp.Filter)):
            window = isinstance(call.parent, exp.Window) and call.arg_key == "this"
            if not window and call.find_ancestor(exp.AggFunc, exp.Filter) is None:
                name = names.setdefault(call.copy(), f"value {len(names)}")
                call.replace(exp.column(name, _GROUPS, quoted=True))
        for column in list(holder.find_all(exp.Column)):
            if column.table == _GROUPS:
                continue
            place = next((n for n, k in enumerate(keys) if _is_same(k, column)), None)
            if place is None:
                return None
            column.replace(exp.column(f"key {place}", _GROUPS, quoted=True))
        made: exp.Expr = holder.this
        return made.pop()

    outer = exp.Select()
    for item in tree.expressions:
        shown = write(item.unalias(), opens=False)
        if shown is None:
            return None
        outer.append("expressions", exp.alias_(shown, item.alias_or_name, quoted=True))
    condition = write(tree.args["having"].this, opens=True)
    if condition is None:
        return None
    outer.where(condition, copy=False)
    for name in ("qualify", "order", "limit", "offset"):
        held = tree.args.get(name)
        if held is None:
            continue
        read = held.copy() if name in ("limit", "offset") else write(held, opens=True)
        if read is None:
            return None
        outer.set(name, read)
    inner = tree.copy()
    for name in ("having", "qualify", "order", "limit", "offset"):
        inner.set(name, None)
    items = [
        *(exp.alias_(k.copy(), f"key {n}", quoted=True) for n, k in enumerate(keys)),
        *(exp.alias_(call.copy(), name, quoted=True) for call, name in names.items()),
    ]
    inner.set("expressions", items)
    alias = exp.TableAlias(this=exp.to_identifier(_GROUPS, quoted=True))
    outer.set("from_", exp.From(this=exp.Subquery(this=inner, alias=alias)))
    return outer


def _is_same(key: "exp.Expr", column: "exp.Expr") -> bool:
    """Whether both name a column; of one table each name is one."""
    return key.name.lower() == column.name.lower()

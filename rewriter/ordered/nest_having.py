"""HAVING of a first or latest value: a condition around the groups."""

from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp

_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having"}
_ALIAS = "held"


def nest_having(tree: "exp.Query", catalog: Catalog) -> None:
    """`SELECT k FROM (SELECT k, ARG_MAX(x, ts) AS v … GROUP BY k) WHERE v > 1` for `SELECT k …
    GROUP BY k HAVING ARG_MAX(x, ts) > 1`, and of ARG_MIN, in place. Beside other aggregates, or
    where HAVING says something of columns that SELECT does not show, or of subqueries, it stays, as
    it does where groups are not of columns of the tables: those of buckets of time are final, and
    their HAVING is of final rows.

    Args:
        tree: a query, with names as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    for select in list(tree.find_all(exp.Select)):
        _nest(select, catalog)


def _nest(select: "exp.Select", catalog: Catalog) -> None:
    from sqlglot import exp

    having = select.args.get("having")
    if having is None or {k for k, v in select.args.items() if v} - _CLAUSES:
        return
    latest = {i.alias_or_name for i in select.expressions if _is_latest(i.unalias())}
    calls = [c for part in (*select.expressions, having) for c in part.find_all(exp.AggFunc)]
    asked = having.find(exp.ArgMax, exp.ArgMin) is not None
    if not asked and not any(c.name in latest for c in having.find_all(exp.Column)):
        return
    plain = all(_is_latest(c) or isinstance(c, (exp.Max, exp.Min)) for c in calls)
    if not plain or having.find(exp.Query) is not None or not _is_of_columns(select, catalog):
        return
    shown = [item.alias_or_name or item.sql("spark") for item in select.expressions]
    known = {i.unalias().sql(): n for i, n in zip(select.expressions, shown, strict=True)}
    if len({n.lower() for n in shown}) < len(shown) or any(i.is_star for i in select.expressions):
        return
    items = [
        exp.alias_(item.unalias().copy(), name, quoted=True)
        for item, name in zip(select.expressions, shown, strict=True)
    ]
    condition = exp.Where(this=having.this.copy())
    for call in list(condition.find_all(exp.AggFunc)):
        name = known.setdefault(call.sql(), f"having {len(items)}")
        if name not in [item.alias for item in items]:
            items.append(exp.alias_(call.copy(), name, quoted=True))
        call.replace(exp.column(name, _ALIAS, quoted=True))
    for column in condition.find_all(exp.Column):
        if column.table == _ALIAS:
            continue
        name = known.get(column.sql()) or (column.name if column.name in shown else "")
        if not name or (column.table and column.sql() not in known):
            return
        column.replace(exp.column(name, _ALIAS, quoted=True))
    inner = exp.Select(**{k: v for k, v in select.args.items() if v and k != "having"})
    inner.set("expressions", items)
    for clause in _CLAUSES:
        select.set(clause, None)
    names = [exp.column(name, _ALIAS, quoted=True) for name in shown]
    select.set("expressions", [exp.alias_(n, n.name, quoted=True) for n in names])
    table = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(_ALIAS)))
    select.set("from_", exp.From(this=table))
    select.set("where", condition)


def _is_of_columns(select: "exp.Select", catalog: Catalog) -> bool:
    """Whether all that is grouped by is columns of tables of the catalog."""
    from sqlglot import exp

    group = select.args.get("group")
    keys = [] if group is None else group.expressions
    for key in keys:
        shown: exp.Expr | None = key
        if isinstance(key, exp.Literal) and key.is_int:
            place = int(str(key.this)) - 1
            shown = select.expressions[place] if place < len(select.expressions) else None
        elif isinstance(key, exp.Column) and not key.table:
            names = (e for e in select.expressions if e.alias.lower() == key.name.lower())
            shown = next(names, key)
        if shown is None or not isinstance(shown.unalias(), exp.Column):
            return False
    read = 1 + len(select.args.get("joins") or ())
    return bool(keys) and len(list_tables(select, catalog).tables) == read


def _is_latest(call: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(call, (exp.ArgMax, exp.ArgMin))

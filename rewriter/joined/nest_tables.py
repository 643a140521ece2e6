"""Streams of whose rows the latest of each key are asked for beside others, as subqueries."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.beside.nest_correlated import nest_lateral, nest_values
from ontoweir.rewriter.joined.number_nested import number_rows
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp


def nest_tables(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """SELECT … FROM … JOIN (SELECT … FROM s QUALIFY RANK() … = 1) AS l ON …, for

    - JOIN s AS l with NOT EXISTS (a later one of its key), l.ts = (SELECT MAX(ts) …), (l.k, l.ts)
      IN (SELECT k, MAX(ts) …), l.ts >= ALL (…) in WHERE;
    - a LEFT JOIN of s with later rows of the key, of which WHERE says that there are none;
    - a JOIN of s with the greatest time of each key;
    - LATERAL (SELECT … WHERE s.k = r.k ORDER BY ts DESC LIMIT 1), and such a subquery as a value.

    In subqueries of EXISTS and IN too. What is none of these stays as it is.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
    """
    from sqlglot import exp

    made = tree.copy()
    for select in reversed(list(made.find_all(exp.Select))):
        if select is made:
            nest_lateral(select, catalog)
            _nest_values(select, catalog)
        if select is made or isinstance(select.parent, (exp.Exists, exp.In)) or _is_of_in(select):
            _nest_partners(select)
            _nest_greatest(select)
            _nest_chosen(select, catalog)
    return made


def _is_of_in(select: "exp.Select") -> bool:
    from sqlglot import exp

    return isinstance(select.parent, exp.Subquery) and isinstance(select.parent.parent, exp.In)


def _nest_values(select: "exp.Select", catalog: Catalog) -> None:
    """Latest values that are selected, or compared in WHERE, as columns of what is joined."""
    from sqlglot import exp

    where, shown = select.args.get("where"), len(select.expressions)
    compared = [] if where is None else list(_list_compared(where.this))
    for n, value in enumerate(compared):
        select.append("expressions", exp.alias_(value.copy(), f"compared {n}", quoted=True))
    nest_values(select, catalog)
    for value, item in zip(compared, select.expressions[shown:], strict=True):
        column = item.unalias()
        if isinstance(column, exp.Column):
            value.replace(column.copy())
            (join,) = (j for j in select.args["joins"] if j.this.alias_or_name == column.table)
            join.set("side", None)  # what is compared has a value
    select.set("expressions", select.expressions[:shown])


def _list_compared(condition: "exp.Expr") -> "Iterator[exp.Expr]":
    """The subqueries that are a side of a comparison."""
    from sqlglot import exp

    for conjunct in split_conjuncts(condition):
        if isinstance(conjunct, (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
            sides = (conjunct.this, conjunct.expression)
            yield from (
                s for s in sides if isinstance(s, exp.Subquery) and s.this.args.get("limit")
            )


def _items(select: "exp.Select") -> "dict[str, exp.Table]":
    """The tables of FROM and its inner joins, by their names, in lower case."""
    from sqlglot import exp

    start, joins = select.args.get("from_"), select.args.get("joins") or ()
    items = [] if start is None else [start.this]
    items += [j.this for j in joins if not j.args.get("side")]
    return {i.alias_or_name.lower(): i for i in items if isinstance(i, exp.Table)}


def _aliases(tree: "exp.Expr") -> set[str]:
    """The tables that columns say they are of, in lower case ("": they do not say it)."""
    from sqlglot import exp

    return {c.table.lower() for c in tree.find_all(exp.Column) if not c.is_star}


def _others(select: "exp.Select", without: "list[exp.Expr]") -> set[str]:
    """The tables whose columns are read in what is said and shown, but for some of it."""
    on = [j.args["on"] for j in select.args.get("joins") or () if j.args.get("on") is not None]
    where = select.args.get("where")
    said = [c for t in [*on, *([] if where is None else [where.this])] for c in split_conjuncts(t)]
    rest = [*select.expressions, *(c for c in said if not any(c is w for w in without))]
    rest += [p for k in ("group", "having", "order") if (p := select.args.get(k)) is not None]
    starred = {"*"} if any(e.is_star for e in select.expressions) else set()
    return starred.union(*map(_aliases, rest)) if rest else starred


def _nest_partners(select: "exp.Select") -> None:
    """NOT EXISTS for a LEFT JOIN whose rows are those without a partner; in place."""
    from sqlglot import exp

    where = select.args.get("where")
    for join in list(select.args.get("joins") or ()) if where is not None else ():
        table, on = join.this, join.args.get("on")
        plain = isinstance(table, exp.Table) and on is not None and not join.args.get("method")
        if str(join.args.get("side") or "").upper() != "LEFT" or not plain:
            continue
        alias, items = table.alias_or_name.lower(), _items(select)
        mine = _aliases(on) - {alias}
        of = items.get(next(iter(mine))) if len(mine) == 1 else None
        if of is None or of.name.lower() != table.name.lower():
            continue
        compared = {c.name.lower() for c in on.find_all(exp.Column) if c.table.lower() == alias}
        plainly = all(isinstance(c, exp.Predicate) for c in split_conjuncts(on))
        missing = [
            c
            for c in split_conjuncts(select.args["where"].this)
            if isinstance(c, exp.Is)
            and isinstance(c.expression, exp.Null)
            and isinstance(c.this, exp.Column)
            and c.this.table.lower() == alias
            and c.this.name.lower() in compared
        ]
        if len(missing) != 1 or not plainly or on.find(exp.Or, exp.Is, exp.Coalesce):
            continue
        if {alias, "", "*"} & _others(select, [*missing, *split_conjuncts(on)]):
            continue
        inner = exp.select("1").from_(table.copy()).where(on.copy())
        missing[0].replace(exp.Not(this=exp.Exists(this=inner)))
        join.pop()


def _nest_greatest(select: "exp.Select") -> None:
    """(l.k, l.ts) IN (SELECT k, MAX(ts) …) for a JOIN with the greatest time of each key; in
    place."""
    from sqlglot import exp

    for join in list(select.args.get("joins") or ()):
        groups, on = join.this, join.args.get("on")
        inner = groups.this if isinstance(groups, exp.Subquery) else None
        if not isinstance(inner, exp.Select) or on is None or not inner.args.get("group"):
            continue
        if any(join.args.get(k) for k in ("side", "method", "using")):
            continue
        names = {e.alias_or_name.lower(): e.unalias() for e in inner.expressions}
        alias, pairs = groups.alias_or_name.lower(), dict[str, exp.Expr]()
        for c in split_conjuncts(on):
            sides = (c.this, c.expression) if isinstance(c, exp.EQ) else ()
            own = [s for s in sides if isinstance(s, exp.Column) and s.table.lower() == alias]
            rest = [s for s in sides if s not in own and isinstance(s, exp.Column)]
            if len(own) == 1 and len(rest) == 1:
                pairs[own[0].name.lower()] = rest[0]
        of = {c.table.lower() for c in pairs.values() if isinstance(c, exp.Column)}
        extremes = [e for e in names.values() if isinstance(e, exp.Max)]
        whole = len(pairs) == len(list(split_conjuncts(on))) and pairs.keys() == names.keys()
        if not whole or len(of) != 1 or len(extremes) != 1 or not of <= _items(select).keys():
            continue
        if {alias, "", "*"} & _others(select, list(split_conjuncts(on))):
            continue
        held = inner.copy()
        held.set("expressions", [e.copy() for e in names.values()])
        row = exp.Tuple(expressions=[pairs[n].copy() for n in names])
        join.pop()
        select.where(exp.In(this=row, query=exp.Subquery(this=held)), copy=False)


def _nest_chosen(select: "exp.Select", catalog: Catalog) -> None:
    """A subquery of the latest rows for each stream of which WHERE says that no row is later; in
    place."""
    from sqlglot import exp

    several = len(list_tables(select, catalog).tables) > 1
    for alias, table in _items(select).items():
        where = select.args.get("where")
        stream = list_tables(select, catalog).tables.get(table.alias_or_name)
        if where is None or not isinstance(stream, Stream) or stream.versions:
            continue
        said = list(split_conjuncts(where.this))
        own = [c for c in said if _is_of(c, alias, several) and c.find(exp.Query) is None]
        for chooses in [c for c in said if c.find(exp.Query) and _is_of(c, alias, several)]:
            rows = _find_rows(table, stream, chooses, [], catalog)
            rows = rows or _find_rows(table, stream, chooses, own, catalog)
            if rows is None:
                continue
            named = exp.TableAlias(this=exp.to_identifier(table.alias_or_name, quoted=True))
            table.replace(exp.Subquery(this=rows, alias=named))
            rest = [c for c in said if c is not chooses]
            select.set("where", exp.Where(this=exp.and_(*rest, copy=True)) if rest else None)
            break


def _is_of(condition: "exp.Expr", alias: str, several: bool) -> bool:
    """Whether what a condition reads of the query around it are columns of one table."""
    from sqlglot import exp

    inner = {t.alias_or_name.lower() for t in condition.find_all(exp.Table)}
    for column in condition.find_all(exp.Column):
        within = column.find_ancestor(exp.Select)
        around = condition.find_ancestor(exp.Select)
        outside = within is around
        of = column.table.lower()
        if outside and of != alias and (of or several):
            return False
        if not outside and of not in (*inner, alias, ""):
            return False
    return True


def _find_rows(
    table: "exp.Table",
    stream: Stream,
    chooses: "exp.Expr",
    own: "list[exp.Expr]",
    catalog: Catalog,
) -> "exp.Select | None":
    """The rows of a stream of which conditions hold, as numbered ones (None: they are others)."""
    from sqlglot import exp

    alias = table.alias_or_name
    names = [stream.timestamp, *(c.name for c in stream.columns)]
    shown = [exp.alias_(exp.column(n, alias, quoted=True), n, quoted=True) for n in names]
    rows = exp.Select(expressions=shown, from_=exp.From(this=table.copy()))
    rows.where(*(c.copy() for c in own), chooses.copy(), copy=False)
    return number_rows(rows, catalog)

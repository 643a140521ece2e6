"""The difference of rows in windows as a table: FROM (… EXCEPT ALL …) AS d, and joins with it.

A join is the difference of two joins: n rows beside a row of the difference, which is there
max(0, a - b) times, are n · max(0, a - b) = max(0, n · a - n · b).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.differences.count_rows import COUNT, OWN, Side, count_rows, is_plain
from ontoweir.rewriter.differences.subtract_windows import is_read, list_first
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class _Difference:
    """The subquery: where it stands among the tables, how it is called, its columns, the SELECTs
    whose rows count, and those whose rows are taken away."""

    place: int
    alias: str
    names: tuple[str, ...]
    added: "tuple[exp.Select, ...]"
    taken: "tuple[exp.Select, ...]"


def join_difference(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A SELECT of EXCEPT ALL of rows in windows, and of tables joined with it, as groups of these,
    joined with the rows of either side, by what is shown and all columns of the difference; another
    query as it is.

    Args:
        tree: the query.
        catalog: the tables.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not is_plain(tree) or not tree.args.get("from_"):
        return tree
    found = _find_difference(tree)
    if found is None:
        return tree
    scope = list_tables(tree, catalog)
    if len(scope.tables) != len(tree.args.get("joins") or ()):
        return tree
    if (counted := _count_apart(tree, found, scope)) is not None:
        return counted
    shown = [e.unalias() for e in tree.expressions]
    named = {e.name.lower() for e in shown if _is_of(e, found)}
    hidden = [n for n in found.names if n.lower() not in named]
    columns = [e.copy() for e in shown]
    columns += [exp.column(n, found.alias, quoted=True) for n in hidden]
    if any(e.find(exp.Column) is None for e in columns):
        return tree
    sides = [
        Side(_put(tree, found, select), tuple(columns), sign)
        for sign, selects in ((1, found.added), (-1, found.taken))
        for select in selects
    ]
    names = [e.alias_or_name for e in tree.expressions]
    return count_rows(sides, names, f"SUM(`{COUNT}`) > 0", f"SUM(`{COUNT}`)")


def _count_apart(tree: "exp.Select", found: _Difference, scope: Scope) -> "exp.Select | None":
    """The groups of the rows of all sides by the columns of the difference, where the others are
    equal to each of these, and nothing else is shown: how many there are of either is counted by
    itself, and no match is made (None: more is said, or the others are in no window)."""
    from sqlglot import exp

    equal: dict[str, exp.Expr] = {}
    kept: list[exp.Expr] = []
    for conjunct in _list_conditions(tree):
        columns = list(conjunct.find_all(exp.Column))
        mine = [c for c in columns if _is_of(c, found) and resolve(scope, c) is None]
        if not mine:
            kept.append(conjunct)
            continue
        if not isinstance(conjunct, exp.EQ) or len(columns) != 2 or len(mine) != 1:
            return None
        pair = {conjunct.this.unnest(), conjunct.expression.unnest()} - {mine[0]}
        if len(pair) != 1 or not isinstance(other := pair.pop(), exp.Column):
            return None
        equal.setdefault(mine[0].name.lower(), other)
    named = {n.lower(): n for n in found.names}
    shown = [e.unalias().name.lower() for e in tree.expressions if _is_of(e.unalias(), found)]
    if equal.keys() != named.keys() or len(set(shown)) < len(tree.expressions):
        return None
    order = [*shown, *(n for n in named if n not in shown)]
    places = [list(named).index(n) for n in order]
    others = _others(tree, found, kept, [equal[n] for n in order])
    if not rows_leave(others):
        return None
    sides_of = [
        Side(select, tuple(select.expressions[n].unalias() for n in places), sign)
        for sign, selects in ((1, found.added), (-1, found.taken))
        for select in selects
    ]
    sides_of.append(Side(others, tuple(equal[n] for n in order), 0, own=1))
    names = [e.alias_or_name for e in tree.expressions]
    more, there = f"SUM(`{COUNT}`)", f"SUM(`{OWN}`)"
    return count_rows(sides_of, names, f"{more} > 0 AND {there} > 0", f"{more} * {there}")


def _list_conditions(tree: "exp.Select") -> "list[exp.Expr]":
    where = tree.args.get("where")
    places = [] if where is None else [where.this]
    places += [on for j in tree.args.get("joins") or () if (on := j.args.get("on")) is not None]
    return [c.unnest() for place in places for c in split_conjuncts(place)]


def _others(
    tree: "exp.Select", found: _Difference, kept: "list[exp.Expr]", columns: "list[exp.Expr]"
) -> "exp.Select":
    """The rows of the other tables, with what is said of them alone."""
    from sqlglot import exp

    items = [tree.args["from_"].this, *(j.this for j in tree.args.get("joins") or ())]
    tables = [item.copy() for n, item in enumerate(items) if n != found.place]
    made = exp.Select(from_=exp.From(this=tables[0]) if tables else None)
    for table in tables[1:]:
        made.append("joins", exp.Join(this=table, kind="CROSS"))
    there = [exp.Not(this=exp.Is(this=c.copy(), expression=exp.Null())) for c in columns]
    made.set("where", exp.Where(this=exp.and_(*kept, *there)))
    return made


def _find_difference(tree: "exp.Select") -> _Difference | None:
    """The one subquery of the tables, if it is a difference."""
    from sqlglot import exp

    items = [tree.args["from_"].this, *(j.this for j in tree.args.get("joins") or ())]
    places = [n for n, item in enumerate(items) if not isinstance(item, exp.Table)]
    if len(places) != 1:
        return None
    item = items[places[0]]
    alias = item.args.get("alias")
    inner = item.this if isinstance(item, exp.Subquery) else None
    if not isinstance(inner, exp.Except) or not item.alias or alias.args.get("columns"):
        return None
    if any(inner.args.get(k) for k in ("distinct", "limit", "offset", "order", "with_", "by_name")):
        return None
    first, other = list_first(inner.this, chained=True), list_first(inner.expression, chained=False)
    if first is None or other is None:
        return None
    added, taken = tuple(first[0]), (*first[1], *other[0])
    names = tuple(e.alias_or_name for e in added[0].expressions)
    if not all(map(is_read, (*added, *taken))) or not all(names):
        return None
    if any(len(select.expressions) != len(names) for select in (*added, *taken)):
        return None
    return _Difference(places[0], item.alias, names, added, taken)


def _is_of(value: "exp.Expr", found: _Difference) -> bool:
    """Whether what is shown is a column of the difference itself."""
    from sqlglot import exp

    if not isinstance(value, exp.Column):
        return False
    if value.table:
        return bool(value.table.lower() == found.alias.lower())
    return value.name.lower() in {n.lower() for n in found.names}


def _put(tree: "exp.Select", found: _Difference, select: "exp.Select") -> "exp.Select":
    """The SELECT with the rows of one side in the place of the difference."""
    from sqlglot import exp

    made, inner = tree.copy(), select.copy()
    shown = [
        exp.alias_(e.unalias().copy(), n, quoted=True)
        for e, n in zip(inner.expressions, found.names, strict=True)
    ]
    inner.set("expressions", shown)
    place = made.args["from_"] if not found.place else made.args["joins"][found.place - 1]
    alias = exp.TableAlias(this=exp.to_identifier(found.alias, quoted=True))
    place.set("this", exp.Subquery(this=inner, alias=alias))
    return made

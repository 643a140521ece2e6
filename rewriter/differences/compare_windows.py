"""NOT EXISTS and EXISTS of rows in windows, beside rows in windows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.differences.count_rows import (
    COUNT,
    Side,
    count_rows,
    has_now,
    is_plain,
    rows_leave,
)
from ontoweir.rewriter.differences.name_columns import (
    is_known,
    is_once,
    is_static,
    name_tables,
    qualify,
)
from ontoweir.rewriter.differences.since_first import never_leaves, since_first
from ontoweir.rewriter.expressions.spell_constants import spell
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables

if TYPE_CHECKING:
    from sqlglot import exp


def compare_windows(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """A SELECT of rows in windows, or of static relations, beside which rows of windows are, or are
    not, as groups of these rows and of their matches with the others, by what is shown and
    compared; another query as it is.

    All rows of a group have the same others beside them, as these depend on what is compared. Where
    only equal values are compared, and no others are shown, the others themselves take the place of
    the matches. Rows of static relations hold from the first timestamp of the others' streams on,
    and what is beside them may have no window.
    """
    from sqlglot import exp

    where = tree.args.get("where")
    if where is None or not isinstance(tree, exp.Select) or not is_plain(tree, "distinct"):
        return tree
    outside = list_tables(tree, catalog)
    static = is_known(tree, outside) and is_static(outside)
    if not static and not rows_leave(tree):
        return tree
    conjuncts = list(split_conjuncts(where.this))
    found = [c for c in conjuncts if _inside(c) is not None and (static or has_now(c))]
    absent = [isinstance(c.unnest(), exp.Not) for c in found]
    if not found or absent.count(False) > 1 or (len(found) > 1 and not static):
        return tree
    if any(c.find(exp.Query) for c in conjuncts if c not in found):
        return tree
    parts = [_read_part(c, outside, catalog) for c in found]
    if not is_known(tree, outside) or any(part is None for part in parts):
        return tree
    beside = [part for part in parts if part is not None]
    streams = [t for part in beside for t in part.streams]
    if static and not streams:
        return tree
    shown = [_show(e, outside, static=static) for e in tree.expressions]
    keys = [k for part in beside for k in part.compared if k not in shown]
    if None in shown or not shown or (tree.args.get("distinct") is not None and keys):
        return tree  # a row that is shown may be of several groups
    rest = [c for c in conjuncts if c not in found]
    mine = tree.copy()
    mine.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
    name_tables(mine, outside)
    columns = tuple(dict.fromkeys(e for e in [*shown, *keys] if e is not None))
    if any(e.find(exp.Column) is None for e in columns) or None in shown:
        return tree
    others = [_find_others(mine, part, columns, outside, static=static) for part in beside]
    once, distinct = static and is_once(outside, columns), tree.args.get("distinct") is not None
    mixed = len(set(absent)) > 1
    if any(side is None for side in others) or (mixed and not (once or distinct)):
        return tree
    sides = [Side(since_first(mine, streams) if static else mine, columns, 1)]
    for side, away in zip(others, absent, strict=True):
        assert side is not None
        sides.append(replace(side, sign=2) if mixed and not away else side)
    least, most, total = (f"{f}(`{COUNT}`)" for f in ("MIN", "MAX", "SUM"))
    having = f"{least} > 0" if absent[0] else f"{least} < 1 AND {most} > 0"
    having, often = (f"{least} > 0 AND {most} > 1", least) if mixed else (having, most)
    names = [e.alias_or_name for e in tree.expressions]
    return count_rows(sides, names, having, None if distinct else often if once else total)


def _show(item: "exp.Expr", scope: Scope, *, static: bool) -> "exp.Expr | None":
    """What is selected, with the tables of its columns; beside `static` rows a constant is one of
    each of them."""
    from sqlglot import exp

    made = qualify(item.unalias(), scope)
    if made is None or not static or made.find(exp.Column) is not None:
        return made
    alias, table = next(iter(scope.tables.items()))
    return spell(made, exp.column(table.columns[0].name, alias, quoted=True))


@dataclass(frozen=True, slots=True)
class _Part:
    """A subquery of rows that are beside others, or are not: its tables, and the columns around it
    that it names."""

    inner: "exp.Select"
    scope: Scope
    compared: "tuple[exp.Expr, ...]"

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Those that it reads."""
        return tuple(t for t in self.scope.tables.values() if isinstance(t, Stream))


def _read_part(conjunct: "exp.Expr", outside: Scope, catalog: Catalog) -> _Part | None:
    """NOT EXISTS or EXISTS (None: of more than columns of declared tables)."""
    from sqlglot import exp

    inner = _inside(conjunct)
    assert inner is not None
    if any(e.find(exp.AggFunc) for e in inner.expressions):
        return None  # of no rows an aggregate is one
    if not is_plain(_bare(inner)) or inner.find(exp.Subquery, exp.Exists, exp.In):
        return None
    inside = list_tables(inner, catalog)
    if not is_known(inner, inside):
        return None
    if {a.lower() for a in outside.tables} & {a.lower() for a in inside.tables}:
        return None
    if any(isinstance(t, Stream) and t.versions for t in inside.tables.values()):
        return None
    compared = _list_compared(inner, outside, inside)
    return None if compared is None else _Part(inner, inside, tuple(compared))


def _find_others(
    mine: "exp.Select",
    part: _Part,
    columns: "tuple[exp.Expr, ...]",
    outside: Scope,
    *,
    static: bool,
) -> Side | None:
    """What is beside rows, by the columns of these; of `static` rows what matches them, as they are
    few, and others may be any number."""
    from sqlglot import exp

    inner = part.inner.copy()
    name_tables(inner, part.scope)
    name_tables(inner, outside)
    side = None if static else _others(inner, columns, outside, part.scope)
    side = side or _matches(mine, inner, columns)
    if side is None or rows_leave(side.select):
        return side
    if not part.streams:
        return None
    alias, stream = next((a, t) for a, t in part.scope.tables.items() if isinstance(t, Stream))
    time = exp.column(stream.timestamp, alias, quoted=True)
    return replace(side, select=side.select.where(never_leaves(time)))


def _inside(conjunct: "exp.Expr") -> "exp.Select | None":
    """The subquery of NOT EXISTS or EXISTS."""
    from sqlglot import exp

    inner = conjunct.unnest()
    inner = inner.this.unnest() if isinstance(inner, exp.Not) else inner
    if not isinstance(inner, exp.Exists) or not isinstance(inner.this, exp.Select):
        return None
    return inner.this


def _bare(inner: "exp.Select") -> "exp.Select":
    """The subquery without what it selects, of which nothing is asked."""
    from sqlglot import exp

    made = inner.copy()
    made.set("expressions", [exp.Literal.number(1)])
    made.set("distinct", None)
    return made


def _list_compared(inner: "exp.Select", outside: Scope, inside: Scope) -> "list[exp.Expr] | None":
    """The columns around a subquery that it names (None: what one is is not known)."""
    from sqlglot import exp

    found: dict[exp.Expr, None] = {}
    for place in _places(inner):
        for node in place.find_all(exp.Column):
            if resolve(inside, node) is not None:
                continue
            made = qualify(node, outside)
            if made is None:
                return None
            found[made] = None
    return list(found)


def _places(inner: "exp.Select") -> "list[exp.Expr]":
    """The conditions of a subquery."""
    where = inner.args.get("where")
    places = [] if where is None else [where.this]
    joins = inner.args.get("joins") or ()
    return places + [on for j in joins if (on := j.args.get("on")) is not None]


def _others(
    inner: "exp.Select", columns: "Sequence[exp.Expr]", outside: Scope, inside: Scope
) -> Side | None:
    """The rows of a subquery with what equals the columns around it, where only equal values are
    compared, and there is one for each (None: there is not)."""
    from sqlglot import exp

    equal: dict[exp.Expr, exp.Expr] = {}
    kept: list[exp.Expr] = []
    where = inner.args.get("where")
    for conjunct in [] if where is None else split_conjuncts(where.this):
        own = [resolve(inside, c) is not None for c in conjunct.find_all(exp.Column)]
        if all(own):
            kept.append(conjunct)
            continue
        one = conjunct.unnest()
        if not isinstance(one, exp.EQ):
            return None
        left, right = one.this.unnest(), one.expression.unnest()
        if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
            return None
        if resolve(inside, left) is None:
            left, right = right, left
        around, mine = qualify(right, outside), qualify(left, inside)
        if around is None or mine is None or around in equal:
            return None
        equal[around] = mine
    joins = inner.args.get("joins") or ()
    if any(
        resolve(inside, c) is None
        for j in joins
        if (on := j.args.get("on")) is not None
        for c in on.find_all(exp.Column)
    ):
        return None
    if not all(column in equal for column in columns):
        return None
    made = inner.copy()
    mine_of = tuple(equal[column] for column in columns)
    there = [exp.Not(this=exp.Is(this=c.copy(), expression=exp.Null())) for c in mine_of]
    made.set("where", exp.Where(this=exp.and_(*kept, *there)))
    return Side(made, mine_of, 0)


def _matches(mine: "exp.Select", inner: "exp.Select", columns: "Sequence[exp.Expr]") -> Side | None:
    """The matches of rows with those of a subquery."""
    from sqlglot import exp

    made, start = mine.copy(), inner.args.get("from_")
    if start is None:
        return None
    made.append("joins", exp.Join(this=start.this.copy(), kind="CROSS"))
    for join in inner.args.get("joins") or ():
        made.append("joins", join.copy())
    said = [c.copy() for key in ("where",) if (w := inner.args.get(key)) for c in [w.this]]
    if said:
        made.where(*said, copy=False)
    return Side(made, tuple(columns), 0)

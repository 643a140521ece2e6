"""What EXISTS and NOT EXISTS say of rows beside others, as sides of groups."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.mappings.sql.read_scope import Scope
from ontoweir.rewriter.differences.count_rows import Side, is_plain
from ontoweir.rewriter.differences.name_columns import is_known, name_tables, qualify
from ontoweir.rewriter.differences.since_first import never_leaves
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.latest_rows import resolve
from ontoweir.rewriter.joins.list_tables import list_tables
from ontoweir.rewriter.windows.rows_leave import rows_leave

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Part:
    """A subquery of rows that are beside others, or are not: its tables, and the columns around it
    that it names."""

    inner: "exp.Select"
    scope: Scope
    compared: "tuple[exp.Expr, ...]"

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Those that it reads."""
        return tuple(t for t in self.scope.tables.values() if isinstance(t, Stream))


def read_part(conjunct: "exp.Expr", outside: Scope, catalog: Catalog) -> Part | None:
    """NOT EXISTS or EXISTS (None: of more than columns of declared tables)."""
    from sqlglot import exp

    inner = inside_of(conjunct)
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
    return None if compared is None else Part(inner, inside, tuple(compared))


def find_others(
    mine: "exp.Select",
    part: Part,
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


def inside_of(conjunct: "exp.Expr") -> "exp.Select | None":
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

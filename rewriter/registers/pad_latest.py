"""The latest row of a stream beside each row of static relations, as the first of rows that hold."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_scope import column_names
from ontoweir.rewriter.differences.since_first import FIRST, from_first
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.latest.take_groups import take_groups
from ontoweir.rewriter.model.aggregation import FirstRows, Numbering, Standing
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.registers.group_sides import GroupSide, group_sides, mark
from ontoweir.rewriter.registers.latest_beside import LatestBeside

if TYPE_CHECKING:
    from sqlglot import exp

_THERE = "has a row"
_HIDDEN = "of the latest: "
_KEY, _REAL, _TIME, _TOLD = (f"{_HIDDEN}{n}" for n in ("key", "there", "time", "told"))


def pad_latest(
    beside: LatestBeside, read: "Callable[[exp.Query, frozenset[int]], SpjUnion]"
) -> SpjUnion:
    """The query of the rows of relations, each with the rows of the stream that have its key: from
    the first timestamp on a row without such a one, of which the next takes the place, as any later
    one does. Of these the first in this order holds.

    Args:
        beside: the query.
        read: reads a query of which the columns at some places may be NULL.
    """
    from sqlglot import exp

    written, alias = beside.written.copy(), beside.alias
    keys, single = _list_keys(beside)
    time = exp.column(beside.stream.timestamp, alias, quoted=True)
    said = [] if (w := written.args.get("where")) is None else list(split_conjuncts(w.this))
    own = [c for c in said if not any(n.table == alias for n in c.find_all(exp.Column))]
    rest = [c for c in said if c not in own]
    hidden = [(k, f"{_KEY} {n + 1}") for n, k in enumerate(keys)]
    hidden += [(mark(_THERE), _REAL), (time, _TIME)]
    if rest:
        hidden.append((exp.case().when(exp.and_(*rest), exp.Literal.number(1)).else_("0"), _TOLD))
    grouped, shown = aggregates(written), len(written.expressions)
    written.set("where", None)
    for item, name in hidden:
        made = exp.Max(this=item.copy()) if grouped else item.copy()
        written.append("expressions", exp.alias_(made, name, quoted=True))
    distinct = written.args.get("distinct") is not None and not grouped
    kept = ("group", "having", "distinct") if grouped else ()
    union = read(
        group_sides(written, _list_sides(beside, own), beside.scope, kept),
        frozenset() if grouped else frozenset(range(shown + len(hidden))),
    )
    groups = None
    if grouped:
        assert union.aggregation is not None
        names = {a.name: a.argument for a in union.aggregation.aggregates}
        named = {n: v for _, n in hidden if (v := names[n]) is not None}
        union, _, groups = take_groups(union, _HIDDEN)
    else:
        named = dict(zip((n for _, n in hidden), union.variables[shown:], strict=False))
    first = FirstRows(
        Numbering.RANKS if single is None else Numbering.ROWS,
        1,
        ((named[_REAL], True, False), (named[_TIME], True, False)),
        single,
        told=named.get(_TOLD),
    )
    standing = Standing(
        tuple(dict.fromkeys(named[f"{_KEY} {n + 1}"] for n in range(len(keys)))),
        hidden=tuple(dict.fromkeys(named.values())) if groups is None else (),
        distinct=distinct,
        groups=groups,
        first=first,
    )
    return replace(union, standing=standing)


def _list_keys(beside: LatestBeside) -> "tuple[list[exp.Expr], tuple[str, ...] | None]":
    """The columns that tell apart of which rows one holds, and the key of the stream by which there
    is one at a time (None: there may be several)."""
    from sqlglot import exp

    keys, once = list(beside.equal.values()), True
    for alias, table in beside.scope.tables.items():
        if alias == beside.alias:
            continue
        once &= bool(table.keys)
        keys += [exp.column(c, alias, quoted=True) for c in (table.keys or ((),))[0]]
    known = {*beside.equal, beside.stream.timestamp}
    single = next((k for k in beside.stream.keys if set(k) <= known), None)
    return list(dict.fromkeys(keys)), single if once else None


def _list_sides(beside: LatestBeside, said: "list[exp.Expr]") -> list[GroupSide]:
    """The rows without one of the stream, and those with each of its key."""
    from sqlglot import exp

    alias, stream = beside.alias, beside.stream
    own = beside.own.copy()
    own.set("expressions", [exp.Literal.number(1)])
    if said:
        own.where(*(c.copy() for c in said), copy=False)
    table = exp.Table(this=exp.to_identifier(stream.name, quoted=True))
    table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    rows = own.copy()
    rows.append("joins", exp.Join(this=table, kind="CROSS"))
    equal = [
        exp.EQ(this=exp.column(n, alias, quoted=True), expression=of.copy())
        for n, of in beside.equal.items()
    ]
    rows.where(*equal, *(c.copy() for c in beside.rows), copy=False)
    time = exp.column(stream.timestamp, alias, quoted=True)
    hidden = frozenset((alias, c) for c in column_names(stream))
    first = exp.column(FIRST, FIRST, quoted=True)
    return [
        GroupSide(from_first(own, [stream]), first, hidden, {_THERE: 0}),
        GroupSide(rows, time, frozenset(), {_THERE: 1}),
    ]

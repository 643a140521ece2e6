"""The latest row of a stream beside each row of static relations, as the first of some rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.sql.read_scope import column_names
from ontoweir.rewriter.beside.latest_beside import LatestBeside
from ontoweir.rewriter.differences.since_first import FIRST, from_first, since_first
from ontoweir.rewriter.joins.find_absence import split_conjuncts
from ontoweir.rewriter.joins.is_set import aggregates
from ontoweir.rewriter.latest.take_groups import take_groups
from ontoweir.rewriter.model.aggregation import FirstRows, Numbering, Standing
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.nulls.null_places import NOWHERE, NullPlaces
from ontoweir.rewriter.registers.group_sides import GroupSide, group_sides, mark
from ontoweir.rewriter.windows.rows_leave import has_now

if TYPE_CHECKING:
    from sqlglot import exp

_THERE = "has a row"
HIDDEN = "of the latest: "
"""How the columns are called, at the beginning, that are not shown."""
KEY, THERE, TIME, _TOLD = (f"{HIDDEN}{n}" for n in ("key", "there", "time", "told"))
"""What they are: the key, with a number; whether there is a row of the stream; and its time."""


def pad_latest(
    beside: LatestBeside, read: "Callable[[exp.Query, NullPlaces], SpjUnion]"
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
    time = exp.column(beside.stream.timestamp, alias, quoted=True)
    said = [] if (w := written.args.get("where")) is None else list(split_conjuncts(w.this))
    own = [c for c in said if not _reads(c, alias) and c.find(exp.Or, exp.And) is None]
    rest = [c for c in said if c not in own]
    around = [e for k in ("group", "having") if (e := written.args.get(k)) is not None]
    keys, single = _list_keys(beside, [*written.expressions, *around, *rest])
    hidden = [(k, f"{KEY} {n + 1}") for n, k in enumerate(keys)]
    hidden += [(mark(_THERE), THERE), (time, TIME)]
    if rest:
        hidden.append((exp.case().when(exp.and_(*rest), exp.Literal.number(1)).else_("0"), _TOLD))
    grouped, shown = aggregates(written), len(written.expressions)
    written.set("where", None)
    for item, name in hidden:
        made = exp.Max(this=item.copy()) if grouped else item.copy()
        written.append("expressions", exp.alias_(made, name, quoted=True))
    distinct = written.args.get("distinct") is not None and not grouped
    kept = ("group", "having", "distinct") if grouped else ()
    places = NOWHERE if grouped else NullPlaces(shown=frozenset(range(shown + len(hidden))))
    union = read(group_sides(written, _list_sides(beside, own), beside.scope, kept), places)
    groups = None
    if grouped:
        assert union.aggregation is not None
        names = {a.name: a.argument for a in union.aggregation.aggregates}
        named = {n: v for _, n in hidden if (v := names[n]) is not None}
        union, _, groups = take_groups(union, HIDDEN)
    else:
        named = dict(zip((n for _, n in hidden), union.variables[shown:], strict=False))
    standing = stand_latest(named, len(keys), single, told=bool(rest))
    shown_all = groups is not None
    return replace(
        union,
        standing=replace(
            standing,
            hidden=() if shown_all else standing.hidden,
            distinct=distinct,
            groups=groups,
        ),
    )


def stand_latest(
    named: Mapping[str, str], size: int, single: tuple[str, ...] | None, *, told: bool
) -> Standing:
    """Which rows hold: of each key those of the stream before others, of these the latest.

    Args:
        named: how the variables are called that are not shown.
        size: of how many columns the key is.
        single: the key of the stream by which there is one row of a key at a time (None: there may
            be several).
        told: not all of them are.
    """
    first = FirstRows(
        Numbering.RANKS,
        1,
        ((named[THERE], True, False), (named[TIME], True, False)),
        single,
        told=named[_TOLD] if told else None,
    )
    key = tuple(dict.fromkeys(named[f"{KEY} {n + 1}"] for n in range(size)))
    return Standing(key, hidden=tuple(dict.fromkeys(named.values())), first=first)


def _reads(condition: "exp.Expr", alias: str) -> bool:
    from sqlglot import exp

    return any(c.table == alias for c in condition.find_all(exp.Column))


def _list_keys(
    beside: LatestBeside, read: "Sequence[exp.Expr]"
) -> "tuple[list[exp.Expr], tuple[str, ...] | None]":
    """The columns of the relations that a query reads, and those of the key, and the key of the
    stream by which there is one row of it at a time (None: there may be several). Rows of the
    relations that are equal in all of these are one, so many times."""
    from sqlglot import exp

    named = [c.copy() for e in read for c in e.find_all(exp.Column) if c.table != beside.alias]
    known = {*beside.equal, beside.stream.timestamp}
    single = next((k for k in beside.stream.keys if set(k) <= known), None)
    return list(dict.fromkeys([*beside.equal.values(), *named])), single


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
    since = since_first if any(map(has_now, beside.rows)) else from_first
    return [
        GroupSide(since(own, [stream], beside.scope.catalog), first, hidden, {_THERE: 0}),
        GroupSide(rows, time, frozenset(), {_THERE: 1}),
    ]

"""Buckets of time in SQL: `date_trunc('hour', ts)`, `FLOOR(ts TO HOUR)`, `TUMBLE(ts, INTERVAL …)`,
`time_bucket(INTERVAL …, ts)`, `HOP(ts, INTERVAL …, INTERVAL …)`, `CUMULATE(…)`."""

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Column, DateType, Stream, TimestampType
from ontoweir.mappings.model.sliding_buckets import make_sliding
from ontoweir.mappings.model.time_bucket import (
    TimeBucket,
    slide_panes,
)
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.buckets.make_column import ENDS, is_growing, make_column
from ontoweir.rewriter.calendar.compare_buckets import compare_buckets
from ontoweir.rewriter.calendar.list_equal import list_equal
from ontoweir.rewriter.calendar.move_intervals import move_intervals
from ontoweir.rewriter.groups.find_closed_groups import list_closing
from ontoweir.rewriter.windows.group_rising import group_rising
from ontoweir.rewriter.windows.read_sql_grid import (
    is_grid,
    is_valued,
    name_value_grid,
    read_interval,
    read_offset,
    read_sql_grid,
    refuse_grid,
)
from ontoweir.rewriter.windows.read_sql_time import read_sql_time

if TYPE_CHECKING:
    from sqlglot import exp

_SLIDING = ("HOP", "HOP_START", "HOP_END", "CUMULATE", "CUMULATE_START", "CUMULATE_END")


def read_sql_buckets(
    tree: "exp.Query", catalog: Catalog
) -> "tuple[exp.Query, Catalog, tuple[tuple[str, Column], ...]]":
    """A query in which buckets of time, in SELECT, GROUP BY and HAVING, and in equations of two,
    are columns; the catalog with these columns; and the columns, with their streams.

    Raises:
        SqlRefusal: what is truncated is not a stream's timestamp; or by no known unit or width.
    """
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return _compare_parts(tree, catalog), catalog, ()
    tree = compare_buckets(move_intervals(group_rising(tree, catalog), catalog), catalog)
    found = [n for place in _places(tree) for n in place.walk() if _is_bucket(n)]
    if not found:
        return tree, catalog, ()
    scope, _, _ = read_from(tree, catalog)
    values = [n for n in found if is_valued(n) or _is_of_value(n, scope)]
    found = [n for n in found if n not in values]
    _name_values(tree, values, scope)
    streams = dict(catalog.streams)
    made: dict[tuple[str, Column], None] = {}
    for node in found:
        alias, stream, bucket = _read(node, scope)
        column = make_column(bucket)
        made[stream.name, column] = None
        known = streams[stream.name]
        if known.column(column.name) is None:
            streams[stream.name] = replace(known, columns=(*known.columns, column))
        node.replace(exp.column(column.name, alias, quoted=True))
    return _group_ends(tree), replace(catalog, streams=streams), tuple(made)


def _name_values(tree: "exp.Select", nodes: "Sequence[exp.Expr]", scope: Scope) -> None:
    """Calls on grids of times that are values as expressions of a row, in place. By the end of a
    bucket that is shown is grouped where its start is; and by the start where that says when a
    group is over."""
    from sqlglot import exp

    ends: list[exp.Add] = []
    for node in nodes:
        made = name_value_grid(node)
        node.replace(made)
        if isinstance(made, exp.Add):
            ends.append(made)
    group = tree.args.get("group")
    if group is None:
        return
    there = {e.sql(): e for e in group.expressions}
    for end in ends:
        start = end.this
        if start.sql() in there or _closes(start.expressions[0], scope):
            there |= {side.sql(): side.copy() for side in (start, end)}
    group.set("expressions", list(there.values()))


def _closes(time: "exp.Expr", scope: Scope) -> bool:
    """Whether all rows with one value of a column come within some time."""
    from sqlglot import exp

    if not isinstance(time, exp.Column):
        return False
    place = scope.resolve(time.table or None, time.name, line_of(time))
    table = scope.tables[place.alias]
    return isinstance(table, Stream) and any(
        rule.span_us is not None and rule.columns == (place.column,) for rule in list_closing(table)
    )


def _group_ends(tree: "exp.Select") -> "exp.Select":
    """Where a bucket is grouped by, its end may be selected: it is grouped by too."""
    from sqlglot import exp

    group = tree.args.get("group")
    if group is None:
        return tree
    names = {(c.table, c.name) for c in group.expressions if isinstance(c, exp.Column)}
    for item in tree.expressions:
        inner = item.unalias()
        if not isinstance(inner, exp.Column) or not inner.name.startswith(ENDS):
            continue
        if (inner.table, inner.name.removeprefix(ENDS)) in names:
            group.append("expressions", inner.copy())
    shown = {(c.table, c.name) for e in tree.expressions for c in e.find_all(exp.Column)}
    kept = [e for e in group.expressions if not _follows(e, names) or (e.table, e.name) in shown]
    group.set("expressions", kept)
    return tree


def _follows(item: "exp.Expr", names: Set[tuple[str, str]]) -> bool:
    """Whether it is the end of a bucket whose start, which tells the same, is among some columns:
    not of those that grow."""
    from sqlglot import exp

    if not isinstance(item, exp.Column) or not item.name.startswith(ENDS):
        return False
    start = item.name.removeprefix(ENDS)
    return (item.table, start) in names and not is_growing(start)


def _places(tree: "exp.Select") -> "list[exp.Expr]":
    group, having = tree.args.get("group"), tree.args.get("having")
    more = [*(() if group is None else group.expressions), *([having] if having else [])]
    return [*tree.expressions, *more, *(side for both in list_equal(tree) for side in both)]


def _compare_parts(tree: "exp.Query", catalog: Catalog) -> "exp.Query":
    """The parts of a UNION, each with what its comparisons of buckets say of timestamps."""
    from sqlglot import exp

    if isinstance(tree, exp.Select):
        return compare_buckets(move_intervals(tree, catalog), catalog)
    made = tree.copy()
    for side in ("this", "expression"):
        if isinstance(part := made.args.get(side), exp.Query):
            made.set(side, _compare_parts(part, catalog))
    return made


def _is_bucket(node: "exp.Expr") -> bool:
    from sqlglot import exp

    return is_grid(node) or (isinstance(node, exp.Anonymous) and node.name.upper() in _SLIDING)


def _is_of_value(node: "exp.Expr", scope: Scope) -> bool:
    """Whether a time is truncated that is no stream's timestamp: an expression of a row."""
    from sqlglot import exp

    if not is_grid(node):
        return False
    columns = list(node.find_all(exp.Column))
    try:
        places = [scope.resolve(c.table or None, c.name, line_of(c)) for c in columns]
    except SqlRefusal:  # said where it is read
        return False
    return bool(places) and all(
        scope.step_of(place) is None and isinstance(scope.type_of(place), DateType | TimestampType)
        for place in places
    )


def _read(node: "exp.Expr", scope: Scope) -> tuple[str, Stream, TimeBucket]:
    """The alias and the stream of a bucket, and the bucket."""
    if not is_grid(node):
        return _read_sliding(node.name.upper(), list(node.expressions), node, scope)
    read = read_sql_grid(node)
    alias, stream, behind = _stream_of(read.time, node, scope)
    return alias, stream, TimeBucket(read.grid, ends=read.ends, behind_us=behind)


def _read_sliding(
    name: str, given: "Sequence[exp.Expr]", node: "exp.Expr", scope: Scope
) -> tuple[str, Stream, TimeBucket]:
    """HOP(ts, slide, size) and CUMULATE(ts, step, size), from 1970 or from an offset."""
    if len(given) not in (3, 4):
        raise refuse_grid(node, f"{len(given)} arguments")
    alias, stream, behind = _stream_of(given[0], node, scope)
    slide, size = (read_interval(g) for g in given[1:3])
    offset = read_offset(given[3] if len(given) == 4 else None, node)
    sliding = make_sliding(slide, size, offset, grows=name.startswith("CUMULATE"))
    if sliding is None:
        raise refuse_grid(node, "no INTERVAL to slide by and of a size (of CUMULATE, a multiple)")
    return alias, stream, slide_panes(sliding, ends=name.endswith("_END"), behind_us=behind)


def _stream_of(time: "exp.Expr", node: "exp.Expr", scope: Scope) -> tuple[str, Stream, int]:
    """The alias and the stream of a timestamp, and how long before it the time is, in µs."""
    from sqlglot import exp

    found = read_sql_time(time, scope)
    if found is None and isinstance(time.unnest(), exp.AtTimeZone):
        zone = time.unnest().args["zone"]
        raise SqlRefusal(
            f"{show_sql(time)} in {show_sql(node)}",
            why="some SQLs read the time as one of that zone, others show it in the zone",
            fix=f"write date_trunc('day', ts, {show_sql(zone)}): the days of that zone, shown as "
            "the instants at which they begin",
            line=line_of(node),
        )
    if found is None:
        raise refuse_grid(node, f"{show_sql(time)} is not a stream's timestamp")
    return found

"""Times of rows in SQL: `SELECT ts`, `GROUP BY ts`, `MAX(ts)`, `MAX(ts) - MIN(ts)`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Column, Stream, TimestampType
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.windows.read_sql_grid import is_grid
from ontoweir.rewriter.windows.read_sql_time import read_sql_time

if TYPE_CHECKING:
    from sqlglot import exp


def read_sql_times(
    tree: "exp.Query", catalog: Catalog, *, counted: bool = False
) -> "tuple[exp.Query, Catalog, tuple[tuple[str, Column], ...]]":
    """A query in which the timestamps that it shows, groups by or aggregates are columns; the
    catalog with these columns; and the columns, with their streams.

    So are those that are compared with a column of times that is no timestamp of a stream, such as
    when a price is valid, or with buckets of time. Comparisons of timestamps, and COUNT of one,
    which is never NULL, stay as they are; but COUNT does not, if other parts of the query count a
    column in its place (`counted`).
    """
    from sqlglot import exp

    tree = tree.copy()
    made: dict[tuple[str, Column], None] = {}
    streams = dict(catalog.streams)
    for select in list(tree.find_all(exp.Select)):
        if isinstance(select.parent, (exp.In, exp.Exists)):
            continue
        places = [p for p in _places(select, counted=counted) if _may_be_time(p)]
        compared = [*_comparisons(select)]
        if not places and not compared:
            continue
        try:
            scope, _, _ = read_from(select.copy(), catalog)
        except SqlRefusal:  # said where it is read
            continue
        for sides in compared:
            times = [side for side in sides if _find_time(side, scope) is not None]
            if len(times) == 1 and all(s in times or _is_value(s, scope) for s in sides):
                places += times
        for place in places:
            if (found := _find_time(place, scope)) is None:
                continue
            alias, stream, behind = found
            column = make_column(TimeBucket(Moments(), behind_us=behind))
            made[stream.name, column] = None
            if streams[stream.name].column(column.name) is None:
                columns = (*streams[stream.name].columns, column)
                streams[stream.name] = replace(streams[stream.name], columns=columns)
            _replace(place, exp.column(column.name, alias, quoted=True))
    return tree, replace(catalog, streams=streams) if made else catalog, tuple(made)


def counts_times(trees: "Sequence[exp.Query]", catalog: Catalog) -> bool:
    """Whether a part of a query counts a timestamp where another one counts another column, which
    may be NULL, or is of answers in which it may."""
    from sqlglot import exp

    found = dict[int, set[bool]]()
    for tree in trees:
        calls = {n: item.unalias() for n, item in enumerate(tree.selects)}
        calls = {n: c for n, c in calls.items() if isinstance(c, exp.Count)}
        if not calls or not isinstance(tree, exp.Select):
            continue
        try:
            scope, _, _ = read_from(tree.copy(), catalog)
        except SqlRefusal:  # said where it is read
            continue
        for n, call in calls.items():
            if isinstance(call.this, exp.Column):
                found.setdefault(n, set()).add(_find_time(call.this, scope) is not None)
    return any(len(kinds) > 1 for kinds in found.values())


def _may_be_time(place: "exp.Expr") -> bool:
    """Whether it is a column, or one and an INTERVAL."""
    from sqlglot import exp

    inner = place.unnest()
    if isinstance(inner, (exp.Add, exp.Sub)):
        return isinstance(inner.expression, exp.Interval)
    return isinstance(inner, exp.Column) and not inner.is_star


def _replace(place: "exp.Expr", column: "exp.Column") -> None:
    """The column in the place of a timestamp, which keeps its name in SELECT."""
    from sqlglot import exp

    if isinstance(place.parent, exp.Select):
        name = place.name if isinstance(place, exp.Column) else place.sql("spark")
        place.replace(exp.alias_(column, name, quoted=True))
    else:
        place.replace(column)


def _places(select: "exp.Select", *, counted: bool) -> "list[exp.Expr]":
    """What SELECT shows, what it and HAVING aggregate, and what GROUP BY has."""
    from sqlglot import exp

    group, having = select.args.get("group"), select.args.get("having")
    places = [*(() if group is None else group.expressions)]
    for item in select.expressions:
        inner = item.unalias()
        if not isinstance(inner, (exp.Min, exp.Max, exp.Count)):
            places.append(inner)
    for item in (*select.expressions, *(() if having is None else (having,))):
        for call in item.find_all(exp.Min, exp.Max, exp.Count):
            argument = call.this
            if call.find_ancestor(exp.Select, exp.Window) is not select:
                continue
            if isinstance(argument, exp.Distinct):
                places += argument.expressions
            elif counted or not isinstance(call, exp.Count):
                places.append(argument)
    return places


def _comparisons(select: "exp.Select") -> "Iterator[list[exp.Expr]]":
    """The sides of comparisons of columns, and of these with buckets of time, in WHERE and ON."""
    from sqlglot import exp

    where = select.args.get("where")
    conditions = [] if where is None else [where.this]
    conditions += [on for j in select.args.get("joins") or () if (on := j.args.get("on"))]
    kinds = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
    for condition in conditions:
        for node in condition.find_all(*kinds):
            keys = (
                ("this", "low", "high") if isinstance(node, exp.Between) else ("this", "expression")
            )
            sides = [node.args[key].unnest() for key in keys]
            if all(_may_be_time(side) or _is_bucket(side) for side in sides):
                yield sides


def _is_bucket(side: "exp.Expr") -> bool:
    """Whether it is a call on a grid of time, or so much later or earlier."""
    from sqlglot import exp

    while isinstance(side, (exp.Add, exp.Sub)) and isinstance(side.expression, exp.Interval):
        side = side.this.unnest()
    return is_grid(side)


def _is_value(column: "exp.Expr", scope: Scope) -> bool:
    """Whether it has times, and is no timestamp of a stream."""
    from sqlglot import exp

    if not isinstance(column, exp.Column):
        return _is_bucket(column)
    try:
        found = scope.resolve(column.table or None, column.name, line_of(column))
    except SqlRefusal:
        return False
    return scope.step_of(found) is None and isinstance(scope.type_of(found), TimestampType)


def _find_time(place: "exp.Expr", scope: Scope) -> tuple[str, Stream, int] | None:
    """The alias and the stream whose timestamp it is, and how long before that it is, in µs."""
    try:
        return read_sql_time(place, scope)
    except SqlRefusal:  # a name that SELECT gives, or none: said where it is read
        return None

"""Times of rows in SQL: `SELECT ts`, `GROUP BY ts`, `MAX(ts)`."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Column, Stream
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import Scope, SqlRefusal
from ontoweir.mappings.sql.read_select import read_from
from ontoweir.rewriter.buckets.make_column import make_column

if TYPE_CHECKING:
    from sqlglot import exp

_TIME = make_column(TimeBucket(Moments()))


def read_sql_times(
    tree: "exp.Query", catalog: Catalog
) -> "tuple[exp.Query, Catalog, tuple[tuple[str, Column], ...]]":
    """A query in which the timestamps that it shows, groups by or aggregates are columns; the
    catalog with these columns; and the columns, with their streams.

    Comparisons of timestamps, and COUNT of one, which is never NULL, stay as they are.
    """
    from sqlglot import exp

    tree = tree.copy()
    made: dict[tuple[str, Column], None] = {}
    streams = dict(catalog.streams)
    for select in list(tree.find_all(exp.Select)):
        if isinstance(select.parent, (exp.In, exp.Exists)):
            continue
        places = [p for p in _places(select) if isinstance(p, exp.Column) and not p.is_star]
        if not places:
            continue
        try:
            scope, _, _ = read_from(select.copy(), catalog)
        except SqlRefusal:  # said where it is read
            continue
        for place in places:
            if (found := _find_time(place, scope)) is None:
                continue
            alias, stream = found
            made[stream.name, _TIME] = None
            if streams[stream.name].column(_TIME.name) is None:
                columns = (*streams[stream.name].columns, _TIME)
                streams[stream.name] = replace(streams[stream.name], columns=columns)
            _replace(place, alias)
    return tree, replace(catalog, streams=streams) if made else catalog, tuple(made)


def _replace(place: "exp.Column", alias: str) -> None:
    """The column in the place of a timestamp, which keeps its name in SELECT."""
    from sqlglot import exp

    column = exp.column(_TIME.name, alias, quoted=True)
    if isinstance(place.parent, exp.Select):
        place.replace(exp.alias_(column, place.name, quoted=True))
    else:
        place.replace(column)


def _places(select: "exp.Select") -> "list[exp.Expr]":
    """What SELECT shows or aggregates, and what GROUP BY has."""
    from sqlglot import exp

    group = select.args.get("group")
    places = [*(() if group is None else group.expressions)]
    for item in select.expressions:
        inner = item.unalias()
        if isinstance(inner, (exp.Min, exp.Max, exp.Count)):
            argument = inner.this
            if isinstance(argument, exp.Distinct):
                places += argument.expressions
            elif not isinstance(inner, exp.Count):
                places.append(argument)
        else:
            places.append(inner)
    return places


def _find_time(column: "exp.Column", scope: Scope) -> tuple[str, Stream] | None:
    """The alias and the stream whose timestamp a column is."""
    try:
        found = scope.resolve(column.table or None, column.name, line_of(column))
    except SqlRefusal:  # a name that SELECT gives, or none: said where it is read
        return None
    table = scope.tables[found.alias]
    if isinstance(table, Stream) and found.column == table.timestamp:
        return found.alias, table
    return None

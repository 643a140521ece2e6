"""Rows that hold until others end them, and these, read from SQL, as one query."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.delays.delay_rows import delay_rows
from ontoweir.rewriter.delays.hold_rows import find_delay
from ontoweir.rewriter.latest.take_groups import take_groups
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Standing
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.nulls.null_places import NOWHERE, NullPlaces
from ontoweir.rewriter.standing.make_standing import make_standing, unite_hits
from ontoweir.rewriter.standing.standing_rows import KEY, StandingRows

if TYPE_CHECKING:
    from sqlglot import exp


def unite_standing(
    ended: StandingRows,
    read: "Callable[[exp.Select, NullPlaces], SpjUnion]",
    catalog: Catalog,
) -> SpjUnion | None:
    """The query of rows that hold until others end them (None: which these are cannot be told).

    Args:
        ended: both, as SQL.
        read: reads a SELECT of which the columns at some places may be NULL.
        catalog: the tables.

    Raises:
        SqlRefusal: they are asked of the latest rows of each key, and cannot be told.
    """
    made = _unite(ended, read, catalog)
    if made is None and ended.over:
        raise SqlRefusal(
            "what is asked of the latest row of each key, beside NOW() or values of several types",
            why="which rows end others is told by their key, not when they leave a window",
            fix="leave the window out, and look at the time that is shown; or ask for the latest "
            "row of each bucket of time, PARTITION BY key, date_trunc('hour', ts)",
            line=line_of(ended.rows),
        )
    return made


def _unite(
    ended: StandingRows,
    read: "Callable[[exp.Select, NullPlaces], SpjUnion]",
    catalog: Catalog,
) -> SpjUnion | None:
    shown = len(ended.rows.selects) - ended.size
    groups = None
    if ended.groups:
        rows, key, groups = take_groups(read(ended.rows, NOWHERE), KEY)
    else:
        free = frozenset(shown + n for n in ended.free)
        rows = read(ended.rows, NullPlaces(free, frozenset(range(shown if ended.nulls else 0))))
        key = rows.variables[shown:]
    places = NullPlaces(frozenset(range(ended.size)))
    enders = unite_hits([read(kind, places) for kind in ended.enders])
    delay = find_delay(rows, catalog)
    if enders is None or delay is None or delay != find_delay(enders, catalog):
        return None  # a row that is not yet there may be ended
    if delay:
        rows = delay_rows(rows, extend_catalog(catalog, rows), always=True)
        known = extend_catalog(extend_catalog(catalog, rows), enders)
        enders = delay_rows(enders, known, always=True)
        key = tuple(k for k in key if k in rows.variables)
    if len(key) != ended.size:
        return None
    how = Standing(
        key,
        inclusive=ended.inclusive,
        replaced=ended.replaced,
        nulls=ended.nulls,
        hidden=key,
        distinct=ended.distinct,
        groups=groups,
        ever=ended.ever,
    )
    return make_standing(rows, enders, how, extend_catalog(catalog, rows))

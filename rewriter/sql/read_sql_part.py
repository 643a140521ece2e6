"""SQL without subqueries, and several such queries as one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog, Column
from ontoweir.mappings.model.expression import Expression
from ontoweir.mappings.sql.read_select import SelectUnion, read_select_tree
from ontoweir.mappings.sql_expressions.derive_query_columns import derive_query_columns
from ontoweir.rewriter.aggregates.read_group_row import GroupTrees
from ontoweir.rewriter.aggregates.read_sql_aggregation import read_sql_aggregation
from ontoweir.rewriter.calendar.imply_lags import imply_lags
from ontoweir.rewriter.groups.expand_covariances import expand_covariances
from ontoweir.rewriter.groups.expand_variances import expand_variances
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.spj import Block, SpjQuery
from ontoweir.rewriter.nulls.list_hidden import list_hidden
from ontoweir.rewriter.nulls.list_nullable import list_nullable
from ontoweir.rewriter.nulls.make_disjuncts import make_disjuncts
from ontoweir.rewriter.nulls.null_places import NullPlaces
from ontoweir.rewriter.sessions.read_sessions import take_session
from ontoweir.rewriter.sql.read_sql_buckets import read_sql_buckets
from ontoweir.rewriter.versions.meet_tables import meet_tables
from ontoweir.rewriter.windows.level_windows import level_windows
from ontoweir.rewriter.windows.read_sql_times import read_sql_times
from ontoweir.rewriter.windows.read_sql_windows import read_sql_windows
from ontoweir.rewriter.windows.read_window_tables import read_window_tables

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class SqlPart:
    """SQL without subqueries, as it is read; `catalog`: with `buckets` and `derived` columns, by
    their tables; `meetings`: rows that meet versions; the rest, as a SpjUnion has it."""

    catalog: Catalog
    union: SelectUnion
    disjuncts: tuple[SpjQuery, ...]
    aggregation: Aggregation | None
    trees: GroupTrees
    buckets: tuple[tuple[str, Column], ...]
    derived: tuple[tuple[str, Expression], ...]
    ends: tuple[str, ...]
    begins: tuple[str, ...]
    meetings: tuple[Block, ...]
    hidden: tuple[tuple[str, str], ...]


def read_sql_part(
    tree: "exp.Query",
    catalog: Catalog,
    file: str,
    counted: bool,
    *,
    keyed: int | None,
    nullable: NullPlaces,
) -> SqlPart:
    """SQL without subqueries; `counted`: see `read_sql_times`.

    Raises:
        SqlRefusal: it is outside the language, or names what is not declared.
    """
    tree, session = take_session(tree)
    tree, catalog, meetings = meet_tables(tree, catalog)
    windows = read_sql_windows(read_window_tables(tree), catalog)
    tree, catalog, buckets = read_sql_buckets(windows.tree, windows.catalog)
    tree, catalog, times = read_sql_times(tree, catalog, counted=counted)
    buckets += (*times, *windows.columns)
    tree = expand_covariances(expand_variances(tree, catalog), catalog)
    tree, catalog, derived = derive_query_columns(tree, catalog)
    tree, aggregation, trees = read_sql_aggregation(tree, catalog, file, session)
    apart = list_nullable(tree, catalog) | nullable.apart
    nulls = keyed is not None or aggregation is not None
    union = read_select_tree(tree, catalog, nulls=nulls, nullable=apart | nullable.shown)
    needed = len(union.selects[0].projections if aggregation is None else aggregation.group)
    needed = needed if keyed is None else keyed
    doubtful = replace(nullable, apart=frozenset(range(needed)) if nulls else apart)
    columns = {(table, column.name) for table, column in buckets}
    disjuncts = tuple(
        imply_lags(d, catalog)
        for s in union.selects
        for d in make_disjuncts(s, file, needed, doubtful, columns, plain=not nulls)
    )
    return SqlPart(
        catalog,
        union,
        disjuncts,
        aggregation,
        trees,
        buckets,
        derived,
        windows.ends,
        windows.begins,
        meetings,
        () if nulls else tuple(dict.fromkeys(h for s in union.selects for h in list_hidden(s))),
    )


def unite_read(parts: Sequence[SqlPart], catalog: Catalog, file: str) -> SqlPart:
    """An aggregate query whose matches are those of several queries, as one; QueryError where what
    is one column in some of them is several in others."""
    first = parts[0]
    for part in parts[1:]:
        if Aggregation.session_of(part.aggregation) != Aggregation.session_of(first.aggregation):
            raise QueryError(
                "sessions of rows that are there at their time, and of others that are later",
                why="the later ones would come when their session may be over",
                fix="write a query for each, or make sessions of times that are as late in all",
                source=Source(file, part.union.selects[0].line or 1),
            )
        if Aggregation.shape_of(part.aggregation) != Aggregation.shape_of(first.aggregation):
            raise QueryError(
                "what is one column in a part of UNION ALL, or beside an EXISTS, is two in another",
                why="the columns that are grouped and aggregated must be as many in all parts",
                fix="show each column once in every part",
                source=Source(file, part.union.selects[0].line or 1),
            )
    first, *_ = parts = [_level(part, parts) for part in parts]
    selects = tuple(select for part in parts for select in part.union.selects)
    return replace(
        first,
        catalog=catalog,
        union=replace(first.union, selects=selects),
        disjuncts=tuple(d for part in parts for d in part.disjuncts),
        buckets=tuple(dict.fromkeys(b for part in parts for b in part.buckets)),
        derived=tuple(dict.fromkeys(d for part in parts for d in part.derived)),
        meetings=tuple({b.stream.name: b for part in parts for b in part.meetings}.values()),
    )


def _level(part: SqlPart, parts: Sequence[SqlPart]) -> SqlPart:
    """A part with as many windows as the one that has the most."""
    wide = max((p.ends for p in parts), key=len), max((p.begins for p in parts), key=len)
    mine, most = (len(part.ends), len(part.begins)), (len(wide[0]), len(wide[1]))
    if mine == most:
        return part
    selects = tuple(
        replace(s, projections=level_windows(s.projections, mine, most)) for s in part.union.selects
    )
    disjuncts = (replace(d, outputs=level_windows(d.outputs, mine, most)) for d in part.disjuncts)
    union = replace(part.union, selects=selects)
    return replace(part, union=union, disjuncts=tuple(disjuncts), ends=wide[0], begins=wide[1])

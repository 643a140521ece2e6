"""What comes and goes by itself, as the one part of a join."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.expression import Field
from ontoweir.mappings.sql.read_scope import find_name
from ontoweir.rewriter.aggregates.group_latest import group_latest
from ontoweir.rewriter.aggregates.row_union import show_columns
from ontoweir.rewriter.aggregates.unite_parts import PART, unite_parts
from ontoweir.rewriter.differences.count_rows import MULTIPLICITY
from ontoweir.rewriter.groups.type_group_row import type_group_row
from ontoweir.rewriter.joined.part_rows import comes_and_goes, is_plain, open_arguments
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.joined import Joined, JoinedPart, JoinKind
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.standing.make_standing import types_of

if TYPE_CHECKING:
    from sqlglot import exp


def join_one(
    union: SpjUnion, catalog: Catalog, begun: SpjUnion | None = None, *, single: bool = False
) -> SpjUnion | None:
    """A query of rows of windows, or of groups of them, as one that joins nothing with them; one
    that joins as it is (None: its rows do not come and go by themselves, or what they show is of
    several types).

    Args:
        union: the query.
        catalog: the tables.
        begun: the row that is there from the first timestamp of a query's streams on (None: there
            is no query that has one row, whatever there is).
        single: it names one stream, once: what it reads of others' answers is there in time.
    """
    if union.joined is not None:
        return union
    if (latest := group_latest(union, catalog, begun)) is not None:
        return latest
    groups = union.aggregation
    numbered = None if groups is None else groups.numbered
    groups = None if groups is None else replace(groups, numbered=None)
    if groups is not None and not (is_plain(groups) and (groups.group or begun is not None)):
        return None
    rows = union if groups is None else open_arguments(union, groups)
    distinct = rows.distinct
    rows = replace(rows, distinct=False)
    single = single or (rows.standing is not None and rows.standing.waited)
    if not comes_and_goes(replace(rows, views=(), blocks=() if single else rows.blocks)):
        return None
    kinds = {v: types_of(rows, v, catalog) for v in rows.variables}
    if any(len(of) != 1 for of in kinds.values()):
        return None
    until, since = (tuple(f"0 {v}" for v in of) for of in (rows.ends, rows.begins))
    part = JoinedPart(rows, until=until, since=since, groups=groups)
    if groups is None:
        hidden = () if rows.standing is None else rows.standing.hidden
        shown = [v for v in rows.variables if v not in (*rows.ends, *rows.begins, *hidden)]
        pairs, row = tuple((v, f"0 {v}") for v in shown), None
    else:
        known = type_group_row(union, extend_catalog(catalog, union), terms=False)
        fields = {n: f for n, f in known.items() if isinstance(f, Field)} | dict(groups.computed)
        pairs, row = show_columns(
            [(v, f"0 {v}", fields[v].type) for v in groups.columns if v != MULTIPLICITY]
        )
    parts, unions, types = [part], [rows], [kinds]
    if groups is not None and not groups.group and begun is not None:
        until = tuple(f"1 {v}" for v in begun.ends)
        parts.append(JoinedPart(begun, kind=JoinKind.BEGUN, until=until, ever=""))
        unions.append(begun)
        types.append({v: types_of(begun, v, catalog) for v in begun.variables})
    joined = Joined(PART, tuple(parts), pairs, distinct, row, numbered)
    return unite_parts(unions, joined, types)


def open_numbered(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """Groups of windows with the first numbers, as a query that others join; another query as it
    is.

    Args:
        union: the query.
        catalog: the tables.
    """
    if union.aggregation is None or union.aggregation.numbered is None:
        return union
    return join_one(union, catalog) or union


def names_one(tree: "exp.Query", catalog: Catalog) -> bool:
    """Whether a query names one stream, once.

    Args:
        tree: the query.
        catalog: the tables.
    """
    from sqlglot import exp

    named = [find_name(t.name, catalog.streams) for t in tree.find_all(exp.Table)]
    return len([n for n in named if n is not None]) == 1

"""What comes and goes by itself, as the one part of a join."""

from dataclasses import replace

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.model.expression import Field
from ontoweir.rewriter.aggregates.row_union import show_columns
from ontoweir.rewriter.groups.type_group_row import type_group_row
from ontoweir.rewriter.joined.join_parts import PART, unite_parts
from ontoweir.rewriter.joined.part_rows import comes_and_goes, is_plain, open_arguments
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.joined import Joined, JoinedPart
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.standing.make_standing import types_of


def join_one(union: SpjUnion, catalog: Catalog) -> SpjUnion | None:
    """A query of rows of windows, or of groups of them, as one that joins nothing with them; one
    that joins as it is (None: its rows do not come and go by themselves, or what they show is of
    several types, or it has one row whatever there is).

    Args:
        union: the query.
        catalog: the tables.
    """
    if union.joined is not None:
        return union
    groups = union.aggregation
    numbered = None if groups is None else groups.numbered
    groups = None if groups is None else replace(groups, numbered=None)
    if groups is not None and not (is_plain(groups) and groups.group):
        return None
    rows = union if groups is None else open_arguments(union, groups)
    distinct = rows.distinct
    rows = replace(rows, distinct=False)
    if rows.standing is not None or not comes_and_goes(replace(rows, views=())):
        return None
    wide = extend_catalog(catalog, rows)
    kinds = {v: types_of(rows, v, wide) for v in rows.variables}
    if any(len(of) != 1 for of in kinds.values()):
        return None
    until, since = (tuple(f"0 {v}" for v in of) for of in (rows.ends, rows.begins))
    part = JoinedPart(rows, until=until, since=since, groups=groups)
    if groups is None:
        shown = [v for v in rows.variables if v not in (*rows.ends, *rows.begins)]
        pairs, row = tuple((v, f"0 {v}") for v in shown), None
    else:
        known = type_group_row(union, wide, terms=False)
        fields = {n: f for n, f in known.items() if isinstance(f, Field)} | dict(groups.computed)
        pairs, row = show_columns([(v, f"0 {v}", fields[v].type) for v in groups.columns])
    joined = Joined(PART, (part,), pairs, distinct, row, numbered)
    return unite_parts([rows], joined, [kinds])


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

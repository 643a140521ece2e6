"""The groups with the first numbers: the three busiest sensors of the last hour."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.model.aggregation import FirstRows, NumberedGroups, Numbering
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.ranked.join_chosen import join_chosen
from ontoweir.rewriter.ranked.rank_extremes import rank_extremes
from ontoweir.rewriter.ranked.read_ranked import Ranked, read_ranked
from ontoweir.rewriter.ranked.split_limit import LimitedGroups
from ontoweir.rewriter.windows.choose_emit import has_updates

if TYPE_CHECKING:
    from sqlglot import exp

HIDDEN = "of the groups: "
"""How the columns are called, at the beginning, that are not shown."""


def number_groups(
    tree: "exp.Query", catalog: Catalog, read: "Callable[[exp.Query], SpjUnion]"
) -> SpjUnion:
    """ROW_NUMBER(), RANK() or DENSE_RANK() <= n of groups that change, those of sliding windows and
    of all rows so far, by QUALIFY, around a subquery, by ORDER BY … LIMIT or by >= ALL: the groups,
    and which of their rows are told (Aggregation.numbered). Another query as it is read.

    Groups of buckets of time are final, and numbered as rows are: they are not changed.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        read: reads a query.

    Raises:
        SqlRefusal: which groups are the first is not known, or they are asked for otherwise.
    """
    tree = join_chosen(rank_extremes(tree, catalog), catalog)
    found = read_ranked(tree, catalog)
    if found is None:
        return read(tree)
    made, names = _list_values(found)
    union = read(made)
    aggregation = union.aggregation
    if aggregation is None or aggregation.numbered is not None:
        raise SqlRefusal(
            f"{show_sql(found.window)} of groups of such rows",
            why="what is numbered are groups of windows, or of all rows, each with its aggregates",
            fix="aggregate in the innermost SELECT: COUNT(*), SUM, AVG, MIN, MAX",
            line=line_of(found.window),
        )
    order = tuple(
        (names[o.this], bool(o.args.get("desc")), bool(o.args.get("nulls_first")))
        for o in found.order
    )
    keys = tuple(dict.fromkeys(names[k] for k in found.keys))
    shown = [name for name, item in found.shown if item is not None]
    if missing := [v for v in aggregation.told.row if v not in shown]:
        raise SqlRefusal(
            f"the first groups by {show_sql(found.window)}, of which {missing[0]} is not selected",
            why="they are told as changes, of groups which the grouped columns tell apart",
            fix="select what is grouped by",
            line=line_of(tree),
        )
    numbering = Numbering(_NUMBERINGS[type(found.window.this).__name__])
    known = {*keys, *(name for name, *_ in order)}
    if numbering is Numbering.ROWS and not {*aggregation.told.row} <= known:
        rest = ", ".join(v for v in aggregation.told.row if v not in known)
        raise SqlRefusal(
            f"{show_sql(found.window)} may choose among equal groups",
            why="which of them is the first, nobody could say",
            fix=f"order by {rest} too, after the other columns; or write RANK(), or FETCH FIRST … "
            "ROWS WITH TIES, which keep all of them",
            line=line_of(found.window),
        )
    number = next((name for name, item in found.shown if item is None), None)
    first = FirstRows(
        numbering,
        found.limit,
        order,
        None,
        number if number is not None or found.least == 1 else f"{HIDDEN}number",
        found.least,
        names.get(found.told) if found.told is not None else None,
    )
    columns = tuple(name for name, _ in found.shown)
    numbered = NumberedGroups(keys, first, columns)
    return replace(union, aggregation=replace(aggregation, numbered=numbered))


_NUMBERINGS = {"RowNumber": "ROW_NUMBER", "Rank": "RANK", "DenseRank": "DENSE_RANK"}


def _list_values(found: Ranked) -> "tuple[exp.Select, dict[exp.Expr, str]]":
    """The groups, with all by which they are numbered, and how each value is called."""
    from sqlglot import exp

    items: list[exp.Expr] = []
    names: dict[exp.Expr, str] = {}
    for name, item in found.shown:
        if item is not None:
            items.append(exp.alias_(item.copy(), name, quoted=True))
            names.setdefault(item, name)
    asked = [*found.keys, *(o.this for o in found.order)]
    for value in [*asked, *([] if found.told is None else [found.told])]:
        if value not in names:
            names[value] = f"{HIDDEN}{len(names)}"
            items.append(exp.alias_(value.copy(), names[value], quoted=True))
    made = found.groups.copy()
    made.set("expressions", items)
    return made, names


def limit_groups(union: SpjUnion, asked: LimitedGroups) -> SpjUnion | None:
    """The groups of a query that have the first numbers in an order (None: it has no groups, or not
    such that change, or is ordered by what it does not show).

    Args:
        union: the query of all groups.
        asked: which; what has no value comes before all that have, as SPARQL says.

    Raises:
        QueryError: which groups are the first is not known.
    """
    made = union.aggregation
    names = [name for name, _ in asked.order]
    if made is None or made.numbered is not None or not has_updates(union):
        return None
    if not {*names, *made.told.row} <= {*made.told.columns}:
        return None
    if rest := [v for v in made.told.row if v not in names]:
        raise QueryError(
            f"ORDER BY {' '.join('?' + n for n in names)} LIMIT may choose among equal groups",
            why="which of them is the first, nobody could say",
            fix=f"order by {' '.join('?' + v for v in rest)} too, after the others",
            source=None if union.source is None else replace(union.source, line=asked.line),
        )
    order = tuple((name, falls, not falls) for name, falls in asked.order)
    first = FirstRows(Numbering.ROWS, asked.limit, order, least=asked.least)
    if asked.least > 1:
        first = replace(first, number=f"{HIDDEN}number")
    numbered = NumberedGroups((), first, made.told.columns)
    return replace(union, aggregation=replace(made, numbered=numbered))

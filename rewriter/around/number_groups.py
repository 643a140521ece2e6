"""The groups, and rows, with the first numbers: the three busiest sensors of the last hour."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.sql.read_literal import line_of
from ontoweir.mappings.sql.read_scope import SqlRefusal, SqlUnitsDiffer
from ontoweir.mappings.sql.show_sql import show_sql
from ontoweir.rewriter.around.join_one import join_one, names_one
from ontoweir.rewriter.around.join_totals import join_totals
from ontoweir.rewriter.around.rank_having import rank_having
from ontoweir.rewriter.around.tells_apart import tells_apart
from ontoweir.rewriter.differences.count_rows import MULTIPLICITY
from ontoweir.rewriter.model.aggregation import Aggregation, FirstRows, NumberedGroups, Numbering
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.ranked.join_chosen import join_chosen
from ontoweir.rewriter.ranked.open_with import open_with
from ontoweir.rewriter.ranked.rank_extremes import rank_extremes
from ontoweir.rewriter.ranked.read_ranked import Ranked, read_ranked
from ontoweir.rewriter.ranked.split_limit import LimitedGroups
from ontoweir.rewriter.ties.note_ties import note_ties, show_order
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
    and which of their rows are told (Aggregation.numbered); and of rows that come and go by
    themselves, joined (Joined.numbered). Another query as it is read.

    Groups of buckets of time are final, and numbered as rows are: they are not changed.

    Args:
        tree: the query, whose names are as they were written.
        catalog: the tables.
        read: reads a query.

    Raises:
        SqlRefusal: they are asked for otherwise.
    """
    tree = join_chosen(rank_extremes(_nest_limit(tree), catalog), catalog)
    try:
        found = read_ranked(tree, catalog)
    except SqlRefusal:
        if (whole := join_totals(open_with(tree))) == tree:
            raise
        with suppress(SqlRefusal, QueryError):  # what is said of the whole names what was written
            return number_groups(whole, catalog, read)
        raise
    if found is not None:
        made, names = _list_values(found)
        union = read(made)
        if union.joined is None and _hides_groups(found, union):
            union = join_one(union, catalog) or union
        return _number(found, names, union, tree, catalog)
    try:
        return read(tree)
    except SqlUnitsDiffer:
        raise  # it is read again, in steps that all streams have in common
    except (SqlRefusal, QueryError):
        rows = _find_rows(tree, catalog, read)
        if rows is None and (ranked := rank_having(tree)) is not None:
            with suppress(SqlRefusal, QueryError):  # what is said of the whole names what is there
                return number_groups(ranked, catalog, read)
        if rows is None:
            raise
    return _number(*rows, tree, catalog)


def _nest_limit(tree: "exp.Query") -> "exp.Query":
    """ORDER BY … LIMIT of a UNION, as one of a SELECT around it."""
    from sqlglot import exp

    named = isinstance(tree, exp.SetOperation) and all(e.alias_or_name for e in tree.selects)
    if not named or not tree.args.get("limit") or not tree.args.get("order"):
        return tree
    inner, alias = tree.copy(), exp.to_identifier("united rows", quoted=True)
    names = [e.alias_or_name for e in tree.selects]
    outer = exp.Select(expressions=[exp.column(name, quoted=True) for name in names])
    for name in ("order", "limit", "offset", "with_"):
        outer.set(name, inner.args.get(name))
        inner.set(name, None)
    rows = exp.Subquery(this=inner, alias=exp.TableAlias(this=alias))
    outer.set("from_", exp.From(this=rows))
    return outer


def _find_rows(
    tree: "exp.Query", catalog: Catalog, read: "Callable[[exp.Query], SpjUnion]"
) -> "tuple[Ranked, dict[exp.Expr, str], SpjUnion] | None":
    """How rows of windows, or what is joined, are numbered, and the query of all of these (None: it
    is something else, of which what is said of the whole names what was written)."""
    found, one = None, None
    with suppress(SqlRefusal, QueryError):
        found = read_ranked(tree, catalog, rows=True)
    if found is None:
        return None
    made, names = _list_values(found)
    with suppress(SqlRefusal, QueryError):
        one = join_one(read(made), catalog, single=names_one(made, catalog))
    if one is None or (one.joined is not None and one.joined.numbered is not None):
        return None
    return found, names, one


def _number(
    found: Ranked,
    names: "dict[exp.Expr, str]",
    union: SpjUnion,
    tree: "exp.Query",
    catalog: Catalog,
) -> SpjUnion:
    """Those of a query's groups, or of what it joins, that are told; `names`: of values."""
    groups = _groups_of(union)
    if union.joined is None and (groups is None or groups.numbered is not None):
        raise SqlRefusal(
            f"{show_sql(found.window)} of groups of such rows",
            why="what is numbered are groups of windows, or of all rows, each with its aggregates",
            fix="aggregate in the innermost SELECT: COUNT(*), SUM, AVG, MIN, MAX",
            line=line_of(found.window),
        )
    order = tuple(
        (names[o.this.unnest()], bool(o.args.get("desc")), bool(o.args.get("nulls_first")))
        for o in found.order
    )
    keys = tuple(dict.fromkeys(names[k.unnest()] for k in found.keys))
    shown = [name for name, item in found.shown if item is not None]
    own = shown if groups is None else groups.told.row  # what tells rows apart
    if missing := [v for v in own if v not in shown]:
        hidden = {name: show_sql(value) for value, name in names.items()}
        of = hidden.get(missing[0], missing[0])
        raise SqlRefusal(
            f"the first groups by {show_sql(found.window)}, of which {of} is not selected",
            why="they are told as changes, of groups which the grouped columns tell apart",
            fix="select what is grouped by",
            line=line_of(tree),
        )
    numbering = Numbering(_NUMBERINGS[type(found.window.this).__name__])
    known = {*keys, *(name for name, *_ in order)}
    apart = {*own} <= known or (groups is None and tells_apart(union.joined, known, catalog))
    if numbering is Numbering.ROWS and not apart:
        rest = [v for v in own if v not in known]
        order += tuple((v, False, True) for v in rest)
        hidden = {name: show_sql(value) for value, name in names.items()}
        said = show_order(found.window.args["order"])
        union = note_ties(union, said, [hidden.get(v, v) for v in rest])
    number = next((name for name, item in found.shown if item is None), None)
    first = FirstRows(
        numbering,
        found.limit,
        order,
        None,
        number if number is not None or found.least == 1 else f"{HIDDEN}number",
        found.least,
        names[found.told.unnest()] if found.told is not None else None,
    )
    columns = tuple(name for name, _ in found.shown)
    return _tell(union, NumberedGroups(keys, first, columns))


def _hides_groups(found: Ranked, union: SpjUnion) -> bool:
    """Whether what tells groups apart is not shown."""
    groups, shown = union.aggregation, {name for name, _ in found.shown}
    return groups is not None and not {*groups.told.row} <= shown


def _groups_of(union: SpjUnion) -> Aggregation | None:
    """The groups that are told (None: they are rows)."""
    if union.joined is None:
        return union.aggregation
    return None if union.joined.row is None else union.joined.row.groups


def _tell(union: SpjUnion, numbered: NumberedGroups) -> SpjUnion:
    """Those of a query's groups, or of what it joins, that are told."""
    if union.joined is not None:
        return replace(union, joined=replace(union.joined, numbered=numbered))
    assert union.aggregation is not None
    return replace(union, aggregation=replace(union.aggregation, numbered=numbered))


_NUMBERINGS = {"RowNumber": "ROW_NUMBER", "Rank": "RANK", "DenseRank": "DENSE_RANK"}


def _list_values(found: Ranked) -> "tuple[exp.Select, dict[exp.Expr, str]]":
    """The groups, with all by which they are numbered, and how each value is called."""
    from sqlglot import exp

    items: list[exp.Expr] = []
    names: dict[exp.Expr, str] = {}
    for name, item in found.shown:
        if item is not None:
            items.append(exp.alias_(item.copy(), name, quoted=True))
            names.setdefault(item.unnest(), name)
    made = found.groups.copy()
    asked = [*found.keys, *(o.this for o in found.order)]
    asked += [] if found.told is None else [found.told]
    whole = [e.unalias() for e in made.expressions] if made.args.get("distinct") else []
    for value in [v.unnest() for v in (*whole, *asked)]:
        if value in names:
            continue
        if whole and len(items) >= len(whole):
            raise SqlRefusal(
                f"DISTINCT rows that do not show {show_sql(value)}, by which they are numbered",
                why="rows that are equal in what is shown may have several of its values",
                fix="select it too; or GROUP BY what is shown, and order by an aggregate",
                line=line_of(found.window),
            )
        names[value] = f"{HIDDEN}{len(names)}"
        items.append(exp.alias_(value.copy(), names[value], quoted=True))
    made.set("expressions", items)
    return made, names


def limit_groups(union: SpjUnion, asked: LimitedGroups, catalog: Catalog) -> SpjUnion | None:
    """The groups of a query, or what it joins, with the first numbers in an order (None: it has no
    groups, or not such that change, and joins nothing, or is ordered by what it does not show).

    Args:
        union: the query of all groups.
        asked: which; what has no value comes before all that have, as SPARQL says.
        catalog: the tables.

    Groups that are equal in the order follow each other by what tells them apart.
    """
    if union.aggregation is None or MULTIPLICITY in union.aggregation.columns:
        one = join_one(union, catalog)  # rows, which groups may say how often they are
        if one is None:
            return None
        union = one
    made, joined = _groups_of(union), union.joined
    names = [name for name, _ in asked.order]
    if joined is None and (made is None or made.numbered is not None or not has_updates(union)):
        return None
    if joined is not None and joined.numbered is not None:
        return None
    columns = joined.told if joined is not None else made.told.columns if made is not None else ()
    own = columns if made is None else made.told.row
    if not {*names, *own} <= {*columns}:
        return None
    order = tuple((name, falls, not falls) for name, falls in asked.order)
    if rest := [v for v in own if v not in names]:
        order += tuple((v, False, True) for v in rest)
        said = " ".join(f"DESC(?{n})" if falls else f"?{n}" for n, falls in asked.order)
        union = note_ties(union, f"ORDER BY {said}", ["?" + v for v in rest])
    first = FirstRows(Numbering.ROWS, asked.limit, order, least=asked.least)
    if asked.least > 1:
        first = replace(first, number=f"{HIDDEN}number")
    return _tell(union, NumberedGroups((), first, tuple(columns)))

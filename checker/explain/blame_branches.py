"""Of a query over views: without which of their branches it would be bounded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ontoweir.diagnostics import Label, Reason
from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.rewriter.model.spj import SpjQuery, SpjUnion, View, ViewBranch
from ontoweir.rewriter.views.moments import is_moments
from ontoweir.rewriter.views.redeclare_views import redeclare_views

_NAMED = 3
"""Of more mappings to blame, so many are named."""


def blame_branches(
    query: SpjQuery, union: SpjUnion, catalog: Catalog, holds: Callable[[Catalog], bool]
) -> Iterator[Reason]:
    """The mappings without which a disjunct that has no plan would have one: each that alone is to
    blame; else all together that have no plan each.

    Args:
        query: the disjunct.
        union: the query, with its views.
        catalog: the tables, the views among them.
        holds: whether the disjunct is bounded over a catalog.
    """
    known: dict[Stream | Relation, bool] = {}  # of many branches much the same is declared
    for view in union.views:
        if not any(o.table == view.name for o in query.occurrences):
            continue
        if is_moments(view) or len(view.branches) < 2:
            continue
        yield from _blame_view(view, lambda v: _holds(_declare(v, catalog), v.name, holds, known))


def _holds(
    catalog: Catalog,
    name: str,
    holds: Callable[[Catalog], bool],
    known: dict[Stream | Relation, bool],
) -> bool:
    """Whether a disjunct is bounded over a catalog, if that is not known of one that declares the
    same of the view, wherever that is written."""
    table = _forget_places(catalog.table(name))
    found = known.get(table)
    if found is None:
        found = known[table] = holds(catalog)
    return found


def _forget_places(table: Stream | Relation) -> Stream | Relation:
    columns = tuple(replace(column, source=None) for column in table.columns)
    return replace(table, source=None, columns=columns)


def _blame_view(view: View, holds: Callable[[View], bool]) -> Iterator[Reason]:
    everyone = range(len(view.branches))

    def holds_with(kept: Sequence[int]) -> bool:
        return holds(replace(view, branches=tuple(view.branches[n] for n in kept)))

    def holds_without(left_out: Sequence[int]) -> bool:
        return holds_with([n for n in everyone if n not in left_out])

    alone = _find_single(everyone, holds_without)
    for number in alone:
        yield _blame([view.branches[number]])
    if alone:
        return
    bad = _find_single(everyone, lambda group: not holds_with(group))
    if 0 < len(bad) < len(everyone) and holds_without(bad):
        yield _blame([view.branches[number] for number in bad])


def _find_single(everyone: Sequence[int], holds: Callable[[Sequence[int]], bool]) -> list[int]:
    """The numbers of which a condition holds, which holds of every group that has one of them: by
    halves, so that few groups are asked for."""
    found = []
    groups = [everyone]
    while groups:
        group = groups.pop()
        if len(group) < len(everyone) and not holds(group):
            continue
        if len(group) == 1:
            found.append(group[0])
            continue
        middle = len(group) // 2
        groups += [group[middle:], group[:middle]]
    return found


def _blame(branches: Sequence[ViewBranch]) -> Reason:
    origins = list(dict.fromkeys(branch.provenance[0][1] for branch in branches))
    names = [origin.shown for origin in origins]
    label = None
    if origins[0].mapping_source is not None:
        what = "only it is to blame" if len(origins) == 1 else "to blame, with others"
        label = Label("mapping", origins[0].mapping_source, what, names[0])
    shown = names[0]
    if len(names) > 1:
        more = len(names) - _NAMED
        listed = names[:_NAMED] + ([f"{more} more"] if more > 0 else [])
        shown = f"s {', '.join(listed[:-1])} and {listed[-1]}"
    else:
        shown = f" {shown}"
    return Reason(f"without the mapping{shown} the query would be bounded", label)


def _declare(view: View, catalog: Catalog) -> Catalog:
    (changed,) = redeclare_views(SpjUnion("", (), (), False, views=(view,)), catalog).views
    pairs = zip(changed.table.columns, view.table.columns, strict=True)
    names = {own.name: given.name for own, given in pairs}  # as the query has them
    columns = tuple(replace(c, name=names[c.name]) for c in changed.table.columns)
    there = {c.name for c in columns}
    computed = (c for c in catalog.table(view.name).columns if c.bucket or c.expression)
    columns += tuple(c for c in computed if c.name not in there)
    match changed.table:
        case Relation() as table:
            table = replace(table, columns=columns, keys=view.table.keys)
            return replace(catalog, relations={**catalog.relations, view.name: table})
        case Stream() as stream:
            references = (
                replace(r, columns=tuple(names[c] for c in r.columns)) for r in stream.references
            )
            lags = (replace(g, columns=tuple(names[c] for c in g.columns)) for g in stream.lags)
            stream = replace(
                stream,
                timestamp=view.timestamp or stream.timestamp,
                columns=columns,
                keys=view.table.keys,
                references=tuple(references),
                lags=tuple(lags),
            )
            return replace(catalog, streams={**catalog.streams, view.name: stream})

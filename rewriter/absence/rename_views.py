"""A query whose views have names of their own."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from itertools import count

from ontoweir.mappings.model.catalog import Stream
from ontoweir.rewriter.model.spj import Occurrence, SpjUnion, View, ViewBranch


def rename_views(union: SpjUnion, taken: Container[str]) -> SpjUnion:
    """The query with other names for its views, as queries that were unfolded one by one give
    theirs the same ones.

    Args:
        union: a query that reads no answers of others.
        taken: the names that there are already.
    """
    return _put_names(union, [view.name for view in union.views], taken)


def part_views(unions: Sequence[SpjUnion]) -> tuple[SpjUnion, ...]:
    """Queries whose views of one name are the same: those of a later one that differ from a view
    before have other names, so that all are parts of one query."""
    known: dict[str, View] = {}
    parted = list[SpjUnion]()
    for union in unions:
        differing = {v.name for v in union.views if known.get(v.name, v) != v}
        while more := {
            v.name
            for v in union.views
            if v.name in known and v.name not in differing and not differing.isdisjoint(v.tables)
        }:  # made of views that are called otherwise
            differing |= more
        if differing:
            taken = {
                *known,
                *(v.name for v in union.views),
                *(t for v in union.views for t in v.tables),
            }
            union = _put_names(union, sorted(differing), taken)
        known |= {v.name: v for v in union.views}
        parted.append(union)
    return tuple(parted)


def _put_names(union: SpjUnion, names_of: Sequence[str], taken: Container[str]) -> SpjUnion:
    names: dict[str, str] = {}
    for name in names_of:
        free = (n for k in count(1) if (n := f"{name}_{k}") not in taken)
        names[name] = next(n for n in free if n not in names.values())

    def put(name: str) -> str:
        return names.get(name, name)

    return replace(
        union,
        views=tuple(_rename(view, names) for view in union.views),
        disjuncts=tuple(
            replace(q, occurrences=_rename_read(q.occurrences, names)) for q in union.disjuncts
        ),
        buckets=tuple((put(table), column) for table, column in union.buckets),
        derived=tuple((put(table), made) for table, made in union.derived),
        hidden=tuple((put(table), column) for table, column in union.hidden),
    )


def _rename(view: View, names: Mapping[str, str]) -> View:
    table = replace(view.table, name=names.get(view.name, view.name))
    references = tuple(
        replace(r, relation=names.get(r.relation, r.relation)) for r in table.references
    )
    table = replace(table, references=references)
    if isinstance(table, Stream):
        lags = tuple(replace(lag, behind=names.get(lag.behind, lag.behind)) for lag in table.lags)
        table = replace(table, lags=lags)
    return replace(
        view,
        table=table,
        branches=tuple(_rename_branch(b, names) for b in view.branches),
        without=tuple(_rename_branch(b, names) for b in view.without),
    )


def _rename_branch(branch: ViewBranch, names: Mapping[str, str]) -> ViewBranch:
    return replace(branch, occurrences=_rename_read(branch.occurrences, names))


def _rename_read(read: tuple[Occurrence, ...], names: Mapping[str, str]) -> tuple[Occurrence, ...]:
    return tuple(replace(o, table=names.get(o.table, o.table)) for o in read)

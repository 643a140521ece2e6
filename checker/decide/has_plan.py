"""Whether a query is bounded, and nothing else of its verdict: what repairs ask again and again."""

from collections.abc import Iterator, Sequence

from ontoweir.checker.decide.check_disjuncts import DisjunctChecker
from ontoweir.checker.model.normal_form import NormalForm, Statistics
from ontoweir.checker.normalise.reduce_union import reduce_union
from ontoweir.checker.normalise.simplify_union import simplify_union
from ontoweir.checker.split.split_by_keys import split_by_keys, split_closed
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.buckets.find_closing import close_by_time
from ontoweir.rewriter.dated.close_by_names import close_by_names
from ontoweir.rewriter.groups.group_answers import group_answers
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjUnion


def has_plan(union: SpjUnion, catalog: Catalog, *, timed: bool = True) -> bool:
    """Whether a query is bounded, and nothing else of its verdict."""
    return not any(True for _ in _undecided(union, catalog, timed))


def undecided_forms(
    union: SpjUnion, catalog: Catalog, *, timed: bool = True
) -> tuple[NormalForm, ...]:
    """The disjuncts, of an aggregate query those of its parts, that have no plan."""
    return tuple(_undecided(union, catalog, timed))


def _undecided(union: SpjUnion, catalog: Catalog, timed: bool) -> Iterator[NormalForm]:
    catalog = extend_catalog(catalog, union)
    union = simplify_union(union, catalog)
    if union.aggregation is None:
        lacking = list(_lacking([union], catalog, timed, whole=True))
        if not lacking or not union.distinct or not _is_closed(union, catalog, timed):
            yield from lacking
        return
    forms: list[list[NormalForm]] = []
    for split in split_by_keys(union, catalog):
        forms.append(list(_lacking([part.union for part in split], catalog, timed, whole=False)))
        if not forms[-1]:
            return
    yield from min(forms, key=len)


def _is_closed(union: SpjUnion, catalog: Catalog, timed: bool) -> bool:
    """Whether answers of a set are forgotten when their values are closed."""
    return any(
        not list(_lacking([part.union for part in split], catalog, timed, whole=False))
        for split in split_closed(group_answers(union), catalog, spans=False)
    )


def _lacking(
    unions: Sequence[SpjUnion], catalog: Catalog, timed: bool, *, whole: bool
) -> Iterator[NormalForm]:
    """The disjuncts without a plan; `whole`: a query that may be split further."""
    for one in unions:
        if one.distinct:
            one = close_by_time(reduce_union(one, catalog), catalog)
            one = close_by_names(one, catalog)
        checker = DisjunctChecker(one, catalog, Statistics(), timed)
        for query in one.disjuncts:
            form = checker.normal(query)
            if not form.satisfiable or checker.holds(query):
                continue
            if find_contradiction(query, catalog) is not None:
                continue
            splits = checker.splits(query) if whole else iter(())
            if not any(all(map(checker.holds, parts)) for parts in splits):
                yield form

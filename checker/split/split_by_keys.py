"""Aggregates that a key decides: groups of one match, and values that never repeat."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from ontoweir.checker.criteria.is_unique import is_unique
from ontoweir.checker.model.declarations import Declaration, list_declarations
from ontoweir.checker.split.split_aggregates import AggregatePart, split_aggregates, split_once
from ontoweir.mappings.model.catalog import Catalog, FloatType, StringType
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.buckets.find_closing import find_closing
from ontoweir.rewriter.groups.find_closed_groups import find_closed_groups, watching
from ontoweir.rewriter.groups.stays_true import stays_true
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.spj import LiteralOutput, NullOutput, SpjQuery, SpjUnion


def split_by_keys(union: SpjUnion, catalog: Catalog) -> Iterator[tuple[AggregatePart, ...]]:
    """The ways to split an aggregate query in parts, the one that rests on no key first.

    Where the columns of a group hold, up to equalities, a key of every occurrence, the group has at
    most one match, and is forgotten once it is emitted. Where they do together with the argument
    of COUNT(DISTINCT …), every match brings a new value: it is COUNT. The keys that this needs are
    marked as those by which occurrences are one row (`SpjQuery.merged`): verdicts rest on them.
    Groups by a bucket of time are forgotten anyway, when it is over; those of sliding windows, when
    rows leave them. Groups by values that a rule closes are forgotten when they are closed, if that
    makes the query bounded: that is tried first, and is the only way of sessions, and where HAVING
    looks at rows that updates could take back. Where the group has a key of one occurrence, all its
    matches are beside one row, and it is final when nothing may match that any more.
    """
    assert union.aggregation is not None
    if union.aggregation.session_us is not None and union.disjuncts:
        yield from split_closed(union, catalog)
        return
    closing, singly = find_closing(union, catalog), list_singly(union, catalog)
    if closing is not None:
        yield split_aggregates(union, closing=closing.attributes, singly=singly)
        return
    yield from split_closed(union, catalog, spans=False)
    if not union.ends and _needs_final_rows(union, catalog):
        yield from split_closed(union, catalog, spans=True)
        return
    yield split_aggregates(union, singly=singly)
    if union.ends:
        return
    yield from split_closed(union, catalog, spans=True, keys=False)
    group = union.aggregation.group
    # without GROUP BY there is a row before the match, too
    if group and (marked := _mark(union, group, catalog)) is not None:
        yield split_once(marked)
    counted = [
        a
        for a in union.aggregation.aggregates
        if a.function is AggregateFunction.COUNT_DISTINCT and a.argument is not None
    ]
    names = []
    for aggregate in counted:
        assert aggregate.argument is not None
        marked = _mark(union, (*group, aggregate.argument), catalog)
        if marked is not None:
            names.append(aggregate.name)
            union = marked
    if names:
        yield split_aggregates(union, names, singly=singly)
    else:
        yield from split_closed(union, catalog, keys=True)


def split_closed(
    union: SpjUnion, catalog: Catalog, *, spans: bool | None = None, keys: bool | None = None
) -> Iterator[tuple[AggregatePart, ...]]:
    """The ways to split an aggregate query in parts whose groups are forgotten when a rule closes
    their values (`spans`, `keys`: as of find_closed_groups). The last part watches these."""
    singly = list_singly(union, catalog)
    for found in find_closed_groups(union, catalog, spans=spans, keys=keys):
        watch = AggregatePart((watching(),), found.watch, group=found.variables, watches=True)
        yield (*split_aggregates(union, singly=singly, closed=found.queries), watch)


def _needs_final_rows(union: SpjUnion, catalog: Catalog) -> bool:
    """Whether HAVING may let a row through that a later one takes back."""
    assert union.aggregation is not None
    having = union.aggregation.having
    return having is not None and bool(union.disjuncts) and not stays_true(having, union, catalog)


def list_singly(union: SpjUnion, catalog: Catalog) -> frozenset[str]:
    """The names of SUM, AVG and variances of arguments that are floats in some disjunct, and of MIN
    and MAX of texts."""
    assert union.aggregation is not None
    found = set()
    for query in union.disjuncts:
        types, outputs = Types(catalog, query.occurrences), dict(query.outputs)
        for aggregate in union.aggregation.aggregates:
            kind = StringType if aggregate.function.chooses else FloatType
            if not aggregate.function.chooses and not aggregate.function.adds:
                continue
            given = [outputs[argument] for argument in aggregate.arguments]
            read = (types.type_of(o.value) for o in given if isinstance(o, LiteralOutput))
            if any(isinstance(one, kind) for one in read):
                found.add(aggregate.name)
    return frozenset(found)


def _mark(union: SpjUnion, names: tuple[str, ...], catalog: Catalog) -> SpjUnion | None:
    """The union with the keys by which no two matches agree on some variables; None: they may.

    Matches of two disjuncts agree on nothing where one of them has NULL and the other has not.
    """
    nulls = [
        {name for name, o in q.outputs if name in names and isinstance(o, NullOutput)}
        for q in union.disjuncts
    ]
    if any(one == other for one, other in combinations(nulls, 2)):
        return None
    marked = [_mark_query(q, names, catalog) for q in union.disjuncts]
    if any(query is None for query in marked):
        return None
    return replace(union, disjuncts=tuple(q for q in marked if q is not None))


def _mark_query(query: SpjQuery, names: tuple[str, ...], catalog: Catalog) -> SpjQuery | None:
    shown = replace(query, outputs=tuple((n, o) for n, o in query.outputs if n in names))
    needed = [d for d in list_declarations(shown, catalog) if d.kind == "key"]

    def suffices(keys: list[Declaration]) -> bool:
        return is_unique(shown, catalog, keys.__contains__)

    if not suffices(needed):
        return None
    for key in list(needed):
        rest = [d for d in needed if d != key]
        if suffices(rest):
            needed = rest
    more = ((d.table, d.columns) for d in needed)
    return replace(query, merged=tuple(dict.fromkeys((*query.merged, *more))))

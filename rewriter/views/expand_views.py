"""Queries over what views read: each view as one of its branches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice, product

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import Scalar, Stream
from ontoweir.rewriter.algebra.equality_classes import (
    condition_attributes,
    map_condition,
    map_output,
)
from ontoweir.rewriter.buckets.make_column import is_bucket
from ontoweir.rewriter.model.compare_scalars import compare_scalars
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    ConstantOutput,
    IriOutput,
    IsNull,
    NotNull,
    NullOutput,
    Occurrence,
    OneOf,
    Output,
    Provenance,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
    TextColumn,
    View,
    ViewBranch,
    output_attributes,
)


def expand_views(query: SpjQuery, views: Sequence[View]) -> Iterator[SpjQuery]:
    """The query with a branch in place of each view, in every choice of branches.

    The rows of all choices together are those of the query but for their multiplicities, which are
    its own where no row of a view is made twice. Choices that no row satisfies are left out, and
    those that are no query over the tables: a text would be compared, or a constant literal shown.
    """
    return _expand_all(query, views, complete=False)


class _NoQueryError(Exception):
    """A choice of branches is no query over the tables."""


def _expand_all(query: SpjQuery, views: Sequence[View], *, complete: bool) -> Iterator[SpjQuery]:
    """As expand_views.

    Raises:
        _NoQueryError: (complete) a choice is no query over the tables.
    """
    known = {view.name: view for view in views}
    if not any(o.table in known for o in query.occurrences):
        yield query
        return
    places = [(o, known[o.table]) for o in query.occurrences if o.table in known]
    query = replace(query, provenance=_without_branches(query, dict(places)))
    for chosen in product(*(view.branches for _, view in places)):
        expanded: SpjQuery | None = query
        try:
            for (occurrence, view), branch in zip(places, chosen, strict=True):
                if expanded is not None:
                    expanded = _expand(expanded, occurrence, view, branch)
        except _NoQueryError:
            if complete:
                raise
            continue
        if expanded is None:
            continue
        if any(o.table in known for o in expanded.occurrences):
            yield from _expand_all(expanded, views, complete=complete)
        else:
            yield expanded


def expand_wholly(
    query: SpjQuery, views: Sequence[View], limit: int
) -> tuple[SpjQuery, ...] | None:
    """As expand_views, all choices of branches; None: one of them is no query over the tables, or
    there are more than `limit`."""
    try:
        found = tuple(islice(_expand_all(query, views, complete=True), limit + 1))
    except _NoQueryError:
        return None
    return found if len(found) <= limit else None


def expand_unions(union: SpjUnion, limit: int) -> SpjUnion | None:
    """The query with the branches of its views apart, but for those that are distinct: the same
    rows, as often.

    Returns:
        None: it has no such view, or more than `limit` disjuncts; or branches are no queries over
            the tables.
    """
    apart = [view for view in union.views if not view.distinct]
    if not any(o.table == v.name for q in union.disjuncts for o in q.occurrences for v in apart):
        return None
    expanded = (
        made for query in union.disjuncts for made in _expand_all(query, apart, complete=True)
    )
    try:
        disjuncts = tuple(islice(expanded, limit + 1))
    except _NoQueryError:
        return None
    return replace(union, disjuncts=disjuncts) if len(disjuncts) <= limit else None


def _expand(
    query: SpjQuery, occurrence: Occurrence, view: View, branch: ViewBranch
) -> SpjQuery | None:
    """The query with a branch in place of an occurrence of its view (None: no row satisfies it).

    Raises:
        _NoQueryError: it is no query over the tables.
    """
    taken = {o.alias for o in query.occurrences} - {occurrence.alias}
    renamed: dict[str, str] = {}
    for own in branch.occurrences:
        alias, number = own.alias, 1
        while alias in taken:
            alias, number = f"{own.alias}_{number}", number + 1
        taken.add(alias)
        renamed[own.alias] = alias

    def rename(a: Attribute) -> Attribute:
        return Attribute(renamed[a.alias], a.column)

    made: dict[Attribute, Attribute | Constant] = {}
    texts: dict[Attribute, tuple[str | Attribute, ...]] = {}
    for declared, column in zip(view.table.columns, branch.columns, strict=True):
        own_name = Attribute(occurrence.alias, declared.name)
        match column:
            case Attribute():
                made[own_name] = rename(column)
            case Constant():
                made[own_name] = column
            case TextColumn(parts=parts):
                texts[own_name] = tuple(rename(p) if isinstance(p, Attribute) else p for p in parts)
    if branch.time is not None and isinstance(view.table, Stream):
        made[Attribute(occurrence.alias, view.table.timestamp)] = rename(branch.time)
        for bucket in _buckets(query, occurrence.alias):
            made[bucket] = rename(Attribute(branch.time.alias, bucket.column))
    known = made.keys() | texts.keys()
    if any(a.alias == occurrence.alias and a not in known for a in query_attributes(query)):
        raise _NoQueryError  # derived from the view's columns
    conditions: list[Condition] = [map_condition(c, rename) for c in branch.conditions]
    for condition in query.conditions:
        if not texts.keys().isdisjoint(condition_attributes(condition)):
            if isinstance(condition, NotNull):
                continue
            raise _NoQueryError  # no conditions on columns say it
        holds = _substitute(condition, made)
        if holds is False:
            return None
        if holds is not True:
            conditions.append(holds)

    def change(a: Attribute) -> Attribute:
        new = made.get(a, a)
        if a in texts or not isinstance(new, Attribute):
            raise _NoQueryError
        return new

    position = query.occurrences.index(occurrence)
    mine = tuple(Occurrence(renamed[o.alias], o.table) for o in branch.occurrences)
    return replace(
        query,
        occurrences=(*query.occurrences[:position], *mine, *query.occurrences[position + 1 :]),
        conditions=tuple(dict.fromkeys(conditions)),
        outputs=tuple((name, _show(o, {**made, **texts}, change)) for name, o in query.outputs),
        provenance=tuple(
            origin
            for alias, p in query.provenance
            for origin in (
                _branch_origins(p, branch, renamed) if alias == occurrence.alias else ((alias, p),)
            )
        ),
        closing=None if query.closing is None else change(query.closing),
        folds=None
        if query.folds is None
        else tuple(replace(f, attribute=change(f.attribute)) for f in query.folds),
    )


_Origins = tuple[tuple[str, Provenance], ...]


def _without_branches(query: SpjQuery, views: Mapping[Occurrence, View]) -> _Origins:
    """Where a query came from, without what the branches of its views say themselves."""
    said: dict[str, tuple[set[str], set[Source]]] = {}
    for occurrence, view in views.items():
        own = [p for branch in view.branches for _, p in branch.provenance]
        if all(branch.provenance for branch in view.branches):
            said[occurrence.alias] = (
                {text for p in own for text in p.axioms},
                {place for p in own for place in p.axiom_sources},
            )
    return tuple(
        (alias, _leave_out(p, *said[alias]) if alias in said else p)
        for alias, p in query.provenance
    )


def _leave_out(provenance: Provenance, axioms: set[str], places: set[Source]) -> Provenance:
    return replace(
        provenance,
        axioms=tuple(text for text in provenance.axioms if text not in axioms),
        axiom_sources=tuple(place for place in provenance.axiom_sources if place not in places),
    )


def _branch_origins(whole: Provenance, branch: ViewBranch, renamed: Mapping[str, str]) -> _Origins:
    """Where a branch in the place of its view came from: its own triples maps and axioms, after
    those of the query."""
    if not branch.provenance:
        first = branch.occurrences[0].alias if branch.occurrences else ""
        return ((renamed.get(first, ""), whole),)
    return tuple(
        (renamed.get(alias, ""), own if not whole.axioms else _with_axioms(own, whole))
        for alias, own in branch.provenance
    )


def _with_axioms(own: Provenance, whole: Provenance) -> Provenance:
    return replace(
        own,
        axioms=tuple(dict.fromkeys((*whole.axioms, *own.axioms))),
        axiom_sources=tuple(dict.fromkeys((*whole.axiom_sources, *own.axiom_sources))),
    )


def _buckets(query: SpjQuery, alias: str) -> Iterator[Attribute]:
    """The buckets of time of an occurrence: all streams, and views, call them the same."""
    for attribute in query_attributes(query):
        if attribute.alias == alias and is_bucket(attribute.column):
            yield attribute


def query_attributes(query: SpjQuery) -> list[Attribute]:
    """The attributes of a query's outputs and conditions, each once."""
    used = [a for _, output in query.outputs for a in output_attributes(output)]
    used += [o.value for _, o in query.outputs if isinstance(o, NullOutput)]
    used += [a for condition in query.conditions for a in condition_attributes(condition)]
    return list(dict.fromkeys(used))


def _show(
    output: Output,
    made: Mapping[Attribute, Attribute | Constant | tuple[str | Attribute, ...]],
    change: Callable[[Attribute], Attribute],
) -> Output:
    """An output over what a view's columns are; a text alone is the template that makes it, or the
    IRI that it is."""
    if isinstance(output, IriOutput | TemplateLiteralOutput) and len(output.parts) == 1:
        (part,) = output.parts
        given = made.get(part) if isinstance(part, Attribute) else None
        if isinstance(given, tuple):
            return replace(output, parts=given)
        if isinstance(given, Constant) and isinstance(output, IriOutput):
            return ConstantOutput(str(given.value), is_iri=True)
    return map_output(output, change)


def _substitute(
    condition: Condition, made: Mapping[Attribute, Attribute | Constant]
) -> Condition | bool:
    """The condition over what a view's columns are; or whether it holds."""
    match condition:
        case NotNull(attribute=a) | IsNull(attribute=a) | OneOf(attribute=a):
            new = made.get(a, a)
            if isinstance(new, Attribute):
                return map_condition(condition, lambda _: new)
            if isinstance(condition, OneOf):
                return new.value in condition.values
            return isinstance(condition, NotNull)
        case Compare(left=left, op=op, right=right, offset=offset, source=source):
            first = made.get(left, left)
            second = made.get(right, right) if isinstance(right, Attribute) else right
            if isinstance(first, Attribute):
                if isinstance(second, Attribute) or not offset:
                    return Compare(first, op, second, offset, source)
                return Compare(first, op, Constant(_add(second.value, offset)), 0, source)
            if isinstance(second, Attribute):
                return Compare(
                    second, op.flipped(), Constant(_add(first.value, -offset)), 0, source
                )
            return compare_scalars(first.value, op, _add(second.value, offset))


def _add(number: Scalar, offset: int | Decimal) -> Scalar:
    """A constant and an offset, which only numbers have."""
    if not offset or isinstance(number, str | bool):
        return number
    total = Decimal(str(number)) + offset
    return int(total) if total == total.to_integral_value() else total

"""Solutions beside whose earlier row there is no later one: that row is the latest before."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ontoweir.errors import QueryError
from ontoweir.mappings.catalog.read_versions import AS_OF
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
)
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.absence.unite_solutions import Solutions
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.algebra.equality_classes import (
    Types,
    condition_attributes,
    map_condition,
    map_output,
)
from ontoweir.rewriter.before.nest_rows import nest_rows
from ontoweir.rewriter.before.read_conditions import NoMeetingError, read_conditions
from ontoweir.rewriter.before.read_gap import Gap, read_gap
from ontoweir.rewriter.before.read_later import read_later
from ontoweir.rewriter.buckets.make_column import is_bucket, make_column
from ontoweir.rewriter.earlier.declare_latest import LatestOf, declare_latest
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    LiteralOutput,
    NotNull,
    Occurrence,
    Op,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.standing.find_standing import find_standing
from ontoweir.rewriter.versions.meet_versions import meet_versions

_Part: TypeAlias = tuple[SpjUnion, tuple[str, ...], bool]


def meet_before(
    one: Solutions, head: Sequence[str], catalog: Catalog, *, distinct: bool
) -> SpjUnion | None:
    """The matches of `GRAPH ?t { … } GRAPH ?s { … } FILTER(?s < ?t) FILTER NOT EXISTS { GRAPH ?u
    { … } FILTER(?u > ?s && ?u < ?t) }`: the row at `?s` is the latest one of its key before `?t`,
    which is found by the key, and kept for each (change.md section 6).

    Args:
        one: the solutions.
        head: the answer variables.
        catalog: the tables.
        distinct: equal answers are one.

    Returns:
        None: it says something else; there may be several such rows of a time, as no key is
        declared; or the key is not one of columns of the later row.
    """
    found = one.found
    shaped = found.blocks or found.ends or found.begins or found.standing or found.aggregation
    if shaped or not one.parts or one.missing or not found.disjuncts:
        return None
    try:
        met = _meet_gaps(one, catalog)
    except (NoMeetingError, SqlRefusal):
        return None
    if met is None:
        return None
    try:
        made = _meet(met.union, one.times, met.catalog)
    except QueryError:
        return None
    if made is None:
        return None
    if met.rest:
        return _end(replace(one, parts=met.rest), made, met.by, head, catalog, distinct=distinct)
    return replace(
        made,
        variables=tuple(head),
        disjuncts=tuple(
            replace(q, outputs=tuple((n, dict(q.outputs)[n]) for n in head)) for q in made.disjuncts
        ),
        distinct=distinct,
    )


@dataclass(frozen=True, slots=True)
class _Met:
    """Solutions over relations that change: with the catalog that has these, what else must not be
    beside them, and the aliases of the relations."""

    union: SpjUnion
    catalog: Catalog
    rest: tuple[_Part, ...]
    by: frozenset[str]


def _meet_gaps(one: Solutions, catalog: Catalog) -> _Met | None:
    """The solutions over the relations of the rows before theirs (None: there are none).

    Raises:
        NoMeetingError, SqlRefusal: as _read_latest.
    """
    found = one.found
    wide = extend_catalog(catalog, found)
    disjuncts, buckets = list(found.disjuncts), dict.fromkeys(found.buckets)
    rest, met_by = list[_Part](), set[str]()
    for part in one.parts:
        hits, keys, present = part
        if present or hits.blocks or len(hits.disjuncts) != len(disjuncts):
            return None
        known = extend_catalog(wide, hits)
        gaps = [
            read_gap(query, other, keys, one.times, known)
            for query, other in zip(found.disjuncts, hits.disjuncts, strict=True)
        ]
        if not _are_alike(gaps):
            rest.append(part)
            continue
        for n, gap in enumerate(gaps):
            assert gap is not None
            disjuncts[n], wide, more = _read_latest(disjuncts[n], gap, wide)
            buckets |= dict.fromkeys(more)
            met_by.add(gap.earlier.alias)
    if not met_by:
        return None
    names = {o.table for q in disjuncts for o in q.occurrences}
    computed = [
        (name, expression)
        for name in names
        if (of := _versions_of(name, wide)) is not None
        for table, expression in found.derived
        if table == of
    ]
    derived = tuple(dict.fromkeys((*found.derived, *computed)))
    met = replace(found, disjuncts=tuple(disjuncts), derived=derived, buckets=tuple(buckets))
    wide = extend_catalog(wide, replace(met, views=(), blocks=()))
    return _Met(met, wide, tuple(rest), frozenset(met_by))


def _end(
    one: Solutions,
    made: SpjUnion,
    met_by: frozenset[str],
    head: Sequence[str],
    catalog: Catalog,
    *,
    distinct: bool,
) -> SpjUnion | None:
    """The solutions that no later row has ended (find_standing), of rows that have met others.

    Args:
        one: the solutions as they were, with what else must not be beside them.
        made: those that have met the latest rows before them.
        met_by: the aliases of these.
    """
    if len(made.disjuncts) != 1 or any(block.meeting is None for block in made.blocks):
        return None
    (before,), (after,) = one.found.disjuncts, made.disjuncts
    shown = dict(after.outputs)
    times = tuple(
        n
        for n in one.times
        if isinstance(o := shown[n], LiteralOutput) and is_bucket(o.value.column)
    )
    parts = []
    for hits, keys, present in one.parts:
        known = extend_catalog(extend_catalog(catalog, one.found), hits)
        later = read_later(before, hits.disjuncts[0], keys, one.times, known, met_by)
        if later is None:
            return None
        beside = replace(hits, disjuncts=(later.beside(after, keys),), variables=tuple(keys))
        parts.append((beside, keys, present))
    whole = Solutions(made, times, tuple(parts), ())
    return find_standing([whole], head, catalog, distinct=distinct)


def _meet(union: SpjUnion, times: Sequence[str], catalog: Catalog) -> SpjUnion | None:
    """The query over streams of rows that have met the latest ones before them; of a key that
    static relations say, with what these say of the rows.

    Raises:
        QueryError: what is met is not one row.
    """
    try:
        return meet_versions(union, catalog)
    except QueryError:
        if len(union.disjuncts) != 1:
            return None
    read = [o for o in union.disjuncts[0].occurrences if _versions_of(o.table, catalog) is not None]
    nested = nest_rows(union, read[0], times, catalog) if len(read) == 1 else None
    return None if nested is None else meet_versions(*nested)


def _versions_of(name: str, catalog: Catalog) -> str | None:
    stream = catalog.streams.get(name)
    return None if stream is None or stream.versions is None else stream.versions.stream


def _are_alike(gaps: Sequence[Gap | None]) -> bool:
    """Whether all solutions have a gap, of rows that are said the same of."""
    said = {
        None
        if gap is None
        else (
            gap.earlier.table,
            tuple(column for column, _ in gap.key),
            gap.told,
            tuple(map_condition(c, lambda a: replace(a, alias="")) for c in gap.only),
            gap.inclusive,
        )
        for gap in gaps
    }
    return len(said) == 1 and None not in said


def _read_latest(
    query: SpjQuery, gap: Gap, catalog: Catalog
) -> tuple[SpjQuery, Catalog, tuple[tuple[str, Column], ...]]:
    """A match whose earlier row is that of a relation that changes, the catalog with that, and the
    columns of times that are compared with its time.

    Raises:
        NoMeetingError: something is said of the row's time, or of its key, that the relation does
            not have.
        SqlRefusal: several rows of a key may be the latest.
    """
    stream, alias = catalog.streams[gap.earlier.table], gap.earlier.alias
    if stream.versions is not None:
        raise NoMeetingError
    true = read_conditions([c for c in gap.only if not _is_key(c, gap)], stream)
    key = tuple(dict.fromkeys(column for column, _ in gap.key))
    of = LatestOf(stream, key, earlier=not gap.inclusive, true=true)
    made, catalog = declare_latest(of, catalog, "a row with the one before it", None)
    time = Attribute(alias, stream.timestamp)

    def change(attribute: Attribute) -> Attribute:
        if attribute.alias != alias or not is_bucket(attribute.column):
            return attribute
        column = catalog.table(gap.earlier.table).column(attribute.column)
        if column is None or not _is_moment(column):
            raise NoMeetingError
        return time

    order = Compare(time, Op.LE if gap.inclusive else Op.LT, gap.time)
    ordered = replace(query, conditions=(*query.conditions, order))
    if not is_contained(query, ordered, catalog, one_to_one=True):
        raise NoMeetingError
    turned = Compare(gap.time, order.op.flipped(), time)
    columns = list[tuple[str, Column]]()
    conditions: list[Condition] = [Compare(Attribute(alias, AS_OF), Op.EQ, gap.time)]
    for condition in query.conditions:
        if replace(condition, source=None) in (order, turned):
            continue
        if time in condition_attributes(condition):
            made_of, column = _compare_moments(condition, time, query, catalog)
            columns.append(column)
            conditions.append(made_of)
            continue
        conditions.append(map_condition(condition, change))
    conditions += [Compare(Attribute(alias, column), Op.EQ, other) for column, other in gap.key]
    met = replace(
        query,
        occurrences=tuple(
            Occurrence(alias, made.name) if o == gap.earlier else o for o in query.occurrences
        ),
        conditions=tuple(dict.fromkeys(conditions)),
        outputs=tuple((n, map_output(o, change)) for n, o in query.outputs),
    )
    return met, catalog, tuple(columns)


def _compare_moments(
    condition: Condition, time: Attribute, query: SpjQuery, catalog: Catalog
) -> tuple[Condition, tuple[str, Column]]:
    """A comparison of the time of the earlier row with that of another one, where the former is a
    value; and the column of the other's stream that is compared with it.

    Raises:
        NoMeetingError: it is another one.
    """
    if not isinstance(condition, Compare) or not isinstance(condition.right, Attribute):
        raise NoMeetingError
    other, steps, op = condition.left, condition.offset, condition.op
    if other == time:
        other, steps, op = condition.right, -condition.offset, op.flipped()
    types = Types(catalog, query.occurrences)
    step_us = types.step_of(other)
    if step_us is None:
        raise NoMeetingError
    column = make_column(TimeBucket(Moments(), behind_us=int(steps) * step_us))
    table = next(o.table for o in query.occurrences if o.alias == other.alias)
    compared = Compare(Attribute(other.alias, column.name), op, time, source=condition.source)
    return compared, (table, column)


def _is_key(condition: Condition, gap: Gap) -> bool:
    """Whether it says only that a column of the key has a value, as its equation does."""
    return isinstance(condition, NotNull) and condition.attribute.column in dict(gap.key)


def _is_moment(column: Column) -> bool:
    """Whether a bucket is the time of the row."""
    bucket = column.bucket
    return (
        bucket is not None
        and isinstance(bucket.buckets, Moments)
        and not (bucket.buckets.after_us or bucket.behind_us or bucket.ends)
    )

"""Solutions beside whose earlier row there is no later one: that row is the latest before."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from ontoweir.errors import QueryError
from ontoweir.mappings.catalog.read_versions import AS_OF
from ontoweir.mappings.expressions import build
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    ColumnType,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
    Stream,
)
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value
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
from ontoweir.rewriter.before.read_gap import Gap, read_gap
from ontoweir.rewriter.buckets.make_column import is_bucket, make_column
from ontoweir.rewriter.earlier.declare_latest import LatestOf, declare_latest
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    IsNull,
    NotNull,
    Occurrence,
    OneOf,
    Op,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.versions.meet_versions import meet_versions

_FUNCTIONS = {
    Op.EQ: Function.EQUAL,
    Op.NE: Function.UNEQUAL,
    Op.LT: Function.LESS,
    Op.LE: Function.AT_MOST,
    Op.GT: Function.GREATER,
    Op.GE: Function.AT_LEAST,
}


class _NoMeetingError(Exception):
    """A solution does not meet its earlier row by its key."""


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
    wide = extend_catalog(catalog, found)
    disjuncts, buckets = list(found.disjuncts), dict.fromkeys(found.buckets)
    for hits, keys, present in one.parts:
        if present or hits.blocks or len(hits.disjuncts) != len(disjuncts):
            return None
        known = extend_catalog(wide, hits)
        gaps = [
            read_gap(query, other, keys, one.times, known)
            for query, other in zip(found.disjuncts, hits.disjuncts, strict=True)
        ]
        if not _are_alike(gaps):
            return None
        try:
            for n, gap in enumerate(gaps):
                assert gap is not None
                disjuncts[n], wide, more = _read_latest(disjuncts[n], gap, wide)
                buckets |= dict.fromkeys(more)
        except (_NoMeetingError, SqlRefusal):
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
    try:
        made = _meet(met, one.times, wide)
    except QueryError:
        return None
    if made is None:
        return None
    return replace(
        made,
        variables=tuple(head),
        disjuncts=tuple(
            replace(q, outputs=tuple((n, dict(q.outputs)[n]) for n in head)) for q in made.disjuncts
        ),
        distinct=distinct,
    )


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
        _NoMeetingError: something is said of the row's time, or of its key, that the relation does
            not have.
        SqlRefusal: several rows of a key may be the latest.
    """
    stream, alias = catalog.streams[gap.earlier.table], gap.earlier.alias
    if stream.versions is not None:
        raise _NoMeetingError
    only = [_read_condition(c, stream) for c in gap.only if not _is_key(c, gap)]
    true = only[0] if only else None
    for more in only[1:]:
        assert true is not None
        true = Call(Function.AND, (true, more), BooleanType())
    key = tuple(dict.fromkeys(column for column, _ in gap.key))
    of = LatestOf(stream, key, earlier=not gap.inclusive, true=true)
    made, catalog = declare_latest(of, catalog, "a row with the one before it", None)
    time = Attribute(alias, stream.timestamp)

    def change(attribute: Attribute) -> Attribute:
        if attribute.alias != alias or not is_bucket(attribute.column):
            return attribute
        column = catalog.table(gap.earlier.table).column(attribute.column)
        if column is None or not _is_moment(column):
            raise _NoMeetingError
        return time

    order = Compare(time, Op.LE if gap.inclusive else Op.LT, gap.time)
    ordered = replace(query, conditions=(*query.conditions, order))
    if not is_contained(query, ordered, catalog, one_to_one=True):
        raise _NoMeetingError
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
        _NoMeetingError: it is another one.
    """
    if not isinstance(condition, Compare) or not isinstance(condition.right, Attribute):
        raise _NoMeetingError
    other, steps, op = condition.left, condition.offset, condition.op
    if other == time:
        other, steps, op = condition.right, -condition.offset, op.flipped()
    types = Types(catalog, query.occurrences)
    step_us = types.step_of(other)
    if step_us is None:
        raise _NoMeetingError
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


def _read_condition(condition: Condition, stream: Stream) -> Expression:
    """A condition on a row as an expression of its columns.

    Raises:
        _NoMeetingError: it compares with a constant of another kind.
    """
    match condition:
        case NotNull(attribute=attribute):
            return _call(Function.NOT, build.is_null(_read_column(attribute, stream)))
        case IsNull(attribute=attribute):
            return build.is_null(_read_column(attribute, stream))
        case OneOf(attribute=attribute, values=values):
            column = _read_column(attribute, stream)
            parts = [_compare(Function.EQUAL, column, _constant(v, column.type)) for v in values]
            made = parts[0]
            for part in parts[1:]:
                made = Call(Function.OR, (made, part), BooleanType())
            return made
        case Compare(left=left, op=op, right=right, offset=0):
            column = _read_column(left, stream)
            other = (
                _constant(right.value, column.type)
                if isinstance(right, Constant)
                else _read_column(right, stream)
            )
            return _compare(_FUNCTIONS[op], column, other)
        case _:
            raise _NoMeetingError


def _call(function: Function, *arguments: Expression) -> Expression:
    return Call(function, arguments, BooleanType())


def _compare(function: Function, left: Expression, right: Expression) -> Expression:
    try:
        return build.compare(function, left, right)
    except build.TypeClash:
        raise _NoMeetingError from None


def _read_column(attribute: Attribute, stream: Stream) -> Expression:
    column = stream.column(attribute.column)
    if column is None or column.bucket is not None:
        raise _NoMeetingError
    return Field(column.name, column.type) if column.expression is None else column.expression


def _constant(value: Scalar, kind: ColumnType) -> Value:
    """A constant that a column is compared with, which has its type or is a number."""
    match value:
        case bool():
            return Value(value, BooleanType())
        case int():
            return Value(value, IntType())
        case Decimal():
            exponent = value.as_tuple().exponent
            scale = max(0, -exponent) if isinstance(exponent, int) else 0
            digits = max(len(value.as_tuple().digits), scale + 1)
            return Value(value, DecimalType(max(19, digits), scale))
        case float():
            return Value(value, FloatType())
        case str():
            return Value(value, kind)

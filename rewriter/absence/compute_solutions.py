"""What a query computes of its solutions, which are rows of streams: buckets of their times,
expressions, aggregates, and rows of groups."""

from collections.abc import Iterable
from dataclasses import replace

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.model.catalog import (
    Catalog,
    ColumnType,
    IntType,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.column_types import XSD
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, Value
from ontoweir.mappings.model.time_bucket import (
    CalendarBuckets,
    FixedBuckets,
    Moments,
    TimeBucket,
)
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.buckets.make_column import is_bucket, make_column
from ontoweir.rewriter.delays.delay_rows import delay_rows
from ontoweir.rewriter.expressions.attach_computation import NEVER, attach_computation
from ontoweir.rewriter.expressions.type_expression import literal_value
from ontoweir.rewriter.groups.attach_group_terms import attach_group_terms
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.query import ConjunctiveQuery, Literal, NamedBuckets
from ontoweir.rewriter.model.spj import (
    Attribute,
    ConstantOutput,
    IsNull,
    LiteralOutput,
    NullOutput,
    SpjUnion,
)
from ontoweir.rewriter.unfold.check_aggregates import check_aggregates
from ontoweir.rewriter.windows.window import BEGINS, ENDS

_SHOWN = TimeBucket(Moments())
_COUNTS = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)


class BucketError(QueryError):
    """A bucket is of a time that is not the latest of a solution."""


def has_windows(query: ConjunctiveQuery) -> bool:
    """Whether its answers hold for a time, as NOW() says."""
    return any(_is_edge(named) for named in query.buckets)


def find_bucketed(query: ConjunctiveQuery) -> str | bool:
    """Whether it groups by buckets of time, each of which is told when it is over: the time, if
    they are of one."""
    times = {named.time.name for named in query.buckets if _is_grouped(named, query)}
    return times.pop() if len(times) == 1 else bool(times)


def list_needed(query: ConjunctiveQuery) -> tuple[str, ...]:
    """The variables of its solutions that a query computes with, or shows: values, and times."""
    names = _list_shown(query)
    names += [named.time.name for named in query.buckets if not _is_shown(named)]
    return tuple(dict.fromkeys(names))


def _list_shown(query: ConjunctiveQuery) -> list[str]:
    """The variables that a query without aggregates shows, or computes with."""
    names = [v.name for v in query.head]
    for named in query.buckets:
        if _is_shown(named):
            names.insert(named.place or 0, named.time.name)
    return names


def _is_shown(named: NamedBuckets) -> bool:
    return named.bucket == _SHOWN and named.place is not None


def _is_grouped(named: NamedBuckets, query: ConjunctiveQuery) -> bool:
    """Whether it is a bucket, or a time that tells groups apart, each of which is final."""
    if _is_edge(named):
        return False
    grouped = query.aggregation is not None and named.name in query.aggregation.group
    return named.bucket != _SHOWN or (grouped and not has_windows(query))


def _is_edge(named: NamedBuckets) -> bool:
    return named.name.startswith((BEGINS, ENDS))


def compute_solutions(union: SpjUnion, query: ConjunctiveQuery, catalog: Catalog) -> SpjUnion:
    """A query over the streams that its solutions are.

    Args:
        union: shows the variables that are computed with.
        query: says what is computed.
        catalog: the tables.

    Raises:
        QueryError: a bucket is not of the time when a solution is complete; an aggregate is of
            what may have no value; or what is computed is refused anywhere.
    """
    if not union.disjuncts:
        return replace(union, aggregation=query.aggregation)
    union = _add_buckets(replace(union, aggregation=query.aggregation), query)
    union = delay_rows(union, extend_catalog(catalog, union))
    if query.computation is not None:
        whole = extend_catalog(catalog, union)
        union = attach_computation(union, whole, query.computation, optional=True)
        union = _type_nulls(union, catalog)
    else:
        groups = query.aggregation
        shown = _list_shown(query) if groups is None else groups.variables
        union = _choose(union, dict.fromkeys((*shown, *union.ends, *union.begins)))
    _refuse_unbound(union)
    union = _hold_constants(union)
    whole = extend_catalog(catalog, union)
    check_aggregates(union, whole)
    return attach_group_terms(union, whole, query.group_terms)


def _add_buckets(union: SpjUnion, query: ConjunctiveQuery) -> SpjUnion:
    """The query with the buckets of times. Of a stream of solutions it is the time that is never
    before the others, so long before the time when the solution is final.

    Raises:
        QueryError: a bucket is of another time.
    """
    wanted = [b for b in query.buckets if _is_grouped(b, query) or _is_edge(b)]
    if not wanted:
        return union
    blocks, grouped = {b.stream.name: b for b in union.blocks}, query.aggregation is not None
    disjuncts, buckets, derived = [], list(union.buckets), list(union.derived)
    tables = [{o.alias: o.table for o in disjunct.occurrences} for disjunct in union.disjuncts]
    for disjunct, of in zip(union.disjuncts, tables, strict=True):
        outputs = []
        for named in wanted:
            time = dict(disjunct.outputs)[named.time.name]
            if not isinstance(time, LiteralOutput):
                raise _refuse_missing(named, query.source)
            alias, bucket = time.value.alias, named.bucket
            block = blocks.get(of[alias])
            if block is not None and block.meeting is not None:
                if not is_bucket(time.value.column):  # of what a row has met
                    raise _refuse_time(named, query.source)
            elif block is not None:
                known = block.time
                if _is_edge(named) and known != (named.time.name, 0):
                    raise _refuse_window(named, query.source)
                if known is None or known[0] != named.time.name:
                    cut = _cut_time(time.value.column, bucket, block.stream, grouped=grouped)
                    if cut is None or any({*o.values()} != {*of.values()} for o in tables):
                        raise _refuse_time(named, query.source)
                    derived += [(block.stream.name, cut)] if isinstance(cut, Call) else []
                    value = Attribute(alias, write_expression(cut))
                    outputs.append((named.name, replace(time, value=value)))
                    continue
                bucket = replace(bucket, behind_us=bucket.behind_us + known[1])
            column = make_column(bucket)
            buckets.append((of[alias], column))
            value = Attribute(alias, column.name)
            outputs.append((named.name, LiteralOutput(value, f"{XSD}dateTime")))
        made = {**dict(disjunct.outputs), **dict(outputs)}
        disjuncts.append(replace(disjunct, outputs=tuple(made.items())))
    names = [b.name for b in wanted]
    return replace(
        union,
        disjuncts=tuple(disjuncts),
        buckets=tuple(dict.fromkeys(buckets)),
        derived=tuple(dict.fromkeys(derived)),
        ends=tuple(n for n in names if n.startswith(ENDS)),
        begins=tuple(n for n in names if n.startswith(BEGINS)),
    )


def _cut_time(name: str, bucket: TimeBucket, stream: Stream, *, grouped: bool) -> Expression | None:
    """The bucket of a time of a solution that others may be after, as a value.

    Returns:
        None: it is not known how long after it the solution is final, at most, so that no group by
        it is; or it is no bucket of UTC.
    """
    known = any(
        lag.behind == stream.name and lag.columns == lag.to == (name,) for lag in stream.lags
    )
    if grouped and not (known and name in stream.present):
        return None
    if bucket.sliding is not None or bucket.ends or bucket.behind_us:
        return None
    moment = Field(name, TimestampType())
    match bucket.buckets:
        case Moments(after_us=0):
            return moment
        case FixedBuckets(width_us=width, origin_us=origin):
            grid = Value(width, IntType()), Value(origin % width, IntType())
            return Call(Function.BIN, (moment, *grid), TimestampType())
        case CalendarBuckets(unit=unit, zone="UTC"):
            return Call(Function.TRUNCATE, (Value(unit, StringType()), moment), TimestampType())
        case _:
            return None


def _refuse_window(named: NamedBuckets, source: Source | None) -> QueryError:
    return QueryError(
        f"a window of ?{named.time.name} beside NOT EXISTS, EXISTS, MINUS or OPTIONAL, of "
        "solutions that have a later time, or that are final later",
        why="what is beside a solution is not known yet when its window begins",
        fix=f"look at times that are none after ?{named.time.name}, as in "
        f"FILTER(?u <= ?{named.time.name}), and put NOW() beside the latest one",
        source=source,
    )


def _refuse_time(named: NamedBuckets, source: Source | None) -> BucketError:
    return BucketError(
        f"a bucket of ?{named.time.name}, a time that others of a solution may be after at any "
        "time, or whose solutions are final after different times; or one that overlaps, or of a "
        "time zone",
        why="a solution is an answer when it is final, and its bucket is that of its latest time, "
        "or of one that is at most so long before",
        fix=f"put the latest of the times in GRAPH into buckets; or limit how long after "
        f'?{named.time.name} the others are, as by FILTER(?later - ?{named.time.name} <= "PT1H"'
        "^^xsd:dayTimeDuration), and take buckets of UTC that do not overlap",
        source=source,
    )


def _refuse_missing(named: NamedBuckets, source: Source | None) -> QueryError:
    return QueryError(
        f"a bucket of ?{named.time.name}, a time that OPTIONAL may leave without a value",
        why="a group is final when its bucket is over, and what has no time is in none",
        fix="put a time outside of OPTIONAL into buckets; or leave out what has none, by the "
        "pattern without OPTIONAL, and count that with FILTER NOT EXISTS in a query of its own",
        source=source,
    )


def _choose(union: SpjUnion, names: Iterable[str]) -> SpjUnion:
    """The query of some of its variables."""
    names = tuple(names)
    disjuncts = tuple(
        replace(q, outputs=tuple((n, dict(q.outputs)[n]) for n in names)) for q in union.disjuncts
    )
    return replace(union, variables=names, disjuncts=disjuncts)


def _type_nulls(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """The query where what an expression does not give a value in some disjuncts is NULL of the
    type that it has in others."""
    whole = extend_catalog(catalog, union)
    missing = {n for q in union.disjuncts for n, output in q.outputs if output is NEVER}
    kinds: dict[str, ColumnType] = {}
    for query in union.disjuncts if missing else ():
        for name, output in query.outputs:
            if name in missing and isinstance(output, LiteralOutput):
                kinds[name] = Types(whole, query.occurrences).type_of(output.value)
            elif name in missing and isinstance(output, ConstantOutput) and not output.is_iri:
                kinds[name] = _value_of(output).type
    disjuncts, derived = [], list(union.derived)
    for query in union.disjuncts:
        outputs, row = dict(query.outputs), query.occurrences[0]
        conditions = list(query.conditions)
        for name in (n for n, output in query.outputs if output is NEVER):
            if name not in kinds:
                raise QueryError(
                    f"the expression of ?{name} never has a value",
                    why="what it reads is bound by OPTIONAL patterns that are not there together, "
                    "or it is a constant otherwise",
                    fix="give it a value with COALESCE, or leave it out",
                    source=union.source,
                )
            made = Value(None, kinds[name])
            derived.append((row.table, made))
            column = Attribute(row.alias, write_expression(made))
            outputs[name] = NullOutput(column)
            conditions.append(IsNull(column))
        disjuncts.append(
            replace(query, outputs=tuple(outputs.items()), conditions=tuple(conditions))
        )
    return replace(union, disjuncts=tuple(disjuncts), derived=tuple(dict.fromkeys(derived)))


def _hold_constants(union: SpjUnion) -> SpjUnion:
    """The query whose aggregates are of columns: an expression of what has no value, such as
    COALESCE(?x, 0), is a constant of the rows without it."""
    arguments = {
        a.argument
        for a in (() if union.aggregation is None else union.aggregation.aggregates)
        if a.argument is not None and a.function not in _COUNTS
    }
    disjuncts, derived = [], list(union.derived)
    for query in union.disjuncts:
        outputs = dict(query.outputs)
        for name in arguments & outputs.keys():
            output = outputs[name]
            if not isinstance(output, ConstantOutput) or output.is_iri:
                continue
            made, row = _value_of(output), query.occurrences[0]
            derived.append((row.table, made))
            outputs[name] = LiteralOutput(
                Attribute(row.alias, write_expression(made)), output.datatype
            )
        disjuncts.append(replace(query, outputs=tuple(outputs.items())))
    return replace(union, disjuncts=tuple(disjuncts), derived=tuple(dict.fromkeys(derived)))


def _value_of(output: ConstantOutput) -> Value:
    made = literal_value(Literal(output.value, output.datatype, output.language))
    assert isinstance(made, Value)
    return made


def _refuse_unbound(union: SpjUnion) -> None:
    """Raise QueryError for what is aggregated, and not only counted, where it may have no value."""
    aggregates = () if union.aggregation is None else union.aggregation.aggregates
    for aggregate in aggregates:
        if aggregate.function in _COUNTS or aggregate.argument is None:
            continue
        outputs = [dict(query.outputs)[aggregate.argument] for query in union.disjuncts]
        if any(isinstance(output, NullOutput) for output in outputs):
            raise QueryError(
                f"{aggregate} aggregates what may have no value",
                why="an error in an aggregate is one of the whole group (SPARQL 1.1, 18.5.1)",
                fix=f"aggregate COALESCE(?{aggregate.argument}, 0), or write "
                f"FILTER(BOUND(?{aggregate.argument}))",
                source=aggregate.source or union.source,
            )

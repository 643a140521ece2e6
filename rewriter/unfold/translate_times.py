"""Translates filters over times: of GRAPH, and those that mappings bind to a stream's timestamp."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Stream, TimestampType
from ontoweir.mappings.model.column_types import datatype_family, epoch_us, parse_instant
from ontoweir.mappings.model.round_steps import round_steps
from ontoweir.mappings.model.time_bucket import Moments, TimeBucket
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.buckets.make_column import make_column
from ontoweir.rewriter.model.compare_scalars import compare_scalars
from ontoweir.rewriter.model.query import (
    ConjunctiveQuery,
    Filter,
    Literal,
    NamedBuckets,
    TimeFilter,
    ValueFilter,
    Variable,
    filter_variables,
)
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    ConstantOutput,
    LiteralOutput,
    Op,
    Output,
)
from ontoweir.rewriter.tmappings.unify_outputs import literal_family
from ontoweir.rewriter.windows.window import ENDS

MOMENT = NamedBuckets("", Variable(""), TimeBucket(Moments()))
"""The time of a row, as a column of its stream."""


def read_times(
    filter_: ValueFilter, bindings: Mapping[Variable, Output], types: Types
) -> ValueFilter | TimeFilter:
    """A comparison of a variable that is bound to a stream's timestamp with another one, with a
    value that is a point in time, or with a constant, as one of times."""
    if filter_.offset.strip("-+0."):
        return filter_
    if isinstance(filter_.right, Variable) and is_beside_value(filter_, bindings, {}, types):
        return TimeFilter(filter_.left, filter_.op, filter_.right, source=filter_.source)
    left, right = bindings.get(filter_.left), filter_.right
    other = bindings.get(right) if isinstance(right, Variable) else right
    if _is_time(left, types):
        timed = isinstance(right, Variable) and _is_time(other, types)
        point = right if isinstance(right, Variable) and timed else _read_moment(other)
        if point is None:
            return filter_
        return TimeFilter(filter_.left, filter_.op, point, source=filter_.source)
    moment = _read_moment(left)
    if isinstance(right, Variable) and _is_time(other, types) and moment is not None:
        return TimeFilter(right, filter_.op.flipped(), moment, source=filter_.source)
    return filter_


def is_beside_value(
    filter_: Filter,
    bindings: Mapping[Variable, Output],
    times: Mapping[Variable, Sequence[Attribute]],
    types: Types,
) -> bool:
    """Whether a time is compared with a value that is a point in time, such as when something is
    due: a column that is no stream's timestamp."""
    if not isinstance(filter_.right, Variable):
        return False
    kinds = {_kind(v, bindings, times, types) for v in filter_variables(filter_)}
    return kinds == {"time", "value"}


def _kind(
    variable: Variable,
    bindings: Mapping[Variable, Output],
    times: Mapping[Variable, Sequence[Attribute]],
    types: Types,
) -> str | None:
    """Whether a variable is a `time`, a `value` that is a point in time, or something else."""
    output = bindings.get(variable)
    if times.get(variable) or _is_time(output, types):
        return "time"
    if (
        isinstance(output, LiteralOutput)
        and literal_family(output) == "timestamp"
        and isinstance(types.type_of(output.value), TimestampType)
    ):
        return "value"
    return None


def _compare_value(
    filter_: TimeFilter,
    bindings: Mapping[Variable, Output],
    times: Mapping[Variable, Sequence[Attribute]],
    types: Types,
) -> Compare:
    """A time, or one so much earlier, compared with a value: both to the microsecond."""
    sides: list[Attribute] = []
    for variable in filter_variables(filter_):
        output = bindings.get(variable)
        if _kind(variable, bindings, times, types) == "value":
            assert isinstance(output, LiteralOutput)
            sides.append(output.value)
        else:
            time = find_time(variable, bindings, times, types, filter_.source)
            moment = find_moment(filter_, bindings, times, types)
            sides.append(Attribute(time.alias, make_column(moment.bucket).name))
    return Compare(sides[0], filter_.op, sides[1], source=filter_.source)


def find_moment(
    filter_: Filter,
    bindings: Mapping[Variable, Output],
    times: Mapping[Variable, Sequence[Attribute]],
    types: Types,
) -> NamedBuckets:
    """The column of times that is compared with a value (is_beside_value): the time of a row less
    what is added to the value, or with what is added to it."""
    offset = filter_.offset if isinstance(filter_, TimeFilter) else timedelta(0)
    us = offset // timedelta(microseconds=1)
    timed = _kind(filter_.left, bindings, times, types) == "time"
    return replace(MOMENT, bucket=TimeBucket(Moments(), behind_us=us if timed else -us))


def _is_time(output: object, types: Types) -> bool:
    """Whether a term is a stream's timestamp, as an xsd:dateTime."""
    return (
        isinstance(output, LiteralOutput)
        and types.step_of(output.value) is not None
        and literal_family(output) == "timestamp"
    )


def _read_moment(term: object) -> Literal | None:
    """A constant that is an xsd:dateTime."""
    match term:
        case (
            Literal(lexical=text, datatype=datatype, language=None)
            | ConstantOutput(value=text, is_iri=False, datatype=datatype, language=None)
        ):
            return Literal(text, datatype) if datatype_family(datatype) == "timestamp" else None
        case _:
            return None


def translate_time_filter(
    filter_: TimeFilter,
    bindings: Mapping[Variable, Output],
    times: Mapping[Variable, Sequence[Attribute]],
    types: Types,
) -> tuple[tuple[Condition, ...], ...]:
    """A comparison of times, exactly in whole steps: `<= 31 minutes` is `<= 6` steps of five; or
    of a time with a value; as cases (translate_filter).

    Raises:
        QueryError: a variable that is no time, streams of different units, or a bad dateTime.
    """
    source = filter_.source
    if is_beside_value(filter_, bindings, times, types):
        return ((_compare_value(filter_, bindings, times, types),),)
    left = find_time(filter_.left, bindings, times, types, source)
    step = types.step_of(left)
    assert step is not None
    offset = filter_.offset
    us = (offset.days * 86_400 + offset.seconds) * 1_000_000 + offset.microseconds
    right: Attribute | None = None
    if isinstance(filter_.right, Variable):
        right = find_time(filter_.right, bindings, times, types, source)
        check_steps(left, right, types, source)
    else:
        try:
            us += epoch_us(parse_instant(filter_.right.lexical))
        except ValueError:
            raise QueryError(
                f"{filter_.right.lexical!r} is not a point in time",
                why=f"?{filter_.left.name} is a time",
                fix='write e.g. "2014-08-01T08:00:00Z"^^xsd:dateTime',
                source=source,
            ) from None
    rounded = round_steps(filter_.op.value, us, step)
    if isinstance(rounded, bool):
        return ((),) if rounded else ()
    op, steps = Op(rounded[0]), rounded[1]
    if right is None:
        return ((Compare(left, op, Constant(steps), source=source),),)
    if left == right:
        return ((),) if compare_scalars(0, op, steps) else ()
    return ((Compare(left, op, right, steps, source),),)


def begin_in_windows(
    query: ConjunctiveQuery,
    bindings: Mapping[Variable, Output],
    times: Mapping[Variable, Sequence[Attribute]],
    types: Types,
) -> tuple[Compare, ...]:
    """Of patterns outside GRAPH, whose times have no names: what they match begins to hold before
    the windows of other rows end, as filters say of GRAPH.

    Raises:
        QueryError: a window is of what is no time; streams of different units.
    """
    if all(a.time is not None or a.always for a in query.atoms):
        return ()
    begins = [
        Attribute(alias, table.timestamp)
        for alias, table in types.tables.items()
        if isinstance(table, Stream)
    ]
    conditions: list[Compare] = []
    for named in query.buckets:
        if not named.name.startswith(ENDS):
            continue
        time = find_time(named.time, bindings, times, types, query.source)
        step = types.step_of(time)
        assert step is not None
        rounded = round_steps("<", named.bucket.latest_us, step)
        assert not isinstance(rounded, bool)
        for begin in begins:
            if begin != time:
                check_steps(begin, time, types, query.source)
                conditions.append(Compare(begin, Op(rounded[0]), time, rounded[1], query.source))
    return tuple(conditions)


def check_steps(left: Attribute, right: Attribute, types: Types, source: Source | None) -> None:
    """Raise UnitsDiffer for timestamps of streams with different units of time."""
    a, b = types.step_of(left), types.step_of(right)
    if a != b:
        assert a is not None
        assert b is not None
        raise UnitsDiffer.of(a, b, source)


def find_time(
    variable: Variable,
    bindings: Mapping[Variable, Output],
    times: Mapping[Variable, Sequence[Attribute]],
    types: Types,
    source: Source | None,
) -> Attribute:
    """The timestamp that a variable is: of GRAPH, or one that a mapping binds to it.

    Raises:
        QueryError: it is no time.
    """
    attributes = times.get(variable)
    if attributes:
        return attributes[0]
    output = bindings.get(variable)
    if isinstance(output, LiteralOutput) and _is_time(output, types):
        return output.value
    if output is not None:
        made = (
            f"made from {output.value}"
            if isinstance(output, LiteralOutput)
            else "no literal of a column"
        )
        raise QueryError(
            f"?{variable.name} is used as a time, and is {made}",
            why="a time is the variable of a GRAPH, or one that a mapping binds to the timestamp "
            "of a stream as an xsd:dateTime",
            fix="compare times with times, or with values that are xsd:dateTime, declared as "
            "timestamp; and values with values; NOW() is compared with times of rows alone: of a "
            "value the time of another row may be said to be later, GRAPH ?u { … } FILTER(?u > ?v)",
            source=source,
        )
    raise QueryError(
        f"the time ?{variable.name} is the time of no pattern",
        why=f"there is no GRAPH ?{variable.name} with a pattern",
        fix=f"add a pattern to GRAPH ?{variable.name}, or remove the filter",
        source=source,
    )

"""Propose what a stream's data keeps as declarations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import (
    Column,
    DateType,
    DecimalType,
    IntType,
    Reference,
    Relation,
    Scalar,
    Stream,
    StringType,
)
from ontoweir.mappings.model.parse_duration import UNITS_US, show_duration
from ontoweir.mappings.model.show_values import show_values
from ontoweir.measuring.declared import (
    AddCluster,
    AddGap,
    AddKey,
    AddOrder,
    AddReference,
    AddRows,
    Declared,
    SetDomain,
    SetLateness,
    SetNullable,
    SetRate,
)

if TYPE_CHECKING:
    from ontoweir.runtime.measure.measured import MeasuredColumn, MeasuredStream

_MUCH_LESS = 4
"""A lateness that loses rows is proposed if it is so many times less than the one that does not."""
_SHARE = 0.999
_OFTEN = 10
"""A domain is proposed if a value occurs so many times on average."""
_SOME, _SPANS = 20, 10
"""Rows of one value come together if there are so many values, and so many spans in the history."""
_KEYS = 2
"""So many keys of a stream are proposed at most."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A declaration that the data keeps, but for `loses` rows, which a run would reject;
    `evidence`: what was seen. `asked`: it is told only where it changes a verdict that none
    that says less does."""

    declared: Declared
    evidence: str
    loses: int = 0
    asked: bool = False


def propose_declarations(stream: Stream, measured: "MeasuredStream") -> Iterator[Proposed]:
    """What could be declared of a stream that is not, or not truly.

    Args:
        stream: as it is declared.
        measured: what was measured of its data.
    """
    if measured.first_us is None:
        return
    yield from _rates(stream, measured)
    yield from _lateness(stream, measured)
    for name, found in measured.references.items():
        if not any(r.columns == (name,) for r in stream.references):
            for relation, to in found:
                yield Proposed(
                    AddReference(stream.name, Reference((name,), relation, (to,))),
                    f"all {_count(measured.columns[name])} of {name} are in {relation}.{to}",
                )
    yield from _keys(stream, measured)
    yield from _clusters(stream, measured)
    yield from _orders(stream, measured)
    nulls = {name: found.nulls for name, found in measured.columns.items()}
    yield from propose_nullable(stream, nulls, measured.rows)
    known = {c for r in stream.references for c in r.columns} | measured.references.keys()
    for column in stream.columns:
        values = measured.columns.get(column.name)
        if values is None or column.name in known or _grows(values, measured.rows):
            continue
        proposed = _domain(column, values)
        if proposed is not None:
            declared, evidence = proposed
            yield Proposed(SetDomain(stream.name, declared), evidence)


def propose_nullable(
    table: Stream | Relation, nulls: Mapping[str, int], rows: int
) -> Iterator[Proposed]:
    """Columns that are NULL in some rows, which are no results of SQL that selects them. Not those
    of a key, in which a row has values.

    Args:
        table: as it is declared.
        nulls: by column, in how many rows it is NULL.
        rows: how many there are.
    """
    keys = {name for key in table.keys for name in key}
    for column in table.columns:
        found = nulls.get(column.name, 0)
        if found and not column.nullable and column.name not in keys:
            static = isinstance(table, Relation)
            yield Proposed(
                SetNullable(table.name, column.name, static),
                f"{column.name} is NULL in {found:,} of the {rows:,} rows of {table.name}: in SQL, "
                "they are results then",
            )


def _rates(stream: Stream, measured: "MeasuredStream") -> Iterator[Proposed]:
    known = stream.max_per_timestamp
    if known is None or known < measured.rate:
        said = "" if known is None else f", more than the declared {known:,}"
        few = "no two" if measured.rate == 1 else f"at most {measured.rate:,}"
        evidence = f"{few} of the {measured.rows:,} rows share a timestamp{said}"
        yield Proposed(SetRate(stream.name, measured.rate), evidence)


def _lateness(stream: Stream, measured: "MeasuredStream") -> Iterator[Proposed]:
    found = measured.lateness
    greatest = _up(found.greatest_us, stream.grid_us)
    if greatest <= stream.lateness_us:
        return
    late = found.count_late(stream.lateness_us)
    came = f"{late:,} of {found.total:,} rows come after a later timestamp"
    if stream.lateness_us:
        came += f" by more than {show_duration(stream.lateness_us)}"
    yield Proposed(
        SetLateness(stream.name, greatest), f"{came}, by {show_duration(greatest)} at most"
    )
    less = _up(found.quantile(_SHARE), stream.grid_us)
    if stream.lateness_us < less and less * _MUCH_LESS <= greatest:
        lost = found.count_late(less)
        yield Proposed(
            SetLateness(stream.name, less),
            f"{came}; all but {lost:,} of them by {show_duration(less)} at most",
            lost,
        )


def _up(duration_us: int, grid_us: int) -> int:
    """A duration, rounded up to whole steps."""
    return -(-duration_us // grid_us) * grid_us


def _keys(stream: Stream, measured: "MeasuredStream") -> Iterator[Proposed]:
    for name in measured.whole_keys:
        if (name,) not in stream.keys:
            rows = measured.rows - measured.untimed
            evidence = f"{name} has {rows:,} different values in {rows:,} rows"
            yield Proposed(AddKey(stream.name, (name,)), evidence)
    if measured.rate < 2 or any(stream.timestamp in key for key in stream.keys):
        return  # every column is one then; or one is declared
    wider = [(*key, stream.timestamp) for key in measured.keys]
    known = [set(key) for key in stream.keys]
    new = (k for k in wider if not any(had <= set(k) for had in known))
    for number, key in enumerate(new):
        if number < _KEYS:
            evidence = f"no two rows of a timestamp have the same {' and '.join(key[:-1])}"
            yield Proposed(AddKey(stream.name, key), evidence)


def _clusters(stream: Stream, measured: "MeasuredStream") -> Iterator[Proposed]:
    """Columns, such as a session or an order, whose rows of one value come together: the span is
    much shorter than the history, and values end while others begin."""
    assert measured.first_us is not None
    assert measured.last_us is not None
    history = measured.last_us - measured.first_us
    for name, column in measured.columns.items():
        rows = measured.rows - column.nulls
        if column.span_us is None or column.distinct is None or column.distinct < _SOME:
            continue
        if rows - column.distinct < _SOME:
            continue
        seldom = column.distinct * 2 > rows  # most come once: where a query asks for it only
        lagging = any(lag.behind == stream.name and lag.columns == (name,) for lag in stream.lags)
        if not lagging and column.span_us * _SPANS <= history:
            span = _up(max(column.span_us, 1), stream.grid_us)
            yield Proposed(
                AddCluster(stream.name, name, span),
                f"all rows with one {name} lie within {show_duration(span)} ({_count(column)})",
                asked=seldom,
            )
        known = [rule for rule in stream.closing if rule.columns == (name,)]
        between = column.between
        by_gap = column.gap_us is not None and column.gap_us * _SPANS <= history
        gap = _up(max(column.gap_us or 0, 1), stream.grid_us)
        apart = f"consecutive rows with one {name} lie within {show_duration(gap)} "
        if by_gap and not known:
            yield Proposed(
                AddGap(stream.name, name, gap),
                f"{apart}({_count(column)}), so that its groups are final that long after the last",
                asked=seldom,
            )
        opened = measured.rate * (gap // stream.grid_us + 1)  # at once, by the gap
        few = between is not None and between * _SPANS <= rows and not known
        if between is not None and few and (not by_gap or (between + measured.rate) * 2 <= opened):
            yield Proposed(
                AddRows(stream.name, name, between),
                f"at most {between:,} rows come between consecutive ones with one {name} "
                f"({_count(column)}), so that its groups are final so many rows after the last",
                asked=seldom,
            )
        most = column.most_rows
        if by_gap and most is not None and not any(rule.most_rows for rule in known):
            yield Proposed(
                AddGap(stream.name, name, gap, most),
                f"{apart}({_count(column)}), and no {name} has more than {most:,} rows, so that "
                "what these have in other columns is few",
                asked=True,
            )


def _orders(stream: Stream, measured: "MeasuredStream") -> Iterator[Proposed]:
    """Columns of numbers or days that come again, and grow: what is open of them at a time is few
    of all."""
    for column in stream.columns:
        found = measured.columns.get(column.name)
        if found is None or found.order is None or found.distinct is None:
            continue
        (slack, after), days = found.order, isinstance(column.type, DateType)
        rows = measured.rows - found.nulls
        if found.distinct < _SOME or rows - found.distinct < _SOME:
            continue
        if any(r.columns == (column.name,) and r.is_order for r in stream.closing):
            continue
        low, high = _number(found.minimum), _number(found.maximum)
        if low is None or high is None:
            continue
        seldom = found.distinct * 2 > rows
        by_slack = (slack + 1) * _SPANS <= high - low
        if by_slack:
            less = show_duration(slack * UNITS_US["day"]) if days else f"{slack:,}"
            said = f"at most {less} less than the greatest before" if slack else "never less"
            yield Proposed(
                AddOrder(stream.name, column.name, slack, days),
                f"{column.name} grows, {said} ({_count(found)}), so that its groups are final",
                asked=seldom,
            )
        if (after + 1) * _SPANS <= rows and (not by_slack or (after + 1) * 2 <= slack + 1):
            yield Proposed(
                AddOrder(stream.name, column.name, after, counted=True),
                f"{column.name} grows, and none comes more than {after:,} rows after a greater one "
                f"({_count(found)}), so that its groups are final",
                asked=seldom,
            )


def _number(value: Scalar | None) -> int | None:
    """A whole number, or a day as one."""
    if isinstance(value, str):
        return date.fromisoformat(value).toordinal()
    return value if isinstance(value, int) else None


def _domain(column: Column, measured: "MeasuredColumn") -> tuple[Column, str] | None:
    """A column with the domain that its values have, where it has none or they leave it."""
    match column.type:
        case StringType():
            if column.enum is not None or not measured.values:
                return None
            evidence = f"{column.name} has {show_values(measured.values)}"
            return replace(column, enum=measured.values), evidence
        case IntType() | DecimalType():  # days go on
            low, high = measured.minimum, measured.maximum
            if low is None or high is None or _is_inside(column, low, high):
                return None
            evidence = f"{column.name} lies in {low}..{high}"
            return replace(column, minimum=low, maximum=high, enum=None), evidence
        case _:
            return None


def _grows(column: "MeasuredColumn", rows: int) -> bool:
    """Whether values come so seldom again that others than those seen are to be expected."""
    return column.distinct is None or column.distinct * _OFTEN > rows - column.nulls


def _is_inside(column: Column, low: Scalar, high: Scalar) -> bool:
    """Whether a column has a domain, and values keep it."""
    if column.enum is not None:
        return True
    if column.minimum is None or column.maximum is None:
        return False
    limits = (column.minimum, low, high, column.maximum)
    least, first, last, most = (Decimal(str(v)) for v in limits)
    return least <= first and last <= most


def _count(column: "MeasuredColumn") -> str:
    return f"{column.distinct:,} values"

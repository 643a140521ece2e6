"""Whether the data of a witness keeps the rules that close values."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from ontoweir.checker.witness.witness import WitnessRow
from ontoweir.mappings.model.catalog import ClosingRule, Stream

_Value: TypeAlias = tuple[object, ...]


def keeps_closing(stream: Stream, rows: Sequence[WitnessRow], always: Sequence[WitnessRow]) -> bool:
    """Whether rows keep every closing rule of their stream, with any subset of those that are
    optional, and so does a witness of any size.

    Args:
        stream: whose rows they are.
        rows: all of them.
        always: those of them that are not optional.

    A value may be closed after one step: then it keeps whatever gap, or number of rows, is
    declared. Or it stays open, for ever: by a gap, rows that are always there have it so often;
    by rows, no row has another value; by a row that says it is the last, none says so. Other open
    values would be more, of many optional tuples, than a rule allows: so at most one is open.
    Where the rules do bound a query and no plan is known for it, it is undecided.
    """
    return all(_keeps(rule, stream, rows, always) for rule in stream.closing)


def _keeps(
    rule: ClosingRule, stream: Stream, rows: Sequence[WitnessRow], always: Sequence[WitnessRow]
) -> bool:
    if rule.is_order and rule.most_rows is None:
        return _is_ordered(rule, rows)
    of = _by_value(rule, rows)
    if rule.most_rows is not None and any(len(mine) > 1 for mine in of.values()):
        return False  # of a size, as of any other
    if rule.is_order:
        return _is_ordered(rule, rows)
    sure = _by_value(rule, always)
    for value, mine in of.items():
        if len({row.step for row in mine}) > 1 and not (
            _stays_open(rule, stream, mine, sure.get(value, ()))
            and (rule.rows is None or len(mine) == len(rows))
        ):
            return False
    if rule.ends is None:
        return True
    left = [m for m in of.values() if not all(dict(r.values)[rule.ends] is True for r in m)]
    return len(left) <= 1


def _by_value(rule: ClosingRule, rows: Sequence[WitnessRow]) -> dict[_Value, list[WitnessRow]]:
    """The rows that have a value, by value."""
    of: dict[_Value, list[WitnessRow]] = {}
    for row in rows:
        value = tuple(dict(row.values)[c] for c in rule.columns)
        if None not in value:
            of.setdefault(value, []).append(row)
    return of


def _stays_open(
    rule: ClosingRule, stream: Stream, rows: Sequence[WitnessRow], always: Sequence[WitnessRow]
) -> bool:
    """Whether the rows of a value, at several times, say that it is open as long as they come."""
    if rule.ends is not None:
        return not any(dict(row.values)[rule.ends] is True for row in rows)
    if rule.rows is not None:
        return True
    if rule.gap_us is None:
        return False
    steps = sorted({row.step or 0 for row in always})
    if not steps or any(not steps[0] <= (row.step or 0) <= steps[-1] for row in rows):
        return False
    return all((b - a) * stream.step_us <= rule.gap_us for a, b in pairwise(steps))


def _is_ordered(rule: ClosingRule, rows: Sequence[WitnessRow]) -> bool:
    """Whether no value is less than one of an earlier step, which keeps any slack."""
    (column,) = rule.columns
    steps: dict[int, list[Any]] = {}
    for row in rows:
        value = dict(row.values)[column]
        if value is not None and row.step is not None:
            steps.setdefault(row.step, []).append(value)
    greatest: Any = None
    for _, values in sorted(steps.items()):
        if greatest is not None and min(values) < greatest:
            return False
        greatest = max(values)
    return True

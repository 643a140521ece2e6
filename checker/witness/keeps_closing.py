"""Whether the data of a witness keeps the rules that close values, whatever their numbers are."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from ontoweir.checker.witness.witness import WitnessRow
from ontoweir.mappings.model.catalog import ClosingRule, Stream

_Value: TypeAlias = tuple[object, ...]


def keeps_closing(stream: Stream, rows: Sequence[WitnessRow]) -> bool:
    """Whether rows keep every closing rule of their stream, with any subset of them, and whatever
    gap, number of rows, of open values or of rows of a value it allows.

    A witness is of some size, and stands for one of every size. Of many optional tuples, values
    that are open would be more than a rule allows: so no value may be open after a step, or one
    where each has to say that it is closed. Where the rules do bound a query and no plan is known
    for it, it is undecided.
    """
    return all(_keeps(rule, rows) for rule in stream.closing)


def _keeps(rule: ClosingRule, rows: Sequence[WitnessRow]) -> bool:
    if rule.is_order and rule.most_rows is None:
        return _is_ordered(rule, rows)
    of: dict[_Value, list[WitnessRow]] = {}
    for row in rows:
        value = tuple(dict(row.values)[c] for c in rule.columns)
        if None not in value:
            of.setdefault(value, []).append(row)
    if rule.most_rows is not None and any(len(mine) > 1 for mine in of.values()):
        return False  # of a size, as of any other
    if rule.is_order:
        return _is_ordered(rule, rows)
    if any(len({row.step for row in mine}) > 1 for mine in of.values()):
        return False
    if rule.ends is None:
        return True
    left = [m for m in of.values() if not all(dict(r.values)[rule.ends] is True for r in m)]
    return len(left) <= 1


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

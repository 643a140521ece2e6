"""Groups of rows, and which of them are told, computed naively."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ontoweir.checker.witness.evaluate_naively import aggregate_rows
from ontoweir.checker.witness.keyed.compute import UnknownAnswerError, compute
from ontoweir.rewriter.differences.count_rows import MULTIPLICITY
from ontoweir.rewriter.model.aggregation import Aggregation, FirstRows, NumberedGroups, Numbering

Rows: TypeAlias = Counter[tuple[Any, ...]]
"""Rows, each a value for each of some names, and how often they are there."""


def group_naively(
    groups: Aggregation, names: Sequence[str], rows: Rows
) -> tuple[tuple[str, ...], Rows]:
    """What is told of the groups of rows, and its columns.

    Args:
        groups: in no panes and sessions; without a key there is one, also of no rows.
        names: of the rows' values.
        rows: that are grouped.

    Raises:
        UnknownAnswerError: what is told is not computed here.
    """
    made = _group(groups, names, rows)
    if groups.around is not None:
        inner = tuple(n for n in _columns(made) if n != MULTIPLICITY)
        counted: Rows = Counter()
        for row in made:
            counted[tuple(row[n] for n in inner)] += int(row.get(MULTIPLICITY, 1))
        made = _group(groups.around, inner, counted)
    told = groups.told.columns
    if groups.numbered is not None:
        made = number_naively(groups.numbered, made)
        told = groups.numbered.columns
    return told, Counter(tuple(row[n] for n in told) for row in made)


def _columns(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(rows[0]) if rows else ()


def _group(groups: Aggregation, names: Sequence[str], rows: Rows) -> list[dict[str, Any]]:
    """The groups' rows, with all that is computed of them."""
    if groups.panes is not None or groups.session_us is not None:
        raise UnknownAnswerError
    place = {name: n for n, name in enumerate(names)}
    if rows and not {*groups.variables} <= place.keys():
        raise UnknownAnswerError
    found: dict[tuple[Any, ...], Rows] = {} if groups.group else {(): Counter()}
    for row, count in rows.items():
        found.setdefault(tuple(row[place[n]] for n in groups.group), Counter())[row] += count
    made = []
    for key, mine in found.items():
        content = dict(zip(groups.group, key, strict=True))
        try:
            for one in groups.aggregates:
                content[one.name] = _plain(aggregate_rows(one, place, mine))
        except (TypeError, ValueError, ArithmeticError, AssertionError):
            raise UnknownAnswerError from None
        if shape_row(groups, content):
            made.append(content)
    return made


def shape_row(groups: Aggregation, content: dict[str, Any]) -> bool:
    """Compute what is computed of a row, into it; whether it is there."""
    computed = {name: compute(made, content) for name, made in groups.computed}
    content |= computed
    return groups.having is None or compute(groups.having, content) is True


def _plain(value: Any) -> Any:
    """A whole number as such."""
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def number_naively(
    numbered: NumberedGroups, rows: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The rows with the first numbers of each key, with them.

    Raises:
        UnknownAnswerError: which of equal ones is the first is not known.
    """
    keyed: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        keyed.setdefault(tuple(row[n] for n in numbered.key), []).append(row)
    return [row for mine in keyed.values() for row in _take_first(numbered.first, mine)]


def _take_first(first: FirstRows, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    try:
        for name, falls, nulls_first in reversed(first.order):
            empty = [row for row in rows if row[name] is None]
            full = sorted((r for r in rows if r[name] is not None), key=lambda r: r[name])
            full = _turn(full, name) if falls else full
            rows = [*empty, *full] if nulls_first else [*full, *empty]
    except TypeError:
        raise UnknownAnswerError from None
    told, number, dense = [], 0, 0
    before: tuple[Any, ...] | None = None
    for place, row in enumerate(rows, 1):
        value = tuple(row[name] for name, _, _ in first.order)
        if value != before:
            number, dense = place, dense + 1
        elif first.numbering is Numbering.ROWS:
            raise UnknownAnswerError
        before = value
        mine = dense if first.numbering is Numbering.DENSE else number
        if first.least <= mine <= first.limit and (first.told is None or row[first.told] == 1):
            told.append(row if first.number is None else {**row, first.number: mine})
    return told


def _turn(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Rows from the greatest to the least value, equal ones in their order."""
    return sorted(rows, key=lambda r: r[name], reverse=True)

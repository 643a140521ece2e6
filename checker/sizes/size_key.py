"""How many values the key of a table, or a value class, can have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from ontoweir.checker.model.normal_form import Kind, NormalForm, ValueClass
from ontoweir.checker.model.plan import Break, Constants, Grid, Key, Points, StaticValues


@dataclass(frozen=True, slots=True)
class Factor:
    """How many values there are (None: unknown), and a formula for it."""

    size: int | None
    formula: str


def size_key(form: NormalForm, key: Key) -> Factor:
    """How many values a key can have; a clipped one has its two ends and what lies between."""
    group = form.classes[key.value]
    domain, grain = group.domain, group.grain
    low, high = key.low, key.high
    if key.breaks:
        return _least(Factor(domain.size, domain.formula), _size_ranks(group, key.breaks))
    if low is None and high is None:
        return Factor(domain.size, domain.formula)
    if domain.low is not None:
        low = domain.low if low is None else max(low, domain.low)
    if domain.high is not None:
        high = domain.high if high is None else min(high, domain.high)
    if low is not None and high is not None and grain:
        between = int(-(-high // grain)) - int(low // grain) - 1
        size = 1 if high <= low else max(between, 0) + 2
        clipped = Factor(size, f"|{group.name}, clipped| = {size}")
        return _least(Factor(domain.size, domain.formula), clipped)
    return Factor(domain.size, domain.formula)


def _least(whole: Factor, reduced: Factor) -> Factor:
    if whole.size is None and reduced.size is None:
        return reduced if whole.formula == "∞" else whole
    if reduced.size is None or (whole.size is not None and whole.size <= reduced.size):
        return whole
    return reduced


def _size_ranks(group: ValueClass, breaks: Sequence[Break]) -> Factor:
    """Every breakpoint, and what lies between two of them, before and after all."""
    points: int | None = 0
    texts = []
    for at in breaks:
        match at:
            case Grid(first=first, last=last, step=step):
                count: int | None = max(int((last - first) // step) + 1, 0)
            case Constants(values=values):
                count = len(values)
            case StaticValues(table=table, column=column, size=count):
                texts.append(f"|{table}.{column}|")
            case Points(numbers=numbers):
                count = len(numbers)
            case _:
                assert_never(at)
        points = None if points is None or count is None else points + count
    if points is None:
        return Factor(None, f"ranks of {group.name} in {' + '.join(texts)}")
    size = points + 1 if group.kind is Kind.STRING else 2 * points + 1
    return Factor(size, f"|{group.name}, ranked| = {size}")

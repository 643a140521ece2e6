"""The rows of a chunk that are tuples of a member, for all plans of a shape at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.normal_form import Kind, Member
from ontoweir.rewriter.model.spj import Attribute
from ontoweir.runtime.alike.plan_shape import MemberLimits
from ontoweir.runtime.alike.value_limit import ValueLimit
from ontoweir.runtime.columnar.frame import Array, Frame, Name
from ontoweir.runtime.ingest.build_members import MemberBuilder
from ontoweir.runtime.ingest.encode_statics import Arrival
from ontoweir.runtime.pool.text_table import TEXT, TextTable


class Unlike(Exception):
    """Plans that cannot be advanced together this time, as numbers do not fit, for example."""


@dataclass(frozen=True, slots=True)
class NamedValues:
    """Numbers, or codes of texts, that plans name: `values`, in order, with a column of `good` for
    each, and one more for all others; a row of it is a plan's."""

    values: Array
    good: Array

    def hold(self, column: Array) -> Array:
        """Which rows of a column each plan lets through."""
        if not len(self.values):
            return np.repeat(self.good, len(column), axis=1)
        place = np.searchsorted(self.values, column)
        known = self.values[np.minimum(place, len(self.values) - 1)] == column
        held: Array = self.good[:, np.where(known, place, len(self.values))]
        return held


@dataclass(frozen=True, slots=True)
class AttributeLimits:
    """What plans want of an attribute: by plan, the least and the greatest number; and, where they
    name values, which."""

    attribute: Attribute
    low: Array
    high: Array
    named: NamedValues | None

    def take(self, plans: Sequence[int]) -> "AttributeLimits":
        """The same of some of the plans."""
        named = self.named
        if named is not None:
            named = NamedValues(named.values, named.good[plans])
        return AttributeLimits(self.attribute, self.low[plans], self.high[plans], named)


@dataclass(frozen=True, slots=True)
class UnitedLimits:
    """What each of `count` plans wants of a member's attributes."""

    count: int
    attributes: tuple[AttributeLimits, ...]

    def take(self, plans: Sequence[int]) -> "UnitedLimits":
        """The same of some of the plans."""
        return UnitedLimits(len(plans), tuple(held.take(plans) for held in self.attributes))


def unite_limits(
    limits: Sequence[MemberLimits], kinds: Mapping[Attribute, Kind], texts: TextTable
) -> UnitedLimits:
    """The limits of a member in several plans; `texts`: has all that they name."""
    attributes = dict.fromkeys(a for held in limits for a in held)
    return UnitedLimits(
        len(limits),
        tuple(
            _unite(a, [held.get(a, ValueLimit()) for held in limits], kinds[a], texts)
            for a in attributes
        ),
    )


def _unite(
    attribute: Attribute, limits: Sequence[ValueLimit], kind: Kind, texts: TextTable
) -> AttributeLimits:
    low = np.array([limit.low for limit in limits], dtype=np.int64)
    high = np.array([limit.high for limit in limits], dtype=np.int64)
    names = list({name for limit in limits for name in (*(limit.among or ()), *limit.but)})
    if not names and all(limit.among is None for limit in limits):
        return AttributeLimits(attribute, low, high, None)
    if kind is Kind.STRING:
        values = texts.find(pa.array(names, TEXT))
    else:
        values = np.array(names, dtype=np.int64)
    order = np.argsort(values, kind="stable")
    good = np.zeros((len(limits), len(names) + 1), dtype=np.bool_)
    for row, limit in zip(good, limits, strict=True):
        row[:-1] = [limit.holds(names[place]) for place in order]
        row[-1] = limit.among is None
    return AttributeLimits(attribute, low, high, NamedValues(values[order], good))


def collect_rows(
    builder: MemberBuilder, member: Member, arrival: Arrival, limits: UnitedLimits, tag: Name
) -> Frame:
    """A member's tuples in all plans, which `tag` tells apart: by the place of their limits, in the
    plan's units.

    Args:
        builder: of the plan without limits.
        member: of that plan.
        arrival: all rows of its stream.
        limits: of every plan.
        tag: names the column.

    Raises:
        Unlike: a column that has limits is not one of whole numbers, or texts.
    """
    rows = builder.match(member, arrival, {})
    plans, index = _list_within(rows, limits)
    mine = {attribute: column[index] for attribute, column in rows.items()}
    return builder.collect(member, mine, {tag: plans * builder.form.unit})


def _list_within(rows: Mapping[Attribute, Array], limits: UnitedLimits) -> tuple[Array, Array]:
    """Pairs of a plan and a row that keeps its limits, in their order: two arrays (int64)."""
    count = len(next(iter(rows.values())))
    good = np.ones((limits.count, count), dtype=np.bool_)
    for held in limits.attributes:
        column = rows[held.attribute]
        if column.dtype != np.int64:
            raise Unlike(f"{held.attribute} is not of whole numbers")
        if not len(column):
            continue
        if held.low.max() > column.min() or held.high.min() < column.max():
            good &= column >= held.low[:, None]
            good &= column <= held.high[:, None]
        if held.named is not None:
            good &= held.named.hold(column)
    plans, index = np.nonzero(good)
    return plans, index

"""[S] preprocessing, step 4: the modified LTO queries of a disjunct, one by one ([A] Def. 4.3).

Within every stream the attributes and the constants of the query are totally ordered. There are
exponentially many, hence a generator; deciding does not enumerate them (decide_lag,
decide_published).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product

from ontoweir.checker.model.difference_bounds import DifferenceBounds, Limit
from ontoweir.checker.model.normal_form import Kind, Member, NormalForm
from ontoweir.checker.normalise.split_times import MAX_PARTS, TimeOrder, split_times
from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    Op,
    SpjQuery,
    output_attributes,
)

Element = Attribute | Fraction
"""What is ordered: an attribute, or a constant (a number)."""


@dataclass(frozen=True, slots=True)
class LtoQuery:
    """One LTO query: the order of the streams' timestamps, and per member the order of its
    attributes and the constants, as levels of equal elements, least first."""

    form: NormalForm
    times: TimeOrder
    orders: tuple[tuple[tuple[Element, ...], ...], ...]

    def query(self, catalog: Catalog) -> SpjQuery:
        """The disjunct with the filters of this LTO query added."""
        added: list[Condition] = []
        for levels in self.orders:
            for level in levels:
                added.extend(_relate(a, Op.EQ, b) for a, b in pairwise(level))
            for low, high in pairwise(levels):
                added.append(_relate(low[0], Op.LT, high[0]))
        stamps = [
            Attribute(m.alias, catalog.streams[m.stream].timestamp) for m in self.form.members
        ]
        for group in self.times.groups:
            first, *rest = sorted(group)
            added.extend(Compare(stamps[first], Op.EQ, stamps[i]) for i in rest)
        for a, b in sorted(self.times.before):
            i, j = min(self.times.groups[a]), min(self.times.groups[b])
            added.append(Compare(stamps[i], Op.LT, stamps[j]))
        extra = [c for c in added if not _is_constant_fact(c)]
        return replace(self.form.query, conditions=(*self.form.query.conditions, *extra))

    def __str__(self) -> str:
        parts = []
        for group in self.times.groups:
            names = [f"{self.form.members[i].alias}.t" for i in sorted(group)]
            if len(names) > 1:
                parts.append(" = ".join(names))
        for later, earlier in self.times.reduction():
            i, j = min(self.times.groups[earlier]), min(self.times.groups[later])
            parts.append(f"{self.form.members[i].alias}.t < {self.form.members[j].alias}.t")
        for levels in self.orders:
            if any(isinstance(e, Attribute) for level in levels for e in level):
                parts.append(" < ".join(" = ".join(map(str, level)) for level in levels))
        return " ∧ ".join(parts) or "true"


def _is_constant_fact(c: Condition) -> bool:
    return isinstance(c, Compare) and c.left.alias == ""


def _relate(a: Element, op: Op, b: Element) -> Compare:
    if isinstance(a, Attribute):
        return Compare(a, op, b if isinstance(b, Attribute) else Constant(_scalar(b)))
    if isinstance(b, Attribute):
        return Compare(b, op.flipped(), Constant(_scalar(a)))
    return Compare(Attribute("", ""), op, Constant(0))


def _scalar(number: Fraction) -> int | Decimal:
    if number.denominator == 1:
        return int(number)
    return Decimal(number.numerator) / Decimal(number.denominator)


def derive_lto(form: NormalForm) -> Iterator[LtoQuery]:
    """Every satisfiable LTO query of a satisfiable disjunct without time differences."""
    constants = sorted(
        {
            Fraction(str(c.right.value))
            for c in form.query.conditions
            if isinstance(c, Compare)
            and isinstance(c.right, Constant)
            and c.left in form.class_of
            and form.kinds[c.left] in (Kind.NUMBER, Kind.FLOAT)
        }
    )
    parts = split_times(form)
    if parts is None:
        raise QueryError(
            f"the timestamps can be ordered in more than {MAX_PARTS} ways",
            why="each order of timestamps leads to LTO queries of its own",
            fix="compare timestamps by < instead of <=; the verdict does not need LTO queries",
        )
    for times in parts:
        choices = [list(_orders(form, m, constants)) for m in form.members]
        for orders in product(*choices):
            bounds = form.bounds.copy()
            for levels in orders:
                _add(form, bounds, levels)
            if bounds.satisfiable:
                yield LtoQuery(form, times, orders)


def _orders(
    form: NormalForm, member: Member, constants: list[Fraction]
) -> Iterator[tuple[tuple[Element, ...], ...]]:
    """Every total order of a member's numbers and the constants that P⁺ allows by itself."""
    used = {a for _, o in form.query.outputs for a in output_attributes(o)}
    for c in form.query.conditions:
        if isinstance(c, Compare):
            used |= {c.left} | ({c.right} if isinstance(c.right, Attribute) else set())
    attributes = [
        a
        for a in form.class_of
        if a in used and a.alias == member.alias and form.kinds[a] in (Kind.NUMBER, Kind.FLOAT)
    ]
    start: tuple[tuple[Element, ...], ...] = tuple((c,) for c in constants)
    orders = [start]
    for attribute in attributes:
        longer = []
        for levels in orders:
            for i, level in enumerate(levels):
                longer.append((*levels[:i], (*level, attribute), *levels[i + 1 :]))
            for i in range(len(levels) + 1):
                longer.append((*levels[:i], (attribute,), *levels[i:]))
        orders = []
        for levels in longer:
            bounds = form.bounds.copy()
            _add(form, bounds, levels)
            if bounds.satisfiable:
                orders.append(levels)
    yield from orders


def _add(
    form: NormalForm, bounds: DifferenceBounds, levels: tuple[tuple[Element, ...], ...]
) -> None:
    for level in levels:
        for a, b in pairwise(level):
            _limit(form, bounds, a, b, strict=False)
            _limit(form, bounds, b, a, strict=False)
    for low, high in pairwise(levels):
        _limit(form, bounds, low[0], high[0], strict=True)


def _limit(
    form: NormalForm, bounds: DifferenceBounds, a: Element, b: Element, *, strict: bool
) -> None:
    """Add a <= b, or a < b."""
    kinds = {form.kinds[e] for e in (a, b) if isinstance(e, Attribute)}
    units = {form.unit_of(kind) for kind in kinds}
    if len(units) != 1:  # constants alone, or numbers that the query does not compare
        return
    x, shift_x = _node(form, a, *units)
    y, shift_y = _node(form, b, *units)
    if x or y:
        bounds.add(x, y, Limit(_whole(shift_y - shift_x), strict))


def _whole(number: Fraction) -> int | Fraction:
    return int(number) if number.denominator == 1 else number


def _node(form: NormalForm, element: Element, unit: int) -> tuple[int, Fraction]:
    if isinstance(element, Attribute):
        group = form.classes[form.class_of[element]]
        return form.class_nodes[group.index], Fraction(dict(group.attributes)[element])
    return 0, element * unit

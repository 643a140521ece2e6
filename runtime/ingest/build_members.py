"""From tuples to members: local conditions, static relations folded in, declared domains."""

import itertools
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import TypeAlias, assert_never

import numpy as np
import pyarrow as pa

from ontoweir.checker.model.normal_form import Kind, Member, NormalForm
from ontoweir.checker.model.units import Units
from ontoweir.mappings.model.catalog import Catalog, Scalar, Stream
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    IsNull,
    NotNull,
    OneOf,
    Op,
)
from ontoweir.runtime.columnar.add_exact import (
    Ends,
    add_exact,
    differs,
    fits,
    lie_within,
    lies_below,
    lies_beside,
    narrow,
)
from ontoweir.runtime.columnar.columns import stamp, value
from ontoweir.runtime.columnar.frame import EVENT, WEIGHT, Array, Frame, Name, ones, sums_of
from ontoweir.runtime.columnar.value_set import ValueSet, value_set
from ontoweir.runtime.distinct.merge_repeats import merge_repeats
from ontoweir.runtime.ingest.encode_statics import (
    Arrival,
    StaticData,
    allowed_numbers,
    code_constant,
    list_totals,
    null_attributes,
)
from ontoweir.runtime.ingest.list_references import compare_within
from ontoweir.runtime.ingest.select_candidates import in_dates
from ontoweir.runtime.nulls.code_null import code_null
from ontoweir.runtime.nulls.fill_null import fill_null
from ontoweir.runtime.pool.string_pool import StringPool

_COMPARISONS = {Op.LT: "less", Op.LE: "less_equal", Op.GE: "greater_equal", Op.GT: "greater"}
"""How Arrow calls them."""
_ROW = ""
"""In place of a column: the number of a row."""
_NO_COLUMNS: Mapping[Name, Array] = {}

_Known: TypeAlias = tuple[Mapping[Attribute, frozenset[str]], Mapping[Attribute, Ends]]
"""Texts that attributes are among, and, in units, what numbers they lie between."""


class MemberBuilder:
    """Makes the batches of one plan's members from a chunk's arrivals."""

    def __init__(
        self,
        form: NormalForm,
        catalog: Catalog,
        statics: Mapping[str, StaticData],
        pool: StringPool,
    ) -> None:
        self.form, self.catalog, self.statics, self.pool = form, catalog, statics, pool
        self.units = Units(form.unit, {}, form.floats)
        self.tables = {o.alias: catalog.table(o.table) for o in form.query.occurrences}
        self.grains = {a: self._grain(a) for a in form.class_of}
        self.absent = null_attributes(form)
        self.within = compare_within(form, catalog)
        self.relevant = self._relevant()
        optional = [c for c in form.classes if c.optional]
        self.nulls = {a: code_null(c, pool) for c in optional for a, _ in c.attributes}

    def _grain(self, attribute: Attribute) -> int:
        """Values of an attribute are multiples of this many units (0: dense)."""
        column = self.tables[attribute.alias].column(attribute.column)
        assert column is not None
        return self.units.grain(column.type)

    def _relevant(self) -> frozenset[int]:
        """The classes that matter beyond their member."""
        relevant = {c.index for c in self.form.classes if c.projected or len(c.members) > 1}
        for q in self.form.inequalities:
            relevant |= {q.x, q.y}
        for d in self.form.disequalities:
            relevant |= {d.x, d.y}
        return frozenset(relevant | {fold.value for fold in self.form.folds or ()})

    def batch(self, member: Member, arrival: Arrival) -> Frame:
        """A member's tuples: EVENT, the stamp, values, WEIGHT."""
        if arrival.weights is None or self.form.distinct:
            return self.collect(member, self.match(member, arrival, {}))
        numbers = {member.alias: np.arange(len(arrival.steps))}
        rows = self.match(member, arrival, numbers)
        number = rows.pop(Attribute(member.alias, _ROW))
        sums = list_totals(self.form, member, arrival, number)
        return self.collect(member, rows, sums, arrival.weights[number])

    def collect(
        self,
        member: Member,
        rows: Mapping[Attribute, Array],
        more: Mapping[Name, Array] = _NO_COLUMNS,
        weights: Array | None = None,
    ) -> Frame:
        """Rows that satisfy all conditions within a member as its tuples; `more`: further columns,
        in which rows that merge are equal, too; `weights`: how often each counts (None: once)."""
        count = len(events := rows[self._time(member)])
        columns: dict[Name, Array] = {}
        for group in self.form.classes:
            if group.index not in self.relevant or member.index not in group.members:
                continue
            attribute, shift = next((a, s) for a, s in group.attributes if a in rows)
            column = rows[attribute]
            columns[value(group.index)] = narrow(add_exact(column, -shift), "a value")
        columns |= {**more, EVENT: events, WEIGHT: ones(count) if weights is None else weights}
        frame = Frame(count, columns)
        related = self._related(frame)
        frame = frame if related.all() else frame.take(related)
        if not sums_of(frame):  # rows of one sum are no repeats
            by = [n for n in columns if n != WEIGHT]
            frame = merge_repeats(frame, by, bag=not self.form.distinct)
        return frame.with_columns({stamp(member.index): frame[EVENT]})

    def positions(self, member: Member, arrival: Arrival) -> dict[str, Array]:
        """Of the member's tuples, one after the other as the stream's rows are: for the stream and
        every static occurrence, by alias, which of its rows each is made of."""
        numbers = {member.alias: np.arange(len(arrival.steps))}
        for occurrence in member.statics:
            numbers[occurrence.alias] = np.arange(self.statics[occurrence.table].rows)
        rows = self.match(member, arrival, numbers)
        return {alias: rows[Attribute(alias, _ROW)] for alias in numbers}

    def _time(self, member: Member) -> Attribute:
        stream = self.tables[member.alias]
        assert isinstance(stream, Stream)
        return Attribute(member.alias, stream.timestamp)

    def match(
        self, member: Member, arrival: Arrival, numbers: Mapping[str, Array]
    ) -> dict[Attribute, Array]:
        """The rows that keep all conditions within it; `numbers`, by alias, are carried along."""
        mine = {member.alias, *(o.alias for o in member.statics)}
        attributes = [a for a in self.form.class_of if a.alias in mine]
        rows: dict[Attribute, Array] = {}
        good = in_dates(member, arrival.steps)
        for a in attributes:
            if a.alias == member.alias and a not in self.nulls:
                good &= arrival.columns[a.column].valid
        for a in self.absent:
            if a.alias == member.alias:
                good &= ~arrival.present[a.column]
        time = self._time(member)
        if member.alias in numbers:
            rows[Attribute(member.alias, _ROW)] = numbers[member.alias]
        for a in attributes:
            if a.alias == member.alias:
                column = arrival.columns[a.column]
                null = self.nulls.get(a)
                rows[a] = column.values if null is None else fill_null(column, null, str(a))
        rows[time] = arrival.steps
        if not good.any():  # as of what must be NULL, where nothing is
            rows, good = {a: c[:0] for a, c in rows.items()}, good[:0]
        unchecked = list(member.local)
        good &= self._holding(rows, unchecked, len(good))
        rows = _only(rows, good)
        known = self._known(member, arrival)
        rows = _only(rows, self._in_class_domains(rows, len(rows[time]), known))
        unchecked = [c for c in unchecked if not self._available(c, rows)]
        rows, unchecked = self._fold(member, rows, unchecked, numbers)
        count = len(rows[time])
        good = self._equal_in_class(rows, count)
        if member.statics:
            good &= self._in_class_domains(rows, count, known)
        return _only(rows, good)

    def _known(self, member: Member, arrival: Arrival) -> _Known:
        """What was declared of a member's attributes, and all tuples keep."""
        texts = {Attribute(member.alias, c): v for c, v in arrival.among.items()}
        ends: dict[Attribute, Ends] = {}
        for group in self.form.classes if arrival.limits else ():
            unit = self.form.unit_of(group.kind)
            for attribute, shift in group.attributes:
                if attribute.alias == member.alias and attribute.column in arrival.limits:
                    low, high = arrival.limits[attribute.column]
                    least = None if low is None else low * unit - shift
                    ends[attribute] = least, None if high is None else high * unit - shift
        return texts, ends

    def _fold(
        self,
        member: Member,
        rows: dict[Attribute, Array],
        unchecked: list[Condition],
        numbers: Mapping[str, Array],
    ) -> tuple[dict[Attribute, Array], list[Condition]]:
        """Join the static occurrences, one by one, those tied by an equality first."""
        waiting, there = list(member.statics), {member.alias}
        while waiting:
            occurrence = next(
                (o for o in waiting if self._ties(o.alias, there, unchecked)), waiting[0]
            )
            waiting.remove(occurrence)
            data = self.statics[occurrence.table]
            own = {
                Attribute(occurrence.alias, name): column
                for name, column in data.columns.items()
                if Attribute(occurrence.alias, name) in self.form.class_of
            }
            absent = tuple(a.column for a in self.absent if a.alias == occurrence.alias)
            ties = self._ties(occurrence.alias, there, unchecked)
            for mine, _, offset in ties:  # what does not fit has no partner
                rows = _only(rows, fits(add_exact(rows[mine], offset)))
            left = [narrow(add_exact(rows[mine], offset), "a value") for mine, _, offset in ties]
            by = tuple(other.column for _, other, _ in ties)
            valued = tuple(a.column for a in own if a not in self.nulls)
            partners = data.partners(by, valued, absent)
            index, partner = partners.find(left, len(next(iter(rows.values()))))
            if index is not None:
                rows = {a: c[index] for a, c in rows.items()}
            for a, column in own.items():
                null = self.nulls.get(a)
                values = column.values if null is None else data.fill(a.column, null)
                rows[a] = values[partner]
            if occurrence.alias in numbers:
                rows[Attribute(occurrence.alias, _ROW)] = numbers[occurrence.alias][partner]
            there.add(occurrence.alias)
            good = self._holding(rows, unchecked, len(partner))
            rows = _only(rows, good)
            unchecked = [c for c in unchecked if not self._available(c, rows)]
        return rows, unchecked

    def _ties(
        self, alias: str, there: set[str], conditions: Sequence[Condition]
    ) -> list[tuple[Attribute, Attribute, Fraction]]:
        """Equalities of an occurrence with what is there: `own = mine + offset`, in units."""
        ties = []
        for c in conditions:
            if not isinstance(c, Compare) or c.op is not Op.EQ:
                continue
            if not isinstance(c.right, Attribute):
                continue
            offset = Fraction(Decimal(c.offset)) * self.form.unit_of(self._kind(c.left))
            if c.left.alias == alias and c.right.alias in there:
                ties.append((c.right, c.left, offset))
            elif c.right.alias == alias and c.left.alias in there:
                ties.append((c.left, c.right, -offset))
        return ties

    @staticmethod
    def _available(condition: Condition, rows: Mapping[Attribute, Array]) -> bool:
        match condition:
            case NotNull(attribute=attribute) | OneOf(attribute=attribute):
                return attribute in rows
            case IsNull():
                return True  # as its tuple was chosen by it
            case Compare(left=left, right=right):
                return left in rows and (isinstance(right, Constant) or right in rows)
            case _:
                assert_never(condition)

    def _holding(
        self, rows: Mapping[Attribute, Array], conditions: Sequence[Condition], count: int
    ) -> Array:
        """Which rows satisfy those conditions that can be evaluated already."""
        good = np.ones(count, dtype=np.bool_)
        for c in conditions:
            if isinstance(c, Compare) and self._available(c, rows):
                good &= self._compare(c, rows)
            elif isinstance(c, OneOf) and c.attribute in rows:
                good &= self._among(c.values, self._kind(c.attribute)).holds(rows[c.attribute])
        return good

    def _is_time(self, attribute: Attribute) -> bool:
        table = self.tables[attribute.alias]
        return isinstance(table, Stream) and attribute.column == table.timestamp

    def _compare(self, c: Compare, rows: Mapping[Attribute, Array]) -> Array:
        left = rows[c.left]
        right: Array | int | float
        if isinstance(c.right, Attribute):
            scale = 1 if self._is_time(c.left) else self.form.unit_of(self._kind(c.left))
            offset = Fraction(Decimal(c.offset)) * scale
            whole = left.dtype.kind != "f" and rows[c.right].dtype.kind != "f"
            if whole and offset.denominator != 1:
                return lies_beside(left, c.op, add_exact(rows[c.right], floor(offset)))
            right = add_exact(rows[c.right], offset)
        elif self._is_time(c.left):
            right = int(c.right.value)
        else:
            kind = self._kind(c.left)
            if kind is Kind.STRING:
                return self._compare_text(left, c.op, str(c.right.value))
            right = code_constant(c.right.value, kind, self.units, self.pool)
            exact = self.units.value(c.right.value, kind)
            if isinstance(exact, Fraction) and left.dtype.kind != "f":
                return lies_beside(left, c.op, floor(exact))
        good: Array
        match c.op:
            case Op.LT:
                good = left < right
            case Op.LE:
                good = left <= right
            case Op.EQ:
                good = left == right
            case Op.GE:
                good = left >= right
            case Op.GT:
                good = left > right
            case Op.NE:
                good = left != right
            case _:
                assert_never(c.op)
        return good

    def _kind(self, attribute: Attribute) -> Kind:
        return self.form.kinds[attribute]

    def _compare_text(self, codes: Array, op: Op, text: str) -> Array:
        if op in (Op.EQ, Op.NE):
            same: Array = codes == self.pool.code(text)
            return same if op is Op.EQ else ~same
        return self.pool.compare(_COMPARISONS[op], text, codes)

    def _in_class_domains(
        self, rows: Mapping[Attribute, Array], count: int, known: _Known
    ) -> Array:
        """Enforce the domain of every class on each attribute of it that is there."""
        good = np.ones(count, dtype=np.bool_)
        for group in self.form.classes:
            domain = group.domain
            fit = np.ones(count, dtype=np.bool_) if group.optional else good
            for attribute, shift in group.attributes:
                if attribute not in rows:
                    continue
                column = add_exact(rows[attribute], -shift)
                if column.dtype != object or (inside := fits(column)).all():
                    column = narrow(column, "a value")
                else:  # it equals no value that there is
                    fit &= inside
                    column = np.where(inside, column, 0).astype(np.int64)
                for other, more in group.attributes:
                    grain = self.grains[other]
                    mine = self.grains[attribute]
                    if grain != mine and (grain > 1 or (grain and not mine)):
                        fit &= (add_exact(column, more) % grain == 0).astype(np.bool_)
                if group.kind is not Kind.STRING:
                    held = lie_within(column, (domain.low, domain.high), known[1].get(attribute))
                    if held is not None:
                        fit &= held
                texts = known[0].get(attribute)
                if domain.values is not None and not (texts and texts <= set(domain.values)):
                    fit &= self._among(domain.values, group.kind).holds(column)
                for table, name in self.within[attribute]:
                    fit &= self.statics[table].among(name).holds(column)
                if group.optional:
                    good &= fit | (column == self.nulls[attribute])
        return good

    def _among(self, values: tuple[Scalar, ...], kind: Kind) -> ValueSet:
        if kind is not Kind.STRING:
            return allowed_numbers(values, kind, self.units.of(kind))
        return value_set(self.pool.encode(pa.array([str(v) for v in values], pa.string())))

    def _related(self, frame: Frame) -> Array:
        """Comparisons between two classes that both have a value in this one member."""
        good = np.ones(frame.rows, dtype=np.bool_)
        for q in self.form.inequalities:
            if value(q.x) in frame.columns and value(q.y) in frame.columns:
                good &= lies_below(frame[value(q.x)], frame[value(q.y)], q.limit, strict=q.strict)
        for d in self.form.disequalities:
            if value(d.x) in frame.columns and value(d.y) in frame.columns:
                good &= differs(frame[value(d.x)], frame[value(d.y)], d.shift)
        return good

    def _equal_in_class(self, rows: Mapping[Attribute, Array], count: int) -> Array:
        good = np.ones(count, dtype=np.bool_)
        for group in self.form.classes:
            here = [(a, s) for a, s in group.attributes if a in rows]
            for (a, s), (b, u) in itertools.pairwise(here):
                good &= add_exact(rows[a], -s) == add_exact(rows[b], -u)
        return good


def _only(rows: dict[Attribute, Array], good: Array) -> dict[Attribute, Array]:
    """The good rows."""
    if good.all():
        return rows
    index = np.flatnonzero(good)
    return {a: c[index] for a, c in rows.items()}

"""Of which streams few rows say all that is asked for: the last rows of groups, or distinct
answers, of matches of one row each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ontoweir.checker.model.normal_form import Member, NormalForm, ValueClass
from ontoweir.checker.model.plan import SynopsisPlan
from ontoweir.mappings.model.catalog import (
    Column,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
    Stream,
)
from ontoweir.rewriter.model.aggregation import AggregateFunction
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    FoldFunction,
    IsNull,
    NotNull,
    output_attributes,
)
from ontoweir.runtime.engine.aggregate_chunk import AggregateWork
from ontoweir.runtime.engine.execution import ExecutionContext
from ontoweir.runtime.engine.prepare_plan import PreparedPlan
from ontoweir.runtime.engine.unite_answers import part_of
from ontoweir.runtime.ingest.encode_statics import null_attributes

_NEAR = 1 << 61
"""Sums of absolute values up to this fit 64 bits, and so do all on the way to them."""


@dataclass(frozen=True, slots=True, order=True)
class Extreme:
    """The first rows with the `greatest` (else the least) value of a column matter."""

    column: str
    greatest: bool


@dataclass(frozen=True, slots=True)
class Folded:
    """Of rows of a stream that are equal in the columns `by`, and have a value, or none, in the
    same ones of `present`, there matter the first one, if the `first` ones do, the last one, if
    `counted`, which stands for all of them, with what the columns `sums` add up to, and those with
    `extremes`."""

    by: frozenset[str]
    present: frozenset[str]
    extremes: frozenset[Extreme]
    first: bool
    counted: bool
    sums: frozenset[str] = frozenset()


Folding = Mapping[str, Folded]
"""By stream; of others all rows matter."""


def list_folded(work: ExecutionContext, plans: Sequence[PreparedPlan]) -> Folding:
    """The streams of a run that are folded: nothing else than plans looks at them, of one row each,
    which ask neither for its time nor for when other rows of its kind came."""
    if work.blocks or work.rules or work.views or work.watched or work.spill is not None:
        return {}
    if not (work.distinct if work.aggregates is None else _asks_last(work.aggregates)):
        return {}
    found: dict[str, Folded] = {}
    for prepared in plans:
        (name, mine) = _fold_plan(work, prepared) or ("", None)
        if mine is None:
            return {}
        held = found.get(name)
        found[name] = mine if held is None else _unite(held, mine)
    catalog = work.catalog.streams
    kept = {n: f for n, f in found.items() if _is_plain(catalog[n], f.by | f.present)}
    return kept if kept.keys() == found.keys() else {}


def _asks_last(work: AggregateWork) -> bool:
    """Whether only the last row of every group is asked for, which matches change at any time."""
    if not work.final or work.closing is not None or work.sliding or work.once:
        return False
    odd = any(part.watches or part.slides or part.cancels for part, _ in work.parts)
    lists = any(a.function.lists for part, _ in work.parts for a in part.aggregates)
    return work.aggregation.shows_rows and not odd and not lists


def _fold_plan(work: ExecutionContext, prepared: PreparedPlan) -> tuple[str, Folded] | None:
    """What matters of a plan's one stream (None: all of its rows)."""
    plan, form = prepared.plan, prepared.plan.form
    odd = prepared.watches or form.open or form.query.added or form.query.chosen
    if odd or len(form.members) != 1 or len(plan.tables) != 1:
        return None
    (member,), (table,) = form.members, plan.tables
    stream = work.catalog.streams.get(member.stream)
    timed = member.first is not None or member.last is not None or table.kept
    if stream is None or timed or table.samples or table.matched or table.latest:
        return None
    roles = _Roles(plan, member, stream)
    by, present = roles.list_read()
    if stream.timestamp in by | present:
        return None
    if not table.frontier and form.distinct:
        return stream.name, Folded(by, present, frozenset(), True, False)
    if not table.frontier:
        rows = sum(h.rows for h in work.histories if h.stream.name == stream.name)
        sums = roles.find_sums(rows) if _is_counted(work, prepared.number) else None
        if sums is None:
            return None
        return stream.name, Folded(by, present, frozenset(), False, True, sums)
    extreme = roles.find_extreme() if form.distinct else None
    if extreme is None:
        return None
    by -= {extreme.column}
    return stream.name, Folded(by, present - by, frozenset([extreme]), False, False)


def _is_counted(work: ExecutionContext, number: int) -> bool:
    """Whether each match of a plan changes its group's row, whatever else is shown beside how many
    there are: so the last one says when the row changed last."""
    part, _, _ = part_of(work, number)
    return (
        part is not None
        and work.aggregates is not None
        and any(
            a.function is AggregateFunction.COUNT and (other is part or not other.over)
            for other, _ in work.aggregates.parts
            for a in other.aggregates
        )
    )


class _Roles:
    """What columns of a stream are to a plan of one member, which has one table."""

    def __init__(self, plan: SynopsisPlan, member: Member, stream: Stream) -> None:
        self.form, self.member, self.stream = plan.form, member, stream
        (self.table,) = plan.tables
        self.held = {key.value for key in self.table.keys}
        for q in self.form.inequalities:
            self.held |= {q.x, q.y}
        for d in self.form.disequalities:
            self.held |= {d.x, d.y}
        self.best = {term.value for f in self.table.frontier for term in f.terms}

    def list_read(self) -> tuple[frozenset[str], frozenset[str]]:
        """The columns whose values it asks for, and those of which it only asks whether there is
        one."""
        absent, form = set(null_attributes(self.form)), self.form
        read = {a for _, o in form.query.outputs for a in output_attributes(o)} - absent
        for condition in self.member.local:
            if isinstance(condition, NotNull | IsNull):
                continue
            read |= _list_attributes(condition)
        known = {c.index for c in form.classes if self._is_only_there(c)} - self.best
        read |= {a for a, number in form.class_of.items() if number not in known}
        there = {*absent, *form.class_of} - read
        mine = self.member.alias
        by = frozenset(a.column for a in read if a.alias == mine)
        return by, frozenset(a.column for a in there if a.alias == mine) - by

    def _is_only_there(self, group: ValueClass) -> bool:
        """Whether nothing is asked of the values of a class, or only for the best one: no other
        column is equal to it, and it has no narrower limits than its column."""
        if len(group.attributes) != 1 or group.projected or group.optional:
            return False
        ((attribute, shift),) = group.attributes
        column = self.stream.column(attribute.column)
        if column is None or shift or attribute.alias != self.member.alias:
            return False
        if group.index in self.held or group.domain.values is not None or group.domain.within:
            return False
        asked = (c for c in self.member.local if not isinstance(c, NotNull))
        if any(attribute in _list_attributes(c) for c in asked):
            return False
        return _keeps_domain(group, column, self.form)

    def find_sums(self, rows: int) -> frozenset[str] | None:
        """The columns that are summed, each of whose values is not asked for by itself (None: a sum
        of so many rows may not fit, or is of many rows for each, or of other values)."""
        sums: set[str] = set()
        for fold in self.form.folds or ():
            group = next(c for c in self.form.classes if c.index == fold.value)
            if fold.function is not FoldFunction.SUM or not self._is_only_there(group):
                continue
            ((attribute, _),) = group.attributes
            column = self.stream.column(attribute.column)
            assert column is not None
            most = _find_most(column)
            unit = self.form.unit_of(group.kind)
            if most is None or self.member.statics or fold.shift or most * unit * rows > _NEAR:
                return None
            sums.add(column.name)
        return frozenset(sums) if _is_plain(self.stream, sums) else None

    def find_extreme(self) -> Extreme | None:
        """The column of which the plan keeps the best value alone (None: it is not so)."""
        (frontier, *more) = self.table.frontier
        if more or len(frontier.terms) != 1:
            return None
        (term,) = frontier.terms
        group = next(c for c in self.form.classes if c.index == term.value)
        if not self._is_only_there(group):
            return None
        ((attribute, _),) = group.attributes
        column = self.stream.column(attribute.column)
        assert column is not None
        numeric = isinstance(column.type, IntType | DecimalType | FloatType)
        plain = numeric and _is_plain(self.stream, [column.name])
        return Extreme(column.name, term.sign < 0) if plain else None


def _list_attributes(condition: Condition) -> set[Attribute]:
    """What a condition mentions."""
    if not isinstance(condition, Compare):
        return {condition.attribute}
    other = {condition.right} if isinstance(condition.right, Attribute) else set()
    return {condition.left} | other


def _keeps_domain(group: ValueClass, column: Column, form: NormalForm) -> bool:
    """Whether a class has no narrower limits than those that are declared of its column."""
    unit, domain = form.unit_of(group.kind), group.domain
    least, most = _count_units(column.minimum, unit), _count_units(column.maximum, unit)
    low = domain.low is None or (least is not None and domain.low <= least)
    return low and (domain.high is None or (most is not None and most <= domain.high))


def _find_most(column: Column) -> Fraction | None:
    """The greatest absolute value that is declared of whole numbers or decimals (None: there is
    none, or it is of another type)."""
    match column.type:
        case DecimalType(precision=precision, scale=scale):
            return Fraction(10**precision, 10**scale)
        case IntType():
            ends = _count_units(column.minimum, 1), _count_units(column.maximum, 1)
            return None if None in ends else max(abs(e) for e in ends if e is not None)
        case _:
            return None


def _count_units(limit: Scalar | None, unit: int) -> Fraction | None:
    """A limit of numbers in units (None: there is none)."""
    return Fraction(limit) * unit if isinstance(limit, int | float | Decimal) else None


def _is_plain(stream: Stream, names: Iterable[str]) -> bool:
    """Whether columns are in the data as they are."""
    columns = [stream.column(name) for name in names]
    return all(c is not None and c.expression is None and c.bucket is None for c in columns)


def _unite(one: Folded, other: Folded) -> Folded:
    """What matters of both: rows that are equal in the columns of both are so for each."""
    by, extremes = one.by | other.by, one.extremes | other.extremes
    equal = any(e.column in by for e in extremes)  # of rows that are equal in it the first has it
    return Folded(
        by,
        (one.present | other.present) - by,
        frozenset(e for e in extremes if e.column not in by),
        one.first or other.first or equal,
        one.counted or other.counted,
        one.sums | other.sums,
    )

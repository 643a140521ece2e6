"""A disjunct as nodes and limits of difference-bound matrices."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from ontoweir.checker.model.declarations import (
    Declaration,
    domain_declaration,
    mentioned_attributes,
    reference_declaration,
)
from ontoweir.checker.model.difference_bounds import DifferenceBounds, Limit
from ontoweir.checker.model.normal_form import Kind, Statistics, TimeDifference
from ontoweir.checker.model.units import choose_units, kind_of
from ontoweir.errors import QueryError, Source
from ontoweir.mappings.model.catalog import Catalog, Column, Relation, Scalar, Stream
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, OneOf, Op, SpjQuery

ZERO_NODE, LOW_NODE, HIGH_NODE, FIRST_NODE = 0, 1, 2, 3
"""The constant zero; the least and the greatest static value; the first attribute."""


@dataclass(frozen=True, slots=True)
class DifferenceLimit:
    """An explicit limit `left - right <= limit` between nodes, and the condition it came from."""

    left: int
    right: int
    limit: Limit
    source: Source | None


class ConstraintGraph:
    """The state of one normalisation."""

    def __init__(
        self,
        query: SpjQuery,
        distinct: bool,
        catalog: Catalog,
        statistics: Statistics,
        use: Callable[[Declaration], bool],
        timed: bool,
    ) -> None:
        self.query, self.distinct, self.catalog = query, distinct, catalog
        self.statistics, self.use, self.timed = statistics, use, timed
        self.tables: dict[str, Stream | Relation] = {
            o.alias: catalog.table(o.table) for o in query.occurrences
        }
        self.units = choose_units(query, catalog)
        self.values: dict[Attribute, int] = {}
        self.columns: dict[Attribute, Column] = {}
        grains = [1, 0, 0]
        for attribute in mentioned_attributes(query):
            if self.is_time(attribute):
                continue
            column = self.tables[attribute.alias].column(attribute.column)
            if column is None:
                raise QueryError(
                    f"unknown column {attribute}",
                    why=f"{self.tables[attribute.alias].name} does not declare it",
                    fix="declare the column in the catalog, or correct its name",
                )
            self.values[attribute] = len(grains)
            self.columns[attribute] = column
            grains.append(self.units.grain(column.type))
        self.grains = grains
        self.streams = [o for o in query.occurrences if o.table in catalog.streams]

    def is_time(self, attribute: Attribute) -> bool:
        table = self.tables[attribute.alias]
        return isinstance(table, Stream) and attribute.column == table.timestamp

    def check_types(self) -> None:
        """Raise QueryError where two sides of a comparison cannot be compared."""
        for condition in self.query.conditions:
            if isinstance(condition, OneOf):
                for value in condition.values:
                    one = Compare(condition.attribute, Op.EQ, Constant(value), 0, condition.source)
                    self._check_constant(one, value)
            if not isinstance(condition, Compare):
                continue
            left, right = condition.left, condition.right
            if isinstance(right, Attribute) and self.is_time(left) != self.is_time(right):
                self._clash(condition, "a timestamp is compared with a value that is not one")
            if self.is_time(left):
                if isinstance(right, Constant) and (
                    isinstance(right.value, bool) or not isinstance(right.value, int)
                ):
                    self._clash(condition, "a timestamp is compared with a value that is not one")
                continue
            kind = kind_of(self.columns[left].type)
            if isinstance(right, Attribute):
                other = kind_of(self.columns[right].type)
                numeric = {Kind.NUMBER, Kind.FLOAT}
                if kind != other and not {kind, other} <= numeric:
                    self._clash(condition, f"a {kind} is compared with a {other}")
            else:
                self._check_constant(condition, right.value)
            ordered = condition.op not in (Op.EQ, Op.NE)
            if kind is Kind.STRING and ordered and isinstance(right, Attribute):
                raise QueryError(
                    f"the order of two texts: {condition.left} {condition.op} {_show(right)}",
                    why="texts of rows beside others are told apart, and not put in order",
                    fix="compare them with = or <>, or each with constants; in SQL, the order of "
                    "two columns is read in WHERE and ON of a SELECT without outer joins",
                    source=condition.source,
                )

    def _check_constant(self, condition: Compare, value: Scalar) -> None:
        kind = kind_of(self.columns[condition.left].type)
        try:
            self.units.value(value, kind)
        except ValueError as error:
            self._clash(condition, f"{condition.left} is a {kind} but {error}")

    def _clash(self, condition: Compare, what: str) -> None:
        raise QueryError(
            f"{what}: {condition.left} {condition.op} {_show(condition.right)}",
            why="both sides of a comparison need one type; times compare only with times",
            fix="compare values of one type, or declare the column with the type it has",
            source=condition.source,
        )

    def fold_statics(self) -> dict[str, int]:
        """The member of every alias: a static joins the member whose attributes equal one of its
        declared keys (one row per tuple), else the first member an equality ties it to."""
        owner = {o.alias: index for index, o in enumerate(self.streams)}
        waiting = [o.alias for o in self.query.occurrences if o.alias not in owner]
        ties = [
            (a, b)
            for c in self.query.conditions
            if isinstance(c, Compare) and c.op is Op.EQ and isinstance(c.right, Attribute)
            for a, b in ((c.left, c.right), (c.right, c.left))
        ]
        while waiting:
            alias, member = min(
                (self._closeness(alias, member, owner, ties), place, member, alias)
                for place, alias in enumerate(waiting)
                for member in range(max(len(self.streams), 1))
            )[3:1:-1]
            owner[str(alias)] = int(member)
            waiting.remove(str(alias))
        return owner

    def _closeness(
        self,
        alias: str,
        member: int,
        owner: Mapping[str, int],
        ties: list[tuple[Attribute, Attribute]],
    ) -> int:
        """0: a whole key of a static is equated with a member's attributes; 1: something of it
        is; 2: nothing."""
        tied = {a.column for a, b in ties if a.alias == alias and owner.get(b.alias) == member}
        if any(tied.issuperset(key) for key in self.tables[alias].keys):
            return 0
        return 1 if tied else 2

    def limits(self) -> list[DifferenceLimit]:
        """The explicit limits on values, in nodes."""
        steps: list[DifferenceLimit] = []
        for condition in self.query.conditions:
            if isinstance(condition, OneOf):
                steps.extend(self._listed(condition))
            if not isinstance(condition, Compare) or self.is_time(condition.left):
                continue
            left = self.values[condition.left]
            kind = kind_of(self.columns[condition.left].type)
            shift: int | Fraction
            if isinstance(condition.right, Attribute):
                right = self.values[condition.right]
                exact = Fraction(condition.offset) * self.units.of(kind)
                shift = int(exact) if exact.denominator == 1 else exact
            else:
                right = ZERO_NODE
                if kind is Kind.STRING and condition.op not in (Op.EQ, Op.NE):
                    continue
                shift = self.units.value(condition.right.value, kind)
            steps.extend(difference_limits(left, right, condition.op, shift, condition.source))
        return steps

    def _listed(self, condition: OneOf) -> Iterable[DifferenceLimit]:
        """The least and the greatest value of a list of constants."""
        node = self.values[condition.attribute]
        kind = kind_of(self.columns[condition.attribute].type)
        if kind is not Kind.STRING:
            numbers = [self.units.value(value, kind) for value in condition.values]
            yield DifferenceLimit(ZERO_NODE, node, Limit(-min(numbers)), condition.source)
            yield DifferenceLimit(node, ZERO_NODE, Limit(max(numbers)), condition.source)

    def domains(self) -> list[DifferenceLimit]:
        """The limits that declared domains and static data set."""
        steps: list[DifferenceLimit] = []
        for attribute, node in self.values.items():
            column, table = self.columns[attribute], self.tables[attribute.alias]
            kind = kind_of(column.type)
            if isinstance(table, Relation):
                steps.extend(self._static_limits(table, column, node))
            else:
                for relation, target in self.references(table, column):
                    steps.extend(self._static_limits(relation, target, node))
                if not self.use(domain_declaration(table, column)):
                    continue
            if kind is Kind.STRING:
                continue
            lows = [column.minimum, _least(column.enum)]
            highs = [column.maximum, _greatest(column.enum)]
            for value in lows:
                if value is not None:
                    limit = Limit(-self.units.value(value, kind))
                    steps.append(DifferenceLimit(ZERO_NODE, node, limit, column.source))
            for value in highs:
                if value is not None:
                    steps.append(
                        DifferenceLimit(
                            node, ZERO_NODE, Limit(self.units.value(value, kind)), column.source
                        )
                    )
            if kind is Kind.BOOLEAN:
                steps.append(DifferenceLimit(ZERO_NODE, node, Limit(0), None))
                steps.append(DifferenceLimit(node, ZERO_NODE, Limit(1), None))
        return steps

    def references(self, stream: Stream, column: Column) -> Iterable[tuple[Relation, Column]]:
        """The static columns that a usable reference says a column's values occur in."""
        for reference in stream.references:
            if reference.columns != (column.name,):
                continue
            if self.use(reference_declaration(stream, reference)):
                relation = self.catalog.relations[reference.relation]
                target = relation.column(reference.to[0])
                if target is not None:
                    yield relation, target

    def _static_limits(
        self, relation: Relation, column: Column, node: int
    ) -> Iterable[DifferenceLimit]:
        """A value of a static column is between its least and greatest, known or not; a double
        without one, though its values are known, is infinite, which limits nothing."""
        known, kind = (
            self.statistics.columns.get((relation.name, column.name)),
            kind_of(column.type),
        )
        values = known is not None and known.distinct > 0 and kind is Kind.FLOAT
        if known is None or not values or known.minimum is not None:
            yield DifferenceLimit(LOW_NODE, node, Limit(0), None)
        if known is None or not values or known.maximum is not None:
            yield DifferenceLimit(node, HIGH_NODE, Limit(0), None)
        if known is None or kind is Kind.STRING:
            return
        if known.minimum is not None:
            yield DifferenceLimit(
                ZERO_NODE, node, Limit(-self.units.value(known.minimum, kind)), None
            )
        if known.maximum is not None:
            yield DifferenceLimit(
                node, ZERO_NODE, Limit(self.units.value(known.maximum, kind)), None
            )

    def time_steps(
        self, owner: Mapping[str, int]
    ) -> tuple[list[DifferenceLimit], list[TimeDifference]]:
        """The explicit limits on timestamps (node 0, then one node a member), and `≠` atoms."""
        steps: list[DifferenceLimit] = []
        different: list[TimeDifference] = []
        for index, occurrence in enumerate(self.streams):
            stream = self.catalog.streams[occurrence.table]
            if stream.start_us is not None:
                first = stream.start_us // stream.step_us
                steps.append(DifferenceLimit(0, index + 1, Limit(-first), stream.source))
        for condition in self.query.conditions:
            if not isinstance(condition, Compare) or not self.is_time(condition.left):
                continue
            left = owner[condition.left.alias] + 1
            if isinstance(condition.right, Attribute):
                right = owner[condition.right.alias] + 1
                shift = int(condition.offset)
            else:
                right, shift = 0, int(condition.right.value)
            if condition.op is Op.NE:
                if right:
                    different.append(TimeDifference(left - 1, right - 1, shift, condition.source))
                continue
            steps.extend(difference_limits(left, right, condition.op, shift, condition.source))
        return steps, different


def _show(side: Attribute | Constant) -> str:
    return str(side) if isinstance(side, Attribute) else repr(side.value)


def difference_limits(
    left: int, right: int, op: Op, shift: int | Fraction, source: Source | None
) -> Iterable[DifferenceLimit]:
    """`left op right + shift` as limits on differences (none for `≠`)."""
    match op:
        case Op.LT | Op.LE:
            return [DifferenceLimit(left, right, Limit(shift, op is Op.LT), source)]
        case Op.GT | Op.GE:
            return [DifferenceLimit(right, left, Limit(-shift, op is Op.GT), source)]
        case Op.EQ:
            return [
                DifferenceLimit(left, right, Limit(shift), source),
                DifferenceLimit(right, left, Limit(-shift), source),
            ]
        case Op.NE:
            return []
        case _:
            assert_never(op)


def irredundant_limits(
    base: DifferenceBounds, steps: list[DifferenceLimit]
) -> list[DifferenceLimit]:
    """Those steps that the base and the other kept steps do not imply."""
    kept = list(dict.fromkeys(steps))
    for step in list(kept):
        rest = base.copy()
        for other in kept:
            if other is not step:
                rest.add(other.left, other.right, other.limit)
        if rest.satisfiable and rest.implies(
            step.left, step.right, rest.tighten(step.left, step.right, step.limit)
        ):
            kept.remove(step)
    return kept


def _least(values: tuple[Scalar, ...] | None) -> Scalar | None:
    return min(values, key=lambda v: (isinstance(v, str), v)) if values else None


def _greatest(values: tuple[Scalar, ...] | None) -> Scalar | None:
    return max(values, key=lambda v: (isinstance(v, str), v)) if values else None

"""Attributes of an SPJ query up to the equalities of its selection."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from ontoweir.mappings.model.catalog import (
    Catalog,
    ColumnType,
    Stream,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.column_types import type_constant
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    Compare,
    Condition,
    Constant,
    ConstantOutput,
    IriOutput,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    Occurrence,
    OneOf,
    Op,
    Output,
    SpjQuery,
    TemplateLiteralOutput,
)


class EqualityClasses:
    """Union-find over the conditions `a = b`; the representative is the earliest attribute."""

    def __init__(self, occurrences: Iterable[Occurrence], conditions: Iterable[Condition]) -> None:
        self._rank = {o.alias: n for n, o in enumerate(occurrences)}
        self._parent: dict[Attribute, Attribute] = {}
        self.constants: dict[Attribute, set[Constant]] = {}
        equal = [c for c in conditions if isinstance(c, Compare) and c.op is Op.EQ]
        for c in equal:
            if isinstance(c.right, Attribute) and c.offset == 0:
                self._union(c.left, c.right)
        for c in equal:
            if isinstance(c.right, Constant):
                self.constants.setdefault(self.find(c.left), set()).add(c.right)

    def _order(self, attribute: Attribute) -> tuple[int, str]:
        return (self._rank.get(attribute.alias, len(self._rank)), attribute.column)

    def find(self, attribute: Attribute) -> Attribute:
        """The representative."""
        while (parent := self._parent.get(attribute)) is not None:
            attribute = parent
        return attribute

    def _union(self, left: Attribute, right: Attribute) -> None:
        first, second = self.find(left), self.find(right)
        if first != second:
            if self._order(second) < self._order(first):
                first, second = second, first
            self._parent[second] = first

    def same(self, left: Attribute, right: Attribute) -> bool:
        """Whether two attributes are equal: by equations, or by the same constant."""
        a, b = self.find(left), self.find(right)
        return a == b or bool(self.constants.get(a, set()) & self.constants.get(b, set()))

    def members(self) -> tuple[tuple[Attribute, tuple[Attribute, ...]], ...]:
        """(representative, the other members in order) for every class with several members."""
        grouped: dict[Attribute, list[Attribute]] = {}
        for attribute in self._parent:
            grouped.setdefault(self.find(attribute), []).append(attribute)
        return tuple(
            (r, tuple(sorted(grouped[r], key=self._order)))
            for r in sorted(grouped, key=self._order)
        )


class Types:
    """The types of attributes, from the catalog."""

    def __init__(self, catalog: Catalog, occurrences: Iterable[Occurrence]) -> None:
        self.tables = {o.alias: catalog.table(o.table) for o in occurrences}

    def type_of(self, attribute: Attribute) -> ColumnType:
        """The declared type; a stream's application time is a timestamp."""
        column = self.tables[attribute.alias].column(attribute.column)
        return TimestampType() if column is None else column.type

    def step_of(self, attribute: Attribute) -> int | None:
        """Microseconds a step for a stream's application time, None for other attributes."""
        table = self.tables[attribute.alias]
        is_time = isinstance(table, Stream) and attribute.column == table.timestamp
        return table.step_us if is_time and isinstance(table, Stream) else None


def constant_type(output: ConstantOutput) -> ColumnType:
    """The type of a column that shows a constant."""
    if output.is_iri:
        return StringType()
    return output.kind or type_constant(output.value, output.datatype)


def map_output(output: Output, change: Callable[[Attribute], Attribute]) -> Output:
    """The output with its attributes replaced."""
    match output:
        case LiteralOutput(value=before):
            value = change(before)
            return output if value is before else replace(output, value=value)
        case IriOutput() | TemplateLiteralOutput() | BlankOutput():
            parts = tuple(change(p) if isinstance(p, Attribute) else p for p in output.parts)
            return output if parts == output.parts else replace(output, parts=parts)
        case NullOutput():
            return replace(output, value=change(output.value))
        case ConstantOutput():
            return output


def map_condition(condition: Condition, change: Callable[[Attribute], Attribute]) -> Condition:
    """The condition with its attributes replaced."""
    match condition:
        case NotNull(attribute=before, source=source):
            attribute = change(before)
            return condition if attribute is before else NotNull(attribute, source)
        case OneOf(attribute=before, values=values, source=source):
            attribute = change(before)
            return condition if attribute is before else OneOf(attribute, values, source)
        case IsNull(attribute=before, source=source):
            attribute = change(before)
            return condition if attribute is before else IsNull(attribute, source)
        case Compare(left=first, op=op, right=second, offset=offset, source=source):
            left = change(first)
            right = change(second) if isinstance(second, Attribute) else second
            if left is first and right is second:
                return condition
            return Compare(left, op, right, offset, source)


def condition_attributes(condition: Condition) -> tuple[Attribute, ...]:
    """The attributes of a condition."""
    match condition:
        case (
            NotNull(attribute=attribute) | OneOf(attribute=attribute) | IsNull(attribute=attribute)
        ):
            return (attribute,)
        case Compare(left=left, right=Attribute() as right):
            return (left, right)
        case Compare(left=left):
            return (left,)


def valued_attributes(condition: Condition) -> tuple[Attribute, ...]:
    """The attributes that are not NULL where a condition holds."""
    return () if isinstance(condition, IsNull) else condition_attributes(condition)


def optional_attributes(query: SpjQuery) -> frozenset[Attribute]:
    """The attributes that are shown, and may be NULL: no condition mentions them."""
    optional = {o.value for _, o in query.outputs if isinstance(o, LiteralOutput) and o.optional}
    if not optional:
        return frozenset()
    return frozenset(optional - {a for c in query.conditions for a in condition_attributes(c)})

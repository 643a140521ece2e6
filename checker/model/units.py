"""How values become whole numbers: numbers in 1/unit, strings by code, dates in days."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import assert_never

from ontoweir.checker.model.declarations import mentioned_attributes
from ontoweir.checker.model.normal_form import Kind, unit_of
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    Scalar,
    StringType,
    TimestampType,
)
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, OneOf, SpjQuery

_MAX_PLACES = 6
"""Constants with more decimal places do not refine the unit of numbers."""


@dataclass(frozen=True, slots=True)
class Units:
    """How values become whole numbers: numbers in 1/unit, strings by code.

    `floats`: doubles are multiples of 1/floats. It is 1 where none of them is compared with a
    decimal or a whole number: in units of decimals several doubles are one number.
    """

    unit: int
    strings: Mapping[str, int]
    floats: int

    def of(self, kind: Kind) -> int:
        """How many units one is."""
        return unit_of(kind, self.unit, self.floats)

    def grain(self, kind: ColumnType) -> int:
        """Values of a column of this type are multiples of this many units (0: dense)."""
        match kind:
            case IntType():
                return self.unit
            case DecimalType(scale=scale):
                return int(self.unit // 10**scale)
            case FloatType():
                return 0
            case StringType() | BooleanType() | DateType() | TimestampType():
                return 1
            case _:
                assert_never(kind)

    def value(self, value: Scalar, kind: Kind) -> int | Fraction:
        """A constant in units.

        Raises:
            ValueError: the constant is not of this kind.
        """
        match kind:
            case Kind.NUMBER | Kind.FLOAT:
                if isinstance(value, bool | str):
                    raise ValueError(f"{value!r} is not a number")
                exact = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
                scaled = exact * self.of(kind)
                return int(scaled) if scaled.denominator == 1 else scaled
            case Kind.STRING:
                if not isinstance(value, str):
                    raise ValueError(f"{value!r} is not a string")
                return self.strings[value]
            case Kind.BOOLEAN:
                if not isinstance(value, bool):
                    raise ValueError(f"{value!r} is not a truth value")
                return int(value)
            case Kind.DATE:
                if not isinstance(value, str):
                    raise ValueError(f"{value!r} is not a date")
                return date.fromisoformat(value).toordinal() - date(1970, 1, 1).toordinal()
            case Kind.TIMESTAMP:
                if isinstance(value, int) and not isinstance(value, bool):
                    return value
                if not isinstance(value, str):
                    raise ValueError(f"{value!r} is not a point in time")
                moment = datetime.fromisoformat(value)
                moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
                delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
                return (delta.days * 86400 + delta.seconds) * 1_000_000 + delta.microseconds
            case _:
                assert_never(kind)


def choose_units(query: SpjQuery, catalog: Catalog) -> Units:
    """The unit of numbers (the finest decimal column) and codes for the string constants."""
    tables = {o.alias: catalog.table(o.table) for o in query.occurrences}
    scale = 0
    strings: set[str] = set()
    for attribute in mentioned_attributes(query):
        column = tables[attribute.alias].column(attribute.column)
        if column is not None and isinstance(column.type, DecimalType):
            scale = max(scale, column.type.scale)
        if column is not None:
            strings.update(v for v in column.enum or () if isinstance(v, str))
    for condition in query.conditions:
        values: tuple[Scalar, ...] = ()
        if isinstance(condition, OneOf):
            values = condition.values
        elif isinstance(condition, Compare) and isinstance(condition.right, Constant):
            values = (condition.right.value,)
        for value in values:
            if isinstance(value, str):
                strings.add(value)
            elif scale and isinstance(value, Decimal | float):
                # where decimals set a unit, a float must be able to equal this constant in it
                places = Decimal(str(value)).normalize().as_tuple().exponent
                scale = max(scale, min(-int(places), _MAX_PLACES))
    unit = 10**scale
    floats = unit if _compares_floats(query, catalog) else 1
    return Units(unit, {text: code for code, text in enumerate(sorted(strings))}, floats)


def _compares_floats(query: SpjQuery, catalog: Catalog) -> bool:
    """Whether a double is compared with another number, in the selection or by a reference."""
    tables = {o.alias: catalog.table(o.table) for o in query.occurrences}

    def is_mixed(left: Column | None, right: Column | None) -> bool:
        if left is None or right is None:  # timestamps
            return False
        return {kind_of(left.type), kind_of(right.type)} == {Kind.NUMBER, Kind.FLOAT}

    for c in query.conditions:
        if isinstance(c, Compare) and isinstance(c.right, Attribute):
            left = tables[c.left.alias].column(c.left.column)
            if is_mixed(left, tables[c.right.alias].column(c.right.column)):
                return True
    return any(
        is_mixed(table.column(name), catalog.relations[reference.relation].column(to))
        for table in tables.values()
        for reference in table.references
        for name, to in zip(reference.columns, reference.to, strict=True)
        if reference.relation in catalog.relations
    )


def kind_of(kind: ColumnType) -> Kind:
    """As what the values of a column are compared."""
    match kind:
        case IntType() | DecimalType():
            return Kind.NUMBER
        case FloatType():
            return Kind.FLOAT
        case StringType():
            return Kind.STRING
        case BooleanType():
            return Kind.BOOLEAN
        case DateType():
            return Kind.DATE
        case TimestampType():
            return Kind.TIMESTAMP
        case _:
            assert_never(kind)

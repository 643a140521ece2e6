"""What the type of a column says of the values that a witness may use."""

from collections.abc import Iterable

from ontoweir.checker.model.normal_form import Kind, NormalForm, ValueClass
from ontoweir.checker.model.solve_differences import Edge, Var
from ontoweir.checker.model.units import Units
from ontoweir.mappings.model.catalog import Catalog, DecimalType, IntType

_CALENDAR = ("0001-01-01", "9999-12-31")
_FEW_DIGITS = 5
_ZERO: Var = ("zero",)


def type_limits(form: NormalForm, catalog: Catalog, group: ValueClass, var: Var) -> Iterable[Edge]:
    """A date, or a point in time, is one of the years 1 to 9999; a decimal has so many digits, a
    whole number 64 bits.

    Args:
        form: the disjunct.
        catalog: its tables.
        group: a value class.
        var: its value in one copy.
    """
    if group.kind in (Kind.DATE, Kind.TIMESTAMP):
        units = Units(1, {}, 1)
        first, last = (units.value(text, group.kind) for text in _CALENDAR)
        shifts = [shift for _, shift in group.attributes]
        yield var, _ZERO, last - max(shifts)
        yield _ZERO, var, min(shifts) - first
        return
    tables = {o.alias: catalog.table(o.table) for o in form.query.occurrences}
    for attribute, shift in group.attributes:
        column = tables[attribute.alias].column(attribute.column)
        match None if column is None else column.type:
            case DecimalType(precision=precision, scale=scale):
                most = (10**precision - 1) * form.unit // 10**scale
            case IntType():
                most = (2**63 - 1) * form.unit
            case _:
                continue
        yield var, _ZERO, most - shift
        yield _ZERO, var, most + shift


def has_few_digits(form: NormalForm, catalog: Catalog, group: ValueClass) -> bool:
    """Whether a class has a decimal column of so few digits that any number of values is out of
    the question, although no limits are declared."""
    tables = {o.alias: catalog.table(o.table) for o in form.query.occurrences}
    columns = (tables[a.alias].column(a.column) for a, _ in group.attributes)
    types = [c.type for c in columns if c is not None]
    return any(isinstance(t, DecimalType) and t.precision < _FEW_DIGITS for t in types)


def listed_values(form: NormalForm, group: ValueClass) -> list[int]:
    """The values of an enumerated class of numbers or dates, in units; empty: it is none."""
    if group.domain.values is None or group.kind in (Kind.STRING, Kind.BOOLEAN):
        return []
    units = Units(form.unit, {}, form.floats)
    numbers = (units.value(value, group.kind) for value in group.domain.values)
    return sorted({int(number) for number in numbers if number == int(number)})

"""Derived columns in the rows of witnesses: what they are computed from is chosen, so that they
have the values wanted; and then they are computed, as of any row."""

from collections.abc import Callable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, TypeAlias

from ontoweir.checker.model.normal_form import Kind, NormalForm, ValueClass
from ontoweir.errors import DataError
from ontoweir.mappings.expressions.find_inverse import Line, find_line
from ontoweir.mappings.model.catalog import Catalog, Column, IntType, Relation, Stream
from ontoweir.mappings.model.expression import (
    Call,
    Expression,
    Field,
    Function,
    Value,
    fields_of,
    has_user_calls,
)
from ontoweir.rewriter.model.spj import Attribute, Compare, IsNull, NotNull, OneOf, Op

_KEEPING = (
    Function.ABS,
    Function.FLOOR,
    Function.CEIL,
    Function.ROUND,
    Function.ROUND_UP,
    Function.UPPER,
    Function.LOWER,
    Function.TRIM,
)


class NoRowError(Exception):
    """No row is known that has the values wanted."""


Scale: TypeAlias = Callable[[int | Fraction], Fraction]


def find_scale(form: NormalForm, group: ValueClass, catalog: Catalog) -> Scale | None:
    """How the values of a class, in units, may be stretched so that each is one of a derived
    column: of a class whose values are only told apart; None: it is left as it is.

    The values n, n + 1, … become f(n), f(n + 1), …, where f is the line that is computed.
    """
    if group.kind is not Kind.NUMBER or any(shift for _, shift in group.attributes):
        return None
    if any(f.value == group.index for f in form.folds or ()) or group.domain.finite:
        return None
    if any(group.index in (q.x, q.y) for q in form.inequalities):
        return None
    mine = {a for a, _ in group.attributes}
    for c in form.query.conditions:
        match c:
            case Compare(left=left, op=op, right=right):
                sides = {left, right}
                if sides & mine and not (op is Op.EQ and sides <= mine and not c.offset):
                    return None
            case OneOf(attribute=attribute) | IsNull(attribute=attribute):
                if attribute in mine:
                    return None
            case NotNull():
                pass
    tables = {o.alias: catalog.table(o.table) for o in form.query.occurrences}
    lines = {
        (line.slope, line.offset) if (line := find_line(e)) else None
        for a in mine
        if (e := _expression(tables[a.alias], a.column)) is not None
    }
    if len(lines) != 1 or (found := lines.pop()) is None:
        return None
    line = Line("", *found)
    return lambda number: line.image(Fraction(number, group.grain)) * form.unit


def derive_values(
    table: Stream | Relation,
    alias: str,
    content: dict[str, Any],
    form: NormalForm,
) -> tuple[tuple[str, Any], ...]:
    """A row's values, with the columns that derived ones of an alias are computed from so that
    these have theirs; columns that the query mentions stay as they are.

    Where several are computed from one column, those that may have the most values have theirs; the
    others have what follows, which the witness may yet bear: it is confirmed by evaluation.

    Raises:
        NoRowError: it is not known what makes a value.
    """
    mentioned = {a.column for a in form.class_of if a.alias == alias}

    def rank(column: Column) -> tuple[bool, bool]:
        group = form.classes[form.class_of[Attribute(alias, column.name)]]
        return group.domain.finite, not group.projected

    chosen: set[str] = set()
    for column in sorted((c for c in table.columns if c.name in mentioned), key=rank):
        if column.expression is None:
            continue
        line = find_line(column.expression)
        if chosen and (chosen | mentioned).issuperset(fields_of(column.expression)):
            del content[column.name]
            continue
        kept = _kept(column.expression) if line is None else None
        source = table.column(line.column if line is not None else kept or "")
        if source is None or _is_referenced(table, source.name):
            raise NoRowError
        if source.name in mentioned:
            continue
        if line is None:
            content[source.name] = content[column.name]  # `compute_derived` sees whether it is
            chosen.add(source.name)
        else:
            number = line.inverse(Fraction(content[column.name]))
            content[source.name] = _as_number(number, whole=isinstance(source.type, IntType))
            chosen.add(source.name)
    return tuple(compute_derived(table, content).items())


def _kept(expression: Expression) -> str | None:
    """A column of which an expression leaves values without end as they are (None: no such one is
    known): numbers that are not negative, whole ones; texts of digits."""
    match expression:
        case Call(function=function, arguments=(Field(column=column), *rest)):
            whole = all(isinstance(e, Value) for e in rest)
            return column if function in _KEEPING and whole else None
        case _:
            return None


def compute_derived(table: Stream | Relation, content: dict[str, Any]) -> dict[str, Any]:
    """A row with its derived columns computed.

    Raises:
        NoRowError: one has no value, or another one than it was to have.
    """
    for column in table.columns:
        if column.expression is None:
            continue
        value = _compute(column.expression, content)
        wanted = content.get(column.name, value)
        if wanted != value:
            raise NoRowError
        content[column.name] = value
    return content


def without_derived(
    values: tuple[tuple[str, Any], ...], table: Stream | Relation
) -> tuple[tuple[str, Any], ...]:
    """A row's values without those that are computed, and without buckets of its time."""
    derived = {c.name for c in table.columns if c.expression is not None or c.bucket is not None}
    return tuple((name, value) for name, value in values if name not in derived)


def _compute(expression: Expression, content: Mapping[str, Any]) -> Any:
    from ontoweir.mappings.expressions.evaluate import evaluate  # brings Arrow, only used here
    from ontoweir.mappings.expressions.value_types import to_array, to_scalars

    fields = fields_of(expression)
    # the time of a row; a user's function, which is not called to decide
    if not fields.keys() <= content.keys() or has_user_calls(expression):
        raise NoRowError
    try:
        columns = {name: to_array([content[name]], f.type) for name, f in fields.items()}
        made = to_scalars(evaluate(expression, columns, 1), expression.type)
    except (DataError, ValueError, TypeError, OverflowError, ArithmeticError):
        raise NoRowError from None
    return made[0] if made else None


def _expression(table: Stream | Relation, name: str) -> Expression | None:
    column = table.column(name)
    return None if column is None else column.expression


def _is_referenced(table: Stream | Relation, name: str) -> bool:
    """Whether a column's values are those of a static relation, however many they are."""
    return isinstance(table, Relation) or any(name in r.columns for r in table.references)


def _as_number(number: Fraction, *, whole: bool) -> Any:
    if number.denominator == 1:
        return int(number)
    if whole:
        raise NoRowError
    with localcontext() as context:
        context.prec = 1_000
        return Decimal(number.numerator) / Decimal(number.denominator)

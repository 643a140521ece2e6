"""Conditions on what is computed, beside values that are to go on without end.

A witness has a few rows. That there may be more of them than any number does not follow from it
where a condition on another expression of the same column limits this one: `a + 1` has nineteen
values where `ABS(a) < 10`. So such a condition must hold from some value of the column on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ontoweir.checker.model.normal_form import NormalForm, ValueClass
from ontoweir.checker.witness.growth.compute_value import NoRowError
from ontoweir.checker.witness.growth.find_tendency import (
    Source,
    Tendency,
    find_tendency,
    find_truth,
)
from ontoweir.checker.witness.layout.watch_clock import reads_time
from ontoweir.mappings.expressions.find_inverse import find_line
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Catalog,
    Column,
    DecimalType,
    FloatType,
    IntType,
    Relation,
    Stream,
    StringType,
)
from ontoweir.mappings.model.expression import (
    Call,
    Expression,
    Field,
    Function,
    Value,
    fields_of,
)
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, IsNull, NotNull, OneOf, Op

_PARTS_OF_TEXTS = (Function.STARTS_WITH, Function.ENDS_WITH, Function.CONTAINS)
Table = Stream | Relation


@dataclass(frozen=True, slots=True)
class _Limit:
    """A condition on what is computed of a row: of which `columns`, in which classes the value is;
    `truth`: the condition (None: it is not known when it holds)."""

    columns: frozenset[str]
    classes: frozenset[int]
    truth: Expression | None


def check_far(form: NormalForm, catalog: Catalog) -> None:
    """Nothing, if what is computed limits no values that are remembered.

    Raises:
        NoRowError: it does, or that is not known.
    """
    for occurrence in form.query.occurrences:
        table = catalog.table(occurrence.table)
        limits = list(_list_limits(form, occurrence.alias, table, catalog))
        for group in form.classes:
            if limits and not group.domain.finite and _is_remembered(form, group):
                for attribute, _ in group.attributes:
                    if attribute.alias == occurrence.alias:
                        _check(form, group, table, attribute, limits)


def _is_remembered(form: NormalForm, group: ValueClass) -> bool:
    """Whether its values are shown, or compared with those of other rows."""
    compared = {n for q in form.inequalities for n in (q.x, q.y)}
    compared |= {n for d in form.disequalities for n in (d.x, d.y)}
    return group.projected or len(group.attributes) > 1 or group.index in compared


def _check(
    form: NormalForm,
    group: ValueClass,
    table: Table,
    attribute: Attribute,
    limits: Sequence[_Limit],
) -> None:
    column = table.column(attribute.column)
    if column is None or (isinstance(table, Stream) and _reads_time(column, table)):
        return
    made = column.expression
    names = {column.name} if made is None else set(fields_of(made))
    mine = [one for one in limits if one.columns & names]
    if all(group.index in one.classes for one in mine):
        return
    for name in sorted(names):
        of = form.class_of.get(Attribute(attribute.alias, name))
        if of is not None and form.classes[of].domain.finite:
            continue
        for source in _list_sources(table.column(name)):
            if _varies(made, source) and all(_holds(one, source, len(mine)) for one in mine):
                return
    raise NoRowError


def _goes_along(form: NormalForm, side: Attribute, alias: str, catalog: Catalog) -> bool:
    """Whether a side of a comparison is of another row, and may be any value."""
    if side.alias == alias or side not in form.class_of:
        return False
    table = next(o.table for o in form.query.occurrences if o.alias == side.alias)
    made = catalog.table(table).column(side.column)
    free = made is not None and (made.expression is None or find_line(made.expression) is not None)
    return free and not form.classes[form.class_of[side]].domain.finite


def _list_limits(form: NormalForm, alias: str, table: Table, catalog: Catalog) -> Iterator[_Limit]:
    for condition in form.query.conditions:
        match condition:
            case NotNull():
                continue
            case OneOf(attribute=attribute) | IsNull(attribute=attribute):
                sides: tuple[Attribute, ...] = (attribute,)
            case Compare(left=left, op=op, right=right):
                sides = (left, right) if isinstance(right, Attribute) else (left,)
                if len(sides) > 1 and op is Op.EQ and not condition.offset:
                    continue  # they are of one class
                if len(sides) > 1 and any(_goes_along(form, s, alias, catalog) for s in sides):
                    continue
        own = [s for s in sides if s.alias == alias]
        columns = [c for s in own if (c := table.column(s.column)) is not None]
        if isinstance(table, Stream) and any(_reads_time(c, table) for c in columns):
            continue
        read = frozenset(n for c in columns for n in _fields(c))
        classes = frozenset(form.class_of[s] for s in own if s in form.class_of)
        yield _Limit(read, classes, _write(condition, alias, table))


def _write(condition: Compare | OneOf | IsNull, alias: str, table: Table) -> Expression | None:
    """The condition as an expression of a row (None: it is of no one row, or not known)."""
    if not isinstance(condition, Compare) or condition.left.alias != alias:
        return None
    left = _expression(table, condition.left)
    if isinstance(condition.right, Constant):
        value = condition.right.value
        if isinstance(value, bool) and condition.op is Op.EQ and left is not None:
            return left if value else Call(Function.NOT, (left,), BooleanType())
        right: Expression | None = None if left is None else Value(value, left.type)
    elif condition.right.alias == alias:
        right = _expression(table, condition.right)
    else:
        return None
    if left is None or right is None:
        return None
    return Call(Function(condition.op), (left, right), BooleanType())


def _expression(table: Table, attribute: Attribute) -> Expression | None:
    column = table.column(attribute.column)
    if column is None:
        return None
    return Field(column.name, column.type) if column.expression is None else column.expression


def _fields(column: Column) -> frozenset[str]:
    return frozenset({column.name} if column.expression is None else fields_of(column.expression))


def _reads_time(column: Column, stream: Stream) -> bool:
    return column.expression is not None and reads_time(column.expression, stream)


def _list_sources(column: Column | None) -> Iterator[Source]:
    """How the values of a column may go on."""
    if column is None or column.enum is not None or column.expression is not None:
        return
    match column.type:
        case StringType():
            if column.minimum is None and column.maximum is None:
                yield Source(column.name, Tendency.MANY)
        case IntType() | FloatType() | DecimalType():
            if column.maximum is None:
                yield Source(column.name, Tendency.UP)
            if column.minimum is None:
                yield Source(column.name, Tendency.DOWN)
        case _:
            return


def _varies(made: Expression | None, source: Source) -> bool:
    """Whether what is made of a column goes on with it."""
    if made is None or find_line(made) is not None:
        return True
    return find_tendency(made, source) not in (None, Tendency.STILL)


def _holds(limit: _Limit, source: Source, others: int) -> bool:
    """Whether a condition holds for values of a column without end."""
    if source.column not in limit.columns:
        return True
    if limit.truth is None:
        return False
    known = find_truth(limit.truth, source)
    return known if known is not None else others == 1 and _comes_again(limit.truth, source)


def _comes_again(condition: Expression, source: Source) -> bool:
    """Whether it holds now and again, however far the column goes: for a remainder; for texts with
    any letters before, between or behind some."""
    match condition:
        case Call(function=Function.LIKE | Function.ILIKE, arguments=(Field(), Value(value=text))):
            return source.tends is Tendency.MANY and "%" in str(text)
        case Call(function=function, arguments=(Field(), Value())) if function in _PARTS_OF_TEXTS:
            return source.tends is Tendency.MANY
        case Call(
            function=Function.EQUAL | Function.UNEQUAL,
            arguments=(
                Call(
                    function=Function.MODULO,
                    arguments=(Field(type=IntType()), Value(value=int(divisor))),
                ),
                Value(),
            ),
        ):
            return divisor != 0
        case _:
            return False

"""Derived columns in the rows of witnesses: what they are computed from is chosen, so that they
have the values wanted; and then they are computed, as of any row."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, TypeAlias

from ontoweir.checker.model.normal_form import Kind, NormalForm, ValueClass
from ontoweir.checker.witness.growth.compute_value import NoRowError, compute_value
from ontoweir.checker.witness.growth.find_tendency import Source, Tendency, find_tendency
from ontoweir.checker.witness.growth.grow_columns import grow_columns, is_referenced
from ontoweir.checker.witness.layout.watch_clock import reads_time
from ontoweir.mappings.expressions.find_inverse import Line, find_line
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    FloatType,
    IntType,
    Relation,
    Stream,
)
from ontoweir.mappings.model.expression import (
    Call,
    Expression,
    Field,
    Function,
    Value,
    fields_of,
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


Scale: TypeAlias = Callable[[int | Fraction], Fraction]


def find_scale(form: NormalForm, group: ValueClass, catalog: Catalog) -> Scale | None:
    """How the values of a class, in units, may be stretched so that each is one of a derived
    column: of a class whose values are only told apart; None: it is left as it is.

    The values n, n + 1, … become f(n), f(n + 1), …, where f is the line that is computed.
    """
    if group.kind is not Kind.NUMBER or not is_told_apart(form, group):
        return None
    mine = {a for a, _ in group.attributes}
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


def is_told_apart(form: NormalForm, group: ValueClass, *, folded: bool = False) -> bool:
    """Whether of the values of a class, which may be any number, it is only asked which are
    equal; `folded`: or what their sum, minimum or maximum is."""
    if any(shift for _, shift in group.attributes) or group.domain.finite:
        return False
    if not folded and any(f.value == group.index for f in form.folds or ()):
        return False
    if any(group.index in (q.x, q.y) for q in form.inequalities):
        return False
    mine = {a for a, _ in group.attributes}
    for c in form.query.conditions:
        match c:
            case Compare(left=left, op=op, right=right):
                sides = {left, right}
                if sides & mine and not (op is Op.EQ and sides <= mine and not c.offset):
                    return False
            case OneOf(attribute=attribute) | IsNull(attribute=attribute):
                if attribute in mine:
                    return False
            case NotNull():
                pass
    return True


def derive_values(
    table: Stream | Relation,
    alias: str,
    content: dict[str, Any],
    form: NormalForm,
    numbers: dict[tuple[int, Any], int],
) -> tuple[tuple[str, Any], ...]:
    """A row's values, with the columns that derived ones of an alias are computed from so that
    these have theirs; columns that the query mentions stay as they are.

    Where several are computed from one column, those that may have the most values have theirs; the
    others have what follows, which the witness may yet bear: it is confirmed by evaluation. So have
    those that are computed of a row's time; and those whose values are only told apart, of a column
    that makes values without end (find_tendency): `numbers` says which value is which of them.

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
        if isinstance(table, Stream) and reads_time(column.expression, table):
            del content[column.name]
            continue
        line = find_line(column.expression)
        if chosen and (chosen | mentioned).issuperset(fields_of(column.expression)):
            del content[column.name]
            continue
        kept = _kept(column.expression) if line is None else None
        if line is None and kept is None:
            group = form.classes[form.class_of[Attribute(alias, column.name)]]
            like = _find_like(table, column, group, mentioned | chosen, form)
            if like is not None:
                content[like] = content.pop(column.name)
                chosen.add(like)
                continue
            made = _make_free(table, column, group, mentioned, form)
            place = numbers.setdefault((group.index, content.pop(column.name)), len(numbers))
            content.update({name: of(place) for name, of in made.items()})
            chosen.update(made)
            continue
        source = table.column(line.column if line is not None else kept or "")
        if source is None or is_referenced(table, source.name):
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


def _find_like(
    table: Stream | Relation,
    column: Column,
    group: ValueClass,
    taken: set[str],
    form: NormalForm,
) -> str | None:
    """A column that has the values that a derived one was to have, which then has others, in the
    same order where it grows with it: of values that are only aggregated (None: none is known)."""
    folded = any(f.value == group.index for f in form.folds or ())
    if not folded or len(group.attributes) > 1 or not is_told_apart(form, group, folded=True):
        return None
    assert column.expression is not None
    if not isinstance(column.type, FloatType):
        return None
    for name in fields_of(column.expression):
        source = table.column(name)
        if source is None or name in taken or is_referenced(table, name):
            continue
        if source.expression is not None or not isinstance(source.type, FloatType):
            continue
        tends = find_tendency(column.expression, Source(name, Tendency.UP))
        if tends in (Tendency.UP, Tendency.DOWN):  # else it may have few values
            return name
    return None


def _make_free(
    table: Stream | Relation,
    column: Column,
    group: ValueClass,
    mentioned: set[str],
    form: NormalForm,
) -> dict[str, Callable[[int], Any]]:
    """The columns that a derived one is computed of, with what they are for each of its values in
    turn: one grows, so that there are values without end, and the others stay.

    Raises:
        NoRowError: it is not known which.
    """
    assert column.expression is not None
    fields = fields_of(column.expression)
    if len(group.attributes) > 1 or not is_told_apart(form, group) or mentioned & set(fields):
        raise NoRowError
    return grow_columns(table, column.expression)


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
        value = compute_value(column.expression, content)
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


def _expression(table: Stream | Relation, name: str) -> Expression | None:
    column = table.column(name)
    return None if column is None else column.expression


def _as_number(number: Fraction, *, whole: bool) -> Any:
    if number.denominator == 1:
        return int(number)
    if whole:
        raise NoRowError
    with localcontext() as context:
        context.prec = 1_000
        return Decimal(number.numerator) / Decimal(number.denominator)

"""Build typed expressions: promotion of numbers, and the types of results.

Both languages promote whole numbers to decimals, and decimals to doubles; the results of whole
numbers and decimals are exact.
"""

from collections.abc import Sequence
from decimal import Decimal

from ontoweir.mappings.model.catalog import (
    BooleanType,
    ColumnType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)
from ontoweir.mappings.model.column_types import name_column_type, parse_constant, type_family
from ontoweir.mappings.model.expression import (
    Call,
    Case,
    Expression,
    Function,
    UserCall,
    UserFunction,
    Value,
)

DIGITS = 38
"""So many digits decimals have at most."""
_MILLIONTH = Decimal("0.000001")
_WHOLE = 19
"""So many digits whole numbers of 64 bits have at most."""


class TypeClash(Exception):
    """An operation on types that do not go together; the reader knows the place."""


class TooManyDigits(TypeClash):
    """An operation whose results have more digits than decimals hold."""


def null(kind: ColumnType) -> Value:
    """NULL of a type."""
    return Value(None, kind)


def arithmetic(function: Function, left: Expression, right: Expression) -> Expression:
    """`+`, `-`, `*` or MOD of two numbers.

    Raises:
        TypeClash: they are no numbers, or the result has too many places.
    """
    for side in (left, right):
        _require_number(side, function.value)
    if isinstance(left.type, FloatType) or isinstance(right.type, FloatType):
        both = cast(left, FloatType()), cast(right, FloatType())
        return Call(function, both, FloatType())
    if isinstance(left.type, IntType) and isinstance(right.type, IntType):
        return Call(function, (left, right), IntType())
    left, right = _as_decimal(left), _as_decimal(right)
    assert isinstance(left.type, DecimalType)
    assert isinstance(right.type, DecimalType)
    scale = max(left.type.scale, right.type.scale)
    whole = max(s.type.precision - s.type.scale for s in (left, right))  # type: ignore[union-attr]
    match function:
        case Function.MULTIPLY:
            scale = left.type.scale + right.type.scale
            digits = left.type.precision + right.type.precision
        case Function.MODULO:
            digits = whole + scale
            if digits > _WHOLE - 1:
                raise TooManyDigits(f"MOD of decimals of {digits} digits: 18 at most")
        case _:
            digits = whole + scale + 1
    if scale > DIGITS:
        raise TooManyDigits(f"a decimal with {scale} places: {DIGITS} at most")
    return Call(function, (left, right), DecimalType(min(digits, DIGITS), scale))


def double_of(function: Function, *arguments: Expression) -> Expression:
    """A function of doubles.

    Raises:
        TypeClash: an argument is no number.
    """
    for argument in arguments:
        _require_number(argument, function.value)
    return Call(function, tuple(cast(a, FloatType()) for a in arguments), FloatType())


def whole_of(function: Function, *arguments: Expression) -> Expression:
    """A function of whole numbers.

    Raises:
        TypeClash: an argument is none.
    """
    for argument in arguments:
        if not isinstance(argument.type, IntType) and not _is_null(argument):
            raise TypeClash(f"{function.value} of {name_column_type(argument.type)}")
    return Call(function, tuple(cast(a, IntType()) for a in arguments), IntType())


def sign(inner: Expression) -> Expression:
    """-1, 0 or 1.

    Raises:
        TypeClash: it is of no number.
    """
    _require_number(inner, "SIGN")
    return Call(Function.SIGN, (inner,), IntType())


def is_null(inner: Expression) -> Expression:
    """IS NULL."""
    return Call(Function.IS_NULL, (inner,), BooleanType())


def difference_us(later: Expression, earlier: Expression) -> Expression:
    """How many microseconds a time is after another one.

    Raises:
        TypeClash: they are no times.
    """
    return arithmetic(Function.SUBTRACT, epoch_us(later), epoch_us(earlier))


def seconds(micros: Expression) -> Expression:
    """Microseconds as seconds, with six places after the point."""
    return arithmetic(Function.MULTIPLY, micros, Value(_MILLIONTH, DecimalType(7, 6)))


def epoch_us(time: Expression) -> Expression:
    """The microseconds since 1970 of a time.

    Raises:
        TypeClash: it is none.
    """
    return Call(Function.EPOCH_US, (cast(time, TimestampType()),), IntType())


def cast_day(time: Expression) -> Expression:
    """The day of a date or time; of what is neither, itself."""
    if isinstance(time.type, TimestampType):
        return Call(Function.TRY_CAST, (time,), DateType())
    return time


def whole_units(count_us: Expression, unit_us: int, *, down: bool) -> Expression:
    """How many whole units microseconds are: towards 0, or down."""
    if unit_us == 1:
        return count_us
    unit = Value(unit_us, IntType())
    divided = Call(Function.INTEGER_DIVIDE, (count_us, unit), IntType())
    if not down:
        return divided
    rest = Call(Function.MODULO, (count_us, unit), IntType())
    below = compare(Function.LESS, rest, Value(0, IntType()))
    less = Call(Function.SUBTRACT, (divided, Value(1, IntType())), IntType())
    return choose([(below, less)], divided)


def rounded(function: Function, inner: Expression, places: int = 0) -> Expression:
    """FLOOR, CEIL or ROUND to so many places.

    Raises:
        TypeClash: it is no number, or there are places before the point.
    """
    _require_number(inner, function.value)
    if places < 0:
        raise TooManyDigits(f"{function.value} to {places} places")
    extra = (Value(places, IntType()),) if function is Function.ROUND else ()
    kind = inner.type
    if isinstance(kind, DecimalType):
        if places >= kind.scale:
            return inner
        whole = kind.precision - kind.scale
        kind = DecimalType(min(whole + 1 + places, DIGITS), places)
    return inner if isinstance(kind, IntType) else Call(function, (inner, *extra), kind)


def same_type(function: Function, inner: Expression) -> Expression:
    """NEGATE or ABS of a number.

    Raises:
        TypeClash: it is no number.
    """
    _require_number(inner, function.value)
    if function is Function.NEGATE and isinstance(inner, Value) and inner.value is not None:
        assert not isinstance(inner.value, str)
        return Value(-inner.value, inner.type)
    return Call(function, (inner,), inner.type)


def unify(expressions: Sequence[Expression]) -> tuple[Expression, ...]:
    """Expressions in the one type that holds all their values.

    Raises:
        TypeClash: there is none.
    """
    known = [e.type for e in expressions if not _is_null(e)]
    kind = known[0] if known else StringType()
    for other in known[1:]:
        kind = _common(kind, other, expressions)
    return tuple(cast(e, kind) for e in expressions)


def compare(function: Function, left: Expression, right: Expression) -> Expression:
    """A comparison.

    Raises:
        TypeClash: the types do not compare.
    """
    return Call(function, unify((left, right)), BooleanType())


def choose(
    branches: Sequence[tuple[Expression, Expression]], otherwise: Expression | None
) -> Expression:
    """CASE.

    Raises:
        TypeClash: a condition is not boolean, or the values have no common type.
    """
    for condition, _ in branches:
        require(condition, BooleanType(), "a condition of CASE")
    values = [v for _, v in branches]
    last = otherwise if otherwise is not None else null(StringType())
    *made, ending = unify([*values, last])
    pairs = tuple((c, v) for (c, _), v in zip(branches, made, strict=True))
    return Case(pairs, ending, ending.type)


def call_user(function: UserFunction, given: Sequence[Expression]) -> UserCall:
    """A user's function of values, which become those of its parameters.

    Raises:
        TypeClash: they are more, fewer, or of other types.
    """
    wanted = ", ".join(name_column_type(p.type) for p in function.parameters)
    if len(given) != len(function.parameters):
        raise TypeClash(f"{function.name} takes {len(function.parameters)} of ({wanted})")
    arguments = []
    for argument, parameter in zip(given, function.parameters, strict=True):
        kind = parameter.type
        if isinstance(kind, DecimalType) and isinstance(argument.type, DecimalType):
            kind = argument.type
        elif isinstance(kind, DecimalType) and isinstance(argument.type, IntType):
            kind = DecimalType(_WHOLE, 0)
        exact = isinstance(parameter.type, IntType | DecimalType) and kind == parameter.type
        if exact and not _is_null(argument) and argument.type != kind:
            raise TypeClash(
                f"{function.name} of {name_column_type(argument.type)}; it takes ({wanted})"
            )
        arguments.append(cast(argument, kind))
    return UserCall(function, tuple(arguments), function.result.type)


def cast(inner: Expression, kind: ColumnType) -> Expression:
    """A number, or NULL, in a type that holds it; a constant text as a date or time.

    Raises:
        TypeClash: the type does not hold it.
    """
    if inner.type == kind:
        return inner
    if isinstance(inner, Value):
        if inner.value is None:
            return null(kind)
        if isinstance(inner.value, str) == isinstance(kind, DateType | TimestampType | StringType):
            constant = parse_constant(str(inner.value), kind)
            if constant is not None and not isinstance(kind, IntType):
                return Value(constant, kind)
    numbers = type_family(inner.type) == "number" and type_family(kind) == "number"
    days = isinstance(inner.type, DateType) and isinstance(kind, TimestampType)
    if not (numbers or days):
        raise TypeClash(f"{name_column_type(inner.type)} and {name_column_type(kind)}")
    return Call(Function.CAST, (inner,), kind)


def require(inner: Expression, kind: ColumnType, what: str) -> None:
    """Raise TypeClash where an expression is not of a type."""
    if inner.type != kind and not _is_null(inner):
        raise TypeClash(f"{what} is {name_column_type(inner.type)}, not {name_column_type(kind)}")


def _require_number(inner: Expression, what: str) -> None:
    if type_family(inner.type) != "number" and not _is_null(inner):
        raise TypeClash(f"{what} of {name_column_type(inner.type)}, which is no number")


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Value) and expression.value is None


def _as_decimal(inner: Expression) -> Expression:
    if isinstance(inner.type, DecimalType):
        return inner
    if isinstance(inner, Value) and inner.value is not None:
        return Value(inner.value, DecimalType(max(len(str(abs(int(inner.value)))), 1), 0))
    return cast(inner, DecimalType(_WHOLE, 0))


def _common(left: ColumnType, right: ColumnType, among: Sequence[Expression]) -> ColumnType:
    if left == right:
        return left
    families = {type_family(left), type_family(right)}
    if families == {"number"}:
        if isinstance(left, FloatType) or isinstance(right, FloatType):
            return FloatType()
        shapes = [
            (k.precision - k.scale, k.scale) if isinstance(k, DecimalType) else (_WHOLE, 0)
            for k in (left, right)
        ]
        scale = max(s for _, s in shapes)
        whole = max(w for w, _ in shapes)
        if whole + scale > DIGITS:
            raise TooManyDigits(
                f"decimals with {whole} digits before the point and {scale} behind it"
            )
        return DecimalType(whole + scale, scale)
    if families == {"date", "timestamp"}:
        return TimestampType()
    for time in ("date", "timestamp"):
        texts = [e for e in among if isinstance(e.type, StringType)]
        if families == {time, "string"} and all(isinstance(e, Value) for e in texts):
            return left if type_family(left) == time else right
    raise TypeClash(f"{name_column_type(left)} and {name_column_type(right)}")

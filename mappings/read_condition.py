"""Reads SQL predicates into conjunctions of comparisons; OR becomes alternatives."""

import operator
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ontoweir.mappings.assertion import (
    CompareOp,
    SourceColumn,
    SourceCompare,
    SourceCondition,
    SourceConstant,
    SourceNotNull,
)
from ontoweir.mappings.catalog import BooleanType, Scalar
from ontoweir.mappings.column_types import (
    epoch_us,
    name_column_type,
    parse_constant,
    parse_instant,
    type_family,
)
from ontoweir.mappings.parse_duration import parse_duration
from ontoweir.mappings.read_scope import Scope, SqlRefusal
from ontoweir.mappings.round_steps import round_steps

if TYPE_CHECKING:
    from sqlglot import exp

Conjunction: TypeAlias = tuple[SourceCondition, ...]
Alternatives: TypeAlias = tuple[Conjunction, ...]
"""A disjunction of conjunctions: () is false, ((),) is true."""

_FLIP: dict[CompareOp, CompareOp] = {
    "<": ">",
    "<=": ">=",
    "=": "=",
    ">=": "<=",
    ">": "<",
    "<>": "<>",
}
_NEGATE: dict[CompareOp, CompareOp] = {
    "<": ">=",
    "<=": ">",
    "=": "<>",
    ">=": "<",
    ">": "<=",
    "<>": "=",
}
_HOLDS: dict[CompareOp, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
    "<>": operator.ne,
}


def line_of(tree: "exp.Expr") -> int | None:
    """The line of the first name in a piece of SQL."""
    from sqlglot import exp

    lines = [int(n.meta["line"]) for n in tree.find_all(exp.Identifier) if "line" in n.meta]
    return min(lines, default=None)


MOST_ALTERNATIVES = 4096
"""The most parts that OR, IN and NOT may split one SELECT into."""


def conjoin(left: Alternatives, right: Alternatives) -> Alternatives:
    """Both: every pair of alternatives.

    Raises:
        SqlRefusal: there are more than MOST_ALTERNATIVES.
    """
    if len(left) * len(right) > MOST_ALTERNATIVES:
        raise SqlRefusal(
            f"WHERE has more than {MOST_ALTERNATIVES:,} alternatives",
            why="every combination of the sides of OR and the members of IN is a query of its own",
            fix="write fewer OR and IN, or several queries",
        )
    return tuple((*a, *b) for a in left for b in right)


def read_condition(
    tree: "exp.Expr", scope: Scope, *, bag: bool, negated: bool = False
) -> Alternatives:
    """The predicate (or its negation) in disjunctive normal form.

    With `bag` the alternatives exclude each other, so that no row counts twice: A OR B becomes
    A, and B AND NOT A, which is right in SQL's three-valued logic only where B cannot hold while
    A is unknown, i.e. where all columns of A also occur in B or are known not to be NULL.

    Raises:
        SqlRefusal: beyond comparisons of columns, constants and column + constant.
    """
    from sqlglot import exp

    if isinstance(tree, exp.Paren):
        return read_condition(tree.this, scope, bag=bag, negated=negated)
    if isinstance(tree, exp.Not):
        return read_condition(tree.this, scope, bag=bag, negated=not negated)
    if isinstance(tree, (exp.And, exp.Or)):
        both = isinstance(tree, exp.And) != negated
        sides = (tree.this, tree.expression)
        if both:
            left, right = (read_condition(s, scope, bag=bag, negated=negated) for s in sides)
            return conjoin(left, right)
        return _either([(s, negated) for s in sides], scope, bag=bag)
    if isinstance(tree, exp.Boolean):
        return ((),) if bool(tree.this) != negated else ()
    if isinstance(tree, exp.Column):
        return _truth(tree, scope, true=not negated)
    if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Boolean):
        if negated:
            raise _refuse(tree, f"NOT {tree.sql('spark')}", "it also holds of NULL; write = TRUE")
        return _truth(tree.this, scope, true=bool(tree.expression.this))
    if isinstance(tree, exp.Between):
        if tree.args.get("symmetric") is not None:
            raise _refuse(tree, "BETWEEN SYMMETRIC", "write BETWEEN with the smaller value first")
        low = exp.GTE(this=tree.this, expression=tree.args["low"])
        high = exp.LTE(this=tree.this, expression=tree.args["high"])
        both_sides = exp.And(this=low, expression=high)
        return read_condition(both_sides, scope, bag=bag, negated=negated)
    if isinstance(tree, exp.In):
        if tree.args.get("query") is not None or not tree.expressions:
            raise _refuse(tree, "IN (subquery)")
        equal = [exp.EQ(this=tree.this, expression=e) for e in dict.fromkeys(tree.expressions)]
        return _read_in(equal, scope, bag=bag, negated=negated)
    if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
        if not negated:
            raise _refuse(tree, "IS NULL")
        return ((SourceNotNull(_column(tree.this, scope)),),)
    ops: dict[type[exp.Expr], CompareOp] = {
        exp.LT: "<",
        exp.LTE: "<=",
        exp.EQ: "=",
        exp.GTE: ">=",
        exp.GT: ">",
        exp.NEQ: "<>",
    }
    op = ops.get(type(tree))
    if op is None:
        raise _refuse(tree, tree.sql("spark"))
    return _compare(cast("exp.Binary", tree), _NEGATE[op] if negated else op, scope)


def _truth(tree: "exp.Expr", scope: Scope, *, true: bool) -> Alternatives:
    """A column of truth values as a condition."""
    column = _column(tree, scope)
    kind = scope.type_of(column)
    if scope.step_of(column) is not None or not isinstance(kind, BooleanType):
        raise _refuse(
            tree,
            f"{tree.sql('spark')}, which is {name_column_type(kind)},",
            "compare it with something, or declare the column as boolean",
        )
    return ((SourceCompare(column, "=", SourceConstant(true)),),)


def _read_in(equal: "list[exp.EQ]", scope: Scope, *, bag: bool, negated: bool) -> Alternatives:
    """The disjunction of the equalities (negated: none holds)."""
    from sqlglot import exp

    found: Alternatives = ((),)
    if negated:
        for e in equal:
            found = conjoin(found, read_condition(e, scope, bag=bag, negated=True))
        return found
    found = tuple(dict.fromkeys(c for e in equal for c in read_condition(e, scope, bag=bag)))
    columns = {_compared_column(c) for c in found}
    if not bag or (len(columns) <= 1 and None not in columns):
        return found  # a column equals one constant at most
    either: exp.Expr = equal[0]
    for e in equal[1:]:
        either = exp.Or(this=either, expression=e)
    return read_condition(either, scope, bag=True)


def _compared_column(conjunction: Conjunction) -> SourceColumn | None:
    """The column, where the conjunction says only that it equals a constant."""
    match conjunction:
        case (SourceCompare(left=column, op="=", right=SourceConstant()),):
            return column
        case _:
            return None


def known_columns(predicates: "Sequence[exp.Expr]", scope: Scope) -> frozenset[SourceColumn]:
    """The columns that conjuncts compare or say not to be NULL: so they are not, in any row."""
    from sqlglot import exp

    found: set[SourceColumn] = set()
    for predicate in predicates:
        for conjunct in predicate.flatten() if isinstance(predicate, exp.And) else [predicate]:
            inner = conjunct.unnest()
            if isinstance(inner, exp.And):
                found |= known_columns([inner], scope)
            elif not isinstance(inner, (exp.Or, exp.Not)) or (
                isinstance(inner, exp.Not) and isinstance(inner.this.unnest(), exp.Is)
            ):
                alternatives = read_condition(inner, scope, bag=False)
                columns = [{c for k in a for c in _columns(k)} for a in alternatives]
                found.update(set.intersection(*columns) if columns else ())
    return frozenset(found)


def _either(sides: list[tuple["exp.Expr", bool]], scope: Scope, *, bag: bool) -> Alternatives:
    read = [read_condition(s, scope, bag=bag, negated=n) for s, n in sides]
    if not bag:
        return (*read[0], *read[1])
    columns = [{c for alt in a for k in alt for c in _columns(k)} for a in read]
    # Which side is negated: its columns must all occur in every alternative of the other.
    for first, second in ((0, 1), (1, 0)):
        doubtful = columns[first] - scope.known
        if all(doubtful <= {c for k in alt for c in _columns(k)} for alt in read[second]):
            tree, negated = sides[first]
            rest = read_condition(_as_equality(tree), scope, bag=True, negated=not negated)
            return (*read[first], *conjoin(read[second], rest))
    raise SqlRefusal(
        "OR over different columns in a query with duplicates",
        why="its parts overlap, and a row must not count twice",
        fix="write a UNION ALL of parts that exclude each other, or AND … IS NOT NULL for the "
        "columns of one side; a query may be SELECT DISTINCT",
        line=line_of(sides[0][0]),
    )


def _as_equality(tree: "exp.Expr") -> "exp.Expr":
    """IS TRUE and IS FALSE as comparisons, which they are where nothing is NULL."""
    from sqlglot import exp

    return tree.transform(
        lambda n: (
            exp.EQ(this=n.this, expression=n.expression)
            if isinstance(n, exp.Is) and isinstance(n.expression, exp.Boolean)
            else n
        )
    )


def _columns(condition: SourceCondition) -> tuple[SourceColumn, ...]:
    match condition:
        case SourceNotNull(column=column):
            return (column,)
        case SourceCompare(left=left, right=right):
            return (left, right) if isinstance(right, SourceColumn) else (left,)


def _refuse(tree: "exp.Expr", name: str, fix: str | None = None) -> SqlRefusal:
    return SqlRefusal(
        f"the condition {name} is outside the SQL read here",
        why="conditions compare columns, constants, and column + constant",
        fix=fix
        or "write comparisons with <, <=, =, >=, > or <>; of static relations: declare a relation "
        "with this SQL as its view",
        line=line_of(tree),
    )


def read_literal(tree: "exp.Expr") -> Scalar | None:
    """A number, string, boolean, date or timestamp constant; None for anything else."""
    from sqlglot import exp

    if isinstance(tree, exp.Paren):
        return read_literal(tree.this)
    if isinstance(tree, exp.Neg):
        inner = read_literal(tree.this)
        return -inner if isinstance(inner, (int, Decimal)) else None
    if isinstance(tree, exp.Literal):
        if tree.is_string:
            return str(tree.this)
        return _read_number(str(tree.this))
    if isinstance(tree, exp.Boolean):
        return bool(tree.this)
    if isinstance(tree, exp.Cast):
        return _read_cast(tree) if isinstance(tree.this, exp.Literal) else None
    return None


def _read_number(text: str) -> int | Decimal | None:
    """A number of reasonable size."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > 400:
        return None
    return _whole(number)


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _read_cast(tree: "exp.Cast") -> Scalar | None:
    """A cast that leaves a literal's value as it is: DATE '…', TIMESTAMP '…', 3L, 2.5BD."""
    from sqlglot import exp

    kind, text, is_string = tree.to.this, str(tree.this.this), tree.this.is_string
    if kind == exp.DataType.Type.DATE:
        return text if is_string and _DAY.fullmatch(text) else None
    if kind in (
        exp.DataType.Type.TIMESTAMP,
        exp.DataType.Type.TIMESTAMPTZ,
        exp.DataType.Type.TIMESTAMPLTZ,
        exp.DataType.Type.TIMESTAMPNTZ,
        exp.DataType.Type.DATETIME,
    ):
        return text if is_string else None
    if kind in (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR) and not tree.to.expressions:
        return text if is_string else None
    number = _read_number(text)
    if kind in (exp.DataType.Type.INT, exp.DataType.Type.BIGINT):
        bits = 31 if kind == exp.DataType.Type.INT else 63
        fits = isinstance(number, int) and -(2**bits) <= number < 2**bits
        return number if fits else None
    if kind == exp.DataType.Type.DECIMAL and number is not None and len(tree.to.expressions) == 2:
        digits, scale = (int(p.this.this) for p in tree.to.expressions)
        scaled = abs(Decimal(number)).scaleb(scale)
        whole = scaled == scaled.to_integral_value() and scaled < Decimal(10) ** digits
        return number if whole else None
    return None


def _column(tree: "exp.Expr", scope: Scope) -> SourceColumn:
    from sqlglot import exp

    if isinstance(tree, exp.Paren):
        return _column(tree.this, scope)
    if not isinstance(tree, exp.Column):
        raise _refuse(tree, tree.sql("spark"))
    return scope.resolve(tree.table or None, tree.name, line_of(tree))


class _Sum:
    """A sum: columns with sign, a number, microseconds, or one other constant."""

    __slots__ = ("constant", "minus", "number", "plus", "us")

    def __init__(self) -> None:
        self.plus: list[SourceColumn] = []
        self.minus: list[SourceColumn] = []
        self.number = Decimal(0)
        self.us = 0
        self.constant: Scalar | None = None


def _add(tree: "exp.Expr", scope: Scope, total: _Sum, sign: int) -> None:
    from sqlglot import exp

    if isinstance(tree, exp.Paren):
        _add(tree.this, scope, total, sign)
    elif isinstance(tree, (exp.Add, exp.Sub)):
        _add(tree.this, scope, total, sign)
        _add(tree.expression, scope, total, sign if isinstance(tree, exp.Add) else -sign)
    elif isinstance(tree, exp.Column):
        (total.plus if sign > 0 else total.minus).append(_column(tree, scope))
    elif isinstance(tree, exp.Interval):
        total.us += sign * _interval(tree)
    else:
        value = read_literal(tree)
        if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            total.number += sign * value
        elif value is not None and total.constant is None and sign > 0:
            total.constant = value
        elif value is not None and total.constant is None:
            raise _refuse(tree, f"subtracting {tree.sql('spark')}")
        else:
            raise _refuse(tree, tree.sql("spark"))


def _interval(tree: "exp.Interval") -> int:
    amount = tree.this
    text = str(amount.this) if amount is not None else ""
    unit = tree.args.get("unit")
    sign = -1 if text.startswith("-") else 1
    text = re.sub(r"^[+-]\s*", "", text)
    found = parse_duration(f"{text} {unit.name if unit is not None else ''}")
    if found is None:
        raise _refuse(tree, tree.sql("spark"))
    return sign * found


def _compare(tree: "exp.Binary", op: CompareOp, scope: Scope) -> Alternatives:
    left, right = _Sum(), _Sum()
    _add(tree.this, scope, left, 1)
    _add(tree.expression, scope, right, 1)
    plus, minus = left.plus + right.minus, right.plus + left.minus
    number, us = right.number - left.number, right.us - left.us
    if len(plus) > 1 or len(minus) > 1:
        raise _refuse(tree, tree.sql("spark"))
    if not plus and not minus:
        return ((),) if _holds(tree, op, left, right) else ()
    if not plus:
        if left.constant is not None and right.constant is not None:
            raise _refuse(tree, tree.sql("spark"))
        plus, minus, op = minus, [], _FLIP[op]
        number, us = -number, -us
    constants = [c for c in (left.constant, right.constant) if c is not None]
    if minus:
        if constants:
            raise _refuse(tree, tree.sql("spark"))
        return _compare_columns(tree, plus[0], op, minus[0], (number, us), scope)
    if len(constants) > 1 or (constants and number):
        raise _refuse(tree, tree.sql("spark"))
    value: Scalar = constants[0] if constants else _whole(number)
    return _compare_constant(tree, plus[0], op, value, us, scope)


def _holds(tree: "exp.Binary", op: CompareOp, left: _Sum, right: _Sum) -> bool:
    """Whether a comparison of constants holds: of numbers, durations, texts or truth values."""
    from sqlglot import exp

    a: Any = (left.number, left.us)
    b: Any = (right.number, right.us)
    if left.constant is not None or right.constant is not None:
        plain = all(
            isinstance(side, (exp.Literal, exp.Boolean))
            for side in (tree.this.unnest(), tree.expression.unnest())
        )
        a, b = left.constant, right.constant
        if not plain or type(a) is not type(b):
            raise _refuse(tree, tree.sql("spark"))
    elif (left.number or right.number) and (left.us or right.us):
        raise _refuse(tree, tree.sql("spark"))
    return bool(_HOLDS[op](a, b))


def _whole(number: Decimal) -> int | Decimal:
    return int(number) if number == number.to_integral_value() else number


def _compare_columns(
    tree: "exp.Expr",
    left: SourceColumn,
    op: CompareOp,
    right: SourceColumn,
    offset: tuple[Decimal, int],
    scope: Scope,
) -> Alternatives:
    number, us = offset
    step, other = scope.step_of(left), scope.step_of(right)
    if step is not None or other is not None:
        if step is None or other is None:
            raise _no_timestamp(tree)
        if step != other:
            raise SqlRefusal(
                f"timestamps in units of {step} and {other} microseconds are compared",
                why="streams are compared on one grid of time",
                fix="declare the same timestamp unit for both streams",
                line=line_of(tree),
            )
        if number:
            raise _refuse(tree, f"{tree.sql('spark')} (a time plus a number)")
        rounded = round_steps(op, us, step)
        if isinstance(rounded, bool):
            return ((SourceNotNull(left), SourceNotNull(right)),) if rounded else ()
        return ((SourceCompare(left, rounded[0], right, rounded[1]),),)
    kinds = scope.type_of(left), scope.type_of(right)
    if type_family(kinds[0]) != type_family(kinds[1]) or us:
        raise _wrong_types(tree, name_column_type(kinds[0]), name_column_type(kinds[1]))
    if number and type_family(kinds[0]) != "number":
        raise _refuse(tree, tree.sql("spark"))
    return ((SourceCompare(left, op, right, _whole(number)),),)


def _compare_constant(
    tree: "exp.Expr", left: SourceColumn, op: CompareOp, value: Scalar, us: int, scope: Scope
) -> Alternatives:
    if (step := scope.step_of(left)) is not None:
        try:
            instant = parse_instant(value) if isinstance(value, str) else None
        except ValueError:
            instant = None
        if instant is None:
            raise _no_timestamp(tree)
        rounded = round_steps(op, epoch_us(instant) + us, step)
        if isinstance(rounded, bool):
            return ((SourceNotNull(left),),) if rounded else ()
        return ((SourceCompare(left, rounded[0], SourceConstant(rounded[1])),),)
    kind = scope.type_of(left)
    fits = {
        "number": isinstance(value, (int, Decimal)) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
        "string": isinstance(value, str),
        "date": isinstance(value, str),
        "timestamp": isinstance(value, str),
    }[type_family(kind)]
    constant = parse_constant(str(value), kind) if fits and not isinstance(value, bool) else None
    if fits and isinstance(value, bool):
        constant = value
        if op == "<>":
            op, constant = "=", not value
    if constant is None or us:
        raise _wrong_types(tree, name_column_type(kind), repr(value))
    return ((SourceCompare(left, op, SourceConstant(constant)),),)


def _no_timestamp(tree: "exp.Expr") -> SqlRefusal:
    return SqlRefusal(
        f"{tree.sql('spark')} compares a stream's timestamp with something else",
        why="a timestamp compares with timestamps, intervals added, and TIMESTAMP constants",
        fix="write e.g. a.ts <= b.ts + INTERVAL '5' MINUTE or a.ts >= TIMESTAMP '2014-08-01 00:00'",
        line=line_of(tree),
    )


def _wrong_types(tree: "exp.Expr", left: str, right: str) -> SqlRefusal:
    return SqlRefusal(
        f"{tree.sql('spark')} compares {left} with {right}",
        why="both sides must have comparable types",
        fix="write a constant of the column's type, or declare the column's type correctly",
        line=line_of(tree),
    )

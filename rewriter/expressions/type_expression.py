"""SPARQL's expressions, typed: what they compute where variables have values of known types.

An error is no value: comparisons and functions of what has none have none, && and || know three
values, COALESCE takes the first that there is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from ontoweir.mappings.expressions import build
from ontoweir.mappings.expressions.may_be_null import may_be_null
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
from ontoweir.mappings.model.column_types import (
    XSD,
    datatype_family,
    name_column_type,
    parse_constant,
    type_family,
)
from ontoweir.mappings.model.expression import (
    Call,
    Expression,
    Function,
    UserFunction,
    Value,
    fields_of,
)
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.expressions.not_exact import NotExactError
from ontoweir.rewriter.expressions.read_expression import ROUND_RELATIVE, SECONDS_OF
from ontoweir.rewriter.expressions.type_call import USER, type_call
from ontoweir.rewriter.expressions.type_term import type_term_call
from ontoweir.rewriter.expressions.type_text import TEXTS, type_text
from ontoweir.rewriter.model.query import Iri, Literal, Operation, TermExpression, Variable
from ontoweir.rewriter.model.spj import Output
from ontoweir.rewriter.nulls.find_nonzero import drop_casts, find_nonzero

Given: TypeAlias = Sequence[Expression]

NOTHING = Value(None, StringType())
"""No value."""


@dataclass(frozen=True, slots=True)
class TermTypes:
    """`variables`: the value that each variable is; `outputs`: what those of patterns are made of;
    `types`: of the columns; `functions`: users', by name."""

    variables: Mapping[str, Expression]
    outputs: Mapping[str, Output]
    types: Types
    functions: Mapping[str, UserFunction]
    nonzero: frozenset[TermExpression] = frozenset()
    """What is not 0 where an expression is evaluated, as a condition around it says."""


def type_expression(expression: TermExpression, terms: TermTypes) -> Expression:
    """The expression over the columns that variables are made from.

    Raises:
        NotExactError: a function, or a combination of types, that is not read.
    """
    match expression:
        case Variable(name=name):
            return terms.variables[name]
        case Iri(value=value):
            raise NotExactError(f"the IRI <{value}> in an expression", "compare it in a FILTER")
        case Literal():
            return literal_value(expression)
        case Operation(name=name, arguments=arguments):
            try:
                made = type_term_call(
                    expression, terms.outputs, terms.types, lambda a: type_expression(a, terms)
                )
                if made is not None:
                    return made
                if name == SECONDS_OF:
                    return _count_seconds(arguments, terms)
                given = [type_expression(a, t) for a, t in _list_terms(expression, terms)]
                if name == "/" and drop_casts(arguments[1]) in terms.nonzero:
                    return _divide_doubles(*given)
                if name.startswith(USER):
                    return type_call(name, given, terms.functions)
                return _operate(name, given)
            except build.TooManyDigits as error:
                raise NotExactError(str(error), "compute with doubles: xsd:double(?x)") from None
            except build.TypeClash:
                return NOTHING  # an error


def _list_terms(call: Operation, terms: TermTypes) -> Iterator[tuple[TermExpression, TermTypes]]:
    """The arguments of a function, with what is known where each is evaluated."""
    for place, argument in enumerate(call.arguments):
        if call.name == "IF" and place > 0:
            found = find_nonzero(call.arguments[0], holds=place == 1)
            yield argument, replace(terms, nonzero=terms.nonzero | found)
        else:
            yield argument, terms


def _divide_doubles(left: Expression, right: Expression) -> Expression:
    """A division by what is not 0: of whole numbers and decimals it may have places without end."""
    if isinstance(left.type, FloatType) or isinstance(right.type, FloatType):
        return build.double_of(Function.DIVIDE, left, right)
    return _divide(left, right)


def _count_seconds(arguments: Sequence[TermExpression], terms: TermTypes) -> Expression:
    """ow:seconds(?later - ?earlier)."""
    (difference,) = arguments
    if not isinstance(difference, Operation) or difference.name != "-":
        raise NotExactError("ow:seconds of what is no difference", "write ow:seconds(?b - ?a)")
    later, earlier = (type_expression(a, terms) for a in difference.arguments)
    if not all(isinstance(side.type, TimestampType) for side in (later, earlier)):
        return NOTHING
    place = Value(Decimal("0.000001"), DecimalType(7, 6))
    return build.arithmetic(Function.MULTIPLY, build.difference_us(later, earlier), place)


def literal_value(literal: Literal) -> Expression:
    """A literal as a constant.

    Raises:
        NotExactError: it is of a language, or of a datatype that is not computed with.
    """
    if literal.language is not None:
        raise NotExactError(
            f'"{literal.lexical}"@{literal.language} in an expression', "write a plain string"
        )
    datatype, text = literal.datatype, literal.lexical
    kinds: dict[str | None, ColumnType] = {
        "string": StringType(),
        "boolean": BooleanType(),
        "timestamp": TimestampType(),
    }
    family = datatype_family(datatype)
    if family == "number":
        return _number(text, datatype)
    if family not in kinds:
        raise NotExactError(f"a literal of <{datatype}>", "compare it in a FILTER")
    constant = parse_constant(text, kinds[family])
    return build.null(kinds[family]) if constant is None else Value(constant, kinds[family])


def truth(inner: Expression) -> Expression:
    """The effective boolean value (SPARQL 1.1, 17.2.2)."""
    kind = inner.type
    if isinstance(inner, Value) and inner.value is None:
        return build.null(BooleanType())
    match kind:
        case BooleanType():
            return inner
        case StringType():
            size = Call(Function.LENGTH, (inner,), IntType())
            return build.compare(Function.GREATER, size, Value(0, IntType()))
        case IntType() | DecimalType() | FloatType():
            return build.compare(Function.UNEQUAL, inner, Value(0, IntType()))
        case _:
            return build.null(BooleanType())


def _number(text: str, datatype: str | None) -> Expression:
    if datatype in (XSD + "double", XSD + "float"):
        constant = parse_constant(text, FloatType())
        return build.null(FloatType()) if constant is None else Value(constant, FloatType())
    number = parse_constant(text, DecimalType(build.DIGITS, 0))
    if number is None:
        return build.null(IntType())
    exact = Decimal(str(number))
    if datatype != XSD + "decimal" and exact == exact.to_integral_value():
        if abs(exact) < 2**63:
            return Value(int(exact), IntType())
        raise NotExactError(f"the number {text}", "write a number of 64 bits")
    places = max(-int(exact.as_tuple().exponent), 0)
    digits = max(len(exact.as_tuple().digits), places, 1)
    if digits > build.DIGITS:
        raise NotExactError(f"the number {text}", f"write at most {build.DIGITS} digits")
    return Value(number, DecimalType(digits, places))


def _operate(name: str, given: Given) -> Expression:
    if name in _CONNECTIVES:
        return _CONNECTIVES[name](given)
    if any(isinstance(g, Value) and g.value is None for g in given):
        return NOTHING
    if name == "-" and all(isinstance(g.type, TimestampType) for g in given):
        raise NotExactError("a difference of times", "write ow:seconds(?later - ?earlier)")
    if name in _ARITHMETIC:
        return build.arithmetic(_ARITHMETIC[name], given[0], given[1])
    if name in _COMPARISONS:
        return _compare(_COMPARISONS[name], given[0], given[1])
    if name in _PARTS:
        if isinstance(given[0].type, DateType) and name in _OF_DATES:
            first, size = _OF_DATES[name]
            raise NotExactError(
                f"{name} of an xsd:date, which it is not defined for (SPARQL 1.1, 17.4.5),",
                f"write xsd:integer(SUBSTR(STR(?x), {first}, {size})); or map an xsd:dateTime",
            )
        if not isinstance(given[0].type, TimestampType):
            return NOTHING
        kind = DecimalType(8, 6) if name == "SECONDS" else IntType()
        return Call(_PARTS[name], (given[0],), kind)
    if name.startswith(XSD):
        return _cast(name, given[0])
    if name in _NUMERIC:
        return _numeric(name, given[0])
    if name in TEXTS:
        if not all(isinstance(g.type, StringType) for g in given[: TEXTS[name]]):
            return NOTHING
        return type_text(name, given)
    match name:
        case "/":
            return _divide(given[0], given[1])
        case "NEGATE":
            return build.same_type(Function.NEGATE, given[0])
        case "IN":
            equal = [_compare(Function.EQUAL, given[0], other) for other in given[1:]]
            return _chain(Function.OR, equal)
        case "STR":
            return _cast(XSD + "string", given[0])
        case "NOW":
            raise NotExactError(
                "NOW() beside values, or in HAVING,",
                'compare the time of a GRAPH with it: FILTER(?t > NOW() - "PT1H"^^xsd:dayTime'
                'Duration), or the latest one of a group: HAVING (MAX(?t) < NOW() - "PT1H"^^xsd:day'
                "TimeDuration), with && only; what has been silent for an hour, or always, is ?s a "
                ":Sensor, with FILTER NOT EXISTS { GRAPH ?t { … ?s } and that FILTER }",
            )
        case _:
            raise NotExactError(f"the function {name}", "leave it out, or compute it before")


def _connect(function: Function) -> Callable[[Given], Expression]:
    return lambda given: Call(function, tuple(truth(g) for g in given), BooleanType())


def _choose(given: Given) -> Expression:
    """IF: an error in the condition is one of the whole."""
    _require_one_type("IF", given[1:])
    condition = truth(given[0])
    if not may_be_null(condition, fields_of(condition).keys()):
        return build.choose([(condition, given[1])], given[2])
    negated = Call(Function.NOT, (condition,), BooleanType())
    return build.choose([(condition, given[1]), (negated, given[2])], None)


def _require_one_type(name: str, given: Given) -> None:
    """Refuse values of several datatypes, which stay what they are in SPARQL."""
    kinds = {type(g.type) for g in given if not (isinstance(g, Value) and g.value is None)}
    if len(kinds) > 1:
        shown = " and ".join(sorted({name_column_type(g.type) for g in given}))
        raise NotExactError(
            f"{name} of {shown}, whose values keep their datatypes,",
            "make them of one datatype, as 1.0 or xsd:decimal(?x) beside decimals",
        )


def _coalesce(given: Given) -> Expression:
    _require_one_type("COALESCE", given)
    made = build.unify(list(given))
    return made[0] if len(made) == 1 else Call(Function.COALESCE, made, made[0].type)


def _is_bound(given: Given) -> Expression:
    absent = Call(Function.IS_NULL, (given[0],), BooleanType())
    return Call(Function.NOT, (absent,), BooleanType())


_CONNECTIVES: dict[str, Callable[[Given], Expression]] = {
    "&&": _connect(Function.AND),
    "||": _connect(Function.OR),
    "!": _connect(Function.NOT),
    "IF": _choose,
    "COALESCE": _coalesce,
    "BOUND": _is_bound,
}
_ARITHMETIC = {"+": Function.ADD, "-": Function.SUBTRACT, "*": Function.MULTIPLY}
_COMPARISONS = {
    "=": Function.EQUAL,
    "!=": Function.UNEQUAL,
    "<": Function.LESS,
    "<=": Function.AT_MOST,
    ">": Function.GREATER,
    ">=": Function.AT_LEAST,
}
_PARTS = {
    "YEAR": Function.YEAR,
    "MONTH": Function.MONTH,
    "DAY": Function.DAY,
    "HOURS": Function.HOUR,
    "MINUTES": Function.MINUTE,
    "SECONDS": Function.SECONDS,
}
_OF_DATES = {"YEAR": (1, 4), "MONTH": (6, 2), "DAY": (9, 2)}
"""Where in the text of a date its parts are, and how long they are."""
_NUMERIC = {
    ROUND_RELATIVE: Function.ROUND_RELATIVE,
    "ABS": Function.ABS,
    "FLOOR": Function.FLOOR,
    "CEIL": Function.CEIL,
    "ROUND": Function.ROUND_UP,
}


def _compare(function: Function, left: Expression, right: Expression) -> Expression:
    """A comparison of values of one family; of others it is an error."""
    if type_family(left.type) != type_family(right.type):
        return build.null(BooleanType())
    return build.compare(function, left, right)


def _numeric(name: str, inner: Expression) -> Expression:
    if name == "ABS":
        return build.same_type(Function.ABS, inner)
    if name == ROUND_RELATIVE:
        return build.double_of(Function.ROUND_RELATIVE, inner)
    return build.rounded(_NUMERIC[name], inner)


def _divide(left: Expression, right: Expression) -> Expression:
    """Whole numbers and decimals give a decimal: exactly, where it has finitely many places."""
    if not isinstance(right, Value) or isinstance(right.value, str | bool):
        raise NotExactError(
            "a division by what is no constant number",
            "divide doubles by what is not 0, IF(?y != 0, xsd:double(?x) / ?y, 0e0), or by a "
            "constant; a share is the mean of what IF gives: AVG(IF(?x > 5, 100, 0))",
        )
    assert right.value is not None
    divisor = Fraction(Decimal(str(right.value)))
    if isinstance(left.type, FloatType) or isinstance(right.type, FloatType):
        if divisor == 0:
            raise NotExactError("a division of doubles by 0", "leave it out")
        return build.double_of(Function.DIVIDE, left, right)
    if divisor == 0:
        return NOTHING
    inverse = 1 / divisor
    places = next((n for n in range(build.DIGITS) if (inverse * 10**n).denominator == 1), None)
    if places is None:
        raise NotExactError(
            f"a division by {right.value}, whose results have places without end",
            "divide a double: xsd:double(?x) / …",
        )
    number = Decimal(int(inverse * 10**places)).scaleb(-places)
    digits = max(len(str(abs(int(inverse * 10**places)))), places, 1)
    return build.arithmetic(Function.MULTIPLY, left, Value(number, DecimalType(digits, places)))


def _chain(function: Function, sides: Sequence[Expression]) -> Expression:
    made = sides[0]
    for side in sides[1:]:
        made = Call(function, (made, side), BooleanType())
    return made


def _cast(datatype: str, inner: Expression) -> Expression:
    kind, wanted = inner.type, datatype.removeprefix(XSD)
    match wanted, kind:
        case ("integer", IntType()) | ("double", FloatType()) | ("boolean", BooleanType()):
            return inner
        case ("decimal", DecimalType()) | ("string", StringType()) | ("dateTime", TimestampType()):
            return inner
        case "integer", StringType() | BooleanType():
            return Call(Function.TRY_CAST, (inner,), IntType())
        case "integer", DecimalType() | FloatType():
            down = build.rounded(Function.FLOOR, inner)
            up = build.rounded(Function.CEIL, inner)
            positive = build.compare(Function.AT_LEAST, inner, Value(0, IntType()))
            cut = build.choose([(positive, down)], up)
            return Call(Function.TRY_CAST, (cut,), IntType())
        case "decimal", IntType():
            return build.cast(inner, DecimalType(19, 0))
        case "double", IntType() | DecimalType():
            return build.cast(inner, FloatType())
        case "double", StringType():
            return Call(Function.TRY_CAST, (inner,), FloatType())
        case "string", IntType() | BooleanType() | DateType():
            return Call(Function.TRY_CAST, (inner,), StringType())
        case "boolean", IntType() | DecimalType():
            return truth(inner)
        case _:
            raise NotExactError(
                f"xsd:{wanted} of a value of this type",
                "compute it before, as a column of the data"
                if not isinstance(inner.type, TimestampType)
                else "of a time there are YEAR, MONTH, DAY, HOURS, MINUTES, SECONDS, and buckets: "
                'GROUP BY (ow:tumble(?t, "PT1H"^^xsd:dayTimeDuration) AS ?hour)',
            )

"""Expressions over the columns of one row: what a derived column holds.

An expression is typed by its reader (SQL, SPARQL): a function means one thing, whatever language
it was written in. NULL stands for a value that is not there, and for SPARQL's errors.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ontoweir.mappings.model.catalog import ColumnType, Scalar


class Function(StrEnum):
    """What a call computes. Unless it says otherwise, it is NULL where an argument is."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    """Of doubles; NULL where the divisor is 0."""
    MODULO = "MOD"
    """With the sign of the dividend; NULL where the divisor is 0."""
    INTEGER_DIVIDE = "//"
    """Of whole numbers, cut off towards 0; NULL where the divisor is 0."""
    BIT_AND = "&"
    BIT_OR = "|"
    """Both of whole numbers, in two's complement."""
    POWER = "POWER"
    NEGATE = "NEGATE"
    ABS = "ABS"
    FLOOR = "FLOOR"
    CEIL = "CEIL"
    ROUND = "ROUND"
    """To a constant number of places; halves away from 0."""
    ROUND_UP = "ROUND_HALF_UP"
    """To a whole number; halves towards infinity."""
    ROUND_RELATIVE = "ROUND_RELATIVE"
    """To the middle of one of 64 equal parts between two powers of 2: by less than 1 %."""
    SQRT = "SQRT"
    CBRT = "CBRT"
    EXP = "EXP"
    LN = "LN"
    LOG10 = "LOG10"
    LOG2 = "LOG2"
    """The three logarithms are NULL of 0 and of what is less."""
    SIN = "SIN"
    COS = "COS"
    TAN = "TAN"
    ASIN = "ASIN"
    ACOS = "ACOS"
    ATAN = "ATAN"
    ATAN2 = "ATAN2"
    DEGREES = "DEGREES"
    RADIANS = "RADIANS"
    """From CBRT to here of doubles."""
    SIGN = "SIGN"
    """-1, 0 or 1."""
    GREATEST = "GREATEST"
    """Of the arguments that are not NULL."""
    LEAST = "LEAST"
    """Of the arguments that are not NULL."""

    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    AND = "AND"
    """False where one argument is false, whatever the other."""
    OR = "OR"
    """True where one argument is true, whatever the other."""
    NOT = "NOT"
    IS_NULL = "IS NULL"
    """Never NULL."""
    COALESCE = "COALESCE"
    """The first argument that is not NULL."""

    CONCAT = "||"
    CONCAT_WS = "CONCAT_WS"
    """The arguments that are not NULL, with the first one, a constant, between them."""
    REVERSE = "REVERSE"
    LEFT_PAD = "LPAD"
    RIGHT_PAD = "RPAD"
    """Both to a constant number of characters, by a constant one; what is longer is cut off."""
    REPEAT = "REPEAT"
    """A constant number of times."""
    SPLIT_PART = "SPLIT_PART"
    """The part, of a constant number from 1 on, between constant texts; empty if there is none."""
    BEFORE = "STRBEFORE"
    AFTER = "STRAFTER"
    """What is before, and after, the first place of a constant text; empty if there is none."""
    URL_ENCODE = "URL_ENCODE"
    """With all but letters, digits and -._~ of ASCII percent-encoded."""
    IRI_ENCODE = "IRI_ENCODE"
    """With all but iunreserved characters percent-encoded, as templates of R2RML have it."""
    MD5 = "MD5"
    SHA1 = "SHA1"
    SHA256 = "SHA256"
    SHA384 = "SHA384"
    SHA512 = "SHA512"
    """All five of UTF-8, in hexadecimal digits."""
    REGEX_EXTRACT = "REGEXP_EXTRACT"
    """The first match of a constant regular expression, or a group of it; empty if there is
    none."""
    UPPER = "UPPER"
    LOWER = "LOWER"
    """Both by single characters, as Unicode's simple mapping has it."""
    UCASE = "UCASE"
    LCASE = "LCASE"
    """Both by Unicode's full mapping: of ß it is SS."""
    TRIM = "TRIM"
    LTRIM = "LTRIM"
    RTRIM = "RTRIM"
    EXACT_TEXT = "EXACT_TEXT"
    """A value that is no text as one, which cast to the value's type is the same again; an infinite
    double is written as one that is too great."""
    LENGTH = "LENGTH"
    """In characters."""
    SUBSTRING = "SUBSTRING"
    """From a constant place (1 is the first), of a constant length or to the end."""
    RIGHT = "RIGHT"
    """The last characters, of a constant number."""
    REPLACE = "REPLACE"
    """Every occurrence of a constant text by another."""
    CONTAINS = "CONTAINS"
    STARTS_WITH = "STARTS_WITH"
    ENDS_WITH = "ENDS_WITH"
    POSITION = "POSITION"
    """Where a constant text occurs first (1 is the first place, 0: nowhere)."""
    LIKE = "LIKE"
    ILIKE = "ILIKE"
    MATCHES = "REGEXP_MATCHES"
    """Whether a constant regular expression (RE2) matches somewhere."""
    REGEX_REPLACE = "REGEXP_REPLACE"
    """Every match of a constant regular expression (RE2) by a constant text."""

    YEAR = "YEAR"
    QUARTER = "QUARTER"
    MONTH = "MONTH"
    WEEK = "WEEK"
    """Of the year in ISO 8601."""
    DAY = "DAY"
    DAY_OF_YEAR = "DAYOFYEAR"
    DAY_OF_WEEK = "ISODOW"
    """1 is Monday, 7 Sunday."""
    HOUR = "HOUR"
    MINUTE = "MINUTE"
    SECOND = "SECOND"
    """The whole seconds of the minute."""

    SECONDS = "SECONDS"
    """The seconds of the minute, with six places."""
    EPOCH_US = "EPOCH_US"
    """Microseconds since 1970."""
    ADD_US = "ADD_US"
    """A time so many microseconds, a constant, after another one."""
    TRUNCATE = "DATE_TRUNC"
    """A time, down to a whole unit, a constant, of UTC."""
    BIN = "TIME_BUCKET"
    """Where the bucket of a time begins, of a constant width in microseconds; one begins at a
    constant time, in microseconds since 1970."""
    FORMAT = "STRFTIME"
    """A date or time as a text, by a constant format of strftime."""

    CAST = "CAST"
    """To a type that holds every value of the argument's, or all that occur."""
    TRY_CAST = "TRY_CAST"
    """NULL where the type does not hold the value."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the row; a stream's timestamp is one too."""

    column: str
    type: "ColumnType"


@dataclass(frozen=True, slots=True)
class Value:
    """A constant (None: NULL) of a type. Dates and times are ISO texts, as in the catalog."""

    value: "Scalar | None"
    type: "ColumnType"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of arguments, whose types are as it wants them."""

    function: Function
    arguments: "tuple[Expression, ...]"
    type: "ColumnType"


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a user's function takes, or gives; `optional`: it may be NULL (None in Python)."""

    type: "ColumnType"
    optional: bool = False


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A deterministic function of a row, in Python, as its source declares it.

    `parameters`: by position. A row with NULL for one that is not optional is NULL, and the
    function is not called. `arrays`: it takes and gives whole columns, as Arrow arrays. `digest`:
    of the source of its module, which is in `file`, at `line`: where that is, does not matter.
    """

    name: str
    module: str
    parameters: tuple[Parameter, ...]
    result: Parameter
    arrays: bool
    digest: str
    file: str = field(compare=False)
    line: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class UserCall:
    """A user's function of arguments, which have the types of its parameters."""

    function: UserFunction
    arguments: "tuple[Expression, ...]"
    type: "ColumnType"


@dataclass(frozen=True, slots=True)
class Case:
    """The value of the first branch (condition, value) whose condition is true, else
    `otherwise`."""

    branches: "tuple[tuple[Expression, Expression], ...]"
    otherwise: "Expression"
    type: "ColumnType"


Expression: TypeAlias = Field | Value | Call | UserCall | Case
"""A closed union."""


def parts_of(expression: Expression) -> Iterator[Expression]:
    """An expression and all that it is made of."""
    yield expression
    match expression:
        case Field() | Value():
            return
        case Call(arguments=arguments) | UserCall(arguments=arguments):
            parts: tuple[Expression, ...] = arguments
        case Case(branches=branches, otherwise=otherwise):
            parts = (*(e for branch in branches for e in branch), otherwise)
    for part in parts:
        yield from parts_of(part)


def conjuncts_of(condition: "Expression | None") -> "Iterator[Expression]":
    """What is true wherever a condition is: the sides of AND (None: nothing)."""
    match condition:
        case None:
            pass
        case Call(function=Function.AND, arguments=sides):
            for side in sides:
                yield from conjuncts_of(side)
        case _:
            yield condition


def fields_of(expression: Expression) -> dict[str, Field]:
    """The columns that an expression reads, by name, in order."""
    return {p.column: p for p in parts_of(expression) if isinstance(p, Field)}


def map_fields(expression: Expression, replaced: "dict[str, Expression]") -> Expression:
    """The expression with columns replaced by others, or by expressions of their types."""
    match expression:
        case Field(column=column):
            return replaced.get(column, expression)
        case Value():
            return expression
        case Call(function=function, arguments=arguments, type=kind):
            return Call(function, tuple(map_fields(a, replaced) for a in arguments), kind)
        case UserCall(function=called, arguments=arguments, type=kind):
            return UserCall(called, tuple(map_fields(a, replaced) for a in arguments), kind)
        case Case(branches=branches, otherwise=otherwise, type=kind):
            return Case(
                tuple((map_fields(c, replaced), map_fields(v, replaced)) for c, v in branches),
                map_fields(otherwise, replaced),
                kind,
            )


def has_user_calls(expression: Expression) -> bool:
    """Whether a user's function is in it."""
    return any(isinstance(part, UserCall) for part in parts_of(expression))

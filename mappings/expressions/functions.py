"""Which functions there are of numbers, texts and dates."""

from ontoweir.mappings.model.expression import Function

NUMBERS = frozenset(
    {
        Function.ADD,
        Function.SUBTRACT,
        Function.MULTIPLY,
        Function.DIVIDE,
        Function.MODULO,
        Function.POWER,
        Function.NEGATE,
        Function.ABS,
        Function.FLOOR,
        Function.CEIL,
        Function.ROUND,
        Function.ROUND_UP,
        Function.ROUND_RELATIVE,
        Function.SQRT,
        Function.GREATEST,
        Function.LEAST,
    }
)
"""Greatest and least are of other values too."""

TEXTS = frozenset(
    {
        Function.CONCAT,
        Function.UPPER,
        Function.LOWER,
        Function.UCASE,
        Function.LCASE,
        Function.TRIM,
        Function.LTRIM,
        Function.RTRIM,
        Function.LENGTH,
        Function.SUBSTRING,
        Function.RIGHT,
        Function.REPLACE,
        Function.CONTAINS,
        Function.STARTS_WITH,
        Function.ENDS_WITH,
        Function.POSITION,
        Function.LIKE,
        Function.ILIKE,
        Function.MATCHES,
        Function.REGEX_REPLACE,
    }
)

DATE_PARTS = {
    Function.YEAR: (1, 9999),
    Function.QUARTER: (1, 4),
    Function.MONTH: (1, 12),
    Function.WEEK: (1, 53),
    Function.DAY: (1, 31),
    Function.DAY_OF_YEAR: (1, 366),
    Function.DAY_OF_WEEK: (1, 7),
    Function.HOUR: (0, 23),
    Function.MINUTE: (0, 59),
    Function.SECOND: (0, 59),
    Function.SECONDS: (0, 60),
}
"""Between which numbers each lies: dates and times lie in the years 1 to 9999."""

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
        Function.INTEGER_DIVIDE,
        Function.BIT_AND,
        Function.BIT_OR,
        Function.CBRT,
        Function.EXP,
        Function.LN,
        Function.LOG10,
        Function.LOG2,
        Function.SIN,
        Function.COS,
        Function.TAN,
        Function.ASIN,
        Function.ACOS,
        Function.ATAN,
        Function.ATAN2,
        Function.DEGREES,
        Function.RADIANS,
        Function.SIGN,
        Function.GREATEST,
        Function.LEAST,
    }
)
"""Greatest and least are of other values too."""

TEXTS = frozenset(
    {
        Function.CONCAT,
        Function.EXACT_TEXT,
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
        Function.CONCAT_WS,
        Function.REVERSE,
        Function.LEFT_PAD,
        Function.RIGHT_PAD,
        Function.REPEAT,
        Function.SPLIT_PART,
        Function.BEFORE,
        Function.AFTER,
        Function.URL_ENCODE,
        Function.IRI_ENCODE,
        Function.MD5,
        Function.SHA1,
        Function.SHA256,
        Function.SHA384,
        Function.SHA512,
        Function.REGEX_EXTRACT,
    }
)

TIMES = frozenset(
    {Function.EPOCH_US, Function.ADD_US, Function.TRUNCATE, Function.BIN, Function.FORMAT}
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

"""Random expressions of one row, as we read them and as DuckDB does, over rows with NULLs."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, TypeAlias

import pyarrow as pa

from ontoweir.mappings.expressions.value_types import value_type
from ontoweir.mappings.model.catalog import (
    BooleanType,
    Column,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    StringType,
    TimestampType,
)

Pair: TypeAlias = tuple[str, str]
"""What we read, and what DuckDB reads."""

COLUMNS = (
    Column("i", IntType(), minimum=-3, maximum=9),
    Column("j", IntType()),
    Column("n", IntType()),
    Column("d", DecimalType(5, 1), minimum=Decimal(-20), maximum=Decimal("40.5")),
    Column("e", DecimalType(9, 3)),
    Column("f", FloatType()),
    Column("s", StringType()),
    Column("k", StringType(), enum=("ab", "B c", "")),
    Column("b", BooleanType()),
    Column("w", TimestampType()),
    Column("a", DateType()),
)
TYPES = {
    "i": "BIGINT",
    "j": "BIGINT",
    "n": "BIGINT",
    "d": "DECIMAL(5,1)",
    "e": "DECIMAL(9,3)",
    "f": "DOUBLE",
    "s": "VARCHAR",
    "k": "VARCHAR",
    "b": "BOOLEAN",
    "w": "TIMESTAMP",
    "a": "DATE",
}
_TEXTS = ["", " a", "abc", "Straße", "İx", "12", " -7 ", "1.5", "2020-02-29", "true", "a%b", "x\ny"]


def make_rows(random: Random, count: int) -> dict[str, list[Any]]:
    """Values of all columns, many of them NULL."""
    share = random.choice([0.0, 0.2, 0.5])
    epoch = datetime(1970, 1, 1)
    cells: dict[str, Callable[[], Any]] = {
        "i": lambda: random.randint(-3, 9),
        "j": lambda: random.randint(-30, 30),
        "n": lambda: random.choice([0, 1, -1, 2**62, -(2**62), 2**63 - 1, -(2**63), 10**12]),
        "d": lambda: Decimal(random.randint(-200, 405)) / 10,
        "e": lambda: Decimal(random.randint(-(10**9) + 1, 10**9 - 1)) / 1000,
        "f": lambda: random.choice(
            [0.0, 1.5, -2.5, 0.1, 1e300, 1e-300, 0.49999999999999994, random.uniform(-9, 9)]
        ),
        "s": lambda: random.choice(_TEXTS),
        "k": lambda: random.choice(["ab", "B c", ""]),
        "b": lambda: random.random() < 0.5,
        "w": lambda: epoch + timedelta(microseconds=random.randrange(-(10**15), 2 * 10**15)),
        "a": lambda: date(1970, 1, 1) + timedelta(days=random.randrange(-9000, 22000)),
    }
    return {
        name: [None if random.random() < share else cell() for _ in range(count)]
        for name, cell in cells.items()
    }


def as_arrays(rows: dict[str, list[Any]]) -> "dict[str, pa.Array]":
    """The rows as Arrow columns of their types."""
    return {c.name: pa.array(rows[c.name], value_type(c.type)) for c in COLUMNS}


def make_expression(random: Random) -> Pair:
    """A random expression of any type."""
    return random.choice([_number, _number, _boolean, _text, _date, _double])(random, 3)


def _both(text: str) -> Pair:
    return text, text


def _join(form: str, *parts: Pair) -> Pair:
    return form.format(*(p[0] for p in parts)), form.format(*(p[1] for p in parts))


def _number(random: Random, depth: int) -> Pair:
    """Whole numbers and decimals."""
    if depth == 0 or random.random() < 0.2:
        leaf = random.choice(["i", "j", "n", "d", "e", "i", "j", "d", "2", "10", "1.8", "0", "-3"])
        return _both(leaf)
    a, b = (_number(random, depth - 1) for _ in range(2))
    match random.randrange(16):
        case 0 | 1 | 2:
            return _join(f"({{}} {random.choice('+-*')} {{}})", a, b)
        case 3:
            return _join("MOD({}, {})", _whole(random), _whole(random))
        case 4:
            return _join(f"{random.choice(['ABS', '-'])}({{}})", a)
        case 5:
            name = random.choice(["FLOOR", "CEIL", "ROUND"])
            return _join(f"{name}({{}})", _both(random.choice(["d", "e", "d * 1.5"])))
        case 6:
            return _join("ROUND({}, 1)", _both(random.choice(["d", "e", "e * 2"])))
        case 7:
            c = _boolean(random, depth - 1)
            return _join("CASE WHEN {} THEN {} ELSE {} END", c, a, b)
        case 8:
            return _join("COALESCE({}, {})", a, b)
        case 9:
            return _join("NULLIF({}, {})", a, b)
        case 10:
            name = random.choice(["GREATEST", "LEAST"])
            return _join(f"{name}({{}}, {{}})", a, b)
        case 11:
            return _join("LENGTH({})", _text(random, depth - 1))
        case 12:
            needle = random.choice(["a", "ß", "", "b"])
            inner = _text(random, depth - 1)
            return f"LOCATE('{needle}', {inner[0]})", f"STRPOS({inner[1]}, '{needle}')"
        case 13:
            return _part(random, depth)
        case 14:
            c = _boolean(random, depth - 1)
            return f"IF({c[0]}, {a[0]}, NULL)", f"IF({c[1]}, {a[1]}, NULL)"
        case _:
            kind = random.choice(["BIGINT", "DECIMAL(12,2)"])
            given = _whole(random)
            return f"CAST({given[0]} AS {kind})", f"TRY_CAST({given[1]} AS {kind})"


def _whole(random: Random) -> Pair:
    return _both(random.choice(["i", "j", "n", "3", "10", "-7", "i + j", "d", "0"]))


def _part(random: Random, depth: int) -> Pair:
    part = random.choice(["YEAR", "MONTH", "DAY", "QUARTER", "HOUR", "MINUTE", "SECOND"])
    name = "w" if part in ("HOUR", "MINUTE", "SECOND") else random.choice("wa")
    if random.random() < 0.3:
        part, name = random.choice([("DAYOFYEAR", "a"), ("WEEKOFYEAR", "w")])
    return _both(f"{part}({name})")


def _double(random: Random, depth: int) -> Pair:
    if depth == 0 or random.random() < 0.2:
        return _both(random.choice(["f", "f", "1.5", "i", "d"]))
    a, b = (_double(random, depth - 1) for _ in range(2))
    match random.randrange(9):
        case 0 | 1:
            return _join(f"(CAST({{}} AS DOUBLE) {random.choice('+-*')} {{}})", a, b)
        case 2:
            return _join("({} / {})", a, b)
        case 3:
            return _join("SQRT(ABS({}))", a)
        case 4:
            return _join(f"POWER({{}}, {random.choice(['2', '0.5', '3'])})", _join("ABS({})", a))
        case 5:
            name = random.choice(["FLOOR", "CEIL", "ROUND", "ABS", "-"])
            return _join(f"{name}(CAST({{}} AS DOUBLE))", a)
        case 6:
            return _join("ROUND(CAST({} AS DOUBLE), 2)", a)
        case 7:
            return _join("COALESCE({}, {})", a, b)
        case _:
            return _join("CASE WHEN {} THEN {} END", _boolean(random, depth - 1), a)


def _boolean(random: Random, depth: int) -> Pair:
    if depth == 0 or random.random() < 0.15:
        return _both(random.choice(["b", "i > 3", "TRUE", "k = 'ab'", "w IS NULL"]))
    c, d = (_boolean(random, depth - 1) for _ in range(2))
    match random.randrange(10):
        case 0 | 1:
            op = random.choice(["=", "<>", "<", "<=", ">", ">="])
            return _join(
                f"({{}} {op} {{}})", _number(random, depth - 1), _number(random, depth - 1)
            )
        case 2 | 3:
            return _join(f"({{}} {random.choice(['AND', 'OR'])} {{}})", c, d)
        case 4:
            return _join("(NOT {})", c)
        case 5:
            return _join("({} IS NULL)", _number(random, depth - 1))
        case 6:
            t = _text(random, depth - 1)
            pattern = random.choice(["a%", "%b%", "_", "%", "Str%e", "a\\%b".replace("\\", "_")])
            negated = random.choice(["", "NOT "])
            return _join(f"({{}} {negated}LIKE '{pattern}')", t)
        case 7:
            t = _text(random, depth - 1)
            regex = random.choice(["^a", "[0-9]+", "b|c", "ß", "a.b"])
            return f"({t[0]} RLIKE '{regex}')", f"REGEXP_MATCHES({t[1]}, '{regex}')"
        case 8:
            n = _number(random, depth - 1)
            return _join("({} BETWEEN -2 AND 7)", n)
        case _:
            n = _number(random, depth - 1)
            return _join("({} IS DISTINCT FROM {})", n, _number(random, depth - 1))


def _text(random: Random, depth: int) -> Pair:
    if depth == 0 or random.random() < 0.25:
        return _both(random.choice(["s", "s", "k", "'x'", "'Üb'"]))
    t = _text(random, depth - 1)
    match random.randrange(9):
        case 0:
            return _join(f"{random.choice(['UPPER', 'LOWER', 'TRIM', 'LTRIM', 'RTRIM'])}({{}})", t)
        case 1:
            return _join("({} || {})", t, _text(random, depth - 1))
        case 2:
            return _join(f"SUBSTRING({{}}, {random.randint(1, 3)}, {random.randint(0, 3)})", t)
        case 3:
            name = random.choice(["LEFT", "RIGHT"])
            return _join(f"{name}({{}}, {random.randint(1, 3)})", t)
        case 4:
            return _join("REPLACE({}, 'a', 'ßß')", t)
        case 5:
            pattern = random.choice(["[a-c]+", "[0-9]", "ß"])
            return (
                f"REGEXP_REPLACE({t[0]}, '{pattern}', '-')",
                f"REGEXP_REPLACE({t[1]}, '{pattern}', '-', 'g')",
            )
        case 6:
            c = _boolean(random, depth - 1)
            return _join("CASE WHEN {} THEN {} ELSE 'z' END", c, t)
        case 7:
            return _join("NULLIF({}, 'abc')", t)
        case _:
            return _both(
                random.choice(["CAST(i AS STRING)", "CAST(b AS STRING)", "CAST(a AS STRING)"])
            )


def _date(random: Random, depth: int) -> Pair:
    match random.randrange(4):
        case 0:
            return _both("CAST(w AS DATE)")
        case 1:
            return _both("CAST(a AS TIMESTAMP)")
        case 2:
            return _join("CASE WHEN {} THEN a ELSE DATE '2020-01-01' END", _boolean(random, 2))
        case _:
            return _both("GREATEST(a, DATE '2000-01-01')")

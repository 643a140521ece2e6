"""Every function of one row that SQL reads, over rows with NULLs and edges, as DuckDB has it."""

from random import Random
from typing import Any

import pytest

from ontoweir.mappings.expressions.derive_column import derive_column
from ontoweir.mappings.expressions.evaluate import evaluate
from ontoweir.mappings.expressions.may_be_null import may_be_null
from ontoweir.mappings.expressions.write_expression import write_expression
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.mappings.sql.read_select import parse_sql_text
from ontoweir.mappings.sql_expressions.read_row_expression import read_row_expression
from tests.oracle.random_expressions import COLUMNS, as_arrays, make_rows
from tests.oracle.test_row_expressions import SCOPE, ask, equal, lies_in, open_rows

SAME = (
    "i + j",
    "i - d",
    "e * d",
    "f / i",
    "MOD(j, 7)",
    "j % 7",
    "-j",
    "ABS(j)",
    "FLOOR(e)",
    "CEIL(e)",
    "CEILING(e)",
    "ROUND(e, 1)",
    "SQRT(ABS(f))",
    "CBRT(f)",
    "POWER(d, 2)",
    "POW(d, 2)",
    "EXP(d)",
    "LN(ABS(f) + 1)",
    "LOG10(ABS(d) + 1)",
    "LOG2(ABS(d) + 1)",
    "SIN(d)",
    "COS(d)",
    "TAN(d)",
    "ASIN(d / 100)",
    "ACOS(d / 100)",
    "ATAN(f)",
    "ATAN2(d, j)",
    "DEGREES(d)",
    "RADIANS(d)",
    "PI() * d",
    "SIGN(d)",
    "SIGN(f)",
    "GREATEST(i, j, d)",
    "LEAST(a, DATE '2000-01-01')",
    "i & 5",
    "j | 2",
    "CASE WHEN i > 3 THEN 'x' WHEN b THEN k END",
    "CASE k WHEN 'ab' THEN 1 ELSE 0 END",
    "COALESCE(i, j, 0)",
    "IFNULL(i, 9)",
    "NULLIF(k, 'ab')",
    "i IS NULL",
    "b IS TRUE",
    "i IS DISTINCT FROM j",
    "i BETWEEN 0 AND 3",
    "k IN ('ab', 'x')",
    "k || s",
    "UPPER(s)",
    "LOWER(s)",
    "TRIM(s)",
    "LTRIM(s)",
    "RTRIM(s)",
    "LENGTH(s)",
    "CHAR_LENGTH(s)",
    "SUBSTRING(s, 2, 2)",
    "LEFT(s, 2)",
    "RIGHT(s, 2)",
    "REPLACE(s, 'a', 'bb')",
    "REVERSE(k)",
    "REPEAT(s, 2)",
    "REPEAT(s, 0)",
    "LPAD(s, 4, '*')",
    "RPAD(s, 4, '*')",
    "SPLIT_PART(s, 'b', 1)",
    "SPLIT_PART(s, 'b', 2)",
    "SPLIT_PART(s, '.', 3)",
    "CONCAT_WS('-', s, k, 'x')",
    "MD5(s)",
    "SHA1(s)",
    "REGEXP_EXTRACT(s, '([a-z])([a-z]*)', 0)",
    "REGEXP_EXTRACT(s, '([a-z])([a-z]*)', 2)",
    "REGEXP_EXTRACT(s, '(^|x)[0-9.]+$', 0)",
    "s LIKE 'a%'",
    "s ILIKE '%B%'",
    "STARTS_WITH(s, 'a')",
    "CONTAINS(s, 'b')",
    "YEAR(w)",
    "QUARTER(w)",
    "MONTH(a)",
    "WEEKOFYEAR(a)",
    "DAY(w)",
    "DAYOFYEAR(a)",
    "HOUR(w)",
    "MINUTE(w)",
    "SECOND(w)",
    "EXTRACT(YEAR FROM a)",
    "date_trunc('second', w)",
    "date_trunc('minute', w)",
    "date_trunc('hour', w)",
    "date_trunc('day', w)",
    "date_trunc('week', w)",
    "date_trunc('month', w)",
    "date_trunc('quarter', w)",
    "date_trunc('year', w)",
    "time_bucket(INTERVAL '7' DAY, w)",
    "time_bucket(INTERVAL '11' SECOND, w)",
    "w + INTERVAL '90' MINUTE",
    "w - INTERVAL '2' DAY",
    "CAST(w AS DATE)",
    "CAST(a AS TIMESTAMP)",
    "CAST(i AS STRING)",
    "CAST(d AS DOUBLE)",
)
"""What DuckDB writes as we do."""
OTHER = {
    "j DIV 7": "CASE WHEN j < 0 THEN -((-j) // 7) ELSE j // 7 END",
    "j DIV i": "CAST(TRUNC(CAST(j AS DECIMAL(38, 0)) / NULLIF(i, 0)) AS BIGINT)",
    "LN(d)": "LN(CASE WHEN d > 0 THEN d END)",
    "LOG10(d)": "LOG10(CASE WHEN d > 0 THEN d END)",
    "LOG(2, d)": "LOG2(CASE WHEN d > 0 THEN d END)",
    "LOG(d)": "LN(CASE WHEN d > 0 THEN d END)",
    "NVL(k, 'z')": "COALESCE(k, 'z')",
    "NVL2(k, 1, 2)": "CASE WHEN k IS NOT NULL THEN 1 ELSE 2 END",
    "IF(b, i, j)": "CASE WHEN b THEN i ELSE j END",
    "LOCATE('b', s)": "STRPOS(s, 'b')",
    "POSITION('b' IN s)": "STRPOS(s, 'b')",
    "INSTR(s, 'b')": "STRPOS(s, 'b')",
    "ENDSWITH(s, 'c')": "ENDS_WITH(s, 'c')",
    "s RLIKE '[0-9]'": "REGEXP_MATCHES(s, '[0-9]')",
    "REGEXP_LIKE(s, '^a')": "REGEXP_MATCHES(s, '^a')",
    "REGEXP_REPLACE(s, '[ab]', '_')": "REGEXP_REPLACE(s, '[ab]', '_', 'g')",
    "REGEXP_EXTRACT(s, '([a-z])([a-z]*)')": "REGEXP_EXTRACT(s, '([a-z])([a-z]*)', 1)",
    "SHA2(s, 256)": "SHA256(s)",
    "LPAD(s, 3)": "LPAD(s, 3, ' ')",
    "EXTRACT(DAYOFWEEK_ISO FROM a)": "ISODOW(a)",
    "EXTRACT(EPOCH FROM w)": "CAST(EPOCH_US(w) AS DECIMAL(20, 0)) * 0.000001",
    "w - TIMESTAMP '2001-02-03 04:05:06'": "CAST(EPOCH_US(w) - EPOCH_US(TIMESTAMP "
    "'2001-02-03 04:05:06') AS DECIMAL(20, 0)) * 0.000001",
    "UNIX_MICROS(w)": "EPOCH_US(w)",
    "UNIX_MILLIS(w)": "CAST(FLOOR(CAST(EPOCH_US(w) AS DECIMAL(38, 3)) * 0.001) AS BIGINT)",
    "UNIX_SECONDS(w)": "EPOCH_US(date_trunc('second', w)) // 1000000",
    "UNIX_TIMESTAMP(w)": "EPOCH_US(date_trunc('second', w)) // 1000000",
    "TIMESTAMPDIFF(SECOND, a, w)": "date_sub('second', a::TIMESTAMP, w)",
    "TIMESTAMPDIFF(MINUTE, w, TIMESTAMP '2001-02-03 04:05:06')": "date_sub('minute', w, "
    "TIMESTAMP '2001-02-03 04:05:06')",
    "TIMESTAMPDIFF(HOUR, w, a)": "date_sub('hour', w, a::TIMESTAMP)",
    "TIMESTAMPDIFF(DAY, w, a)": "date_sub('day', w, a::TIMESTAMP)",
    "DATEDIFF(a, w)": "date_diff('day', w::DATE, a)",
    "TIMESTAMPADD(HOUR, -5, w)": "w - INTERVAL 5 HOUR",
    "TO_DATE(w)": "w::DATE",
    "DATE_FORMAT(w, 'yyyy-MM-dd HH:mm')": "STRFTIME(w, '%Y-%m-%d %H:%M')",
    "DATE_FORMAT(a, 'dd.MM.yyyy')": "STRFTIME(a, '%d.%m.%Y')",
}
"""What we read, and what it is in DuckDB."""
REFUSED = (
    "CAST(e AS INT)",
    "TIMESTAMPDIFF(MONTH, a, w)",
    "DATEDIFF(HOUR, a, w)",
    "DATE_FORMAT(w, 'EEEE')",
    "w + INTERVAL '1' MONTH",
    "a + INTERVAL '1' DAY",
    "LOG(3, d)",
    "SHA2(s, 224)",
    "REGEXP_EXTRACT(s, 'a', 1)",
    "REGEXP_EXTRACT(s, '(?i)(a)', 1)",
    "LPAD(s, 3, 'ab')",
    "INITCAP(s)",
    "SIGN(s)",
    "s & 1",
    "DAYOFWEEK(a)",
    "RAND()",
    "UUID()",
)


@pytest.mark.parametrize("ours", [*SAME, *OTHER])
def test_function_is_as_duckdb_has_it(ours: str) -> None:
    for seed in range(2):
        rows = make_rows(Random(seed), 40)
        rows = {name: [None, *values] for name, values in rows.items()}
        base = open_rows(rows)
        expected = ask(base, OTHER.get(ours, ours))
        assert expected is not None, ours
        expression = read_row_expression(_read(ours), SCOPE)
        made = evaluate(expression, as_arrays(rows), len(rows["i"])).to_pylist()
        assert all(map(_near, made, expected)), (ours, made, expected)
        printed = ask(base, write_expression(expression, "t"))
        assert printed is not None, write_expression(expression, "t")
        assert all(map(_near, made, printed)), (write_expression(expression), made, printed)
        column = derive_column(expression, COLUMNS)
        assert all(lies_in(value, column) for value in made), column
        full = {name: [v for v in cells if v is not None] for name, cells in rows.items()}
        short = min(map(len, full.values()))
        cut = {name: cells[:short] for name, cells in full.items()}
        values = evaluate(expression, as_arrays(cut), short).to_pylist()
        assert None not in values or may_be_null(expression, cut.keys()), ours


@pytest.mark.parametrize("text", REFUSED)
def test_function_that_sqls_read_differently_is_refused(text: str) -> None:
    with pytest.raises(SqlRefusal):
        read_row_expression(_read(text), SCOPE)


def _read(text: str) -> Any:
    return parse_sql_text(f"SELECT {text} AS x FROM t").expressions[0].unalias()


def _near(ours: Any, theirs: Any) -> bool:
    """Doubles of functions that round differently by the library differ in their last bits."""
    if isinstance(ours, float) and isinstance(theirs, float) and ours != theirs:
        return abs(ours - theirs) <= 4e-16 * max(abs(ours), abs(theirs), 1)
    return equal(ours, theirs)

"""Functions of Flink and of the standard, as what they are in other words."""

import re

import duckdb
import pytest
from sqlglot import exp

from ontoweir.mappings.sql.read_select import parse_sql_text
from ontoweir.mappings.sql_expressions.read_flink_functions import read_flink_functions


def read(sql: str) -> exp.Query:
    return read_flink_functions(parse_sql_text(sql))


M, MS = "INTERVAL '1' MINUTE", "INTERVAL '0.001' SECOND"
TWO = "INTERVAL '2' MINUTE"
T, H = f"(ts, {M})", f"(ts, {M}, {TWO})"
BEGIN, TB = f"HOP_START{H}", f"TUMBLE_START{T}"


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        (
            f"SELECT TUMBLE_ROWTIME{T} AS r FROM s GROUP BY TUMBLE{T}",
            f"SELECT ((TUMBLE_START{T} + {M}) - {MS}) AS r FROM s GROUP BY TUMBLE_START{T}",
        ),
        (
            f"SELECT HOP_END{H} AS e, HOP_START{H} + {M} FROM s GROUP BY k, HOP{H}",
            f"SELECT ({BEGIN} + {TWO}) AS e, {BEGIN} + {M} FROM s GROUP BY k, {BEGIN}",
        ),
        (
            f"SELECT TUMBLE_START{T} + {M} AS m FROM s GROUP BY TUMBLE{T} ORDER BY TUMBLE_END{T}",
            f"SELECT {TB} + {M} AS m FROM s GROUP BY {TB} ORDER BY ({TB} + {M})",
        ),
        (
            f"SELECT k FROM s GROUP BY k, SESSION{T} HAVING SESSION_ROWTIME{T} > m",
            f"SELECT k FROM s GROUP BY k, SESSION{T} HAVING (SESSION_END{T} - {MS}) > m",
        ),
    ],
)
def test_the_same_in_other_words(asked: str, same: str) -> None:
    assert read(asked).sql() == parse_sql_text(same).sql()


@pytest.mark.parametrize(
    "asked",
    [
        f"SELECT TUMBLE_END{T} AS e FROM s GROUP BY TUMBLE{T}",  # a column, and no computation
        f"SELECT TUMBLE_END{T} + {M} AS e FROM s GROUP BY TUMBLE_END{T}",
        f"SELECT TUMBLE_END{T} + {M} AS e FROM s GROUP BY TUMBLE(ts, {M}, x)",  # another window
        "SELECT SPLIT_INDEX(a, b, 1) FROM s",
        "SELECT SPLIT_INDEX(a, '/') FROM s",
        "SELECT a FROM s WHERE a SIMILAR TO b",
    ],
)
def test_others_stay(asked: str) -> None:
    assert read(asked).sql() == parse_sql_text(asked).sql()


TEXTS = ["", "a", "/", "a/b", "a//b/", "//", "a--b", "ü/–/x"]


@pytest.mark.parametrize("between", ["/", "--", "b/"])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_split_index(between: str, place: int) -> None:
    """As Flink's documentation has it: NULL where there is no such part; a text without characters
    has none."""
    made = read(f"SELECT SPLIT_INDEX(x, '{between}', {place}) AS p").sql("duckdb")
    for text in TEXTS:
        parts = text.split(between) if text else []
        wanted = parts[place] if place < len(parts) else None
        found = duckdb.execute(f"{made} FROM (SELECT ? AS x)", [text]).fetchone()
        assert found == (wanted,), text


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("4[0-9][0-9]", ["404"], ["4", "4040", "x404"]),
        ("4%|5_", ["4", "4\nx", "5x"], ["5", "5xy", "x4"]),
        ("a.b$", ["a.b$"], ["axb$", "a.b"]),
        ("[%_]+", ["%", "_%"], ["a", ""]),
        ("(ab)*", ["", "abab"], ["aba"]),
    ],
)
def test_similar_to(pattern: str, matched: list[str], others: list[str]) -> None:
    tree = read(f"SELECT x FROM s WHERE x SIMILAR TO '{pattern}'")
    (like,) = tree.find_all(exp.RegexpLike)
    for text in (*matched, *others):
        assert (re.search(like.expression.name, text) is not None) == (text in matched), text

"""What is refused around the rows with the first numbers, and around delays of what stands."""

import pytest

from ontoweir.errors import QueryError
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Reference,
    Relation,
    Stream,
    StringType,
)
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.parse_sql import parse_sql

_SOURCE = DataSource("parquet", "x", ())
_COLUMNS = (Column("k", IntType(), 0, 9), Column("m", IntType()), Column("v", IntType()))
CATALOG = Catalog(
    {
        "s": Stream(
            "s",
            _SOURCE,
            "ts",
            1_000_000,
            5,
            _COLUMNS,
            (("k", "ts"),),
            references=(Reference(("m",), "one", ("id",)),),
        ),
        "t": Stream("t", _SOURCE, "ts", 1_000_000, 5, _COLUMNS),
    },
    {
        "one": Relation(
            "one", _SOURCE, (Column("id", IntType()), Column("x", StringType())), (("id",),)
        ),
        "bag": Relation("bag", _SOURCE, (Column("id", IntType()), Column("x", StringType()))),
    },
)
INNER = "(SELECT k, m, v, ts, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, ts) AS n FROM s)"
JOINED = (
    INNER.replace("SELECT k, m, v, ts", "SELECT s.k")
    .replace("k ORDER BY v DESC, ts", "s.k ORDER BY t.v DESC")
    .replace("FROM s", "FROM s JOIN t ON s.k = t.k")
)


def read(text: str) -> SpjUnion:
    return parse_sql(text, CATALOG, name="q", file="q.sql")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"SELECT w.v, one.x FROM {INNER} AS w JOIN one ON w.m = one.id WHERE n = 1", None),
        (f"SELECT w.v FROM {INNER} AS w JOIN one ON w.m = one.id WHERE n = 1 AND x = 'a'", 1),
        (f"SELECT w.v FROM {INNER} AS w JOIN one ON w.k = one.id WHERE n = 1 AND x = 'a'", None),
    ],
)
def test_a_relation_is_joined_by_the_key_or_what_refers_to_it(text: str, told: int | None) -> None:
    standing = read(text).standing
    assert standing is not None
    assert standing.first is not None
    assert (standing.first.told is None) == (told is None)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"SELECT w.v FROM {INNER} AS w WHERE n <= 2 AND n > 3", "no row has such a number"),
        (f"SELECT w.n * 2 FROM {INNER} AS w WHERE n <= 2", "computed with the number"),
        (f"SELECT DISTINCT w.n FROM {INNER} AS w WHERE n <= 2", "show their number"),
        (f"SELECT COUNT(*) FROM {INNER} AS w WHERE n = 2", "begin with another"),
        (f"SELECT k FROM {JOINED} AS w WHERE n <= 2", "of s joined with t, of all times"),
        ("SELECT k FROM s LIMIT 3", "LIMIT is outside"),
    ],
)
def test_what_could_take_numbered_rows_away_is_refused(text: str, what: str) -> None:
    with pytest.raises(QueryError, match=what):
        read(text)


def test_rows_that_come_later_than_what_ends_them_are_refused() -> None:
    """Else a row whose end comes before it would hold for ever."""
    text = (
        "SELECT COUNT(*) FROM s WHERE s.ts <= date_trunc('hour', NOW()) AND NOT EXISTS "
        "(SELECT 1 FROM t WHERE t.k = s.k AND t.ts > s.ts)"
    )
    with pytest.raises(QueryError, match=r"latest row of each key|never final"):
        read(text)

"""Groups by a bucket of time of rows beside which others come later."""

import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.rewriter.sql.parse_sql import parse_sql

_COLUMNS = (Column("k", IntType(), 0, 9), Column("c", IntType()))
_SOURCE = DataSource("parquet", "x", ())
CATALOG = Catalog({n: Stream(n, _SOURCE, "ts", 1_000_000, 5, _COLUMNS) for n in ("s", "t")}, {})
NEAR = "t.k = s.k AND t.ts >= s.ts AND t.ts <= s.ts + INTERVAL '5' MINUTE"
HOUR = "date_trunc('hour', s.ts)"


@pytest.mark.parametrize(
    ("shown", "names"),
    [
        ("COUNT(*) AS n, COUNT(t.c)", ("h", "n", "COUNT(t.c)")),
        ("COUNT(*) AS n, COUNT(t.ts)", ("h", "n", "COUNT(t.ts)")),
        ("COUNT(t.c) AS m, SUM(t.c)", ("h", "m", "SUM(t.c)")),
    ],
)
def test_aggregates_of_outer_joins_need_no_names(shown: str, names: tuple[str, ...]) -> None:
    text = f"SELECT {HOUR} AS h, {shown} FROM s LEFT JOIN t ON {NEAR} GROUP BY {HOUR}"
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    assert union.aggregation is not None
    assert union.aggregation.columns == names
    assert check_query(union, CATALOG).name == "bounded"


@pytest.mark.parametrize(
    ("grouped", "held", "name"),
    [
        (f"{HOUR} AS h, COUNT(*) AS n|GROUP BY {HOUR}", True, "bounded"),
        (f"{HOUR} AS h, COUNT(*) AS n|GROUP BY h", True, "bounded"),
        ("k, COUNT(*) AS n|GROUP BY k", False, "conditionally-bounded"),
        ("k|", False, "bounded"),
    ],
)
def test_groups_of_a_bucket_wait_for_what_is_beside(grouped: str, held: bool, name: str) -> None:
    """Other answers come as soon as there is something beside them."""
    head, tail = grouped.split("|")
    text = f"SELECT {head} FROM s WHERE EXISTS (SELECT 1 FROM t WHERE {NEAR}) {tail}"
    union = parse_sql(text, CATALOG, name="q", file="q.sql")
    (block,) = union.blocks
    assert block.absence is not None
    assert block.absence.held is held
    assert (block.time is None) == (not held)
    assert check_query(union, CATALOG).name == name


@pytest.mark.parametrize(("word", "most"), [("NOT EXISTS", 5 * 5 * 6 + 5 * 5), ("EXISTS", None)])
def test_so_many_matches_are_final_at_one_time(word: str, most: int | None) -> None:
    """So long after the last row, which is of t, or of s at the same time; twin: that is sooner."""
    near = "t.k = s.k AND t.ts >= s.ts AND t.ts <= s.ts + INTERVAL '5' SECOND"
    part = "SELECT 1 FROM s AS u WHERE u.k = s.k AND u.ts > t.ts AND u.ts <= t.ts + INTERVAL '9' "
    text = f"SELECT s.k, t.c FROM s JOIN t ON {near} WHERE {word} ({part}SECOND)"
    (block,) = parse_sql(text, CATALOG, name="q", file="q.sql").blocks
    assert block.stream.max_per_timestamp == most

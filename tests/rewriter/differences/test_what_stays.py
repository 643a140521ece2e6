"""Queries of windows that are no differences of rows, and stay as they are."""

import pytest

from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, IntType, Stream
from ontoweir.mappings.sql.read_select import parse_sql_text
from ontoweir.rewriter.differences.compare_windows import compare_windows
from ontoweir.rewriter.differences.join_replaced import join_replaced

COLUMNS = (Column("g", IntType(), minimum=0, maximum=3), Column("x", IntType()))
NONE = DataSource("parquet", "n")
KEYS = (("g", "ts"),)
CATALOG = Catalog({n: Stream(n, NONE, "ts", 60_000_000, 5, COLUMNS, KEYS) for n in "st"}, {})
LATEST = "SELECT g, x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY {} ORDER BY ts DESC) = 1"
WINDOW = "x.ts > NOW() - INTERVAL '12' MINUTE"


@pytest.mark.parametrize(
    ("keys", "on", "changed"),
    [
        ("g", "l.g = x.g", True),
        ("g", "l.g = x.g AND l.x > x.x", True),
        # another equation is asked of the latest row, not of which is the latest
        ("g", "l.g = x.g AND l.x = x.x", True),
        # of each row there are several latest ones, or of no key
        ("g, x", "l.g = x.g", False),
        ("g", "l.x = x.x", False),
        ("g, x", "l.g = x.g AND l.x = x.x", True),
    ],
)
def test_the_latest_row_is_of_its_key(keys: str, on: str, changed: bool) -> None:
    text = f"SELECT x.g, l.x AS lx FROM s AS x JOIN ({LATEST.format(keys)}) AS l ON {on} "
    made = join_replaced(parse_sql_text(f"{text}WHERE {WINDOW}"), CATALOG).sql("spark")
    assert ("UNION ALL" in made) == changed
    if changed:
        condition = made.split("ASOF JOIN")[1].split(" ON ")[1].split(" WHERE ")[0]
        assert condition.count("=") == 1 + len(keys.split(","))  # and the times


@pytest.mark.parametrize("shown", ["COUNT(*)", "MAX(t.x)", "1 + COUNT(t.x)"])
def test_an_aggregate_is_one_row_of_nothing(shown: str) -> None:
    inner = f"SELECT {shown} FROM t WHERE t.g = x.g AND t.ts > NOW() - INTERVAL '1' MINUTE"
    text = f"SELECT x.g, x.x FROM s AS x WHERE {WINDOW} AND NOT EXISTS ({inner})"
    tree = parse_sql_text(text)
    assert compare_windows(tree, CATALOG) is tree
    other = parse_sql_text(text.replace(shown, "t.x"))
    assert compare_windows(other, CATALOG) is not other


@pytest.mark.parametrize(
    ("window", "changed"),
    [
        ("x.ts > NOW() - INTERVAL '9' MINUTE", True),
        ("NOW() - INTERVAL '9' MINUTE <= x.ts", True),
        ("x.ts BETWEEN NOW() - INTERVAL '9' MINUTE AND NOW()", True),
        ("x.ts <= NOW() - INTERVAL '9' MINUTE", False),  # a delay, of which nothing leaves
    ],
)
def test_rows_that_do_not_leave_stand(window: str, changed: bool) -> None:
    inner = (
        "SELECT 1 FROM t WHERE t.g = x.g AND t.ts > x.ts AND t.ts <= NOW() - INTERVAL '9' MINUTE"
    )
    tree = parse_sql_text(f"SELECT x.g, x.x FROM s AS x WHERE {window} AND NOT EXISTS ({inner})")
    assert (compare_windows(tree, CATALOG) is not tree) == changed

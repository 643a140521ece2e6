"""Groups by a key of rows beside which others may be missing, as by the time of the rows, too."""

from dataclasses import replace

import pytest
from sqlglot import exp, parse_one

from ontoweir.rewriter.grouped.group_times import group_times
from tests.oracle.compare_told import relax
from tests.oracle.test_sql_nulls import CATALOG

BEGUN = relax(CATALOG, ("h", "a"))
KEYED = replace(
    BEGUN,
    streams={**BEGUN.streams, "s": replace(BEGUN.streams["s"], keys=(("h",),))},
)
JOINED = "FROM s AS x LEFT JOIN t AS y ON y.h = x.h AND y.ts = x.ts"


def _parse(text: str) -> exp.Query:
    tree = parse_one(text, dialect="spark")
    assert isinstance(tree, exp.Query)
    return tree


@pytest.mark.parametrize(
    ("group", "added"),
    [
        ("x.h", ", `x`.`ts`"),
        ("h, x.a", ""),  # h may be of either
        ("x.a, x.h", ", `x`.`ts`"),
        ("1", ", `x`.`ts`"),
        ("x.a", ""),
        ("y.h", ""),
        ("x.h, x.ts", ""),
        ("x.h, y.ts", ""),
        ("x.h, date_trunc('hour', x.ts)", ""),
        ("ROLLUP (x.h)", ""),
    ],
)
def test_the_time_is_added(group: str, added: str) -> None:
    text = f"SELECT x.h, COUNT(y.a) AS n {JOINED} GROUP BY {group}"
    tree = _parse(text)
    told = tree.sql(dialect="spark")
    assert group_times(tree, KEYED).sql(dialect="spark") == f"{told}{added}"


def test_only_of_the_rows_that_are_all_there() -> None:
    for text in (
        "SELECT x.h, COUNT(*) AS n FROM s AS x JOIN t AS y ON y.h = x.h GROUP BY x.h",
        "SELECT x.h, COUNT(*) AS n FROM t AS y RIGHT JOIN s AS x ON y.h = x.h GROUP BY x.h",
        "SELECT x.h, COUNT(*) AS n FROM t AS y LEFT JOIN s AS x ON y.h = x.h GROUP BY x.h",
        "SELECT x.h, COUNT(1) n FROM (SELECT h FROM s) x LEFT JOIN t y ON y.h = x.h GROUP BY x.h",
    ):
        tree = _parse(text)
        told = tree.sql(dialect="spark")
        assert group_times(tree, KEYED).sql(dialect="spark") == told


def test_keys_of_few_values_stay() -> None:
    tree = _parse(f"SELECT x.h, COUNT(y.a) AS n {JOINED} GROUP BY x.h")
    streams = {**CATALOG.streams, "s": replace(CATALOG.streams["s"], keys=(("h",),))}
    told = tree.sql(dialect="spark")
    assert group_times(tree, replace(CATALOG, streams=streams)).sql(dialect="spark") == told


INNER = "SELECT x.h, COUNT(*) AS n FROM s AS x JOIN t AS y ON y.h = x.h GROUP BY x.h"


@pytest.mark.parametrize(
    "around",
    ["SELECT q.n FROM ({0}) AS q", "WITH q AS ({0}) SELECT q.n FROM q JOIN t ON t.h = q.h"],
)
def test_of_what_another_query_reads_it_is_added(around: str) -> None:
    told = _parse(around.format(f"{INNER}, `x`.`ts`")).sql(dialect="spark")
    assert group_times(_parse(around.format(INNER)), KEYED).sql(dialect="spark") == told
    other = INNER.replace("s AS x JOIN t AS y", "t AS y JOIN s AS x")
    told = _parse(around.format(f"{other}, `x`.`ts`")).sql(dialect="spark")
    assert group_times(_parse(around.format(other)), KEYED).sql(dialect="spark") == told


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT a FROM s WHERE h IN ({INNER})",
        f"SELECT q.n FROM ({INNER.replace('GROUP BY x.h', 'GROUP BY y.h')}) AS q",
        (
            "SELECT q.n FROM (SELECT x.h, COUNT(*) AS n FROM s AS x WHERE x.ts > "
            "CURRENT_TIMESTAMP - INTERVAL '1' HOUR GROUP BY x.h) AS q"
        ),
    ],
)
def test_of_others_it_is_not(text: str) -> None:
    told = _parse(text).sql(dialect="spark")
    assert group_times(_parse(text), KEYED).sql(dialect="spark") == told

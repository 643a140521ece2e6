"""Declared lags ([B]): conditions that verdicts name, and that answers keep."""

from collections import Counter
from pathlib import Path
from random import Random

import duckdb
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Tier
from ontoweir.errors import CatalogError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.rewriter.sql.print_sql import print_sql
from tests.oracle.run_kernel import run_kernel

LAG = 'lags = [{ behind = "s", columns = ["k"], to = ["k"], within = "5 seconds" }]'
TOML = """
[streams.s]
source = {{ format = "parquet", path = "s" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 3
columns = {{ k = "int", a = "int" }}
[streams.u]
source = {{ format = "parquet", path = "u" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 3
{lag}
columns = {{ k = "int", b = "int" }}
"""
JOIN = "SELECT s.a, u.b FROM s, u WHERE s.ts < u.ts AND s.k = u.k"


def catalog(folder: Path, lag: str) -> Catalog:
    (folder / "ontoweir.toml").write_text(TOML.format(lag=lag))
    return load_project(folder, environ={}).catalog


@pytest.mark.parametrize(
    ("sql", "lag", "tier"),
    [
        (JOIN, "", Tier.UNBOUNDED),
        (JOIN, LAG, Tier.CONDITIONALLY_BOUNDED),
        # not joined on the columns of the lag, or the other way round in time
        ("SELECT s.a FROM s, u WHERE s.ts < u.ts AND s.k = u.b", LAG, Tier.UNBOUNDED),
        ("SELECT s.a FROM s, u WHERE u.ts < s.ts AND s.k = u.k", LAG, Tier.UNBOUNDED),
    ],
)
def test_a_lag_bounds_what_is_joined_on_it(sql: str, lag: str, tier: Tier, tmp_path: Path) -> None:
    declared = catalog(tmp_path, lag)
    verdict = check_query(parse_sql(sql, declared, name="q", file="q.sql"), declared)
    assert verdict.tier is tier
    said = ["u follows s on k = s.k within 5 seconds"] if tier is not Tier.UNBOUNDED else []
    assert [d.text for d in verdict.conditions] == said


@pytest.mark.parametrize("seed", range(20))
def test_answers_keep_the_lag(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    declared = catalog(tmp_path, LAG)
    union = parse_sql(JOIN, declared, name="q", file="q.sql")
    verdict = check_query(union, declared)
    assert verdict.plans is not None
    rows = {
        name: [(random.randint(0, 2), random.randint(0, 9), t) for t in range(30)]
        for name in ("s", "u")
    }
    data = {"s": (["k", "a", "ts"], rows["s"]), "u": (["k", "b", "ts"], rows["u"])}
    found, sizes = run_kernel(verdict.plans[0], declared, data, [(t, t) for t in range(30)])
    assert verdict.bound is not None
    assert verdict.bound.rows is not None
    assert max(sizes) <= verdict.bound.rows
    db = duckdb.connect()
    for name, (columns, content) in data.items():
        db.execute(f"CREATE TABLE {name} ({columns[0]} INT, {columns[1]} INT, ts TIMESTAMP)")
        db.executemany(
            f"INSERT INTO {name} VALUES (?, ?, TIMESTAMP '1970-01-01' + ? * INTERVAL 1 SECOND)",
            content,
        )
    right = Counter(db.execute(print_sql(union, declared, dialect="duckdb")).fetchall())
    mine: Counter[tuple[object, ...]] = Counter()
    for counts in found.values():
        mine.update(counts)
    assert mine == right
    without = catalog(tmp_path, "")
    plain = print_sql(parse_sql(JOIN, without, name="q", file="q.sql"), without, dialect="duckdb")
    assert sum(right.values()) < len(db.execute(plain).fetchall())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('behind = "s"', 'behind = "t"', "unknown stream 't'"),
        ('columns = ["k"]', 'columns = ["z"]', "unknown column 'z'"),
        ('to = ["k"]', 'to = ["z"]', "unknown column 'z'"),
        ('to = ["k"]', 'to = ["k", "a"]', "1 columns join 2"),
        ('"5 seconds"', '"soon"', "not a whole number"),
        ('"5 seconds"', '"1500 milliseconds"', "not a whole number"),
        ("within", "whithin", "whithin"),
    ],
)
def test_a_wrong_lag_is_located(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=message) as caught:
        catalog(tmp_path, LAG.replace(old, new, 1))
    assert caught.value.source is not None
    assert caught.value.source.line is not None

"""Values of counterexamples are values that their columns can have."""

from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from ontoweir.checker.decide.check_query import check_query
from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.trace.write_witness import make_tables

TABLES = """
[streams.{0}]
source = {{ format = "parquet", path = "{0}" }}
timestamp = {{ column = "ts", unit = "1 second" }}
references = [{{ columns = ["ref"], relation = "r", to = ["id"] }}]
[streams.{0}.columns]
n = "int"
f = {{ type = "decimal(6,2)", min = -5, max = 5 }}
ref = "int"
day = "date"
at = "timestamp"
year = {{ type = "timestamp", min = "2024-01-01", max = "2024-12-31" }}
"""
STATIC = """
[relations.r]
source = { format = "parquet", path = "r" }
columns = { id = "int" }
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "ontoweir.toml").write_text("".join(TABLES.format(n) for n in "ab") + STATIC)
    return load_project(tmp_path, environ={}).catalog


def decide(condition: str, catalog: Catalog) -> Verdict:
    sql = f"SELECT a.n AS n FROM a, b WHERE a.ts <= b.ts AND {condition}"
    return check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)


@pytest.mark.parametrize(
    "condition",
    [
        # the solver may choose any number of days, or of microseconds
        "a.f > b.ref AND b.day >= DATE '2024-01-02'",
        "a.n < b.n AND b.day >= DATE '2024-01-02' AND a.n < 100000000",
        "a.day < b.day AND b.day >= DATE '9999-12-29'",
        "a.day < b.day AND b.day <= DATE '0001-01-30'",
        "a.f > b.ref AND b.at >= TIMESTAMP '2024-01-02 00:00:00'",
        "a.at < b.at AND b.at >= TIMESTAMP '9999-12-29 00:00:00' AND a.f > b.ref",
        "a.at < b.at AND b.at <= TIMESTAMP '0001-01-30 00:00:00'",
        "a.at < b.at AND a.at <> TIMESTAMP '2024-01-02 00:00:00'",
        "a.year < b.year",
    ],
)
def test_dates_and_times_of_a_counterexample_are_some_that_there_are(
    condition: str, catalog: Catalog
) -> None:
    verdict = decide(condition, catalog)
    assert verdict.name == "unbounded"
    witness = verdict.witness
    assert witness is not None
    rows = [*witness.fixed, *witness.optional, *(row for s in witness.suffixes for row in s)]
    tables = make_tables(rows, ["a", "b", "r"], catalog)
    # what was confirmed is what is written
    for name in "ab":
        mine = sorted((row for row in rows if row.table == name), key=lambda row: row.step or 0)
        assert tables[name]["day"].type == pa.date32()
        days = [date.fromisoformat(dict(row.values)["day"]) for row in mine]
        assert tables[name]["day"].to_pylist() == days
        for column in ("at", "year"):
            texts = [dict(row.values)[column] for row in mine]
            times = [datetime.fromisoformat(t).replace(tzinfo=UTC) for t in texts]
            assert tables[name][column].to_pylist() == times


@pytest.mark.parametrize(
    ("condition", "name"),
    [
        ("a.n > 9223372036854775800", "undecided"),  # seven values: no twelve different ones
        ("a.n < -9223372036854775800", "undecided"),
        ("a.n > 9223372036854775000", "unbounded"),
    ],
)
def test_whole_numbers_of_a_counterexample_have_64_bits(
    condition: str, name: str, catalog: Catalog
) -> None:
    assert decide(condition, catalog).name == name


def test_a_time_before_the_year_1000_is_written_with_four_digits(catalog: Catalog) -> None:
    union = parse_sql(
        "SELECT n FROM a WHERE at < TIMESTAMP '0999-01-02 03:04:05'", catalog, name="q", file="q"
    )
    values = [getattr(c, "right", None) for c in union.disjuncts[0].conditions]
    assert "0999-01-02 03:04:05.000000" in [getattr(v, "value", None) for v in values]


def test_of_what_is_computed_from_one_column_the_rest_follows(catalog: Catalog) -> None:
    sql = (
        "SELECT DISTINCT a.n * 3 AS x, CASE WHEN a.n > 3 THEN 'up' ELSE 'down' END AS way FROM a "
        "WHERE a.n * 2 > -90 AND MOD(a.n, 2) IS NOT NULL"
    )
    verdict = check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog)
    assert verdict.witness is not None


@pytest.mark.parametrize(
    ("sql", "tier"),
    [
        ("SELECT DISTINCT x, y FROM s WHERE x IS NOT NULL AND y IS NOT NULL", "undecided"),
        (
            "SELECT a.n FROM s a JOIN s b ON b.x = a.x AND b.y = a.y AND b.ts >= a.ts",
            "undecided",
        ),
        (
            (
                "SELECT x, y, m FROM s WHERE x IS NOT NULL AND y IS NOT NULL "
                "QUALIFY RANK() OVER (PARTITION BY x, y ORDER BY ts DESC) = 1"
            ),
            "undecided",
        ),
        # what is told apart refers to one row, or, with a NULL, to none
        ("SELECT x, y, SUM(m) AS m FROM s GROUP BY x, y", "unbounded"),
        ("SELECT DISTINCT m FROM s WHERE x IS NOT NULL AND y IS NOT NULL", "unbounded"),
    ],
)
def test_static_rows_that_several_columns_refer_to_are_not_of_any_number(
    sql: str, tier: str, tmp_path: Path
) -> None:
    (tmp_path / "ontoweir.toml").write_text(
        """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
references = [{ columns = ["x", "y"], relation = "r", to = ["x", "y"] }]
columns = { x = "string", y = "int", n = { type = "int", min = 0, max = 9 }, m = "int" }
[relations.r]
source = { format = "parquet", path = "r" }
keys = [["x", "y"]]
max_rows = 449
columns = { x = "string", y = "int" }
"""
    )
    catalog = load_project(tmp_path, environ={}).catalog
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    assert check_query(union, catalog).tier.value == tier


REFERENCED = """
[streams.s]
source = {{ format = "parquet", path = "s" }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 4
keys = [["meter", "ts"]]
references = [{{ columns = {columns}, relation = "meters", to = {to} }}]
[streams.s.columns]
meter = "string"
net = "string"
v = "string"
[relations.meters]
source = {{ format = "parquet", path = "meters" }}
keys = [["meter"]]
max_rows = 2
columns = {{ meter = "string", net = "string", station = "string" }}
references = [{{ columns = ["net", "station"], relation = "stations", to = ["net", "station"] }}]
[relations.stations]
source = {{ format = "parquet", path = "stations" }}
keys = [["net", "station"]]
max_rows = 1
columns = {{ net = "string", station = "string" }}
"""


@pytest.mark.parametrize(
    ("columns", "to"),
    [('["meter"]', '["meter"]'), ('["meter", "net"]', '["meter", "net"]')],
    ids=["one column", "two columns"],
)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(DISTINCT v) AS n FROM s",
        "SELECT v, COUNT(*) AS n FROM s WHERE v IS NOT NULL GROUP BY v",
    ],
)
def test_static_rows_have_those_that_they_refer_to(
    sql: str, columns: str, to: str, tmp_path: Path
) -> None:
    # each copy refers to one of few meters, and these to one station
    text = REFERENCED.format(columns=columns, to=to)
    (tmp_path / "ontoweir.toml").write_text(text)
    catalog = load_project(tmp_path, environ={}).catalog
    verdict = check_query(parse_sql(sql, catalog, name="q", file="q.sql"), catalog, size=3)
    assert verdict.witness is not None
    rows = [*verdict.witness.fixed, *verdict.witness.optional]
    assert {row.table for row in rows} == {"s", "meters", "stations"}
    meters = [row for row in rows if row.table == "meters"]
    assert len(meters) <= 2

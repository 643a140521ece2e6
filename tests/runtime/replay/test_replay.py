"""Replays end to end, on Spark: answers do not depend on chunks; broken data is refused."""

import json
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError, RunError, UsageError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.progress.show_replay import show_replay
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NotNull,
    Occurrence,
    SpjQuery,
    SpjUnion,
)
from ontoweir.runtime.replay.replay import replay_history
from ontoweir.runtime.replay.replay_request import ReplayRequest
from ontoweir.runtime.statics.load_statics import load_statics
from tests.runtime.harness import Row, make_catalog, make_job, make_sql_job, read_rows, run

pytestmark = pytest.mark.spark

START = datetime(2020, 1, 1, tzinfo=UTC)
TOML = """
[streams.a]
source = { format = "parquet", path = "a" }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 9
[streams.a.columns]
k = { type = "int", min = 0, max = 5 }
x = "int"
d = "decimal(6,2)"
s = "string"
day = "date"
f = "double"
[streams.b]
source = { format = "parquet", path = "b.parquet" }
timestamp = { column = "time", unit = "1 minute" }
[streams.b.columns]
k = { type = "int", min = 0, max = 5 }
y = "int"
s = { type = "string", enum = ["u", "v", "w"] }
[relations.r]
source = { format = "csv", path = "r.csv", options = { header = "true" } }
keys = [["k"]]
columns = { k = "int", name = "string", size = "decimal(5,1)" }
"""


def minute(n: int) -> datetime:
    return START + timedelta(minutes=n)


def a_row(n: int, k: int = 1, x: int | None = 0, **more: Any) -> dict[str, Any]:
    row = {"ts": minute(n), "k": k, "x": x, "d": Decimal("1.25"), "s": "p", "f": 0.5}
    return {**row, "day": date(2020, 1, 1), **more}


A_SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", tz="UTC")),
        ("k", pa.int32()),
        ("x", pa.int64()),
        ("d", pa.decimal128(6, 2)),
        ("s", pa.string()),
        ("f", pa.float64()),
        ("day", pa.date32()),
    ]
)


def write_a(folder: Path, *files: list[dict[str, Any]], group: int = 7) -> None:
    (folder / "a").mkdir(exist_ok=True)
    for number, rows in enumerate(files):
        table = pa.Table.from_pylist(rows, A_SCHEMA)
        pq.write_table(table, folder / "a" / f"p{number}.parquet", row_group_size=group)


def write_b(folder: Path, rows: list[dict[str, Any]], group: int = 5) -> None:
    schema = pa.schema(
        [("time", pa.timestamp("ms")), ("k", pa.int64()), ("y", pa.int64()), ("s", pa.string())]
    )
    plain = [{**r, "time": r["time"].replace(tzinfo=None)} for r in rows]
    pq.write_table(pa.Table.from_pylist(plain, schema), folder / "b.parquet", row_group_size=group)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "r.csv").write_text("k,name,size\n1,one,1.5\n2,zwei æ/b,2.0\n3,,3.5\n")
    return make_catalog(tmp_path, TOML)


def random_history(folder: Path, seed: int = 1) -> None:
    rnd = random.Random(seed)
    a = [
        a_row(
            n,
            rnd.randrange(4),
            rnd.randrange(20),
            d=Decimal(rnd.randrange(400)) / 100,
            s=rnd.choice("uvwxyz"),
            day=date(2020, 1, 1 + rnd.randrange(4)),
        )
        for n in range(30)
        for _ in range(rnd.randrange(4))
    ]
    write_a(folder, a[:20], a[20:])
    b = [
        {"time": minute(n), "k": rnd.randrange(4), "y": rnd.randrange(20), "s": rnd.choice("uvw")}
        for n in range(0, 40, 2)
        for _ in range(rnd.randrange(3))
    ]
    write_b(folder, b)


def by_duckdb(folder: Path, sql: str, at: str) -> Counter[Row]:
    """The plain join; `at` is SQL for the marker's time. Sets: the first time."""
    db = duckdb.connect()
    db.execute("set timezone = 'UTC'")
    db.execute(
        f"create view a as select * replace (ts::timestamp as ts) from '{folder}/a/*.parquet'"
    )
    db.execute(f"create view b as select * from '{folder}/b.parquet'")
    db.execute(f"create view r as select * from read_csv('{folder}/r.csv')")
    distinct = "SELECT DISTINCT" in sql
    text = sql.replace("SELECT DISTINCT", "SELECT").replace(" FROM ", f", {at} AS tm FROM ", 1)
    if distinct:
        text = f"select * exclude (tm), min(tm) as tm from ({text}) group by all"
    rows = db.execute(text).fetchall()
    found = Counter((*row[:-1], str(row[-1])) for row in rows)
    return found if distinct else Counter((*row, n) for row, n in found.items())


TWO = "greatest(a.ts, b.time)"
SAME = [
    ("SELECT a.x, a.s, a.d, a.day FROM a WHERE a.x > 10", "a.ts"),
    ("SELECT a.k, b.y FROM a, b WHERE a.k = b.k AND a.ts < b.time AND a.x > 12", TWO),
    (
        (
            "SELECT a.s, a.d, b.y FROM a, b WHERE a.s = b.s AND a.ts < b.time "
            "AND b.time - a.ts <= INTERVAL '5' MINUTE AND a.d < 3.5"
        ),
        TWO,
    ),
    ("SELECT DISTINCT a.k, b.s FROM a, b WHERE a.k = b.k AND a.x < b.y", TWO),
    ("SELECT a.k, r.name, r.size FROM a JOIN r ON a.k = r.k WHERE r.name IS NOT NULL", "a.ts"),
    ("SELECT DISTINCT a.k FROM a, b WHERE a.k = b.k AND a.s = 'u' AND b.s = 'v'", TWO),
    ("SELECT a.k FROM a, b WHERE a.k = b.k AND a.s = 'x' AND b.s = 'w' AND b.time < a.ts", TWO),
]


@pytest.mark.parametrize(("sql", "at"), SAME)
def test_answers_are_the_plain_join_in_any_chunks(
    catalog: Catalog, tmp_path: Path, spark: SparkSession, sql: str, at: str
) -> None:
    random_history(tmp_path)
    job = make_sql_job(sql, catalog)
    expected = by_duckdb(tmp_path, sql, at)
    assert expected
    for rows_per_chunk in (3, 17, 1000):
        rows, summary = run(job, spark, tmp_path, rows_per_chunk=rows_per_chunk)
        assert Counter(rows) == expected
        assert [r[len(job.union.variables)] for r in rows] == sorted(
            r[len(job.union.variables)] for r in rows
        )
    assert summary.markers > 0


def test_one_row_a_chunk(catalog: Catalog, tmp_path: Path, spark: SparkSession) -> None:
    write_a(tmp_path, [a_row(0, x=1), a_row(0, x=2), a_row(1, x=3)])
    rows, summary = run(make_sql_job("SELECT x FROM a", catalog), spark, tmp_path, rows_per_chunk=1)
    assert rows == [
        (1, "2020-01-01 00:00:00", 1),
        (2, "2020-01-01 00:00:00", 1),
        (3, "2020-01-01 00:01:00", 1),
    ]
    assert (summary.markers, summary.tuples, summary.late) == (2, 3, 0)


def test_expand_repeats_rows(catalog: Catalog, tmp_path: Path, spark: SparkSession) -> None:
    write_a(tmp_path, [a_row(0, x=7), a_row(0, x=7), a_row(1, x=8)])
    job = make_sql_job("SELECT x FROM a", catalog)
    assert [r[0] for r in run(job, spark, tmp_path, expand=True)[0]] == [7, 7, 8]
    assert [(r[0], r[2]) for r in run(job, spark, tmp_path)[0]] == [(7, 2), (8, 1)]


def test_only_a_span(catalog: Catalog, tmp_path: Path, spark: SparkSession) -> None:
    write_a(tmp_path, [a_row(n, x=n) for n in range(30)])
    job = make_sql_job("SELECT x FROM a", catalog)
    rows, summary = run(job, spark, tmp_path, start=minute(9), stop=minute(12), rows_per_chunk=2)
    assert [r[0] for r in rows] == [9, 10, 11]
    assert (summary.tuples, summary.markers) == (3, 3)


def test_disjuncts_are_merged(catalog: Catalog, tmp_path: Path, spark: SparkSession) -> None:
    write_a(tmp_path, [a_row(0, k=1, x=5), a_row(1, k=2, x=5), a_row(2, k=1, x=5)])
    write_b(tmp_path, [{"time": minute(2), "k": 1, "y": 5, "s": "u"}])
    both = "SELECT{0} k AS v FROM a WHERE x = 5 UNION{1} SELECT{0} k AS v FROM b WHERE y = 5"
    for size in (1, 100):
        job = make_sql_job(both.format("", " ALL"), catalog)
        rows, _ = run(job, spark, tmp_path, rows_per_chunk=size)
        assert [(r[0], r[1][14:16], r[2]) for r in rows] == [
            (1, "00", 1),
            (2, "01", 1),
            (1, "02", 2),
        ]
        job = make_sql_job(both.format("", ""), catalog)
        rows, _ = run(job, spark, tmp_path, rows_per_chunk=size)
        assert [(r[0], r[1][14:16]) for r in rows] == [(1, "00"), (2, "01")]


def test_terms_are_rendered(catalog: Catalog, tmp_path: Path, spark: SparkSession) -> None:
    write_a(tmp_path, [a_row(0, k=2, s="a b/ø", d=Decimal("12.50"))])
    attributes = {n: Attribute("a", n) for n in ("k", "s", "d", "day", "f")}
    query = SpjQuery(
        (Occurrence("a", "a"),),
        tuple(NotNull(x) for x in attributes.values()),
        (
            ("iri", IriOutput(("http://e/", attributes["s"], "/", attributes["d"]))),
            ("raw", IriOutput((attributes["s"],))),
            ("blank", BlankOutput((attributes["k"],))),
            ("constant", ConstantOutput("http://e/C", True)),
            ("d", LiteralOutput(attributes["d"])),
            ("day", LiteralOutput(attributes["day"])),
            ("f", LiteralOutput(attributes["f"])),
        ),
    )
    names = tuple(n for n, _ in query.outputs)
    job = make_job(SpjUnion("q", names, (query,), False), catalog)
    for kind in ("parquet", "jsonl", "csv"):
        output = tmp_path / f"out.{kind}"
        replay_history(job, ReplayRequest(output, kind), spark=spark)
    assert read_rows(tmp_path / "out.parquet") == [
        (
            "http://e/a%20b%2Fø/12.5",  # the canonical text of a decimal (R2RML 10.2)
            "a b/ø",
            "_:2",
            "http://e/C",
            Decimal("12.50"),
            date(2020, 1, 1),
            0.5,
            "2020-01-01 00:00:00",
            1,
        )
    ]
    row = json.loads((tmp_path / "out.jsonl").read_text())
    assert (row["d"], row["day"], row["at"]) == ("12.50", "2020-01-01", "2020-01-01T00:00:00")
    assert (tmp_path / "out.csv").read_text().splitlines()[0].startswith('"iri","raw"')


def test_undeclared_tuples_are_rejected(
    catalog: Catalog, tmp_path: Path, spark: SparkSession
) -> None:
    rows = [a_row(0), a_row(1, k=77), a_row(2, f=float("nan")), a_row(3, ts=None), a_row(4, x=None)]
    write_a(tmp_path, rows)
    job = make_sql_job("SELECT k, f FROM a WHERE x >= 0", catalog)
    found, summary = run(job, spark, tmp_path, rows_per_chunk=1)
    assert [r[0] for r in found] == [1]
    assert summary.rejected == {
        "a.k is outside its declared domain": 1,
        "a.f is NaN": 1,
        "a.ts is NULL": 1,
    }
    assert (summary.rejected_total, summary.tuples) == (3, 5)


def test_references_and_keys_are_enforced(tmp_path: Path, spark: SparkSession) -> None:
    keyed = TOML.replace(
        "max_per_timestamp = 9",
        'max_per_timestamp = 9\nkeys = [["k", "ts"]]\n'
        'references = [{ columns = ["k"], relation = "r", to = ["k"] }]',
    )
    (tmp_path / "r.csv").write_text("k,name,size\n1,one,1.5\n")
    catalog = make_catalog(tmp_path, keyed)
    write_a(tmp_path, [a_row(0, k=1), a_row(0, k=1, x=9), a_row(0, k=2), a_row(1, k=1)])
    found, summary = run(make_sql_job("SELECT k FROM a", catalog), spark, tmp_path)
    assert [(r[0], r[2]) for r in found] == [(1, 1), (1, 1)]
    assert summary.rejected == {"a.k is not in r.k": 1, "a repeats the key (k, ts)": 1}


Break = Callable[[Path], None]


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (
            lambda p: write_a(p, [a_row(5), a_row(6), a_row(4)]),
            ["p0.parquet:3", "backwards", "sort = true"],
        ),
        (lambda p: write_a(p, [a_row(5), a_row(7)], [a_row(6)]), ["p1.parquet:1", "backwards"]),
        (
            lambda p: write_a(p, [a_row(0), a_row(1, ts=START + timedelta(seconds=90))]),
            ["p0.parquet:2", "between two steps", "finer unit"],
        ),
        (lambda p: write_a(p, [a_row(0)] * 10), ["max_per_timestamp = 9", "10 tuples"]),
        (lambda p: None, ["there is no data for a"]),
        (lambda p: (p / "a").mkdir(), ["there is no file of a"]),
        (
            lambda p: ((p / "a").mkdir(), (p / "a" / "x.parquet").write_text("nothing")),
            ["x.parquet", "cannot be read"],
        ),
    ],
)
def test_broken_data_is_refused_and_nothing_written(
    catalog: Catalog, tmp_path: Path, spark: SparkSession, write: Break, words: list[str]
) -> None:
    write(tmp_path)
    job = make_sql_job("SELECT k FROM a", catalog)
    with pytest.raises(DataError) as error:
        run(job, spark, tmp_path, rows_per_chunk=2)
    assert error.value.exit_code == 2
    for word in words:
        assert word in str(error.value)
    assert list((tmp_path / "out").iterdir()) == []


def test_missing_column(catalog: Catalog, tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "a").mkdir()
    pq.write_table(pa.table({"ts": [START]}), tmp_path / "a" / "p.parquet")
    with pytest.raises(DataError, match="no column 'k'"):
        run(make_sql_job("SELECT k FROM a", catalog), spark, tmp_path)


def test_sort(tmp_path: Path, spark: SparkSession, catalog: Catalog) -> None:
    write_a(tmp_path, [a_row(n, x=n) for n in (3, 1, 2)], [a_row(0, x=0)])
    toml = TOML.replace('path = "a" }', 'path = "a", sort = true }')
    job = make_sql_job("SELECT x FROM a", make_catalog(tmp_path, toml))
    assert [r[0] for r in run(job, spark, tmp_path)[0]] == [0, 1, 2, 3]


def test_csv_and_json(tmp_path: Path, spark: SparkSession, catalog: Catalog) -> None:
    lines = [("2020-01-01 00:00:00", "1", "5"), ("2020-01-01 00:01:00", "one", "6")]
    lines += [
        ("2020-01-01T00:02:00Z", "2", ""),
        ("nonsense", "2", "8"),
        (minute(9).isoformat(), "3", "9"),
    ]
    (tmp_path / "c.csv").write_text("ts,k,x\n" + "".join(",".join(r) + "\n" for r in lines))
    names = ("ts", "k", "x")
    with (tmp_path / "c.json").open("w") as file:
        for r in lines:
            cells = {n: c or None for n, c in zip(names, r, strict=True)}
            file.write(json.dumps(cells) + "\n")
    for source in (
        'format = "csv", path = "c.csv", options = { header = "true" }',
        'format = "json", path = "c.json"',
    ):
        toml = TOML.replace('format = "parquet", path = "a"', source)
        job = make_sql_job("SELECT k, x FROM a WHERE k > 0", make_catalog(tmp_path, toml))
        rows, summary = run(job, spark, tmp_path)
        assert [r[:2] for r in rows] == [(1, 5), (3, 9)]
        assert summary.rejected == {"k is not of its type": 1, "ts is not of its type": 1}
    text = (tmp_path / "c.csv").read_text() + "2020-01-01 00:00:00,1,1\n"
    (tmp_path / "c.csv").write_text(text)
    toml = TOML.replace(
        'format = "parquet", path = "a"',
        'format = "csv", path = "c.csv", options = { header = "true" }',
    )
    with pytest.raises(DataError, match=r"c\.csv:7: .*backwards"):
        run(make_sql_job("SELECT k FROM a", make_catalog(tmp_path, toml)), spark, tmp_path)


def test_state_beyond_its_bound(catalog: Catalog, tmp_path: Path, spark: SparkSession) -> None:
    random_history(tmp_path)
    sql = "SELECT a.k, b.y FROM a, b WHERE a.k = b.k AND a.ts < b.time"
    rows, summary = run(make_sql_job(sql, catalog, bound=6), spark, tmp_path, rows_per_chunk=5)
    assert rows
    assert 0 < summary.state_rows_max <= 6
    with pytest.raises(RunError, match=r"more than its bound of 1 .*\{a\}") as error:
        run(make_sql_job(sql, catalog, bound=1), spark, tmp_path, rows_per_chunk=5)
    assert error.value.exit_code == 3


def test_output_is_a_folder(catalog: Catalog, tmp_path: Path, spark: SparkSession) -> None:
    write_a(tmp_path, [a_row(0)])
    job = make_sql_job("SELECT k FROM a", catalog)
    with pytest.raises(UsageError, match="is a folder"):
        replay_history(job, ReplayRequest(tmp_path, "parquet"), spark=spark)


def test_no_plan_no_results(catalog: Catalog, tmp_path: Path, spark: SparkSession) -> None:
    write_a(tmp_path, [])
    rows, summary = run(make_sql_job("SELECT k FROM a WHERE k > 9", catalog), spark, tmp_path)
    assert (rows, summary.results) == ([], 0)
    rows, summary = run(make_sql_job("SELECT k FROM a", catalog), spark, tmp_path)
    assert (rows, summary.markers, summary.tuples) == ([], 0, 0)


def test_statics_are_held_to_their_declarations(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "r.csv").write_text("k,name,size\n1,one,1.5\n1,two,2.5\n")
    catalog = make_catalog(tmp_path, TOML)
    with pytest.raises(DataError, match=r"r\.csv:3: r, row 2: k = 1 occurs 2 times"):
        load_statics(spark, catalog, ["r"])
    (tmp_path / "r.csv").write_text("k,name,size\n1,one,1.5\nx,two,2.5\n")
    with pytest.raises(DataError, match=r"r\.csv:3: r, row 2: k is not"):
        load_statics(spark, catalog, ["r"])
    (tmp_path / "r.csv").write_text("k,name\n1,one\n")
    with pytest.raises(DataError, match="no column 'size'"):
        load_statics(spark, catalog, ["r"])
    (tmp_path / "r.csv").unlink()
    with pytest.raises(DataError, match="no data for r"):
        load_statics(spark, catalog, ["r"])


def test_progress(
    catalog: Catalog, tmp_path: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    write_a(tmp_path, [a_row(n) for n in range(9)])
    job = make_sql_job("SELECT k FROM a", catalog, bound=10)
    with show_replay("q", force=True) as progress:
        run(job, spark, tmp_path, progress=progress, rows_per_chunk=3)
    shown = capsys.readouterr()
    assert "9 markers" in shown.err
    assert shown.out == ""

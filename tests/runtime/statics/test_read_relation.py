"""Static relations read without Spark: the same as what Spark reads, or left to it."""

import gzip
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import Relation
from ontoweir.runtime.located.locate_source import locate_source
from ontoweir.runtime.sources.read_source import BAD, WantedColumns, read_source
from ontoweir.runtime.statics import evaluate_view as evaluating
from ontoweir.runtime.statics import load_statics as module
from ontoweir.runtime.statics import read_relation as reader
from ontoweir.runtime.statics.evaluate_view import evaluate_view
from ontoweir.runtime.statics.load_statics import load_statics
from ontoweir.runtime.statics.read_relation import read_relation
from tests.runtime.harness import make_catalog

pytestmark = pytest.mark.spark

COLUMNS = """
[relations.r.columns]
i = "int"
s = "string"
f = "float"
d = "decimal(6,2)"
b = "boolean"
t = "date"
"""
HEADER = "i,s,f,d,b,t,other\n"
READ = [
    "",
    "1,Ærø,1.5,2.25,true,,x\n-7,,,,,,\n007,a b,-3,1,false,2020-01-01,\n",
    '1,"a,b",0.1,"3.20",true,,"x y"\n2,c,0.30000000000000004,-9999.99,false,,z',
    "1,'a',5,2,true,,# no comment\n",
    '1,"",1,2,true,,x\n',
    "1,a\\b,1,2,true,,x\n\n2,b,1,2,TRUE,,x\r\n",
    "1, a,1,2,true\n1,a,1,2,true,,x,more\n",
    "1.0,a,1,2,true,,x\n99999999999999999999,a,1,2,true,,x\none,a,1e3,NaN,true,,x\n",
    "1,a,1,2.125,true,,x\n1,a,1,10000,true,2020-1-1,x\n,,,,,,\n",
]
LEFT_TO_SPARK = ['1,"a""b",1,2,true,,x\n', '1,a"b,1,2,true,,x\n', "1,a,0x1p3,1,true,,x\n"]
LINES = [
    '{"i": 1, "s": "Ærø", "b": "true", "x": [1]}\n{"s": null, "i": "12"}\n',
    '{"i": 1, "x": 1}\n{"s": null, "i": "12", "d": "1.25"}\n{"i": [1]}\n{"i": 1.0}',
    '{"i": 12345678901234567, "s": 12, "f": 3, "d": 4}\n  {"i": -1}\n\n{"I": 1}',
    '{"i": 1, "i": 2}\n{"s": -0}\n{"s": true}\n{"s": "\\ud800"}\n{"s": " a"}\nx\n',
    "",
]


def _relation(folder: Path, source: str) -> Relation:
    toml = f"[relations.r]\nsource = {{ {source} }}\n{COLUMNS}"
    return make_catalog(folder, toml).relations["r"]


def _read(relation: Relation, folder: Path) -> pa.Table | None:
    return read_relation(relation, locate_source(relation.data, "r", ""), lambda: folder)


def _shown(table: pa.Table) -> list[list[tuple[str, str]]]:
    """Rows, in some order; one that is rejected by what it is rejected for."""
    rows = (r if r[BAD] is None else {BAD: r[BAD]} for r in table.to_pylist())
    return sorted([(name, repr(value)) for name, value in row.items()] for row in rows)


def _compare(relation: Relation, folder: Path, spark: SparkSession) -> None:
    """Spark reads the same."""
    mine = _read(relation, folder)
    assert mine is not None
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    path = relation.data.path or ""
    theirs = read_source(session, relation.data, path, WantedColumns(relation.columns)).toArrow()
    assert _shown(mine) == _shown(theirs.cast(mine.schema))


CSV = 'format = "csv", path = "r.csv", options = { header = "true" }'


@pytest.mark.parametrize("text", READ)
def test_csv(tmp_path: Path, spark: SparkSession, text: str) -> None:
    (tmp_path / "r.csv").write_text(HEADER + text, encoding="utf-8", newline="")
    _compare(_relation(tmp_path, CSV), tmp_path, spark)


@pytest.mark.parametrize("text", LEFT_TO_SPARK)
def test_odd_csv_is_left_to_spark(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.csv").write_text(HEADER + text, encoding="utf-8", newline="")
    assert _read(_relation(tmp_path, CSV), tmp_path) is None


@pytest.mark.parametrize("lines", LINES)
def test_json(tmp_path: Path, spark: SparkSession, lines: str) -> None:
    (tmp_path / "r.json").write_text(lines + '{"i": 5}', encoding="utf-8")
    _compare(_relation(tmp_path, 'format = "json", path = "r.json"'), tmp_path, spark)


def test_folders_and_patterns(tmp_path: Path, spark: SparkSession) -> None:
    """Of packed files too."""
    for name in ("d/b=true/1.csv.gz", "d/b=false/2.csv.gz", "d/_b/3.csv.gz"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(gzip.compress(b"i,s,f,d,t\n1,a,1,2,2020-01-01\n"))
    _compare(_relation(tmp_path, CSV.replace("r.csv", "d")), tmp_path, spark)
    (tmp_path / "1.csv").write_text(HEADER + READ[1])
    (tmp_path / "2.csv").write_text(HEADER + READ[2])
    _compare(_relation(tmp_path, CSV.replace("r.csv", "[12].csv")), tmp_path, spark)


def test_many_rows_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is left of their file."""
    (tmp_path / "r.csv").write_text(HEADER + "1,a,1,2,true,,x\n" * 99)
    relation = _relation(tmp_path, CSV)
    whole = _read(relation, tmp_path)
    monkeypatch.setattr(reader, "LARGEST_COLLECTED", 1)
    before = pa.total_allocated_bytes()
    mapped = _read(relation, tmp_path)
    assert mapped is not None
    assert mapped.equals(whole)
    assert pa.total_allocated_bytes() - before < mapped.nbytes
    assert {p.name for p in tmp_path.iterdir()} == {"ontoweir.toml", "r.csv"}


@pytest.mark.parametrize(
    "cell",
    [
        {},
        {"i": pa.array([1, None], pa.int16())},
        {"i": pa.array([1.0, 2.5])},
        {"i": pa.array(["1", "x"])},
        {"i": pa.array([1, 2], pa.uint32())},
        {"f": pa.array([1.5, 2.5], pa.float32())},
        {"f": pa.array([float("nan"), -0.0])},
        {"d": pa.array([Decimal("1.5"), None], pa.decimal128(4, 1))},
        {"d": pa.array([Decimal("1.255"), None], pa.decimal128(6, 3))},
        {"d": pa.array([0.5, 0.1])},
        {"s": pa.array(["a", "b"]).dictionary_encode()},
        {"t": pa.array([1577836800000000, None], pa.timestamp("us", "UTC"))},
        {"t": pa.array([0, 10**7], pa.date32())},
        {"t": pa.array(["2020-01-01", "never"])},
    ],
)
def test_parquet(tmp_path: Path, spark: SparkSession, cell: dict[str, Any]) -> None:
    """Of every type that holds the declared one's values."""
    cells = {
        "i": pa.array([1, None]),
        "s": pa.array(["x", ""]),
        "f": pa.array([0.5, None]),
        "d": pa.array([Decimal("1.25"), Decimal("-3.00")], pa.decimal128(6, 2)),
        "b": pa.array([True, None]),
        "t": pa.array([1, None], pa.date32()),
    }
    pq.write_table(pa.table(cells | cell), tmp_path / "r.parquet", row_group_size=1)
    _compare(_relation(tmp_path, 'format = "parquet", path = "r.parquet"'), tmp_path, spark)


def test_random_parquet_in_folders(tmp_path: Path, spark: SparkSession) -> None:
    random = Random(4)
    for number in range(6):
        file = tmp_path / "d" / f"s={number % 3}" / f"{number}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = random.randint(0, 9)
        cells = {
            "i": pa.array([random.choice((1, 2, None)) for _ in range(rows)], pa.int64()),
            "f": pa.array([random.random() for _ in range(rows)], pa.float64()),
            "d": pa.array([None] * rows, pa.decimal128(6, 2)),
            "b": pa.array([random.random() < 0.5 for _ in range(rows)], pa.bool_()),
            "t": pa.array([random.randint(0, 10**4) for _ in range(rows)], pa.date32()),
        }
        pq.write_table(pa.table(cells), file, row_group_size=3)
    _compare(_relation(tmp_path, 'format = "parquet", path = "d"'), tmp_path, spark)


VIEWS = [
    ("SELECT k, min(x) AS x, max(s) AS s FROM base WHERE k IS NOT NULL GROUP BY k", True),
    ("SELECT k, min(x) AS x, min(s) AS s FROM base GROUP BY k, s", True),
    ("SELECT s AS s, x AS k, x FROM base WHERE s IS NOT NULL AND x IS NULL", True),
    ("SELECT `k`, max(x) AS x, max(k) AS s FROM base GROUP BY k", True),
    ("SELECT k, x, s FROM base", True),
    ("SELECT k, x, s FROM base b", False),
    ("SELECT DISTINCT k, x, s FROM base", False),
    ("SELECT k, min(x) AS x, max(s) AS s FROM base GROUP BY k HAVING min(x) > 1", False),
    ("SELECT k, x, s FROM base WHERE x > 1", False),
    ("SELECT k, x, s FROM base WHERE k IS NULL OR x IS NULL", False),
    ("SELECT k, min(x) AS x, 'c' AS s FROM base GROUP BY k", False),
    ("SELECT K, x, s FROM base", False),
    ("SELECT k, x, s FROM base ORDER BY k LIMIT 1", False),
    ("SELECT max(k) AS k, max(x) AS x, max(s) AS s FROM base", True),
    ("SELECT k, sum(x) AS x, max(s) AS s FROM base GROUP BY k", True),
    ("SELECT sum(k) AS k, count(k) AS x, min(s) AS s FROM base", True),
    ("SELECT sum(k) AS k, count(x) AS x, min(s) AS s FROM base WHERE k IS NULL", True),
    ("SELECT k, count(x) AS x, max(s) AS s FROM base", False),
    ("SELECT k, count(DISTINCT x) AS x, max(s) AS s FROM base GROUP BY k", False),
    ("SELECT base.k, x, s FROM base", False),
    ("WITH other AS (SELECT * FROM base) SELECT k, x, s FROM other", False),
]


@pytest.mark.parametrize(("view", "simple"), VIEWS)
def test_views(
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    view: str,
    simple: bool,
) -> None:
    random = Random(3)
    lines = [
        ",".join((random.choice(("", "1", "2", "3")), random.choice(("", "5", "-6")), s))
        for s in ("", "Ø", "a", "B", "b", "Å", "z", "zz", "", "a")
    ]
    (tmp_path / "b.csv").write_text("k,x,s,y\n" + "\n".join(f"{x},7" for x in lines), "utf-8")
    toml = f'''
[relations.base]
source = {{ format = "csv", path = "b.csv", options = {{ header = "true" }} }}
[relations.base.columns]
k = "int"
x = "int"
s = "string"
[relations.v]
source = {{ view = """{view}""" }}
[relations.v.columns]
k = "int"
x = "int"
s = "string"
'''
    catalog = make_catalog(tmp_path, toml)
    if "max(k) AS s" in view:
        toml = toml[: toml.rindex('"string"')] + '"int"\n'
        catalog = make_catalog(tmp_path, toml)
    base = load_statics(spark, catalog, ["base"])["base"]
    answer = evaluate_view(catalog.relations["v"], view, catalog, lambda name: {"base": base}[name])
    assert (answer is not None) is simple
    if answer is None:
        return
    mine = load_statics(spark, catalog, ["v"])["v"]
    monkeypatch.setattr(evaluating, "evaluate_view", lambda *_: None)
    monkeypatch.setattr(module, "read_relation", lambda *_: None)
    theirs = load_statics(spark, catalog, ["v"])["v"]
    assert mine.schema == theirs.schema
    assert sorted(mine.to_pylist(), key=str) == sorted(theirs.to_pylist(), key=str)


def test_a_small_relation_starts_no_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session is not even looked at; a broken row is told by the same words."""
    (tmp_path / "r.csv").write_text("k,x\n1,2\n1,3\n")
    toml = (
        f'[relations.r]\nkeys = [["k"]]\nsource = {{ {CSV} }}\n[relations.r.columns]\nk = "int"\n'
    )
    catalog = make_catalog(tmp_path, toml)
    with pytest.raises(DataError, match=r"k = 1 occurs 2 times"):
        load_statics(None, catalog, ["r"])  # type: ignore[arg-type]

"""Static relations read without Spark: the same as what Spark reads, or left to it."""

from decimal import Decimal
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import DataSource, Relation
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.sources.read_source import BAD, WantedColumns, read_source
from ontoweir.runtime.statics import load_statics as module
from ontoweir.runtime.statics.evaluate_view import evaluate_view
from ontoweir.runtime.statics.load_statics import load_statics
from ontoweir.runtime.statics.read_small import read_small
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
PLAIN = [
    HEADER,
    HEADER + "1,Ærø,1.5,2.25,true,,x\n-7,,,,,,\n007,a b,-3,1,false,,\n",
    HEADER + '1,"a,b",0.1,"3.20",true,,"x y"\n2,c,0.30000000000000004,-9999.99,false,,z',
    HEADER + "1,'a',5,2,true,,# no comment\n",
]
LEFT_TO_SPARK = [
    HEADER + '1,"a""b",1,2,true,,x\n',
    HEADER + '1,"",1,2,true,,x\n',
    HEADER + '1,a"b,1,2,true,,x\n',
    HEADER + '1,"a\nb",1,2,true,,x\n',
    HEADER + "1,a\\b,1,2,true,,x\n",
    HEADER + "1,a,1,2,true,,x\n\n2,b,1,2,true,,x\n",
    HEADER + "1,a,1,2,true,,x\r\n",
    HEADER + "1, a,1,2,true,,x\n",
    HEADER + "1,a,1,2,true\n",
    HEADER + "1,a,1,2,true,,x,more\n",
    HEADER + "1.0,a,1,2,true,,x\n",
    HEADER + "99999999999999999999,a,1,2,true,,x\n",
    HEADER + "one,a,1,2,true,,x\n",
    HEADER + "1,a,1e3,2,true,,x\n",
    HEADER + "1,a,NaN,2,true,,x\n",
    HEADER + "1,a,1,2.125,true,,x\n",
    HEADER + "1,a,1,10000,true,,x\n",
    HEADER + "1,a,1,2,TRUE,,x\n",
    HEADER + "1,a,1,2,true,2020-01-01,x\n",
    HEADER + ",,,,,,\n",
    "\ufeff" + HEADER + "1,a,1,2,true,,x\n",
    "I,s,f,d,b,t,other\n1,a,1,2,true,,x\n",
]


def _relation(folder: Path, source: str) -> Relation:
    toml = f"[relations.r]\nsource = {{ {source} }}\n{COLUMNS}"
    return make_catalog(folder, toml).relations["r"]


def _compare(relation: Relation, file: Path, spark: SparkSession) -> bool:
    """Whether the file is read without Spark; if so, it is what Spark reads."""
    small = read_small(relation.data, str(file), relation.columns)
    if small is None:
        return False
    table = read_source(spark, relation.data, str(file), WantedColumns(relation.columns)).toArrow()
    assert table.column(BAD).null_count == table.num_rows
    wanted = {c.name: table.column(c.name).cast(arrow_type(c.type)) for c in relation.columns}
    assert small.to_pylist() == pa.table(wanted).to_pylist()
    assert small.schema == pa.table(wanted).schema
    return True


CSV = 'format = "csv", path = "r.csv", options = { header = "true" }'


@pytest.mark.parametrize("text", PLAIN)
def test_plain_csv_is_read_as_spark_reads_it(
    tmp_path: Path, spark: SparkSession, text: str
) -> None:
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    assert _compare(_relation(tmp_path, CSV), tmp_path / "r.csv", spark)


@pytest.mark.parametrize("text", LEFT_TO_SPARK)
def test_csv_that_is_not_plain_is_left_to_spark(tmp_path: Path, text: str) -> None:
    relation, file = _relation(tmp_path, CSV), tmp_path / "r.csv"
    file.write_text(text, encoding="utf-8", newline="")
    assert read_small(relation.data, str(file), relation.columns) is None


TOKENS = ("1", "-2", "abc", "Ø", "1.5", "0", "true", "false", "", " ", '"q"', '"a,b"', '"', "''")


def test_random_csv(tmp_path: Path, spark: SparkSession) -> None:
    """Whatever is not refused is equal."""
    random, relation, read = Random(7), _relation(tmp_path, CSV), 0
    for seed in range(60):
        file = tmp_path / f"{seed}.csv"
        odd = random.random() < 0.4
        rows = []
        for _ in range(random.randint(0, 4)):
            row = [
                random.choice(("1", "-2", "0012", "")),
                random.choice(TOKENS if odd else ("x", "Ø", "'", "a b", "")),
                random.choice(("", "1.5", "-0", "12")),
                random.choice(("", "1.5", "-0.25", "12")),
                random.choice(("", "true", "false")),
                "",
                random.choice(TOKENS if odd else ("x", '"a,b"')),
            ]
            rows.append(",".join(row))
        file.write_text(HEADER + "\n".join(rows), encoding="utf-8")
        read += _compare(relation, file, spark)
    assert 15 < read < 60


@pytest.mark.parametrize(
    ("lines", "plain"),
    [
        ('{"i": 1, "s": "Ærø", "b": "true", "x": [1]}\n{"s": null, "i": "12"}\n', True),
        ('{"i": 1, "x": 1}\n{"s": null, "i": "12", "d": "1.25"}\n', True),
        ('{"i": [1]}\n', False),
        ('{"i": 12345678901234567, "s": 12, "f": 3, "d": 4}\n  {"i": -1}\n', True),
        ('{"i": 1.0}\n', False),
        ('{"i": 1, "i": 2}\n', False),
        ('{"I": 1}\n', False),
        ('{"s": -0}\n', False),
        ('{"s": true}\n', False),
        ('{"s": "\\ud800"}\n', False),
        ('{"s": " a"}\n', False),
        ("{'i': 1}\n", False),
        ('{"i": 1}\n\n{"i": 2}\n', False),
        ('[{"i": 1}]\n', False),
        ("", False),
    ],
)
def test_json(tmp_path: Path, spark: SparkSession, lines: str, plain: bool) -> None:
    file = tmp_path / "r.json"
    file.write_text(lines, encoding="utf-8")
    relation = _relation(tmp_path, 'format = "json", path = "r.json"')
    assert _compare(relation, file, spark) is plain


@pytest.mark.parametrize(
    ("cell", "plain"),
    [
        ({}, True),
        ({"i": pa.array([1, None], pa.int16())}, True),
        ({"i": pa.array([1.0, 2.0])}, False),
        ({"i": pa.array(["1", "2"])}, False),
        ({"i": pa.array([1, 2], pa.uint32())}, False),
        ({"f": pa.array([1.5, 2.5], pa.float32())}, False),
        ({"f": pa.array([float("nan"), -0.0])}, True),
        ({"d": pa.array([Decimal("1.5"), None], pa.decimal128(4, 1))}, False),
        ({"d": pa.array([Decimal("1.25"), None], pa.decimal128(4, 2))}, True),
        ({"s": pa.array(["a", "b"]).dictionary_encode()}, False),
        ({"S": pa.array(["a", "b"])}, False),
    ],
)
def test_parquet(
    tmp_path: Path, spark: SparkSession, cell: dict[str, pa.Array], plain: bool
) -> None:
    toml = 'format = "parquet", path = "r.parquet"'
    relation = _relation(tmp_path, toml)
    columns = tuple(c for c in relation.columns if c.name != "t")
    cells = {
        "i": pa.array([1, None]),
        "s": pa.array(["x", ""]),
        "f": pa.array([0.5, None]),
        "d": pa.array([Decimal("1.25"), Decimal("-3.00")], pa.decimal128(6, 2)),
        "b": pa.array([True, None]),
    }
    file = tmp_path / "r.parquet"
    pq.write_table(pa.table(cells | cell), file)
    small = read_small(relation.data, str(file), columns)
    assert (small is not None) is plain
    if small is not None:
        table = read_source(spark, relation.data, str(file), WantedColumns(columns)).toArrow()
        for c in columns:
            wanted = table.column(c.name).cast(arrow_type(c.type)).combine_chunks()
            found = small.column(c.name).combine_chunks()
            if c.name == "f":
                found, wanted = (pc.if_else(pc.is_nan(v), None, v) for v in (found, wanted))
            assert found.equals(wanted)


def test_places_left_to_spark(tmp_path: Path) -> None:
    relation = _relation(tmp_path, CSV)
    for name in ("r.csv.gz", "_r.csv", ".r.csv", "r[1].csv", "r,.csv"):
        (tmp_path / name).write_text(PLAIN[1])
        assert read_small(relation.data, str(tmp_path / name), relation.columns) is None
    assert read_small(relation.data, str(tmp_path), relation.columns) is None
    assert read_small(DataSource("orc", "x"), str(tmp_path / "r.csv"), relation.columns) is None
    large = tmp_path / "large.csv"
    large.write_text(HEADER + "1,a,1,2,true,,x\n" * 150_000)
    assert read_small(relation.data, str(large), relation.columns) is None


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
    ("SELECT max(k) AS k, max(x) AS x, max(s) AS s FROM base", False),
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
    monkeypatch.setattr(module, "evaluate_view", lambda *_: None)
    monkeypatch.setattr(module, "read_small", lambda *_: None)
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

"""Static relations that are or may be large are mapped to memory from what tasks write: rows and
errors are those of collecting them."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from ontoweir.errors import DataError, RunError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.spark import materialize_frame as spooling
from ontoweir.runtime.spark.materialize_frame import materialize_frame
from ontoweir.runtime.statics import evaluate_view
from ontoweir.runtime.statics import load_statics as module
from ontoweir.runtime.statics.load_statics import load_statics
from tests.runtime.harness import make_catalog

COLUMNS = """
keys = [["id"]]
max_rows = 3000
[relations.{0}.columns]
id = {{ type = "int", max = 2999 }}
name = "string"
since = "date"
checked = "timestamp"
size = "decimal(6,2)"
share = "float"
"""
WAYS = {
    "local": 'source = { format = "csv", path = "place", options = { header = "true" } }',
    "remote": 'source = { format = "csv", path = "viewfs://NAME/place", '
    'options = { header = "true" } }',
    "frame": 'source = { format = "view", path = "held" }',
    "view": 'source = { view = "SELECT * FROM base WHERE id >= 0" }',
    "simple": 'source = { view = "SELECT id, name, since, checked, size, share FROM base WHERE '
    'id IS NOT NULL" }',
}
"""How a relation is given; `base` is the local one, without what is declared to be enforced."""


def write_rows(folder: Path, more: str = "") -> None:
    """Three files of a thousand rows, some of them NULL, and one more row."""
    (folder / "place").mkdir(exist_ok=True)
    for part in range(3):
        rows = [
            f"{i},{'' if i % 7 == 0 else f'n{i}'},{1500 + i % 28}-01-{1 + i % 28:02d},"
            f"2020-01-01 10:00:{i % 60:02d},{i}.25,0.5"
            for i in range(part * 1000, part * 1000 + 1000)
            if not (more and i == 2001)
        ]
        text = "\n".join(
            ["id,name,since,checked,size,share", *rows, *([more] if part == 2 else [])]
        )
        (folder / "place" / f"{part}.csv").write_text(text + "\n", encoding="utf-8")


@pytest.fixture
def give(tmp_path: Path, spark: SparkSession) -> Iterator[Callable[[str], dict[str, pa.Table]]]:
    """What loads the relation, given in one of the WAYS."""
    name = tmp_path.name.replace("_", "-")
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    hadoop.set(f"fs.viewfs.mounttable.{name}.link./place", (tmp_path / "place").as_uri())

    def load(way: str) -> dict[str, pa.Table]:
        if way == "frame":
            reader = spark.read.option("header", "true")
            reader.csv(f"{tmp_path}/place").createOrReplaceTempView("held")
        base = COLUMNS.replace('keys = [["id"]]\n', "").replace("max_rows = 3000\n", "")
        base = base.replace('{{ type = "int", max = 2999 }}', '"int"').format("base")
        toml = f"[relations.place]\n{WAYS[way].replace('NAME', name)}{COLUMNS.format('place')}"
        toml += f"[relations.base]\n{WAYS['local']}{base}"
        return load_statics(spark, make_catalog(tmp_path, toml), ["place"], tmp_path / "answers")

    yield load
    spark.catalog.dropTempView("held")


STREAM = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
columns = { k = { type = "int", min = 0, max = 39 } }
[relations.r]
source = { format = "view", path = "held" }
columns = { k = "int", x = "int" }
[relations.v]
source = { view = "SELECT k, max(x) + 1 AS n FROM r GROUP BY k" }
columns = { k = "int", n = "int" }
"""


class Spy:
    """Counts the rows that are collected, and those that are copied to Java."""

    def __init__(self, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
        self.collected, self.copied = 0, 0
        kind, session = type(spark.range(1)), type(spark)
        collect, create = kind.toArrow, session.createDataFrame

        def counted(frame: DataFrame) -> pa.Table:
            table = collect(frame)
            self.collected += table.num_rows
            return table

        def copied(session: SparkSession, rows: Any, *more: Any, **named: Any) -> DataFrame:
            self.copied += len(rows)
            return create(session, rows, *more, **named)

        monkeypatch.setattr(kind, "toArrow", counted)
        monkeypatch.setattr(session, "createDataFrame", copied)


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything be large."""
    for place in (module, spooling, evaluate_view):
        monkeypatch.setattr(place, "LARGEST_COLLECTED", 0)


@pytest.mark.parametrize("way", WAYS)
def test_the_same_rows_without_collecting_them(
    way: str,
    give: Callable[[str], dict[str, pa.Table]],
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_rows(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(module, "materialize_frame", lambda frame, folder: frame.toArrow())
        wanted = give(way)["place"].sort_by("id")
    assert wanted.num_rows == 3000
    assert wanted.column("since")[0].as_py() == date(1500, 1, 1)
    spy = Spy(spark, monkeypatch)
    make_small(monkeypatch)
    found = give(way)["place"]
    assert found.sort_by("id").equals(wanted)
    assert (spy.collected, spy.copied) == (0, 0)
    assert {p.name for p in tmp_path.iterdir()} == {"place", "ontoweir.toml"}


@pytest.mark.parametrize("way", ["remote", "frame", "view"])
def test_what_is_not_known_to_be_small_is_not_collected(
    way: str,
    give: Callable[[str], dict[str, pa.Table]],
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_rows(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(module, "materialize_frame", lambda frame, folder: frame.toArrow())
        wanted = give(way)["place"]
    spy = Spy(spark, monkeypatch)
    assert give(way)["place"].equals(wanted)  # in this order, which a checkpoint's hash is of
    assert spy.collected == 0  # `base`, of the view, is a file that is read here


BROKEN = [
    ("7,again,2020-01-01,2020-01-01 10:00:00,1,0.5", "id = 7 occurs 2 times"),
    ("3000,new,2020-01-01,2020-01-01 10:00:00,1,0.5", "outside the column's declared domain"),
    ("2999,x,2020-01-01,2020-01-01 10:00:00,many,0.5", "size is not"),
    ("2998,x,2020-01-01,2020-01-01 10:00:00,1,NaN", "share is nan"),
    ("2998,x,2020-01-01,2020-01-01 10:00:00,1,0.5\n,,,,,", "3001 rows"),
]


@pytest.mark.parametrize(
    ("way", "row", "said"),
    # of a view, only what its relation may have: that has neither key nor domain
    [(w, *b) for w in WAYS for n, b in enumerate(BROKEN) if n < 2 or "view =" not in WAYS[w]],
)
def test_what_is_broken_is_told_as_when_collected(
    way: str,
    row: str,
    said: str,
    give: Callable[[str], dict[str, pa.Table]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_rows(tmp_path, row)
    told = []
    for spooled in (False, True):
        with monkeypatch.context() as patched:
            if spooled:
                make_small(patched)
            else:
                patched.setattr(module, "materialize_frame", lambda frame, folder: frame.toArrow())
            with pytest.raises(DataError) as caught:
                give(way)
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert said in told[0]


def test_a_replay_and_a_run_answer_the_same(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a stream, a DataFrame, and a view of it; nothing is left beside the answers."""
    (tmp_path / "s").mkdir()
    times = pa.array([n * 1_000_000 for n in range(100)], pa.timestamp("us"))
    table = pa.table({"ts": times, "k": pa.array([n % 40 for n in range(100)])})
    pq.write_table(table, tmp_path / "s" / "0.parquet")
    spark.range(30).selectExpr("id AS k", "id * 2 AS x").createOrReplaceTempView("held")
    (tmp_path / "ontoweir.toml").write_text(STREAM)
    (tmp_path / "q.sql").write_text("SELECT s.k, v.n FROM s, v WHERE s.k = v.k")
    workspace = Workspace(load_project(tmp_path, environ={}))
    query = workspace.compile_sql(tmp_path / "q.sql")
    found = []
    for way in ("collected", "spooled"):
        if way == "collected":
            monkeypatch.setattr(module, "materialize_frame", lambda frame, folder: frame.toArrow())
        else:
            monkeypatch.undo()
            make_small(monkeypatch)
        place = tmp_path / way
        place.mkdir()
        options = RunOptions(place / "check", place / "out", once=True, progress=False)
        summary = run_queries(workspace, [query], options, spark)
        replayed = ReplayOptions(output=place / "q.parquet", progress=False)
        assert replay_query(workspace, query, replayed, spark)["results"] == 80
        files = sorted((place / "out" / "q").glob("*.parquet"))
        found.append([summary["results"], [pq.read_table(f) for f in files]])
        found[-1] += [pq.read_table(place / "q.parquet")]
        assert {p.name for p in place.iterdir()} == {"check", "out", "q.parquet"}
    assert found[0] == found[1]
    # the last timestamp is not finished in a run
    assert found[0][0] == 80 - 1


def test_no_rows(
    give: Callable[[str], dict[str, pa.Table]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(tmp_path)
    for file in (tmp_path / "place").iterdir():
        file.write_text("id,name,since,checked,size,share\n", encoding="utf-8")
    make_small(monkeypatch)
    for way in WAYS:
        assert give(way)["place"].num_rows == 0


def test_types_are_those_of_collecting(spark: SparkSession, tmp_path: Path) -> None:
    """Also of columns whose names differ in case alone, or have dots; and of no type at all."""
    home = spark.newSession()
    home.conf.set("spark.sql.session.timeZone", "UTC")
    frame = home.sql(
        "SELECT CAST(id AS TINYINT) a, CAST(id AS SMALLINT) `A`, CAST(id AS INT) `b.c`, id d, "
        "CAST(id AS FLOAT) e, CAST(id AS DOUBLE) f, CAST(id AS DECIMAL(38,9)) g, "
        "CAST(id AS STRING) h, X'00ff' i, id > 2 j, DATE'0001-01-01' k, "
        "TIMESTAMP'1500-01-01 00:00:00' l, TIMESTAMP_NTZ'1500-01-01 00:00:00' m FROM range(5)"
    )
    found, wanted = materialize_frame(frame, tmp_path), frame.toArrow()
    assert found.column_names == wanted.column_names
    for one, other in zip(found.columns, wanted.columns, strict=True):
        assert one.type == other.type
        assert one.equals(other)
    nothing = materialize_frame(home.sql("SELECT NULL a, id FROM range(5)"), tmp_path)
    assert nothing.column("a").null_count == 5
    arrays = home.sql("SELECT array(id) a FROM range(5)")
    assert materialize_frame(arrays, tmp_path).equals(arrays.toArrow())
    assert not [p for p in tmp_path.rglob("*") if p.suffix in (".parquet", ".arrow")]


def test_where_the_driver_does_not_see_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few rows are collected; many are not: the message says what to do."""
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))
    assert materialize_frame(spark.range(10), tmp_path).num_rows == 10
    monkeypatch.setattr(spooling, "LARGEST_COLLECTED", 0)
    with pytest.raises(RunError, match=r"does not see .*--output"):
        materialize_frame(spark.range(10), tmp_path)


def test_a_place_that_cannot_be_written_to(
    give: Callable[[str], dict[str, pa.Table]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    write_rows(tmp_path)
    monkeypatch.setattr("tempfile.TemporaryDirectory", refuse)
    with pytest.raises(RunError, match="Permission denied"):
        give("frame")

"""What is declared is enforced before any question sees the data: the tuples that are let in do not
depend on what is asked of them."""

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.cli import main
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.project.project import load_project
from ontoweir.runtime.ingest.enforced_columns import enforced_columns
from ontoweir.runtime.ingest.prove_domains import prove_domains

TOML = """
[project]
queries = ["*.sql"]
[streams.s]
source = {{ {source} }}
timestamp = {{ column = "ts", unit = "1 second" }}
references = [{{ columns = ["r"], relation = "rooms", to = ["id"] }}]
[streams.s.columns]
k = "int"
n = {{ type = "int", min = 0, max = 9 }}
state = {{ type = "string", enum = ["ON", "OFF"] }}
f = "double"
r = "int"
free = "string"
[relations.rooms]
source = {{ format = "csv", path = "rooms.csv", options = {{ header = "true" }} }}
columns = {{ id = "int" }}
"""
SOURCES = {
    "parquet": 'format = "parquet", path = "s.parquet"',
    "csv": 'format = "csv", path = "s.csv", options = { header = "true" }',
}
# of the second to the fifth row, one column is not what is declared
TABLE = {
    "k": [1, 2, 3, 4, 5, 6],
    "n": [0, 10, 9, 9, 9, 9],
    "state": ["ON", "ON", "BROKEN", "OFF", "OFF", None],
    "f": [0.5, 0.5, 0.5, float("nan"), 0.5, 0.5],
    "r": [1, 1, 1, 1, 7, 1],
    "free": ["a", "b", "c", "d", "e", "f"],
}
REASONS = {
    "s.n is outside its declared domain": 1,
    "s.state is outside its declared domain": 1,
    "s.f is NaN": 1,
    "s.r is not in rooms.id": 1,
}


def make(folder: Path, kind: str, without: Sequence[str] = ()) -> Catalog:
    times = pa.array([t * 1_000_000 for t in range(1, 7)]).cast(pa.timestamp("us"))
    table = pa.table({**TABLE, "ts": times}).drop_columns(list(without))
    if kind == "csv":
        pcsv.write_csv(table, folder / "s.csv")
    else:
        pq.write_table(table, folder / "s.parquet")
    (folder / "rooms.csv").write_text("id\n1\n")
    (folder / "ontoweir.toml").write_text(TOML.format(source=SOURCES[kind]))
    (folder / "one.sql").write_text("SELECT s.k FROM s")
    return load_project(folder, environ={}).catalog


@pytest.mark.parametrize(
    ("kind", "sql"),
    [
        ("parquet", "SELECT s.k FROM s"),
        ("csv", "SELECT s.k, s.free FROM s"),
        ("parquet", "SELECT s.k FROM s, s t WHERE s.ts <= t.ts AND s.free = t.free"),
    ],
)
def test_a_replay_rejects_what_no_query_mentions(
    kind: str, sql: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], spark: SparkSession
) -> None:
    make(tmp_path, kind)
    (tmp_path / "one.sql").write_text(sql)
    out = tmp_path / "out.parquet"
    command = ["replay", str(tmp_path), "--sql", str(tmp_path / "one.sql"), "--output", str(out)]
    assert main([*command, "--summary", "json", "--allow-unbounded"]) == 0
    assert json.loads(capsys.readouterr().out)["rejects"] == REASONS
    assert pq.read_table(out).column("k").to_pylist() == [1, 6]


def test_a_live_run_rejects_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spark: SparkSession
) -> None:
    make(tmp_path, "parquet")
    register = ["register", str(tmp_path), "--sql", str(tmp_path / "one.sql")]
    assert main(register) == 0
    capsys.readouterr()
    assert main(["run", str(tmp_path), "--serve", "--once", "--summary", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rejects"] == REASONS


def test_statistics_that_prove_a_domain_spare_its_column(tmp_path: Path) -> None:
    stream = make(tmp_path, "parquet").streams["s"]
    held = enforced_columns(stream)
    assert [c.name for c in held] == ["n", "state", "f", "r"]
    fine = pa.table({"n": [0, 9, None], "state": ["ON", "ON", None], "f": [0.5] * 3, "r": [1] * 3})
    files = []
    for name, table in {
        "fine": fine,
        "high": fine.set_column(0, "n", pa.array([0, 10, None])),
        "low": fine.set_column(0, "n", pa.array([-1, 9, None])),
        "two": fine.set_column(1, "state", pa.array(["OFF", "ON", None])),
        "other": fine.set_column(1, "state", pa.array(["O", "O", None])),
        "text": fine.set_column(0, "n", pa.array(["5", "5", None])),
        "none": fine.drop_columns(["n"]),
    }.items():
        files.append(str(tmp_path / f"{name}.parquet"))
        pq.write_table(table, files[-1], row_group_size=2)
    assert prove_domains(files[:1], held) == set()
    # a row group of NULLs has no least value, and proves nothing
    for file in files:
        pq.write_table(pq.read_table(file).slice(0, 2), file)
    assert prove_domains(files[:1], held) == {"n", "state"}
    kept = [{"state"}, {"state"}, {"n"}, {"n"}, {"state"}, {"n", "state"}]
    for file, left in zip(files[1:], kept, strict=True):
        assert prove_domains([files[0], file], held) == left, file


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_what_no_query_mentions_may_be_absent(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], spark: SparkSession
) -> None:
    make(tmp_path, kind, without=("state", "f"))
    out = tmp_path / "out.jsonl"
    query = tmp_path / "one.sql"
    command = ["replay", str(tmp_path), "--sql", str(query), "--output", str(out)]
    assert main([*command, "--summary", "json"]) == 0
    rejects = json.loads(capsys.readouterr().out)["rejects"]
    assert rejects == {r: n for r, n in REASONS.items() if "s.n" in r or "s.r" in r}
    assert main(["register", str(tmp_path), "--sql", str(query)]) == 0
    capsys.readouterr()
    assert main(["run", str(tmp_path), "--serve", "--once", "--summary", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rejects"] == rejects
    # twin: what a query mentions, and the columns of keys and references, have to be there
    query.write_text("SELECT s.k, s.state FROM s")
    assert main(command) == 2
    assert "there is no column 'state'" in capsys.readouterr().err
    make(tmp_path, kind, without=("r",))
    assert main(command) == 2
    assert "there is no column 'r'" in capsys.readouterr().err

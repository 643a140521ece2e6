"""`--sink delta` and `--sink iceberg`: each micro-batch is in the table once, whatever happens."""

import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import Transaction
from pyspark.sql import SparkSession

from ontoweir.errors import RunError, UsageError
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.live.output.bind_sink import bind_sink
from ontoweir.runtime.live.output.sinks import sink as sink_module
from ontoweir.runtime.live.output.sinks.delta import DeltaSink
from ontoweir.runtime.live.output.sinks.iceberg import IcebergSink
from ontoweir.runtime.live.output.sinks.sinks import make_sink
from ontoweir.runtime.live.output.sinks.table import TableSink
from tests.runtime.killed_publisher import BATCHES, options, rows
from tests.runtime.live.test_run_live import open_queries, read_output, write_history
from tests.runtime.live.test_upserts import KEY, draw_batches, make_query, make_table, replay

PUBLISHER = Path(__file__).parent.parent / "killed_publisher.py"
VALUES = pa.table(
    {
        "text": ["é\n", None],
        "a name, with (signs) %": [1 << 62, None],
        "d": [Decimal("1.50"), None],
        "f": [float("nan"), None],
        "b": [True, None],
        "day": [date(2026, 1, 5), None],
        "at": pa.array([datetime(2026, 1, 5, 8, 0, 0, 1), None], pa.timestamp("us")),
        "ts": pa.array([datetime(2026, 1, 5, 8), None], pa.timestamp("us", "UTC")),
    }
)


def _make(folder: Path, kind: str) -> Any:
    given = options(folder, kind)
    sink: Any = make_sink(kind.partition("-")[0], folder / "out", given)
    if kind == "iceberg":
        (folder / "warehouse").mkdir(exist_ok=True)
        sink._open().create_namespace_if_not_exists("db")
    if sink.keys is not None:
        sink.keys["q"] = ("k",)
    return sink


def _read(folder: Path, kind: str, query: str = "q") -> pa.Table:
    if kind == "iceberg":
        given = options(folder, kind)
        held = {n.removeprefix("catalog."): v for n, v in given.items() if n != "table"}
        return load_catalog(None, **held).load_table(f"db.{query}").scan().to_arrow()
    return DeltaTable(str(folder / "out" / query)).to_pyarrow_table()


def _sorted(table: pa.Table) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=repr)


KINDS = ["delta", "iceberg"]


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_names(tmp_path: Path, kind: str) -> None:
    sink = _make(tmp_path, kind)
    sink.begin("q")
    sink.publish("q", 0, VALUES, None)
    found = _read(tmp_path, kind)
    assert found.column_names == VALUES.column_names
    first, second = _sorted(found.slice(0, 1)) + _sorted(found.slice(1))
    assert (str(first.pop("f")), set(second.values())) == ("nan", {None})
    at = datetime(2026, 1, 5, 8, 0, 0, 1, UTC)
    ((wanted, _),) = [VALUES.drop_columns(["f"]).to_pylist()]
    assert first == {**wanted, "at": at}


@pytest.mark.parametrize("kind", [*KINDS, "delta-upsert"])
def test_a_micro_batch_that_was_taken_changes_nothing(tmp_path: Path, kind: str) -> None:
    sink = _make(tmp_path, kind)
    sink.begin("q")
    for batch in (0, 1, 1, 0, 3, 3):
        sink.publish("q", batch, rows(batch), None)
    found = sorted((r["k"], r["n"]) for r in _read(tmp_path, kind).to_pylist())
    if kind == "delta-upsert":
        assert found == [(0, 0), (1, 3), (5, 3)]
    else:
        assert found == [(0, 0), (1, 1), (1, 3), (5, 0), (5, 1), (5, 3)]


@pytest.mark.parametrize("kind", [*KINDS, "delta-upsert", "table"])
@pytest.mark.parametrize("dropped", [True, False])
def test_a_table_that_is_gone_is_told(
    tmp_path: Path, kind: str, dropped: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    sink: Any = TableSink(tmp_path / "out", {"q": ("k",)})
    sink = sink if kind == "table" else _make(tmp_path, kind)
    for batch in (0, 1):
        sink.publish("q", batch, rows(batch), None)
    if dropped and kind == "iceberg":
        sink._open().drop_table("db.q")
    elif dropped:
        shutil.rmtree(tmp_path / "out")
    assert capsys.readouterr().err == ""
    sink.publish("q", 2, rows(2), None)
    sink.publish("q", 3, rows(3), None)
    said = capsys.readouterr().err
    assert said.count("is gone, and is made anew") == dropped
    assert said.count("the rows that held are lost") == (dropped and kind not in KINDS)


@pytest.mark.parametrize("kind", [*KINDS, "delta-upsert"])
def test_killed_while_it_publishes(tmp_path: Path, kind: str) -> None:
    _make(tmp_path, kind)
    random = Random(kind)

    def run(last: int) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, str(PUBLISHER), str(tmp_path), kind, str(last)]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    ends = set()
    for _ in range(4):
        ran = run(random.randint(1, 600))
        ends.add(ran.returncode)
        assert ran.returncode in (0, -signal.SIGKILL), ran.stderr
    assert -signal.SIGKILL in ends
    assert run(0).returncode == 0
    whole = pa.concat_tables(rows(batch) for batch in range(BATCHES))
    if kind == "delta-upsert":
        whole = pa.table({"k": [0, 1, 5], "n": [4, 5, 5]})
    assert _sorted(_read(tmp_path, kind)) == _sorted(whole)


@pytest.mark.parametrize("stage", ["before", "behind"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_around_the_commit(
    tmp_path: Path, kind: str, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it nothing is there; behind it all is, and it is not there twice afterwards."""
    owner, name = (DeltaSink, "_append") if kind == "delta" else (Transaction, "commit_transaction")
    commit = getattr(owner, name)

    def crash(*given: Any) -> None:
        if stage == "behind":
            commit(*given)
        raise KeyboardInterrupt

    sink = _make(tmp_path, kind)
    sink.publish("q", 0, rows(0), None)
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, crash)
        with pytest.raises(KeyboardInterrupt):
            sink.publish("q", 1, rows(1), None)
    assert _read(tmp_path, kind).num_rows == (4 if stage == "behind" else 2)
    sink.publish("q", 1, rows(1), None)
    assert _sorted(_read(tmp_path, kind)) == _sorted(pa.concat_tables([rows(0), rows(1)]))


@pytest.mark.parametrize("op", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_merged_table_has_what_holds(tmp_path: Path, seed: int, op: bool) -> None:
    random = Random(seed)
    sink = DeltaSink(str(tmp_path / "{query}"), keys={"q": KEY})
    sink.begin("q")
    held: dict[tuple[str | None, int], float] = {}
    for number, batch in enumerate(draw_batches(random, op=op)):
        table = make_table(batch, op=op)
        replay(batch, held)
        for _ in range(random.randint(1, 2)):  # again, after a crash
            sink.publish("q", number, table, None)
        found = DeltaTable(str(tmp_path / "q")).to_pyarrow_table()
        assert {(r["road"], r["lane"]): r["mean"] for r in found.to_pylist()} == held
        assert found.num_rows == len(held)


def test_one_row_without_a_key(tmp_path: Path) -> None:
    sink = DeltaSink(str(tmp_path / "a b"), keys={"q": ()})
    for batch, n in enumerate((1, 2, 3)):
        sink.publish("q", batch, pa.table({"n": [n]}), None)
    assert DeltaTable(str(tmp_path / "a b")).to_pyarrow_table().to_pylist() == [{"n": 3}]
    sink.publish("q", 3, pa.table({"n": [3], "op": ["-"]}), None)
    assert DeltaTable(str(tmp_path / "a b")).to_pyarrow_table().num_rows == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_run_begins_with_nothing(tmp_path: Path, kind: str) -> None:
    sink = _make(tmp_path, kind)
    sink.publish("q", 0, rows(0), None)
    with pytest.raises(UsageError, match="is of another run"):
        _make(tmp_path, kind).begin("q")
    _make(tmp_path, kind).begin("other")  # the twin
    one = make_sink("delta", tmp_path, {"path": str(tmp_path / "one")})
    if kind == "iceberg":
        one = make_sink("iceberg", tmp_path, {**options(tmp_path, kind), "table": "db.one"})
    assert isinstance(one, DeltaSink | IcebergSink)
    one.begin("a")
    with pytest.raises(UsageError, match="would have the answers of several queries"):
        one.begin("b")
    one.publish("a", 0, rows(0), None)
    with pytest.raises(UsageError, match="is of another"):
        one.publish("b", 0, rows(0), None)


def test_a_table_without_rows_may_be_there(tmp_path: Path) -> None:
    place = str(tmp_path / "out" / "q")
    write_deltalake(place, rows(0).slice(0, 0), partition_by=["k"])
    sink = _make(tmp_path, "delta")
    sink.begin("q")
    sink.publish("q", 7, rows(0), None)
    assert DeltaTable(place).metadata().partition_columns == ["k"]
    assert _sorted(_read(tmp_path, "delta")) == _sorted(rows(0))
    full = tmp_path / "out" / "full"
    full.mkdir()
    sink.begin("full")
    (full / "part-0.parquet").touch()
    with pytest.raises(UsageError, match="there is something else"):
        sink.begin("full")


def test_another_commit_may_come_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried again; where the first one was taken after all, it is found to be there."""
    sink = _make(tmp_path, "iceberg")
    sink.publish("q", 0, rows(0), None)
    commit, failures = Transaction.commit_transaction, [False, True]

    def fail(self: Transaction) -> Any:
        if failures:
            if failures.pop():
                commit(self)
            raise CommitFailedException("somebody was there before")
        return commit(self)

    monkeypatch.setattr(Transaction, "commit_transaction", fail)
    sink.publish("q", 1, rows(1), None)
    assert failures == [False]
    sink.publish("q", 2, rows(2), None)
    assert failures == []
    assert _sorted(_read(tmp_path, "iceberg")) == _sorted(pa.concat_tables(map(rows, range(3))))
    monkeypatch.setattr(Transaction, "commit_transaction", lambda _: fail_always())
    with pytest.raises(RunError, match="somebody was there before"):
        sink.publish("q", 3, rows(3), None)


def fail_always() -> None:
    raise CommitFailedException("somebody was there before")


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("delta", {"upsert": "yes"}, "the option upsert of the sink delta is 'yes'"),
        ("delta", {"storage": "x"}, "the sink delta has no option storage"),
        ("iceberg", {"table": "db.q", "upsert": "true"}, "--sink delta with upsert=true"),
        ("iceberg", {"table": "q"}, "it is NAMESPACE.NAME"),
        ("iceberg", {"table": "db.q", "uri": "x"}, "the sink iceberg has no option uri"),
    ],
)
def test_options_that_are_wrong(
    tmp_path: Path, name: str, given: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        make_sink(name, tmp_path, given)
    assert said in str(refused.value)


@pytest.mark.parametrize("name", KINDS)
def test_a_package_that_is_missing(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_module, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=f"the sink {name} needs") as refused:
        make_sink(name, tmp_path, {"table": "a.b"} if name == "iceberg" else {})
    assert f"pip install 'ontoweir[{name}]'" in str(refused.value)


def test_what_cannot_be_reached(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    sink = make_sink("delta", tmp_path, {"path": str(tmp_path / "file" / "q")})
    assert isinstance(sink, DeltaSink)
    with pytest.raises(RunError, match="answers cannot be written to the Delta table"):
        sink.publish("q", 0, rows(0), None)
    given = {"table": "db.q", "catalog.type": "sql", "catalog.uri": "x://u:hush@h/d"}
    other = make_sink("iceberg", tmp_path, given)
    assert isinstance(other, IcebergSink)
    with pytest.raises(RunError, match=r"cannot be written to the Iceberg table db\.q") as failed:
        other.begin("q")
    assert "hush" not in str(failed.value)
    assert other.redact("x://u:hush@h/d") == "x://u:***@h/d"
    stored = make_sink("delta", tmp_path, {"storage.aws_secret_access_key": "hush"})
    assert stored.redact("with hush") == "with ***"


def test_answers_without_a_key_are_not_merged(tmp_path: Path) -> None:
    query = make_query(["a", "at"], None)
    bind_sink(make_sink("delta", tmp_path, {}), query)
    with pytest.raises(UsageError, match="the answers of q have no key"):
        bind_sink(make_sink("delta", tmp_path, {"upsert": "true"}), query)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_goes_on(tmp_path: Path, kind: str, spark: SparkSession) -> None:
    """The rows are those of the files of another run, in two goes."""
    _make(tmp_path, kind)

    def run(sink: str, given: dict[str, str], place: Path) -> None:
        workspace, compiled = open_queries(tmp_path, ["matches"])
        asked = RunOptions(place / "check", place / "out", once=True, progress=False)
        asked = replace(asked, sink=sink, sink_options=given)
        run_queries(workspace, compiled, asked, spark)

    given = options(tmp_path, kind)
    if kind == "delta":
        given["path"] = f"{tmp_path}/out/{{query}}"
    for first in (0, 3):
        write_history(tmp_path, first, first + 3)
        run(kind, given, tmp_path / "t")
    run("parquet", {}, tmp_path / "p")
    wanted = read_output(tmp_path / "p" / "out", "matches")
    found = _read(tmp_path, kind, "matches")
    place = found.schema.get_field_index("at")
    naive = found.schema.set(place, pa.field("at", pa.timestamp("us")))
    assert wanted
    rows_found = [tuple(row.values()) for row in found.cast(naive).to_pylist()]
    assert sorted(rows_found, key=repr) == wanted

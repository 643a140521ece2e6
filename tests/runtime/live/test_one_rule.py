"""One reader, one rule: what a replay takes, rejects or refuses of Parquet files, a live run does
too."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from random import Random
from typing import Any, cast

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ontoweir.checker.decide.check_query import check_query
from ontoweir.errors import OntoweirError
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.engine.query_job import QueryJob
from ontoweir.runtime.live.advance_live import advance_live, begin_live
from ontoweir.runtime.live.arrivals import read_arrivals
from ontoweir.runtime.live.arrivals.list_arrivals import ArrivedFile
from ontoweir.runtime.live.arrivals.read_arrivals import open_arrivals
from ontoweir.runtime.live.make_live_job import make_live_job
from ontoweir.runtime.live.model.live_job import LiveJob
from tests.runtime.harness import make_catalog, run
from tests.runtime.in_process import replay_here

TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 9
keys = [["i", "ts"]]
[streams.s.columns]
i = { type = "int", min = 0, max = 4 }
f = "double"
p = "decimal(6,2)"
t = "string"
b = "boolean"
d = "date"
w = "timestamp"
spare = { type = "int", min = 0 }
"""
SQL = "SELECT s.i, s.f, s.p, s.t, s.b, s.d, s.w FROM s WHERE s.i >= 0"
ROWS = 12
Cells = list[Any]
Change = Callable[[pa.Table, list[int]], pa.Table]


def make_table(random: Random, first: int) -> pa.Table:
    """Rows that keep what is declared, and some that do not."""
    us = [1_000_000 * n for n in seconds(first)]

    def some(*values: Any) -> Cells:
        return [random.choice(values) for _ in us]

    return pa.table(
        {
            "ts": pa.array(us, pa.timestamp("us", "UTC")),
            "i": pa.array(some(0, 1, 2, 3, 4, 9, None), pa.int64()),
            "f": pa.array(some(0.5, -1e300, inf, nan, None), from_pandas=False),
            "p": pa.array(some(Decimal("1.23"), Decimal(-7), None), pa.decimal128(6, 2)),
            "t": pa.array(some("", "é", "long " * 9, None)),
            "b": pa.array(some(True, False, None)),
            "d": pa.array([date(1500 + n, 1, 1) for n in range(ROWS)]),
            "w": pa.array([datetime(1890 + 9 * n, 1, 1, tzinfo=UTC) for n in range(ROWS)]),
            "spare": pa.array(some(1, -1, None), pa.int64()),
        }
    )


def seconds(first: int) -> list[int]:
    return [first * ROWS + n for n in range(ROWS)]


def _put(name: str, column: Any) -> Change:
    def change(table: pa.Table, times: list[int]) -> pa.Table:
        made = column(times) if callable(column) else column
        return table.set_column(table.column_names.index(name), name, made)

    return change


def _cast(name: str, kind: pa.DataType) -> Change:
    def change(table: pa.Table, times: list[int]) -> pa.Table:
        return _put(name, table.column(name).cast(kind, safe=False))(table, times)

    return change


def _bytes(*cells: bytes | None) -> pa.Array:
    """Text that is not checked to be UTF-8."""
    whole = list(cells) * (ROWS // len(cells))
    return pa.Array.from_buffers(pa.string(), len(whole), pa.array(whole, pa.binary()).buffers())


_REPEATED = {"p": pa.array([0.05, 0.1 + 0.2, 1e30, inf, nan, -12.34, 99.995, None] * 2)[:ROWS]}
CHANGES: dict[str, Change] = {
    "as declared": lambda table, times: table,
    "narrow": _cast("i", pa.int16()),
    "single": _cast("f", pa.float32()),
    "half": _put("f", pa.array([0.5, 1.5, None] * 4, pa.float16())),
    "unsigned": _put("i", pa.array(range(ROWS), pa.uint32())),
    "far": _put("i", pa.array([1, 2**64 - 1, 2**63] * 4, pa.uint64())),
    "fractions": _put("i", pa.array([n / 2 for n in range(ROWS)])),
    "decimals": _put("i", pa.array([Decimal(n) / 2 for n in range(ROWS)])),
    "finer decimals": _put("p", pa.array([Decimal(n) / 1000 for n in range(0, 120, 10)])),
    "wide decimals": _put(
        "p", pa.array([Decimal(10) ** n for n in range(ROWS)], pa.decimal256(60, 2))
    ),
    "doubles as decimals": _put("p", _REPEATED["p"]),
    "floats as decimals": _put("p", _REPEATED["p"].cast(pa.float32(), safe=False)),
    "whole decimals": _put("p", pa.array([10**n for n in range(ROWS)])),
    "numbers as text": _put("i", pa.array(["1", " 2", "x", None] * 3)),
    "text as numbers": _put("t", pa.array(range(ROWS))),
    "categories": _put("t", pa.array(["a", "b", None] * 4).dictionary_encode()),
    "long text": _cast("t", pa.large_string()),
    "text views": _cast("t", pa.string_view()),
    "text as bytes": _put("t", pa.array([b"a", b"\xff", None] * 4)),
    "no UTF-8": _put("t", _bytes(b"a", b"\xff\xfe", None)),
    "no zone": _cast("ts", pa.timestamp("us")),
    "milliseconds": _cast("ts", pa.timestamp("ms", "UTC")),
    "nanoseconds": _cast("ts", pa.timestamp("ns", "UTC")),
    "nanoseconds within": _put("w", pa.array([1_000, 1_001, None] * 4, pa.timestamp("ns"))),
    "elsewhere": _cast("w", pa.timestamp("us", "Europe/Berlin")),
    "whole microseconds": _put("ts", lambda times: pa.array([1_000_000 * n for n in times])),
    "times as text": _put(
        "ts", lambda times: pa.array([f"1970-01-01T00:{n // 60:02}:{n % 60:02}" for n in times])
    ),
    "no times": _put("ts", pa.nulls(ROWS, pa.timestamp("us", "UTC"))),
    "days as times": _cast("w", pa.date32()),
    "times as days": _put("d", pa.array([0, 1, 86_400_000, None] * 3, pa.timestamp("ms"))),
    "far days": _put("d", pa.array([0, 8_000_000, -8_000_000] * 4, pa.int32()).cast(pa.date32())),
    "far times": _put("w", pa.array([0, 10**18, -(10**18), None] * 3, pa.timestamp("us"))),
    "far timestamps": _put(
        "ts", lambda times: pa.array([n * 10**6 for n in times[:-1]] + [10**18], pa.timestamp("us"))
    ),
    "no values": _put("t", pa.nulls(ROWS)),
    "more columns": lambda table, times: table.append_column("x", pa.array(range(ROWS))),
    "other order": lambda table, times: table.select(table.column_names[::-1]),
    "not asked for": lambda table, times: table.drop_columns(["spare"]),
    "no rows": lambda table, times: table[:0],
}  # fmt: skip
REFUSED: dict[str, Change] = {
    "other case": lambda table, times: table.rename_columns(
        ["B" if n == "b" else n for n in table.column_names]
    ),
    "a column less": lambda table, times: table.drop_columns(["b"]),
    "twice": lambda table, times: table.append_column("b", table.column("b")),
    "times of day": _put("d", pa.array(range(ROWS), pa.time32("s"))),
    "durations": _put("i", pa.array(range(ROWS), pa.duration("us"))),
    "lists": _put("i", pa.array([[1]] * ROWS)),
    "structs": _put("t", pa.array([{"a": 1}] * ROWS)),
    "floats as text": _put("t", pa.array([0.5] * ROWS)),
    "numbers as times": _put("w", pa.array(range(ROWS))),
    "truth as times": _put("ts", pa.array([True] * ROWS)),
}


def _jobs(folder: Path, toml: str = TOML, sql: str = SQL) -> tuple[Catalog, QueryJob, LiveJob]:
    catalog = make_catalog(folder, toml)
    stream = catalog.streams["s"]
    data = replace(stream.data, path=str(folder / "s"))
    catalog = replace(catalog, streams={"s": replace(stream, data=data)})
    union = parse_sql(sql, catalog, name="q", file="q.sql")
    verdict = check_query(union, catalog, disprove=False)
    assert verdict.plans is not None
    assert verdict.bound is not None
    job = QueryJob("q", union, verdict.plans, catalog, verdict.bound.rows)
    return catalog, job, make_live_job([job], catalog, {}, {})


def _live(job: LiveJob, files: list[Path]) -> tuple[list[dict[str, Any]], Counter[str], list[str]]:
    """Answers, rejected rows by reason, and as they are shown."""
    (history,) = job.histories
    arrived = [ArrivedFile(f.as_uri(), str(f), n) for n, f in enumerate(files)]
    state, rows, reasons, shown = begin_live(job), [], Counter[str](), []
    for file in arrived:
        portions, bad = open_arrivals(
            history, [file], cast(SparkSession, None), Path(file.path + ".staged")
        )
        for one in bad:
            raise one.error
        tables = [portion.load() for portion in portions]
        if not tables:
            continue
        table = pa.concat_tables(tables, promote_options="permissive")
        outcome = advance_live(job, state, {"s": table}, 0.0)
        state = outcome.state
        rows += outcome.answers[0].to_pylist()
        for reject in outcome.rejects:
            reason, text = reject.reason, reject.row
            reasons[reason] += 1
            shown.append(text)
    return rows, reasons, shown


def _write(folder: Path, change: Change, everywhere: bool) -> list[Path]:
    random = Random(7)
    (folder / "s").mkdir()
    files = []
    for number in range(3):
        table = make_table(random, number)
        if everywhere or number == 1:
            table = change(table, seconds(number))
        files.append(folder / "s" / f"{number:03d}.parquet")
        pq.write_table(table, files[-1], row_group_size=5)
    return files


@pytest.mark.parametrize("everywhere", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_as_a_replay_reads(
    change: str, everywhere: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All files of another kind than declared, or one among others."""
    files = _write(tmp_path, CHANGES[change], everywhere)
    _, job, live = _jobs(tmp_path)
    whole, summary = replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    rows, reasons, _ = _live(live, files)
    last = datetime(1970, 1, 1, 0, 0, seconds(2)[-1])
    if change in ("no times", "no rows") and everywhere:
        assert not rows
        assert not whole
        return
    assert rows == [row for row in whole if row["at"] < last]
    missing = summary.rejected.get("s.ts is NULL", 0)
    assert (reasons["s.ts is NULL"] == missing) or change == "no times"
    # what the last timestamp, which no later one has finished, has to wait for
    waiting = sum(summary.rejected.values()) - sum(reasons.values())
    assert 0 <= waiting <= 1


@pytest.mark.parametrize("change", REFUSED)
def test_as_a_replay_refuses(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, before a row is read."""
    files = _write(tmp_path, REFUSED[change], everywhere=False)
    _, job, live = _jobs(tmp_path)
    with pytest.raises(OntoweirError) as replayed:
        replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    with pytest.raises(OntoweirError) as arrived:
        _live(live, files)
    assert replayed.value.what == arrived.value.what
    assert str(replayed.value.source) == str(arrived.value.source) == str(files[1])


def test_a_file_without_a_byte_is_named_by_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = _write(tmp_path, CHANGES["as declared"], everywhere=True)
    _, job, live = _jobs(tmp_path)
    files[1].write_bytes(b"")
    with pytest.raises(OntoweirError) as replayed:
        replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    with pytest.raises(OntoweirError) as arrived:
        _live(live, files)
    assert str(replayed.value.source) == str(arrived.value.source) == str(files[1])


def test_what_is_no_decimal_is_rejected_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = _write(tmp_path, CHANGES["doubles as decimals"], everywhere=True)
    _, job, live = _jobs(tmp_path)
    whole, summary = replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    wrong = summary.rejected["p is not of its type"]
    _, reasons, shown = _live(live, files)
    assert wrong - 1 <= reasons["p is not of its type"] <= wrong
    assert wrong > 9
    assert any("1e+30" in text for text in shown)
    assert {row["p"] for row in whole} <= {Decimal("0.05"), Decimal("-12.34")}
    assert {row["p"] for row in whole}


@pytest.mark.spark
@pytest.mark.parametrize("change", ["as declared", "doubles as decimals", "floats as decimals"])
def test_what_spark_reads_is_held_to_the_same(
    change: str, spark: SparkSession, tmp_path: Path
) -> None:
    """The same rows as Parquet, and as ORC, which Spark reads."""
    told = {}
    for name, write in (("parquet", pq.write_table), ("orc", orc.write_table)):
        folder = tmp_path / name
        (folder / "s").mkdir(parents=True)
        table = CHANGES[change](make_table(Random(3), 0), seconds(0))
        plain = {"i": [1] * ROWS, "f": [0.5] * ROWS, "d": [date(2000, 1, 1)] * ROWS}
        for column, cells in plain.items():  # ORC has old dates by another calendar
            table = _put(column, pa.array(cells))(table, [])
        table = _put("w", table.column("ts"))(table, [])
        write(table, str(folder / "s" / f"0.{name}"))
        _, job, _ = _jobs(folder, TOML.replace('"parquet"', f'"{name}"'))
        rows, summary = run(job, spark, folder)
        told[name] = rows, summary.rejected
    assert told["orc"] == told["parquet"]
    assert told["orc"][0]


@pytest.mark.parametrize("collected", [0, 1 << 20])
def test_csv_live_as_in_a_replay(
    collected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither asks Spark; a large file is written to a folder first."""
    monkeypatch.setattr(read_arrivals, "_COLLECTED", collected)
    random, files = Random(5), []
    (tmp_path / "s").mkdir()
    for number in range(3):
        lines = ["d,ts,t,i,p,b,f,w,spare"]
        for second in seconds(number):
            cells = random.choice(["2020-01-02,{},a,1,1.25", "x,{},,2,0.005", ",{},b,9,", "{}"])
            time = f"1970-01-01 00:{second // 60:02}:{second % 60:02}"
            lines.append(cells.format(time) + ",true,0.5,2020-01-01,")
        files.append(tmp_path / "s" / f"{number}.csv")
        files[-1].write_text("\r\n".join(lines))
    toml = TOML.replace('"parquet", path = "s"', '"csv", path = "s", options = { header = "true" }')
    _, job, live = _jobs(tmp_path, toml)
    whole, summary = replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    rows, reasons, _ = _live(live, files)
    last = datetime(1970, 1, 1, 0, 0, seconds(2)[-1])
    assert rows == [row for row in whole if row["at"] < last]
    assert len(rows) > 5
    assert 0 <= sum(summary.rejected.values()) - sum(reasons.values()) <= 1
    assert len(summary.rejected) > 2


@pytest.mark.parametrize("collected", [0, 1 << 20])
def test_json_live_as_in_a_replay(
    collected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither asks Spark; what is no object has no time, and is told by its text live."""
    monkeypatch.setattr(read_arrivals, "_COLLECTED", collected)
    random, files, broken = Random(5), [], 0
    (tmp_path / "s").mkdir()
    for number in range(3):
        lines = []
        for second in seconds(number):
            cells = random.choice(
                ['"i": 2, "t": "a", "p": 1.25', '"i": "1", "p": "0.005"', '"i": 9']
            )
            time = f"1970-01-01 00:{second // 60:02}:{second % 60:02}"
            more = '"b": true, "f": 0.5, "d": "2020-1-2", "w": "2020-01-01", "spare": 1'
            lines.append(f'{{"ts": "{time}", {cells}, {more}}}')
            if random.random() < 0.2:
                lines.append(lines[-1][: random.randint(1, 9)])
                broken += 1
        files.append(tmp_path / "s" / f"{number}.json")
        files[-1].write_text("\r\n".join(lines))
    toml = TOML.replace('"parquet", path = "s"', '"json", path = "s"')
    _, job, live = _jobs(tmp_path, toml)
    whole, summary = replay_here(monkeypatch, job, tmp_path / "out.parquet", ranges=1)
    rows, reasons, shown = _live(live, files)
    last = datetime(1970, 1, 1, 0, 0, seconds(2)[-1])
    assert rows == [row for row in whole if row["at"] < last]
    assert len(rows) > 5
    assert reasons["is not a JSON object"] == summary.rejected["s.ts is NULL"] == broken > 3
    assert '{"ts"' in "".join(shown)
    assert reasons["p is not of its type"] > 1


@pytest.mark.spark
def test_a_type_that_spark_knows_and_nothing_holds(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    table = REFUSED["lists"](make_table(Random(3), 0), seconds(0))
    orc.write_table(table, str(tmp_path / "s" / "0.orc"))
    _, job, _ = _jobs(tmp_path, TOML.replace('"parquet"', '"orc"'))
    with pytest.raises(
        OntoweirError, match="the column i is of type array<bigint>, which holds no"
    ):
        run(job, spark, tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_csv_with_a_mark_and_ends_of_lines(
    mark: str, end: str, spark: SparkSession, tmp_path: Path
) -> None:
    toml = TOML.replace('"parquet", path = "s"', '"csv", path = "s", options = { header = "true" }')
    lines = ["ts,i,f,p,t,b,d,w,spare", "1970-01-01T00:00:01Z,1,0.5,1.25,é,true,2020-01-02,,"]
    lines += ["1970-01-01T00:00:02Z,2,0.5,1e30,x,true,2020-01-02,,"]
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "0.csv").write_bytes((mark + end.join([*lines, ""])).encode())
    _, job, _ = _jobs(tmp_path, toml, "SELECT s.i, s.p, s.t FROM s WHERE s.i >= 0")
    rows, summary = run(job, spark, tmp_path)
    assert [row[:3] for row in rows] == [(1, Decimal("1.25"), "é")]
    assert summary.rejected == {"p is not of its type": 1}

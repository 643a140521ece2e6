"""Files of other programs become tables: what was written is what is read."""

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

from ontoweir.errors import DataError
from ontoweir.scaffold.texts.export_text import export_text
from ontoweir.scaffold.texts.read_aligned import read_aligned
from ontoweir.scaffold.texts.read_document import read_document
from tests.ontoweir.conftest import Run

_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_ODD = ["plain", "New York", "a,b", "x=y", 'say "hi"', "grüße"]


def _escape(text: str, marks: str) -> str:
    return "".join(f"\\{c}" if c in marks else c for c in text)


def _rows(random: Random, count: int) -> list[dict[str, Any]]:
    return [
        {
            "time": _FIRST + timedelta(seconds=n * 60),
            "my room": random.choice(_ODD),
            "temp": round(random.uniform(-5, 30), 2),
            "hum": random.randint(0, 100),
            "ok": random.random() < 0.5,
            "note": random.choice(_ODD) if random.random() < 0.5 else None,
        }
        for n in range(count)
    ]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("unit", [10**9, 10**6, 10**3, 1])
def test_line_protocol(tmp_path: Path, seed: int, unit: int) -> None:
    random = Random(seed)
    rows = _rows(random, 50)
    lines = ["# a comment", ""]
    for row in rows:
        tags = f"my\\ room={_escape(row['my room'], ', =')}"
        note = "" if row["note"] is None else ',note="' + _escape(row["note"], '"\\') + '"'
        fields = f"temp={row['temp']},hum={row['hum']}i,ok={random.choice(_BOOLEANS[row['ok']])}"
        time = round(row["time"].timestamp()) * unit
        lines.append(f"my\\ home,{tags} {fields}{note} {time}")
    random.shuffle(lines)
    (tmp_path / "w.lp").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (table,) = export_text(tmp_path / "w.lp", tmp_path / "out")
    assert table.name == "my_home.parquet"
    assert pq.read_table(table).to_pylist() == rows


_BOOLEANS = {True: ["t", "T", "true", "True", "TRUE"], False: ["f", "F", "false", "FALSE"]}


def test_a_line_that_is_no_point(tmp_path: Path) -> None:
    (tmp_path / "w.lp").write_text("a,b=c d=1 1764000000\n" * 30 + "a,b=c d=1\n")
    with pytest.raises(DataError, match=r"w\.lp:31: the line is no point: a,b=c d=1"):
        export_text(tmp_path / "w.lp", tmp_path)


def test_whole_numbers_and_fractions_of_one_field(tmp_path: Path) -> None:
    (tmp_path / "w.lp").write_text("a v=1i 1764000000\na v=2.5 1764000001\n")
    (table,) = export_text(tmp_path / "w.lp", tmp_path)
    assert pq.read_table(table)["v"].to_pylist() == [1.0, 2.5]
    (tmp_path / "w.lp").write_text('a v=1i 1764000000\na v="x" 1764000001\n')
    with pytest.raises(DataError, match="v of a is of several types"):
        export_text(tmp_path / "w.lp", tmp_path)


@pytest.mark.parametrize("seed", range(5))
def test_annotated_csv(tmp_path: Path, seed: int) -> None:
    rows = _rows(Random(seed), 30)
    names = ["result", "table", "_start", "_time", "_value", "_field", "_measurement", "my room"]
    with (tmp_path / "e.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        kinds = {"temp": "double", "hum": "long", "ok": "boolean", "note": "string"}
        for number, (field, kind) in enumerate(kinds.items()):
            given = ["string", "long", *["dateTime:RFC3339"] * 2, kind, *["string"] * 3]
            out.writerow(["#group", *["true"] * 8])
            out.writerow(["#datatype", *given])
            out.writerow(["#default", "_result", *[""] * 7])
            out.writerow(["", *names])
            for row in rows:
                if (value := row[field]) is None:
                    continue
                shown = str(value).lower() if isinstance(value, bool) else value
                time = f"{row['time']:%Y-%m-%dT%H:%M:%SZ}"
                out.writerow(["", "", number, time, time, shown, field, "home", row["my room"]])
            out.writerow([])
    (tmp_path / "out").mkdir()
    (table,) = export_text(tmp_path / "e.csv", tmp_path / "out")
    assert table.name == "home.parquet"
    assert pq.read_table(table).to_pylist() == rows


def test_what_prometheus_answers(run: Run, tmp_path: Path) -> None:
    samples = [[1764000000 + 15 * n, "NaN" if n == 7 else f"{n / 4}"] for n in range(40)]
    series = [
        {"metric": {"__name__": "up", "instance": name}, "values": samples} for name in ("a", "b")
    ]
    answer = {"status": "success", "data": {"resultType": "matrix", "result": series}}
    (tmp_path / "up.json").write_text(json.dumps(answer))
    ran = run("init", tmp_path / "p", "--from", tmp_path / "up.json")
    assert (ran.code, "copied, as of now: data/up.jsonl" in ran.out) == (0, True), ran.err
    query = "SELECT instance, AVG(value) AS mean, COUNT(*) AS n FROM up GROUP BY instance"
    options = ("--project", tmp_path / "p", "--format", "jsonl", "--limit", "99")
    ran = run("show", query, *options)
    last = {row["instance"]: row for row in map(json.loads, ran.out.splitlines())}
    mean = sum(n / 4 for n in range(40) if n != 7) / 39
    assert {n: row["mean"] for n, row in last.items()} == pytest.approx({"a": mean, "b": mean})
    assert {row["n"] for row in last.values()} == {40}


@pytest.mark.parametrize(
    ("document", "rows"),
    [
        ([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 2}]),
        ({"count": 2, "items": [{"a": 1}]}, [{"a": 1}]),
        ({"result": {"rows": [{"a": 1}], "n": 1}}, [{"a": 1}]),
        (
            {"temp": [{"ts": 1, "value": "2.5"}], "door": [{"ts": 2, "value": "open"}]},
            [{"key": "temp", "ts": 1, "value": 2.5}, {"key": "door", "ts": 2, "value": "open"}],
        ),
        (
            {
                "data": {
                    "resultType": "vector",
                    "result": [{"metric": {"i": "a"}, "value": [1, "2"]}],
                }
            },
            [{"i": "a", "ts": 1, "value": 2.0}],
        ),
        ({"a": 1}, None),
        ({"a": [{"x": 1}], "b": [{"y": 1}]}, None),  # not certain
        ([1, 2], None),
        ([], None),
        ("x", None),
    ],
)
def test_documents(document: object, rows: object) -> None:
    assert read_document(document) == rows


def test_columns_that_blanks_part() -> None:
    text = (
        "procs ---memory---\n r  b   free                 UTC\n"
        " 1  0  1234 2026-02-01 00:00:00\n12  0    34 2026-02-01 00:00:05\n"
        "procs ---memory---\n r  b   free                 UTC\n 3  0     5 2026-02-01 00:00:10\n"
    )
    found = read_aligned(text)
    assert found is not None
    assert found[0] == ["r", "b", "free", "UTC"]
    assert [row[0] for row in found[1]] == ["1", "12", "3"]
    assert found[1][1] == ["12", "0", "34", "2026-02-01T00:00:05"]
    assert read_aligned(text + "stopped by a signal of 9\n") is None
    assert read_aligned("no table at all\nnor here\n") is None
    assert read_aligned("1 2\n3 4\n") is None  # no names


@pytest.mark.parametrize(
    "content", ["a,b\n1,2\n", '{"a": 1}\n{"a": 2}\n', "some words\nand more\n", ""]
)
@pytest.mark.parametrize("name", ["x.csv", "x.txt", "x.json", "x.jsonl"])
def test_other_files_are_left_as_they_are(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert export_text(tmp_path / name, tmp_path) == []

"""`init --from` of the JSON that pandas writes, in each of its ways, and of what programs log."""

import io
import json
from pathlib import Path

import pytest

import ontoweir as ow
from ontoweir.scaffold.copies.read_frame import read_frame
from tests.ontoweir.conftest import Run

ROWS = [
    {
        "ts": f"2026-03-01T{m // 60:02}:{m % 60:02}:00",
        "room": f"r{m // 5 % 3}",
        "temp": 20 + m % 7 / 2,
    }
    for m in range(0, 600, 5)
]


def _as_pandas_has_it(orient: str) -> object:
    """By what pandas' documentation says of `to_json(orient=…)`."""
    names = list(ROWS[0])
    match orient:
        case "split":
            data = [list(row.values()) for row in ROWS]
            return {"columns": names, "index": list(range(len(ROWS))), "data": data}
        case "columns":
            return {n: {str(i): row[n] for i, row in enumerate(ROWS)} for n in names}
        case "index":
            return {str(i): row for i, row in enumerate(ROWS)}
        case "records":
            return ROWS
        case _:
            fields = [{"name": n, "type": "string"} for n in names]
            return {"schema": {"fields": fields}, "data": ROWS}


@pytest.mark.parametrize("orient", ["split", "columns", "index", "records", "table"])
def test_a_frame_in_each_way(run: Run, tmp_path: Path, orient: str) -> None:
    file = tmp_path / "climate.json"
    file.write_text(json.dumps(_as_pandas_has_it(orient)))
    ran = run("init", tmp_path / "p", "--from", file)
    assert ran.code == 0, ran.err
    lines = (tmp_path / "p" / "data" / "climate.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == ROWS
    got = ow.open(tmp_path / "p").replay("SELECT room, temp FROM climate", engine="driver")
    assert len(got) == len(ROWS)


def test_what_pandas_writes_is_read_as_pandas_reads_it() -> None:
    pandas = pytest.importorskip("pandas")
    times = pandas.date_range("2026-03-01", periods=20, freq="h")
    frame = pandas.DataFrame({"a": range(20), "b": [f"t{n}" for n in range(20)]}, index=times)
    for orient in ("split", "columns", "index"):
        text = frame.to_json(orient=orient, date_format="epoch", date_unit="ms")
        again = pandas.read_json(io.StringIO(text), orient=orient)
        rows = read_frame(json.loads(text))
        assert rows is not None
        assert [(r["a"], r["b"]) for r in rows] == [*zip(again["a"], again["b"], strict=True)]
        assert [r["time"] for r in rows] == [int(t.value) // 1_000_000 for t in times.as_unit("ns")]


@pytest.mark.parametrize(
    ("document", "rows"),
    [
        pytest.param(
            {"v": {"1772323200000": 1, "1772323500000": 2}},
            [{"time": 1772323200000, "v": 1}, {"time": 1772323500000, "v": 2}],
            id="times as an index",
        ),
        pytest.param(
            {"columns": ["a", "a"], "index": [3, 4], "data": [[1, 2], [5, 6]]},
            [{"index": 3, "a": 1, "a_2": 2}, {"index": 4, "a": 5, "a_2": 6}],
            id="names twice, rows that are some of others",
        ),
        pytest.param(
            [["when", "v"], ["2026-01-01", 1], ["2026-01-02", 2]],
            [{"when": "2026-01-01", "v": 1}, {"when": "2026-01-02", "v": 2}],
            id="a sheet's values",
        ),
        pytest.param(
            [["2026-01-01", 1], ["2026-01-02", 2]],
            [{"_c0": "2026-01-01", "_c1": 1}, {"_c0": "2026-01-02", "_c1": 2}],
            id="values without names",
        ),
        pytest.param({"columns": ["a"], "data": [[1], [2, 3]]}, None, id="rows of several lengths"),
        pytest.param({"a": {"0": 1}, "b": {"1": 2}}, None, id="columns of several rows"),
        pytest.param({"a": {"x": 1}, "b": {"x": 2}}, None, id="an object of objects"),
        pytest.param({"0": {"x": {"y": 1}}}, None, id="objects inside"),
        pytest.param([[1, [2]], [3, [4]]], None, id="arrays inside"),
        pytest.param([1, 2], None, id="numbers"),
    ],
)
def test_what_is_a_frame(document: object, rows: object) -> None:
    assert read_frame(document) == rows


PYTHON = (
    "2026-03-01 10:{m:02}:{s:02},{n:03} - shop.cart - {level} - order {n} took {n} ms, {n} items\n"
)
JAVA = "2026-03-01T10:{m:02}:{s:02}.{n:03}Z {level:5} [main] shop.Cart : order {n} took {n} ms\n"
BRACKETS = "[2026-03-01 10:{m:02}:{s:02}] [{level}] order {n}: done\n"
TRACE = "Traceback (most recent call last):\n  File x\nValueError: 7\n"


@pytest.mark.parametrize(
    ("line", "row"),
    [
        pytest.param(
            PYTHON,
            {
                "time": "2026-03-01 10:00:07.007",
                "level": "ERROR",
                "logger": "shop.cart",
                "text": f"order 7 took 7 ms, 7 items\n{TRACE.rstrip()}",
            },
            id="Python",
        ),
        pytest.param(
            JAVA,
            {
                "time": "2026-03-01T10:00:07.007Z",
                "level": "ERROR",
                "text": f"main] shop.Cart : order 7 took 7 ms\n{TRACE.rstrip()}",
            },
            id="Java",
        ),
        pytest.param(
            BRACKETS,
            {
                "time": "2026-03-01 10:00:07",
                "level": "ERROR",
                "text": f"order 7: done\n{TRACE.rstrip()}",
            },
            id="brackets",
        ),
    ],
)
def test_a_log_of_a_program(run: Run, tmp_path: Path, line: str, row: dict[str, str]) -> None:
    """A row for each line with a time; those below it, which have none, are of its text."""
    lines = [
        line.format(m=n // 60, s=n % 60, n=n, level="ERROR" if n % 50 == 7 else "INFO")
        + (TRACE if n % 50 == 7 else "")
        for n in range(300)
    ]
    (tmp_path / "shop.log").write_text("".join(lines))
    ran = run("init", tmp_path / "p", "--from", tmp_path / "shop.log")
    assert ran.code == 0, ran.err
    rows = (tmp_path / "p" / "data" / "shop.jsonl").read_text().splitlines()
    assert len(rows) == 300
    assert json.loads(rows[7]) == row
    project = ow.open(tmp_path / "p")
    query = "SELECT level, COUNT(*) AS n FROM shop GROUP BY level, DATE_TRUNC('hour', time)"
    assert project.check(query).plans is not None
    wrong = "SELECT text FROM shop WHERE level = 'ERROR'"
    assert len(project.replay(wrong, engine="driver")) == 6


def test_names_that_are_given_are_kept_to(run: Run, tmp_path: Path) -> None:
    lines = [f"2026-03-01 10:{n // 60:02}:{n % 60:02} INFO begun\n" for n in range(200)]
    (tmp_path / "a.log").write_text("".join(lines))
    ran = run(
        "init", tmp_path / "p", "--from", tmp_path / "a.log", "--names", "day,clock,kind,what"
    )
    assert ran.code == 0, ran.err
    assert 'kind = { type = "string"' in (tmp_path / "p" / "ontoweir.toml").read_text()


def test_a_log_without_a_year_says_what_to_do(run: Run, tmp_path: Path) -> None:
    lines = [f"Mar  1 10:00:{n:02} host sshd[{n}]: Accepted publickey\n" for n in range(50)]
    (tmp_path / "auth.log").write_text("".join(lines))
    ran = run("init", tmp_path / "p", "--from", tmp_path / "auth.log")
    assert ran.code == 2
    assert f"{tmp_path}/auth.log:1: the times of the log have no year" in ran.err
    assert "journalctl -o short-iso" in ran.err

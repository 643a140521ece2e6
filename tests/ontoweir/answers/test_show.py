"""`ontoweir show`: rows of answers, chosen and sorted."""

import io
import json
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.answers.choose_rows import Wanted, choose_rows
from ontoweir.answers.read_answers import find_answers
from tests.ontoweir.conftest import Run

START = datetime(2026, 5, 4, tzinfo=UTC)


def _table(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "road": [None if n == 3 else f"road {n % 3}" for n in numbers],
            "speed": pa.array([n * 7 % 10 for n in numbers], pa.int32()),
            "at": pa.array([START + timedelta(hours=n) for n in numbers], pa.timestamp("us")),
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Answers as a run writes them: files, and what it notes beside them."""
    place = tmp_path / "answers" / "q"
    place.mkdir(parents=True)
    for part in range(2):
        pq.write_table(_table(5 * part, 5), place / f"part-{part}.parquet")
    (place / "parts.jsonl").write_text("[]\n")
    (place / ".part-2.parquet").write_text("half written")
    return place


def test_the_first_rows_with_their_types(run: Run, folder: Path) -> None:
    ran = run("show", folder, "--limit", 4)
    assert ran.code == 0, ran.err
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["road", "speed", "at"] in lines
    assert ["text", "int32", "time,", "UTC"] in lines
    assert ["NULL", "1", "2026-05-04", "03:00:00"] in lines
    assert ran.out.splitlines()[-1] == "4 of 10 rows"


def test_a_condition_and_an_order(run: Run, folder: Path) -> None:
    asked = ("show", folder, "--format", "jsonl", "--columns", "speed,road")
    ran = run(*asked, "--where", "speed >= 5 AND road <> 'road 0'", "--sort", "speed DESC")
    assert [json.loads(line) for line in ran.out.splitlines()] == [
        {"speed": 9, "road": "road 1"},
        {"speed": 8, "road": "road 1"},
        {"speed": 7, "road": "road 1"},
        {"speed": 6, "road": "road 2"},
        {"speed": 5, "road": "road 2"},
    ]
    ran = run(*asked, "--where", '"speed" > 8 AND "road" = \'road 1\'')  # as standard SQL has it
    assert [json.loads(line) for line in ran.out.splitlines()] == [{"speed": 9, "road": "road 1"}]
    ran = run("show", folder, "--where", "at < TIMESTAMP '2026-05-04 02:00:00'")
    assert ran.out.splitlines()[-1] == "2 of 2 rows that meet the condition, of 10"


def test_no_more_is_held_than_is_wanted(folder: Path) -> None:
    chosen = choose_rows(find_answers(folder).read(), Wanted(sort=("speed DESC", "at"), limit=3))
    assert chosen.rows.column("speed").to_pylist() == [9, 8, 7]
    assert (chosen.total, chosen.met) == (10, 10)


def test_csv_and_json_lines_and_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k,at\n1,2026-05-04 00:00:00\n2,2026-05-04 01:00:00\n")
    (tmp_path / "a.jsonl").write_text('{"k": 1}\n{"k": 2}\n')
    (tmp_path / "none.jsonl").write_text("")
    pq.write_table(_table(0, 0), tmp_path / "none.parquet")
    for name, rows in (("a.csv", 2), ("a.jsonl", 2), ("none.jsonl", 0), ("none.parquet", 0)):
        ran = run("show", tmp_path / name)
        assert ran.code == 0, ran.err
        assert ran.out.splitlines()[-1] == f"{rows} rows"
    assert run("show", tmp_path / "a.csv", "--format", "csv", "--where", "k = 2").out == (
        "k,at\n2,2026-05-04 01:00:00\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--where", "nothing = 1"), "unknown column 'nothing'"),
        (("--where", "speed"), "neither true nor false"),
        (("--where", "speed >"), "not SQL"),
        (("--where", "speed > 1 ORDER BY at"), "more is written than a condition"),
        (("--where", "road > 1"), "mixes types"),
        (("--where", 'road = "road"'), '"road" in double quotes'),
        (("--sort", "nothing"), "there is no column 'nothing'"),
        (("--columns", "nothing"), "there is no column 'nothing'"),
        (("--limit", "-1"), "--limit -1"),
        (("--follow", "--sort", "at"), "--follow with --sort"),
    ],
)
def test_what_is_wrong(run: Run, folder: Path, arguments: tuple[str, ...], said: str) -> None:
    ran = run("show", folder, *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


def test_csv_tells_null_from_a_text_without_letters(run: Run, tmp_path: Path) -> None:
    rows = [{"k": "", "n": 1.5}, {"k": None, "n": None}, {"k": "NA", "n": float("nan")}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    made = run("show", tmp_path / "a.parquet", "--format", "csv")
    (tmp_path / "a.csv").write_text(made.out)
    assert run("diff", tmp_path / "a.csv", tmp_path / "a.parquet", "--exit-code").code == 0
    found = run("show", tmp_path / "a.csv", "--where", "k IS NULL", "--format", "jsonl")
    assert [json.loads(line) for line in found.out.splitlines()] == [{"k": None, "n": None}]


def _pipe(monkeypatch: pytest.MonkeyPatch, held: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(held.encode())))


def test_what_is_piped_in(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for form in ("csv", "jsonl"):
        held = run("show", folder, "--format", form).out
        _pipe(monkeypatch, held)
        assert run("show", "-", "--format", form, "--where", "speed = 9").out.count("road 1") == 1
        _pipe(monkeypatch, held)
        same = run("diff", "-", folder, "--exit-code")
        assert (same.code, same.out.split(",")[0]) == (0, "10 answers in both")
    _pipe(monkeypatch, " ")
    none = run("show", "-")
    assert (none.code, "standard input has no answers" in none.err) == (2, True)
    for asked in ("# c\nPREFIX : <urn:a>\nSELECT *", "SELECT k,\n n FROM s", "select ?x where {"):
        _pipe(monkeypatch, asked)
        query = run("show", "-")
        assert (query.code, "write --query -, which" in query.err) == (2, True)
    _pipe(monkeypatch, "select from,prefix a\n1,2\n")  # twin
    assert "1 row" in run("show", "-").out
    twice = run("diff", "-", "-")
    assert (twice.code, "both results are standard input" in twice.err) == (2, True)


def test_answers_are_followed_from_before_the_first(tmp_path: Path) -> None:
    place = tmp_path / "out" / "answers" / "q"
    asked = [sys.executable, "-m", "ontoweir", "show", str(place), "--follow", "--format", "jsonl"]
    with subprocess.Popen(
        asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as shown:
        assert shown.stdout is not None
        assert shown.stderr is not None
        assert "waiting for answers" in shown.stderr.readline()
        place.mkdir(parents=True)
        for part in range(2):
            pq.write_table(_table(5 * part, 5), place / ".made")
            (place / ".made").rename(place / f"part-{part}.parquet")
            rows = [json.loads(shown.stdout.readline()) for _ in range(5)]
            assert [row["speed"] for row in rows] == [
                n * 7 % 10 for n in range(5 * part, 5 * part + 5)
            ]
        shown.send_signal(signal.SIGINT)
        shown.communicate()
        assert shown.returncode == 130


def test_what_cannot_be_followed(run: Run, tmp_path: Path) -> None:
    for what, said in (("SELECT k FROM s", "--follow with a query"), ("-", "standard input")):
        ran = run("show", what, "--follow", "--project", tmp_path)
        assert (ran.code, said in ran.err) == (2, True), ran.err


def test_a_file_without_an_ending_is_parquet(run: Run, folder: Path) -> None:
    """As `replay --output NAME` writes it."""
    (folder / "part-0.parquet").rename(folder.parent / "plain")
    (folder.parent / "other").write_text("no Parquet")
    ran = run("show", folder.parent / "plain")
    assert ran.code == 0, ran.err
    assert "road 1" in ran.out
    same = run("diff", folder.parent / "plain", folder.parent / "plain")
    assert "5 answers in both, 0 gone, 0 new" in same.out
    assert "is no file of answers" in run("show", folder.parent / "other").err


def test_no_answers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("no Parquet")
    (tmp_path / "a.txt").write_text("no answers")
    (tmp_path / "empty").mkdir()
    for name, said in (
        ("a.parquet", "cannot be read"),
        ("a.txt", "is no file of answers"),
        ("empty", "holds no answers"),
        ("gone.csv", "there is no"),
    ):
        ran = run("show", tmp_path / name)
        assert (ran.code, said in ran.err) == (2, True), ran.err
        assert len(ran.err.splitlines()) == 1


def test_a_word_that_is_nothing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no project is, it is said of the word, not of a project; in one it is a query."""
    monkeypatch.chdir(tmp_path)
    ran = run("show", "rejects")
    assert (ran.code, ran.err.startswith("there is no rejects; it is neither a file")) == (2, True)
    (tmp_path / "ontoweir.toml").write_text("[project]\nqueries = []\n")
    assert "unknown query 'rejects'" in run("show", "rejects").err
    ran = run("show", "out/answers/later")  # what a run is to write: no name of a query
    assert (ran.code, ran.err.startswith("there is no out/answers/later; ")) == (2, True)

"""`ontoweir check --data`: what is declared, held against the rows at hand."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.ontoweir.conftest import Run

TOML = """\
[streams.passage]
source = { format = "csv", path = "passages.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }
[streams.passage.columns]
gate = "string"
badge = "int"

[relations.gates]
source = { format = "csv", path = "gates.csv", options = { header = "true" } }
keys = [["name"]]
columns = { name = "string" }
"""
AGAIN = "SELECT x.badge FROM passage x JOIN passage y ON x.badge = y.badge AND x.ts < y.ts"


@pytest.fixture
def gates(tmp_path: Path) -> Path:
    """A project with forty rows, the badges of the last four greater than 999."""
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "gates.csv").write_text("name\nnorth\nsouth\n")
    rows = [f"{('north', 'south')[n % 2]},{964 + n},2026-05-04T08:00:{n:02}" for n in range(40)]
    (tmp_path / "passages.csv").write_text("\n".join(["gate,badge,ts", *rows]) + "\n")
    (tmp_path / "again.sql").write_text(AGAIN)
    return tmp_path


def test_what_is_true_is_said(run: Run, gates: Path) -> None:
    ran = run("check", gates, "--sql", gates / "again.sql", "--data", "-q")
    assert ran.code == 0, ran.err
    assert "data  passage: what is declared is true of 40 rows" in ran.out


def test_json_says_which_rows(run: Run, gates: Path) -> None:
    text = TOML.replace('badge = "int"', 'badge = { type = "int", max = 1000 }')
    (gates / "ontoweir.toml").write_text(text)
    asked = ("check", gates, "--sql", gates / "again.sql", "--format", "json", "-q")
    ran = run(*asked, "--data")
    assert ran.code == 1, ran.err
    (query,) = json.loads(ran.out)
    (violation,) = query["data"]["passage"]["violations"]
    assert violation["reason"] == "passage.badge is outside its declared domain"
    assert (violation["rows"], query["data"]["passage"]["wrong"]) == (3, 3)
    assert [e["row"] for e in violation["examples"]] == [39, 40, 41]
    assert violation["examples"][0]["values"]["badge"] == "1001"
    assert violation["examples"][0]["file"] == str(gates / "passages.csv")
    few = run(*asked, "--data", "30")
    assert few.code == 0, few.err
    (query,) = json.loads(few.out)
    assert query["data"]["passage"] == {"rows": 30, "whole": False, "wrong": 0, "violations": []}


def test_a_repair_says_what_it_would_reject_and_a_replay_rejects_that(
    run: Run, gates: Path
) -> None:
    sql = gates / "again.sql"
    ran = run("check", gates, "--sql", sql, "--data", "--format", "json", "-q")
    (query,) = json.loads(ran.out)
    assert "would reject 4 rows" in run("check", gates, "--sql", sql, "--data", "-q").out
    counted = {
        line: repair["rejects"]
        for repair in query["repairs"]
        for edit in repair["edits"]
        for line in edit["lines"]
        if "max = 999" in line
    }
    ((line, rejects),) = counted.items()
    assert rejects == 4
    (gates / "ontoweir.toml").write_text(TOML.replace('badge = "int"', line))
    folder = gates / "rejects"
    done = run(
        *("replay", gates, "--sql", sql, "--output", gates / "o.csv"),
        *("--rejects", folder, "--summary", "json", "-q"),
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["rejected"] == rejects
    written = pq.read_table(folder / "rejects.parquet")
    assert written.column("number").to_pylist() == [38, 39, 40, 41]


def test_tables_that_no_query_reads_are_looked_at_too(run: Run, gates: Path) -> None:
    (gates / "gates.csv").write_text("name\nnorth\nnorth\n")
    ran = run("check", gates, "--data", "--format", "json", "-q")
    assert ran.code == 1, ran.err
    (rest,) = json.loads(ran.out)
    assert rest["query"] is None
    (violation,) = rest["data"]["gates"]["violations"]
    assert violation["reason"] == "gates repeats the key (name)"
    assert violation["examples"][0]["row"] == 3


def test_times_that_cannot_be_read_name_the_format(run: Run, gates: Path) -> None:
    (gates / "passages.csv").write_text("gate,badge,ts\nnorth,501,04/05/2026 08:00:00\n")
    ran = run("check", gates, "--data", "-q")
    assert ran.code == 1
    assert 'format = "%d/%m/%Y %H:%M:%S"' in ran.out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--data", "many"), "--data many is not a number of rows"),
        (("--data", "0"), "--data 0 is not a number of rows"),
        (("--data", "--format", "sarif"), "--data does not go with --format sarif"),
    ],
)
def test_what_is_refused(run: Run, gates: Path, more: tuple[str, ...], told: str) -> None:
    ran = run("check", gates, *more)
    assert ran.code == 2
    assert told in ran.err


def test_a_project_may_follow_the_option(run: Run, gates: Path) -> None:
    assert run("check", "--data", gates, "-q").code == 0


def test_data_that_is_missing_is_an_error(run: Run, gates: Path) -> None:
    (gates / "passages.csv").unlink()
    ran = run("check", gates, "--data")
    assert ran.code == 2
    assert "there is no data for passage" in ran.err


def test_without_the_option_no_data_is_read_nor_arrow_imported(gates: Path) -> None:
    program = (
        "import sys; from ontoweir.cli import main; "
        f"code = main(['check', {str(gates)!r}, '--sql', {str(gates / 'again.sql')!r}]); "
        "assert code == 0, code; "
        "assert not {'pyarrow', 'pyspark', 'numpy'} & set(sys.modules), 'imported'"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def _passages(folder: Path, times: int) -> None:
    """Three thousand rows, in which each badge comes so many times, one after the other."""
    rows = [f"north,{964 + n // times},2026-05-04T08:{n // 60:02}:{n % 60:02}" for n in range(3000)]
    (folder / "passages.csv").write_text("\n".join(["gate,badge,ts", *rows]) + "\n")


def test_repairs_come_in_the_order_in_which_the_data_supports_them(run: Run, gates: Path) -> None:
    _passages(gates, 3)
    asked = ("check", gates, "--sql", gates / "again.sql", "--data")
    ran = run(*asked, "--format", "json", "-q")
    (query,) = json.loads(ran.out)
    first, gap, second, third, *_ = query["repairs"]
    assert gap["rejects"] == 0
    assert "lie within a gap" in gap["actions"][0]
    assert first["actions"] == [
        "declare what the data keeps: all rows with one badge lie within 2 seconds (1,000 values)"
    ]
    assert (first["rejects"], first["verdict"]) == (0, "conditionally-bounded")
    assert "rejects" not in second  # a window: it changes the query
    assert third["rejects"] == 2892
    assert third["against"][0].endswith(
        "row 110: gate = north, badge = 1000, ts = 2026-05-04T08:01:48"
    )
    sample = run(*asked, "200", "--format", "json", "-q")
    assert json.loads(sample.out)[0]["repairs"][0]["rejects"] == 0
    fixed = run(*asked, "--fix", "1", "-q")
    assert fixed.code == 0, fixed.err
    assert 'clustered = [{ columns = ["badge"], within = "2 seconds" }]' in fixed.out
    after = json.loads(run(*asked, "--format", "json", "-q").out)
    assert (after[0]["verdict"], after[0]["repairs"]) == ("conditionally-bounded", [])


def test_what_the_data_does_not_keep_is_not_proposed(run: Run, gates: Path) -> None:
    rows = [f"north,{n % 1500},2026-05-04T08:{n // 60:02}:{n % 60:02}" for n in range(3000)]
    (gates / "passages.csv").write_text("\n".join(["gate,badge,ts", *rows]) + "\n")
    asked = ("check", gates, "--sql", gates / "again.sql", "--data", "--format", "json", "-q")
    (query,) = json.loads(run(*asked).out)
    actions = [action for repair in query["repairs"] for action in repair["actions"]]
    assert not any(action.endswith("within 2 seconds (1,000 values)") for action in actions)

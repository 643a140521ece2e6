"""A witness on disk: the query over every suffix's files gives what the witness says."""

import csv
import itertools
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.witness.evaluate_naively import evaluate_naively
from ontoweir.checker.witness.witness import WitnessRow, instance_of
from ontoweir.errors import UsageError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.trace.write_witness import write_witness
from tests.ontoweir.conftest import Run
from tests.paths import TRAFFIC

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNBOUNDED = "how-often-congestion-got-worse"


def test_the_files_hold_the_witness(tmp_path: Path) -> None:
    workspace = Workspace(load_project(TRAFFIC))
    catalog = workspace.project.catalog
    compiled = workspace.compile(UNBOUNDED)
    union, witness = compiled.union, workspace.check(compiled).witness
    assert witness is not None
    script = write_witness(workspace, compiled, witness, tmp_path)
    text = script.read_text()
    sql = print_sql(union, catalog, dialect="duckdb", comments=False)
    found = []
    for number, suffix in enumerate(witness.suffixes, 1):
        db = duckdb.connect()
        for file in sorted((tmp_path / f"suffix-{number}").glob("*.parquet")):
            db.execute(f"CREATE VIEW {file.stem} AS SELECT * FROM '{file}'")
            assert f".{file.stem}.source={{ format = 'parquet'" in text
        answers = db.execute(sql).fetchall()
        rows = [*witness.fixed, *witness.optional, *suffix]
        assert len(answers) == evaluate_naively(union, instance_of(catalog, rows)).total()
        found.append(len(answers))
        db.close()
    assert len(set(found)) == witness.size  # every suffix asks for another optional tuple
    assert text.count("--allow-unbounded") == witness.size


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    workspace = Workspace(load_project(TRAFFIC))
    compiled = workspace.compile(UNBOUNDED)
    witness = workspace.check(compiled).witness
    assert witness is not None
    taken = tmp_path / "file"
    taken.write_text("")
    with pytest.raises(UsageError, match="cannot write the witness"):
        write_witness(workspace, compiled, witness, taken)


def test_check_writes_one_of_every_unbounded_query(run: Run, tmp_path: Path) -> None:
    ran = run("check", TRAFFIC, "--witness", tmp_path / "new", "--witness-size", 7)
    assert ran.code == 0
    folders = sorted(p.name for p in (tmp_path / "new").iterdir())
    assert folders == sorted(line.split(":")[0] for line in ran.err.splitlines())
    assert len(folders) == 3
    for folder in folders:
        script = (tmp_path / "new" / folder / "replay.sh").read_text()
        assert script.startswith("#!/bin/sh\n# 7 optional tuples")
        assert script.count(f"--query {folder} ") == 7


def test_a_bounded_query_has_none(run: Run, tmp_path: Path) -> None:
    ran = run("check", TRAFFIC, "--query", "every-reading-above-130", "--witness", tmp_path / "new")
    assert (ran.code, ran.err) == (0, "")
    assert not (tmp_path / "new").exists()


GROUPED = """PREFIX : <http://traffic.example/ns#>
SELECT ?reading (COUNT(*) AS ?n) WHERE { GRAPH ?t { ?reading :averageSpeed ?v } } GROUP BY ?reading
"""


# Each has a witness: tuples that every algorithm must remember.
SQL = {
    "bag": "SELECT a.id, b.avg_speed FROM traffic a JOIN traffic b "
    "ON a.avg_measured_time = b.avg_measured_time WHERE a.ts < b.ts",
    "set": "SELECT DISTINCT id, avg_measured_time FROM traffic WHERE avg_speed > 9",
    "per-group": "SELECT id, COUNT(*) AS n, MAX(avg_speed) AS top FROM traffic GROUP BY id",
    "average": "SELECT id, AVG(avg_measured_time) AS mean FROM traffic GROUP BY id",
}


def read_answers(file: Path, *, timed: bool = False) -> Counter[tuple[str, ...]]:
    """The answers by their texts, with their times or without; multiplicities counted."""
    with file.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    found: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        count = int(row.pop("multiplicity", None) or 1)
        if not timed:
            del row["at"]
        found[tuple(row.values())] += count
    return found


def list_commands(script: Path) -> list[list[str]]:
    """The script's commands, as arguments."""
    text = script.read_text().replace("$here", str(script.parent)).replace(" \\\n", "")
    return [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("ontoweir ")]


@pytest.mark.parametrize("found", [True, False])
def test_the_script_finds_the_program(run: Run, root: Path, tmp_path: Path, found: bool) -> None:
    """Also where it was called as ./ontoweir, and is not on PATH."""
    name = "how-often-congestion-got-worse"
    made = tmp_path / "new"
    assert run("check", root / "examples/traffic", "--query", name, "--witness", made).code == 0
    lines = (made / name / "replay.sh").read_text().splitlines()
    begin = "\n".join(itertools.takewhile(lambda line: not line.startswith("ontoweir "), lines))
    first = tmp_path / "first"
    if found:
        first.mkdir()
        (first / "ontoweir").write_text("#!/bin/sh\n")
        (first / "ontoweir").chmod(0o755)
    ran = subprocess.run(
        ["sh", "-c", f"{begin}\necho $PATH"],
        env={"PATH": f"{first}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    beside = str(Path(sys.executable).parent)
    assert ran.stdout.startswith(str(first) if found else beside)


def replay(run: Run, command: list[str], *, timed: bool = False) -> Counter[tuple[str, ...]]:
    """Run a command in this process; the answers it writes."""
    ran = run(*command)
    assert ran.code == 0, ran.err
    return read_answers(Path(command[command.index("--output") + 1]), timed=timed)


@pytest.mark.spark
@pytest.mark.parametrize("name", SQL)
def test_replaying_it_gives_the_answers_that_tell_the_subsets_apart(
    name: str, run: Run, project: Path, tmp_path: Path, spark: "SparkSession"
) -> None:
    file = project / f"{name}.sql"
    file.write_text(SQL[name])
    out = tmp_path / "out"
    ran = run("check", project, "--sql", file, "--witness", out, "--witness-size", 2)
    assert ran.code == 0, ran.err
    assert f"{name}: 2 tuples to remember" in ran.err
    workspace = Workspace(load_project(project))
    witness = workspace.find_witness(workspace.compile_sql(file), 2)
    assert witness is not None
    shutil.rmtree(project)  # the witness is a project of its own
    commands = list_commands(out / name / "replay.sh")
    assert len(commands) == len(witness.suffixes)
    for number, command in enumerate(commands, 1):
        answers = replay(run, command)
        data = out / name / f"suffix-{number}" / "traffic.parquet"
        with duckdb.connect() as db:
            db.execute(f"CREATE VIEW traffic AS SELECT * FROM '{data}'")
            expected = Counter(tuple(map(number_of, r)) for r in db.execute(SQL[name]).fetchall())
        found = Counter({tuple(map(number_of, r)): n for r, n in answers.items()})
        if "GROUP" in SQL[name]:
            assert expected.keys() <= found.keys()  # the groups as they are in the end
        else:
            assert found == expected
        timed = replay(run, command, timed=True)
        last = max(row[-1] for row in timed)
        drop_row(data, witness.optional[number - 1])
        # a subset without this tuple: the suffix, which comes last, brings other answers
        without = replay(run, command, timed=True)
        moment = max(last, *(row[-1] for row in without))
        brought = [{r: n for r, n in a.items() if r[-1] == moment} for a in (timed, without)]
        assert brought[0] != brought[1]


def number_of(value: object) -> float:
    return float(str(value))


def drop_row(file: Path, row: WitnessRow) -> None:
    """The file without one row of a witness."""
    table = pq.read_table(file)
    rows, values = table.to_pylist(), dict(row.values)
    place = next(n for n, r in enumerate(rows) if all(r[k] == v for k, v in values.items()))
    kept = [table.slice(0, place), table.slice(place + 1)]
    pq.write_table(pa.concat_tables(kept), file)


@pytest.mark.spark
def test_an_aggregate_query_of_the_project_too(
    run: Run, project: Path, tmp_path: Path, spark: "SparkSession"
) -> None:
    (project / "queries" / "grouped.rq").write_text(GROUPED)
    out = tmp_path / "new"
    ran = run("check", project, "--query", "grouped", "--witness", out, "--witness-size", 2)
    assert ran.code == 0
    assert "grouped: 2 tuples to remember" in ran.err
    for command in list_commands(out / "grouped" / "replay.sh"):
        # two groups, of which the suffix brings one again: only who remembers it counts two
        assert sorted(count for _, count in replay(run, command)) == ["1", "1", "2"]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--witness-size", "3"), "--witness-size without --witness"),
        (("--witness", "w", "--witness-size", "0"), "--witness-size 0 is not between 1 and 64"),
        (("--witness", "w", "--witness-size", "65"), "--witness-size 65 is not between 1 and 64"),
        (("--witness", "w", "--model", "arrival"), "--witness does not go with --model arrival"),
    ],
)
def test_what_cannot_be_written_is_refused(
    options: tuple[str, ...], what: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("check", TRAFFIC, *options)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(what)
    assert list(tmp_path.iterdir()) == []

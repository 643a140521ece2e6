"""Live runs over distinct views, killed at every stage: then as if nothing happened."""

import json
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.runtime.fork_cycles import run
from tests.runtime.kill_at import STAGES
from tests.runtime.view_cases import QUERIES, choose_views, make_view_case
from tests.sparql_counts.ask_rdflib import Answers, ask_rdflib, translate_query, write_cell
from tests.sparql_counts.compare_answers import gather_answers
from tests.sparql_counts.read_graphs import Project
from tests.sparql_counts.write_case import write_case, write_query

HERE = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("stage", [*STAGES, "full-disk", "renewed-logs"])
def test_killed_over_views(stage: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """Output and state, byte by byte, are those of a run that nothing happened to."""
    kills = 400 if pytestconfig.getoption("--long") else 2
    script = [sys.executable, str(HERE / "fork_cycles.py")]
    command = [*script, str(tmp_path), stage, "7", str(kills), "views"]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["kills"] == kills


@pytest.mark.parametrize("seed", range(len(QUERIES)))
def test_answers_of_a_run_over_views(seed: int, tmp_path: Path) -> None:
    """They are rdflib's, at every timestamp but the last, which is not over."""
    run(tmp_path / "run", *choose_views(seed))
    case = make_view_case(seed)
    (tmp_path / "case").mkdir()
    write_case(case, tmp_path / "case")
    names = [name.split()[-1].strip("?)") for name in case.query.head]
    found: dict[datetime, Answers] = {}
    for part in sorted((tmp_path / "run" / "out").rglob("part-*")):
        for row in pq.read_table(part).to_pylist():
            cells = tuple(write_cell(row[name]) for name in names)
            found.setdefault(row["at"], Counter())[cells] += row.get("multiplicity", 1)
    graphs = Project(tmp_path / "case").read_graphs()
    moments = list(ask_rdflib(translate_query(write_query(case.query)), graphs))
    assert len(moments) > 8
    for moment, wanted in moments[:-1]:
        assert gather_answers(found, moment, case) == wanted

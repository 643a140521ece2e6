"""What a live run is made of: a checkpoint of a query with other sessions does not go on."""

from pathlib import Path
from typing import Any

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_live_run import check_live, prepare_run
from ontoweir.run.run_options import RunOptions

PROJECT = """
[streams.page]
source = { format = "parquet", path = "page" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 3
columns = { user = "string", cost = "int" }
"""


def fingerprint(folder: Path, group: str) -> str:
    """That of a query which counts the pages of a group."""
    (folder / "q.sql").write_text(f"SELECT p.user, COUNT(*) AS n FROM page AS p GROUP BY {group}")
    workspace = Workspace(load_project(folder, environ={}))
    compiled = workspace.compile_sql(folder / "q.sql")
    verdict = check_live(workspace, compiled)
    spark: Any = object()  # reads nothing here
    return prepare_run(
        workspace, [compiled], [verdict], spark, RunOptions(None, folder / "out")
    ).fingerprint


def test_sessions_of_another_gap_are_another_query(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    (tmp_path / "page").mkdir()
    short, long = (f"p.user, session_window(p.ts, '{n} minutes')" for n in (10, 30))
    assert fingerprint(tmp_path, short) == fingerprint(tmp_path, short)
    assert fingerprint(tmp_path, short) != fingerprint(tmp_path, long)

"""A project of two streams of files that are moved to archives."""

from pathlib import Path
from typing import Any

import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from tests.runtime.live.test_run_live import QUERIES, TOML

ARCHIVES = TOML.replace('path = "{0}/s"', 'path = "{0}/s", archive = "{0}/old/s"').replace(
    'path = "{0}/u"', 'path = "{0}/u", archive = "{0}/old/u"'
)


def declare(folder: Path, toml: str = ARCHIVES, names: Any = QUERIES) -> Any:
    """The project as it is declared, and its queries."""
    (folder / "ontoweir.toml").write_text(toml.format(folder))
    workspace = Workspace(load_project(folder, environ={}))
    for name in names:
        (folder / f"{name}.sql").write_text(QUERIES[name])
    return workspace, [workspace.compile_sql(folder / f"{name}.sql") for name in names]


def replayed(folder: Path, workspace: Workspace, query: CompiledQuery) -> list[Any]:
    """What a replay gives before the last timestamp."""
    output = folder / f"{query.name}-replayed.parquet"
    replay_query(workspace, query, ReplayOptions(output, progress=False), None)
    last = min(max(t for f in find(folder, s) for t in read_times(f)) for s in ("s", "u"))
    rows = pq.read_table(output).to_pylist()
    return sorted((tuple(row.values()) for row in rows if row["at"] < last), key=repr)


def read_times(file: Path) -> list[Any]:
    """The timestamps of a file."""
    if ".csv" in file.name:
        return list(pcsv.read_csv(file)["ts"].to_pylist())
    return list(pq.read_table(file)["ts"].to_pylist())


def find(folder: Path, stream: str) -> list[Path]:
    """The files of a stream, wherever they are."""
    return [f for place in (folder, folder / "old") for f in (place / stream).glob("0*")]

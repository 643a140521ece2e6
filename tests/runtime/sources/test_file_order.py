"""Files come in the order of the times inside, whatever their names and modification times."""

import os
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from ontoweir.runtime.lateness.order_pieces import order_pieces
from ontoweir.runtime.live.arrivals.find_horizon import find_horizon
from ontoweir.runtime.sources.history import Piece

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOUR = 3_600_000_000
PROJECT = """
[project]
[streams.s]
source = {{ format = "{form}", path = "s"{options} }}
timestamp = {{ column = "ts", unit = "1 hour" }}
columns = {{ a = "int" }}
"""


def _project(folder: Path, form: str) -> Workspace:
    options = ', options = { header = "true" }' if form == "csv" else ""
    (folder / "ontoweir.toml").write_text(PROJECT.format(form=form, options=options))
    (folder / "all.sql").write_text("SELECT s.a FROM s\n")
    (folder / "s").mkdir()
    return Workspace(load_project(folder, environ={}))


def _write(file: Path, hours: list[int], modified: int) -> None:
    times = pa.array([h * HOUR for h in hours], pa.int64()).cast(pa.timestamp("us"))
    table = pa.table({"ts": times, "a": hours})
    if file.suffix == ".csv":
        shown = table.column("ts").cast(pa.string())
        pcsv.write_csv(table.set_column(0, "ts", shown), file)
    else:
        pq.write_table(table, file)
    os.utime(file, (modified, modified))


def _piece(name: str, low: int | None, high: int | None, first: int = 1) -> Piece:
    return Piece(name, 0, 1, name, first, {}, low, high)


def test_pieces_are_put_in_order() -> None:
    a, b, c = _piece("a", 5, 9), _piece("b", 0, 2), _piece("c", 2, 5)
    a2 = _piece("a", 9, 11, 2)
    assert order_pieces([a, a2, b, c]) == (b, c, a, a2)
    # what is in order stays, also where files meet at a timestamp
    assert order_pieces([b, c, a, a2]) == (b, c, a, a2)
    meet = (_piece("x", 0, 5), _piece("y", 5, 5), _piece("z", 5, 6))
    assert order_pieces(meet) == meet
    # of what is not known nothing moves
    assert order_pieces([a, _piece("b", None, None), c]) == (a, _piece("b", None, None), c)
    assert order_pieces([]) == ()


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_horizons(tmp_path: Path, form: str) -> None:
    workspace = _project(tmp_path, form)
    stream = workspace.project.catalog.streams["s"]
    files = [tmp_path / "s" / f"{n}.{form}" for n in range(3)]
    for number, file in enumerate(files):
        _write(file, [7 - number, 9], number)
    (tmp_path / "s" / "bad").write_text("x")
    known: dict[str, int | None] = {}
    names = [*map(str, files), str(tmp_path / "s" / "bad"), str(tmp_path / "s" / "none")]
    assert find_horizon(stream, names, known) == 5 * HOUR
    files[2].unlink()  # it is known
    assert find_horizon(stream, names, known) == 5 * HOUR
    assert find_horizon(stream, names[:2], known) == 6 * HOUR
    assert known.keys() == set(names[:2])
    assert find_horizon(stream, [], known) is None


def test_a_history_whose_names_are_not_in_order(tmp_path: Path) -> None:
    workspace = _project(tmp_path, "parquet")
    random = Random(1)
    hours = sorted(random.randrange(50) for _ in range(60))
    cuts = sorted({0, 60, *(random.randrange(60) for _ in range(12))})
    parts = [hours[i:j] for i, j in pairwise(cuts)]
    names = [f"part-{n}.parquet" for n in range(len(parts))]
    random.shuffle(names)
    for name, part in zip(names, parts, strict=True):
        _write(tmp_path / "s" / name, part, random.randrange(1_000))
    output = tmp_path / "out.parquet"
    summary = replay_query(
        workspace,
        workspace.compile_sql(tmp_path / "all.sql"),
        ReplayOptions(output=output, progress=False, expand=True),
    )
    assert summary["rejected"] == 0
    assert pq.read_table(output).column("a").to_pylist() == hours


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_live_run_over_files_in_no_order(
    form: str, tmp_path: Path, spark: "SparkSession"
) -> None:
    """Forty files, the last ones modified first, 16 in a micro-batch: two thirds were late."""
    workspace = _project(tmp_path, form)
    random = Random(2)
    hours = list(range(40))
    order = list(reversed(hours)) if form == "parquet" else random.sample(hours, 40)
    for place, hour in enumerate(order):
        _write(tmp_path / "s" / f"{random.random()}.{form}", [hour, hour], 1_000_000 + place)
    summary = _run(workspace, tmp_path, spark)
    assert summary["late"] == 0
    assert summary["rejected"] == 0
    assert _answers(tmp_path) == [h for h in hours[:-1] for _ in range(2)]
    # a file that comes later, with rows that are finished, is late all the same
    _write(tmp_path / "s" / f"late.{form}", [3], 2_000_000)
    assert _run(workspace, tmp_path, spark)["late"] == 1


def _run(workspace: Workspace, folder: Path, spark: "SparkSession") -> dict[str, Any]:
    options = RunOptions(
        checkpoint=folder / "state", output=folder / "answers", once=True, progress=False
    )
    compiled = [workspace.compile_sql(folder / "all.sql")]
    return run_queries(workspace, compiled, options, spark)


def _answers(folder: Path) -> list[int]:
    found = []
    for file in sorted((folder / "answers" / "all").glob("part-*.parquet")):
        table = pq.read_table(file)
        for row in table.to_pylist():
            found += [row["a"]] * row["multiplicity"]
    return found


def test_catalogs_are_read(tmp_path: Path) -> None:
    assert isinstance(_project(tmp_path, "csv").project.catalog, Catalog)

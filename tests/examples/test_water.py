"""The second example: verdicts, answers, and the way from a lint to a mend."""

import importlib.util
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow.parquet as pq
import pytest

from ontoweir.cli import main
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query
from tests.examples.answers import HERE, count
from tests.ontoweir.conftest import Ran

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIERS = {
    "average-flow-of-each-line-by-the-minute": "window-bounded",
    "average-flow-of-each-line": "stateless",
    "closed-valves-with-the-surge-that-followed": "window-bounded",
    "faults-that-were-followed-by-doubt": "conditionally-bounded",
    "how-often-each-sensor-is-in-doubt": "conditionally-bounded",
    "how-often-pressure-beat-an-earlier-one": "unbounded",
    "latest-level-of-each-sensor": "conditionally-bounded",
    "levels-above-their-limit": "stateless",
    "lines-with-a-surge-after-a-closing-valve": "tree-bounded",
    "lowest-and-highest-level-of-each-tank": "stateless",
    "median-flow-of-each-line": "conditionally-bounded",
    "pressure-surges-after-a-closing-valve": "tree-bounded",
    "pumps-started-on-a-line-with-a-low-tank": "stateless",
    "pumps-started-within-ten-minutes-of-a-low-tank": "window-bounded",
    "sensors-stuck-for-a-minute": "tree-bounded",
    "tanks-that-ever-ran-low": "stateless",
    "tanks-that-rose-after-their-inlet-closed": "tree-bounded",
    "valves-closed-without-a-surge": "window-bounded",
}
BOUNDED = [name for name, tier in TIERS.items() if tier != "unbounded"]
UNBOUNDED = "how-often-pressure-beat-an-earlier-one"


@pytest.fixture(scope="module")
def example(root: Path) -> Path:
    return root / "examples" / "water"


@pytest.fixture(scope="module")
def made(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two generated hours."""
    folder = tmp_path_factory.mktemp("water")
    spec = importlib.util.spec_from_file_location("generate_water", example / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate: Any = importlib.util.module_from_spec(spec)
    sys.modules["generate_water"] = generate
    spec.loader.exec_module(generate)
    generate.generate(folder, hours=2, seed=5)
    return folder


def _paths(made: Path) -> list[str]:
    streams = ("level", "flow", "pressure", "switch")
    return [f"streams.{s}.source.path={made / s}" for s in streams] + [
        f"relations.{r}.source.path={made / r}.csv" for r in ("sensor", "device")
    ]


def test_verdicts_without_a_warning(example: Path) -> None:
    def refuse(message: str) -> None:
        raise AssertionError(message)

    workspace = Workspace(load_project(example, environ={}), on_warning=refuse)
    found = {n: str(workspace.check(workspace.compile(n)).tier) for n in workspace.query_names()}
    assert found == TIERS


def test_what_the_lint_proposes_mends_the_query(
    example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The way of docs/lint.md, in a copy: what is unbounded, the line that mends it, bounded."""
    import shutil

    copy = tmp_path / "water"
    shutil.copytree(example, copy, ignore=shutil.ignore_patterns("data", "out", "__pycache__"))

    def run(*arguments: str) -> Ran:
        code = main([*arguments])
        told = capsys.readouterr()
        return Ran(code, told.out, told.err)

    options = ("--query", UNBOUNDED, "--fail-on", "unbounded")
    assert run("check", str(copy), *options).code == 1
    told = run("check", str(copy), "--mappings-only").out
    assert f"{copy}/ontoweir.toml:47" in told
    proposed = next(line for line in told.splitlines() if line.strip().startswith("+ value = "))
    file = copy / "ontoweir.toml"
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[46].startswith('value = "int"')
    lines[46] = proposed.strip().removeprefix("+ ")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    mended = run("check", str(copy), *options)
    assert mended.code == 0
    assert "conditionally-bounded" in mended.out


@pytest.fixture(scope="module")
def base(made: Path) -> duckdb.DuckDBPyConnection:
    base = duckdb.connect()
    for kind in ("sensor", "tank", "line", "device"):
        base.execute(f"CREATE MACRO {kind}_iri(x) AS 'http://water.example/{kind}/' || x")
    for stream in ("level", "flow", "pressure", "switch"):
        base.execute(f"CREATE VIEW {stream} AS FROM read_parquet('{made}/{stream}/*.parquet')")
    for register in ("sensor", "device"):
        base.execute(f"CREATE VIEW {register} AS FROM read_csv('{made}/{register}.csv')")
    return base


def _round(row: dict[str, Any]) -> dict[str, Any]:
    """With numbers that DuckDB has as doubles to nine digits, and times in UTC without a zone."""
    return {n: _plain(v) for n, v in row.items()}


def _plain(cell: Any) -> Any:
    if isinstance(cell, (float, Decimal)):
        return round(float(cell), 9)
    return cell.replace(tzinfo=None) if isinstance(cell, datetime) else cell


@pytest.mark.spark
@pytest.mark.parametrize("name", BOUNDED)
def test_answers_over_generated_data(
    example: Path,
    made: Path,
    base: duckdb.DuckDBPyConnection,
    name: str,
    tmp_path: Path,
    spark: "SparkSession",
) -> None:
    workspace = Workspace(load_project(example, overrides=_paths(made), environ={}))
    output = tmp_path / "answers.parquet"
    options = ReplayOptions(output=output, progress=False)
    summary = replay_query(workspace, workspace.compile(name), options, spark)
    answers = base.execute((HERE / "expected_water" / f"{name}.sql").read_text(encoding="utf-8"))
    names = [column[0] for column in answers.description]
    wanted = count(_round(dict(zip(names, row, strict=True))) for row in answers.fetchall())
    found = count(map(_round, pq.read_table(output).to_pylist()))
    assert list((wanted - found).items())[:3] == []
    assert list((found - wanted).items())[:3] == []
    assert found
    assert summary["rejected"] == 0
    assert summary["state_rows_max"] <= summary["bound_rows"]

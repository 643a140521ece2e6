"""What runs where packages are left out (docs/install.md), and what an error names elsewhere."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.ontoweir.commands.test_check_data import gates
from tests.ontoweir.commands.test_replay import write_data

__all__ = ["gates"]
SPARK = ("pyspark", "py4j")
DATA = (*SPARK, "pyarrow", "numpy")
PROGRAM = """\
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None  # as if it were not installed
from ontoweir.cli import main
sys.exit(main(sys.argv[2:]))
"""


def _run(without: tuple[str, ...], *arguments: object) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own that lacks some packages."""
    command = [sys.executable, "-c", PROGRAM, ",".join(without), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_queries_are_checked_without_packages_for_data(gates: Path, example: Path) -> None:
    asked = ("check", example, "--query", "every-reading-above-130", "--cache", "off")
    for more in (("--format", "json"), ("--format", "sarif"), ("--fail-on", "undecided")):
        ran = _run(DATA, *asked, *more)
        assert ran.returncode == 0, ran.stderr
    ran = _run(DATA, "check", gates, "--sql", gates / "again.sql", "--cache", "off")
    assert "repair 2" in ran.stdout, ran.stderr
    ran = _run(DATA, "rewrite", example, "--query", "every-reading-above-130", "--show", "plan")
    assert ran.returncode == 0, ran.stderr
    ran = _run(DATA, "check", example, "--mappings-only", "--fail-on", "unbounded")
    assert ran.returncode == 0, ran.stderr


def test_short_histories_are_replayed_without_spark(gates: Path) -> None:
    toml = (gates / "ontoweir.toml").read_text()
    (gates / "ontoweir.toml").write_text(
        toml.replace('badge = "int"', 'badge = { type = "int", min = 0, max = 1999 }')
    )
    output = gates / "again.csv"
    ran = _run(SPARK, "replay", gates, "--sql", gates / "again.sql", "--output", output)
    assert ran.returncode == 0, ran.stderr
    assert output.exists()
    for command in (("check", gates, "--data"), ("measure", gates), ("show", output)):
        ran = _run(SPARK, *command)
        assert ran.returncode == 0, ran.stderr
    ran = _run(SPARK, "init", gates / "new", "--from", gates / "passages.csv")
    assert ran.returncode == 0, ran.stderr


def test_a_second_replay_reads_no_sql(project: Path, tmp_path: Path) -> None:
    """The example's mappings are known by then, and its view needs no parser: that takes a tenth of
    a second to load."""
    write_data(project, [0, 1, 2], [140, 131, 20])
    output = tmp_path / "o.parquet"
    query = ("--query", "every-reading-above-130", "--output", output)
    for without in (SPARK, (*SPARK, "sqlglot")):
        ran = _run(without, "replay", project, *query, "--cache", tmp_path / "cache")
        assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("udf", [False, True])
def test_a_replay_does_not_import_pandas(gates: Path, tmp_path: Path, udf: bool) -> None:
    """Nor a run: pyarrow does without, until a table of pandas' is asked for; but where users'
    functions run, their columns may be pandas'."""
    pytest.importorskip("pandas")
    (gates / "f.py").write_text("def twice(n: int) -> int:\n    return 2 * n\n")
    program = """if True:
        import sys
        from ontoweir.cli import main
        assert main(sys.argv[1:]) == 0
        print("pandas" in sys.modules)
        import pyarrow as pa
        print(list(pa.table({"a": [1]}).to_pandas()["a"]), pa.array([1.5]).to_pandas().sum())
        import pandas
        print(pa.array(pandas.Series([1.0, None])).null_count)
    """
    arguments = ["replay", gates, "--sql", gates / "again.sql", "--allow-unbounded"]
    arguments += ["--output", tmp_path / "out.csv", *(["--udf", "f:twice"] if udf else [])]
    ran = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-3:] == [str(udf), "[1] 1.5", "1"]


@pytest.mark.parametrize(
    ("without", "command", "install"),
    [
        (DATA, ("check", "--data"), "pip install pyarrow numpy"),
        (DATA, ("measure",), "pip install pyarrow numpy"),
        (DATA, ("replay", "--sql", "again.sql", "--output", "o"), "pip install pyarrow numpy"),
        (
            SPARK,
            ("replay", "--sql", "again.sql", "--output", "o", "--engine", "spark"),
            "pip install pyspark",
        ),
        (("flask", "waitress"), ("ui",), "pip install 'ontoweir[ui]'"),
    ],
)
def test_an_error_names_what_to_install(
    gates: Path, without: tuple[str, ...], command: tuple[str, ...], install: str
) -> None:
    toml = (gates / "ontoweir.toml").read_text()
    (gates / "ontoweir.toml").write_text(
        toml.replace('badge = "int"', 'badge = { type = "int", min = 0, max = 1999 }')
    )
    paths = [gates / a if a in ("again.sql", "o") else a for a in command]
    ran = _run(without, paths[0], gates, *paths[1:])
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    assert install in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_live_run_names_spark(tmp_path: Path) -> None:
    project = tmp_path / "new"
    assert _run(SPARK, "init", project).returncode == 0
    query = min((project / "queries").iterdir()).stem
    ran = _run(SPARK, "run", project, "--query", query, "--once")
    assert ran.returncode == 2
    assert "pip install pyspark" in ran.stderr


def test_the_requirements_are_those_that_are_locked(root: Path) -> None:
    script = root / ".ci" / "write_requirements.py"
    ran = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def test_the_requirements_leave_out_what_they_say(root: Path) -> None:
    def names(purpose: str) -> set[str]:
        lines = (root / "requirements" / f"{purpose}.txt").read_text().splitlines()
        return {line.partition("==")[0] for line in lines if not line.startswith("#")}

    check, replay = names("check"), names("replay")
    assert replay - check == {"pyarrow", "numpy"}
    assert not replay & {"pyspark", "py4j", "pandas"}

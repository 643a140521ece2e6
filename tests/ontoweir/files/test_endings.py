"""A name that ends as another format than what is written does is refused."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir as ow
from ontoweir.errors import UsageError
from tests.ontoweir.conftest import Run

PROJECT = """
[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
columns = { a = "int" }
"""
SQL = "SELECT a FROM s WHERE a > 1"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A project of one stream of three rows."""
    (tmp_path / "ontoweir.toml").write_text(PROJECT)
    times = pa.array([0, 1_000_000, 2_000_000], pa.int64()).cast(pa.timestamp("us"))
    pq.write_table(pa.table({"ts": times, "a": [1, 2, 3]}), tmp_path / "s.parquet")
    return tmp_path


WRONG = {
    ("replay", "--sql", SQL): ("xlsx", ".parquet"),
    ("plot", "--show", "answers", "--sql", SQL): ("png", ".svg"),
    ("plot", "--show", "graph", "--sql", SQL): ("pdf", ".svg"),
    ("rewrite", "--show", "graph", "--sql", SQL): ("png", ".svg"),
    ("report",): ("pdf", ".html"),
}


@pytest.mark.parametrize("command", sorted(WRONG))
def test_another_ending_is_refused(command: tuple[str, ...], small: Path, run: Run) -> None:
    ending, right = WRONG[command]
    output = small / f"o.{ending}"
    ran = run(command[0], small, *command[1:], "--output", output)
    assert ran.code == 2
    assert f".{ending} names no format" in ran.err
    assert right in ran.err
    assert not output.exists()


def test_triples_are_no_turtle(tmp_path: Path, run: Run) -> None:
    ran = run("materialize", "--mappings", tmp_path / "m.ttl", "--database", "sqlite:x.db",
              "--output", tmp_path / "o.ttl")  # fmt: skip
    assert ran.code == 2
    assert ".nq, .nquads or .nt" in ran.err


def test_what_may_be_written(small: Path, run: Run) -> None:
    """Capitals, no ending, and any ending where the format is said."""
    for name, more in (("o.CSV", ()), ("o", ()), ("o.xyz", ("--format", "csv"))):
        ran = run("replay", small, "--sql", SQL, "--output", small / name, *more)
        assert ran.code == 0, ran.err
    assert (small / "o.xyz").read_text().startswith('"a","at"')
    assert (small / "o.CSV").read_text() == (small / "o.xyz").read_text()
    assert pq.read_table(small / "o").num_rows == 2


def test_in_python(small: Path) -> None:
    project = ow.open(small)
    with pytest.raises(UsageError, match=r"\.orc names no format"):
        project.replay(SQL, output=small / "o.orc")
    project.replay(SQL, output=small / "o.feather")
    assert pa.ipc.open_file(small / "o.feather").read_all().num_rows == 2

"""Files of noise, by any name: an error of one line, which names no class of Python or Java."""

import random
import re
from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

CLASS = re.compile(r"\w(Error|Exception)\b|Traceback|java\.|org\.apache|<class|codec|pyarrow\.")
NAMES = ("a.csv", "a.jsonl", "a.parquet", "a.arrow", "a.avro", "a.xlsx", "a.sqlite", "a.duckdb")
PACKED = ("a.zip", "a.csv.gz", "a.sql", "a.bin")
DELTA, ICEBERG = "d/_delta_log/00000000000000000000.json", "i/metadata/v1.metadata.json"


def write_noise(file: Path) -> Path:
    """The same bytes at each call; the table's folder, where the file is inside of one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\xac" + random.Random(19).randbytes(199))
    return file if file.parent.name not in ("_delta_log", "metadata") else file.parent.parent


@pytest.mark.parametrize("name", [*NAMES, *PACKED, DELTA, ICEBERG])
def test_init_says_what_is_wrong(name: str, run: Run, tmp_path: Path) -> None:
    if name in (DELTA, ICEBERG):  # older ones raise what nobody can tell from a bug
        pytest.importorskip(*(("deltalake", "1.2") if name == DELTA else ("pyiceberg", "0.10")))
    noise = write_noise(tmp_path / name)
    ran = run("init", tmp_path / "project", "--from", noise)
    assert ran.code == 2
    assert str(noise) in ran.err
    assert ran.err.count("\n") == 1
    assert CLASS.search(ran.err) is None, ran.err
    assert not (tmp_path / "project").exists()


@pytest.mark.parametrize("command", ["check", "show"])
def test_so_do_others(command: str, run: Run, tmp_path: Path) -> None:
    name = {"check": "a.sql", "show": "a.parquet"}[command]
    ran = run(command, write_noise(tmp_path / name))
    assert ran.code == 2
    assert name in ran.err
    assert CLASS.search(ran.err) is None, ran.err


def test_a_database_of_neither_kind_is_said_to_be_none(run: Run, tmp_path: Path) -> None:
    ran = run("init", tmp_path / "p", "--from", write_noise(tmp_path / "a.sqlite"))
    assert "neither SQLite nor DuckDB" in ran.err

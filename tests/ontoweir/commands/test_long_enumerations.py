"""A column of 300 values: what a verdict says of it takes one line."""

from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

NAMES = [f"dev-{n:04d}" for n in range(300)]
TOML = f"""[project]
queries = []
[streams.s]
source = {{ format = "parquet", path = "s.parquet" }}
timestamp = {{ column = "ts", unit = "1 second" }}
[streams.s.columns]
device = {{ type = "string", enum = {NAMES} }}
value = "int"
"""
SQL = """SELECT a.device FROM s a, s b
    WHERE a.device = b.device AND a.device <> 'dev-0007' AND a.ts < b.ts"""


@pytest.mark.parametrize("form", ["text", "sarif", "html"])
def test_no_message_lists_them(form: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "q.sql").write_text(SQL)
    found = run("check", str(tmp_path), "--sql", str(tmp_path / "q.sql"), "--format", form, "-v")
    assert "300 values: dev-0000 … dev-0299" in found.out
    assert "dev-0000, dev-0001" not in found.out

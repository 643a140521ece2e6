"""The page about the catalog: what it says of nested JSON is replayed."""

import re
from pathlib import Path

import duckdb

from ontoweir.cli import main
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "catalog.md").read_text(encoding="utf-8")


def _block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_what_is_nested(tmp_path: Path) -> None:
    (tmp_path / "ontoweir.toml").write_text(_block("toml nested"))
    (tmp_path / "readings.jsonl").write_text(_block("json"))
    (tmp_path / "q.sql").write_text("SELECT device, kind, v FROM reading")
    output = str(tmp_path / "out.csv")
    asked = ["--sql", str(tmp_path / "q.sql"), "--output", output, "-q"]
    assert main(["replay", str(tmp_path), *asked]) == 0
    rows = duckdb.execute("SELECT device, kind, v FROM read_csv(?) ORDER BY v", [output])
    assert rows.fetchall() == [(7, "t", 20.5), (7, "h", 55.0)]
    assert "`7, t, 20.5` and `7, h, 55.0`" in PAGE

"""Messages name the lines in which rows are, where others are comments, empty, or no rows."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.sources.find_line import find_line
from ontoweir.runtime.text.csv_dialect import number_first
from tests.ontoweir.conftest import Run

TOML = """
[streams.s]
source = {{ format = "{form}", path = "{path}", options = {{ {options} }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ a = "int" }}
"""
PLAIN = 'header = "true"'
TABLES = {
    ("csv", PLAIN, "ts,a\n"),
    ("csv", PLAIN, "\n\nts,a\n\n"),
    ("csv", f'{PLAIN}, comment = "#"', "# by hand\n#\nts,a\n# more\n\n"),
    ("csv", f'{PLAIN}, skip = "2", skipAfterHeader = "1"', "Site 4\n\nts,a\n,bar\n"),
    ("csv", f'{PLAIN}, skip = "1", comment = "#", skipAfterHeader = "1"', "S\n# x\nts,a\ns,V\n#\n"),
    ("csv", f'{PLAIN}, multiLine = "true", escape = "\\""', "ts,a\n"),
    ("csv", 'names = "ts|a"', ""),
    ("json", "", "\n"),
}


@pytest.mark.parametrize("table", sorted(TABLES))
def test_where_rows_are(run: Run, tmp_path: Path, table: tuple[str, str, str]) -> None:
    form, options, head = table
    file = tmp_path / f"s.{form}"
    (tmp_path / "ontoweir.toml").write_text(
        TOML.format(form=form, path=file, options=options) + "[project]\nqueries = []\n"
    )
    rows = [("2026-01-01T00:00:01Z", "1"), ("2026-01-01T00:00:02Z", '"x"')]
    rows += [("2026-01-01T00:00:03Z", "3"), ("2026-01-01T00:00:04Z", '"y"')]
    rows += [(f"2026-01-01T00:00:0{n}Z", "5") for n in (5, 6, 7)]
    shown = (
        [f"{t},{a}" for t, a in rows]
        if form == "csv"
        else [f'{{"ts": "{t}", "a": {a}}}' for t, a in rows]
    )
    text = f"{head}{shown[0]}\n{shown[1]}\n\n" + "\n".join(shown[2:]) + "\n"
    file.write_text(text)
    wrong = [n for n, line in enumerate(text.split("\n"), 1) if line in (shown[1], shown[3])]
    said = run("check", tmp_path, "--data").out
    assert [f"row {n}:" in said for n in wrong] == [True, True], said
    out, rejects = tmp_path / "o.parquet", tmp_path / "r"
    ran = run("replay", "SELECT a FROM s", tmp_path, "--output", out, "--rejects", rejects)
    assert ran.code == 0, ran.err
    assert pq.read_table(rejects / "rejects.parquet")["number"].to_pylist() == wrong
    file.write_text(text.replace('"x"', "2").replace('"y"', "4").replace("00:04Z", "00:02Z"))
    ran = run("replay", "SELECT a FROM s", tmp_path, "--output", out)
    expected = wrong[1] if "multiLine" not in options else wrong[1] - 1  # empty lines may be rows
    assert f"s.{form}:{expected}: s.ts goes backwards" in ran.err, ran.err


def test_a_row_that_is_not_there(tmp_path: Path) -> None:
    data = DataSource("csv", "s.csv", (("header", "true"),))
    (tmp_path / "s.csv").write_text("a\n\n1\n")
    assert find_line(data, str(tmp_path / "s.csv"), number_first(data)) == 3
    assert find_line(data, str(tmp_path / "s.csv"), 9) == 9
    assert find_line(data, str(tmp_path / "none.csv"), 2) == 2

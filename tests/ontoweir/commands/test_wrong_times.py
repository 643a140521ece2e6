"""Timestamps that are not as declared: a replay that rejects most rows says what would read them,
and writes nothing."""

from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

FILE = """
[project]

[streams.s]
source = { format = "csv", path = "s.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 second" }

[streams.s.columns]
k = { type = "int", min = 0, max = 9 }
"""


def replay(run: Run, folder: Path, cells: list[str], *, declared: str = "") -> tuple[int, str]:
    """The exit code, and what was said, of a replay over rows with these timestamps."""
    (folder / "ontoweir.toml").write_text(FILE.replace('"1 second" }', f'"1 second"{declared} }}'))
    rows = [f"{cell},{n % 10}" for n, cell in enumerate(cells)]
    (folder / "s.csv").write_text("\n".join(["ts,k", *rows, ""]))
    (folder / "q.sql").write_text("SELECT k FROM s")
    output = folder / "out.csv"
    output.unlink(missing_ok=True)
    ran = run("replay", folder, "--sql", folder / "q.sql", "--output", output, "--quiet")
    assert output.exists() == (ran.code == 0)
    return ran.code, ran.err


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["1767225600", "1767225601", "1767225602"], "epoch_s"),
        (["1767225600000", "1767225601000", "1767225602000"], "epoch_ms"),
        (["1767225600.0", "1767225601.0", "1767225602.0"], "epoch_s"),
        (["13/01/2026 10:00:00", "13/01/2026 10:00:01", "14/01/2026 9:00:00"], "%d/%m/%Y %H:%M:%S"),
        (["01/13/2026 10:00:00", "01/13/2026 10:00:01", "01/14/2026 9:00:00"], "%m/%d/%Y %H:%M:%S"),
        (["13.01.2026 10:00", "13.01.2026 10:01", "14.01.2026 10:00"], "%d.%m.%Y %H:%M"),
    ],
)  # fmt: skip
def test_the_declaration_that_would_read_them_is_named(
    cells: list[str], form: str, run: Run, tmp_path: Path
) -> None:
    code, said = replay(run, tmp_path, cells)
    assert code == 2
    assert f"3 of the 3 rows of s are rejected: ts is not of its type, such as '{cells[0]}'" in said
    assert f'format = "{form}"' in said
    assert "ontoweir.toml:" in said
    assert replay(run, tmp_path, cells, declared=f', format = "{form}"')[0] == 0


def test_fewer_than_half_are_counted(run: Run, tmp_path: Path) -> None:
    cells = ["2026-01-01 00:00:00", "soon", "2026-01-01 00:00:01"]
    assert replay(run, tmp_path, cells)[0] == 0


def test_half_of_any_reason_is_refused(run: Run, tmp_path: Path) -> None:
    text = FILE.replace("max = 9", "max = 0")
    (tmp_path / "ontoweir.toml").write_text(text)
    (tmp_path / "s.csv").write_text("ts,k\n2026-01-01 00:00:00,0\n2026-01-01 00:00:01,5\n")
    (tmp_path / "q.sql").write_text("SELECT k FROM s")
    output = tmp_path / "out.csv"
    ran = run("replay", tmp_path, "--sql", tmp_path / "q.sql", "--output", output, "--quiet")
    assert ran.code == 2
    assert "1 of the 2 rows of s are rejected: s.k is outside its declared domain" in ran.err
    assert not output.exists()


def test_an_unknown_format_is_shown(run: Run, tmp_path: Path) -> None:
    code, said = replay(run, tmp_path, ["noon", "midnight"])
    assert code == 2
    assert "such as 'noon'" in said
    assert "say how it is written" in said


def test_times_that_a_zone_leaves_out_are_told_from_others(run: Run, tmp_path: Path) -> None:
    zone = ', format = "iso", zone = "Europe/Copenhagen"'
    fine, gone = "2026-03-29 01:30:00", "2026-03-29 02:30:00"
    assert replay(run, tmp_path, [fine, gone, "2026-03-29 03:00:00"], declared=zone)[0] == 0
    said = run("check", tmp_path, "--data").out
    assert f"ts = {gone}" in said
    assert "the clocks of Europe/Copenhagen leave these times out" in said
    assert replay(run, tmp_path, [fine, "soon", "2026-03-29 03:00:00"], declared=zone)[0] == 0
    assert "leave these times out" not in run("check", tmp_path, "--data").out


def test_unknown_columns_beside_buckets(run: Run, tmp_path: Path) -> None:
    """Columns that a query makes for itself are none to write."""
    (tmp_path / "ontoweir.toml").write_text(FILE)
    query = "SELECT nope, date_trunc('hour', ts) AS h FROM s GROUP BY nope, date_trunc('hour', ts)"
    ran = run("check", tmp_path, "--sql", query)
    assert ran.err.rstrip().endswith("use one of: k, ts")

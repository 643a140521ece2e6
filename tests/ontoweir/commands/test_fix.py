"""`ontoweir check --fix`: a repair is made in the files, and gives the verdict that it says."""

from pathlib import Path

import pytest

from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from tests.ontoweir.conftest import Run

TOML = """\
# what passes gates
[streams.passage]
source = { format = "csv", path = "passages.csv" } # none is needed
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 2
[streams.passage.columns]
gate = "string"
badge = "int" # as printed
"""
AGAIN = """\
SELECT x.badge FROM passage x JOIN passage y
  ON x.badge = y.badge AND x.ts < y.ts -- again
"""
WHERE = "SELECT x.gate FROM passage x JOIN passage y\n  ON x.gate = y.gate AND x.ts < y.ts\n"


@pytest.fixture
def gates(tmp_path: Path) -> Path:
    """A project with two queries that are not bounded."""
    (tmp_path / "ontoweir.toml").write_text(TOML)
    (tmp_path / "again.sql").write_text(AGAIN)
    (tmp_path / "where.sql").write_text(WHERE)
    return tmp_path


def test_the_query_is_repaired(run: Run, gates: Path) -> None:
    sql = gates / "again.sql"
    ran = run("check", gates, "--sql", sql, "--fix", "-q")
    assert ran.code == 0, ran.err
    assert "unbounded → window-bounded, at most 20 rows" in ran.out
    assert "+WHERE y.ts <= x.ts + INTERVAL '10' SECOND" in ran.out
    kept = sql.read_text().replace("\nWHERE y.ts <= x.ts + INTERVAL '10' SECOND", "")
    assert kept == AGAIN  # the rest, and its comment, stays
    assert (gates / "ontoweir.toml").read_text() == TOML
    assert run("check", gates, "--sql", sql, "--fail-on", "undecided").code == 0
    again = run("check", gates, "--sql", sql, "--fix")
    assert (again.code, again.out) == (0, "again: window-bounded; there is nothing to repair\n")


def test_repairs_are_looked_for_longer(
    run: Run, gates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the seconds that `check` takes for it find none; but not longer than is asked for."""
    sql, search, limits = gates / "again.sql", Workspace.repair, list[float | None]()

    def find_none_at_first(workspace: Workspace, compiled: CompiledQuery) -> object:
        limits.append(workspace.repair_time_limit)
        return search(workspace, compiled) if len(limits) % 2 == 0 else ()

    monkeypatch.setattr(Workspace, "repair", find_none_at_first)
    ran = run("check", gates, "--sql", sql, "--fix", "-q")
    assert (ran.code, "unbounded → window-bounded" in ran.out) == (0, True), ran.err
    assert limits == [3, 60]
    sql.write_text(AGAIN)
    ran = run("check", gates, "--sql", sql, "--fix", "--time-limit", "5", "-q")
    assert (ran.code, "none was found" in ran.err, limits[2:]) == (2, True, [5])
    assert sql.read_text() == AGAIN


def test_a_declaration_is_added_and_comments_stay(run: Run, gates: Path) -> None:
    sql = gates / "again.sql"
    ran = run("check", gates, "--sql", sql, "--fix", "2", "-q")
    assert ran.code == 0, ran.err
    declared = 'badge = { type = "int", min = 0, max = 999 } # as printed'
    changed = TOML.replace('badge = "int" # as printed', declared)
    assert (gates / "ontoweir.toml").read_text() == changed
    assert f"+{declared}" in ran.out
    assert "0..999 is an example" in ran.err
    assert "conditionally-bounded, at most 1,000 rows" in ran.out
    assert "conditionally-bounded" in run("check", gates, "--sql", sql).out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--sql", "again.sql", "--fix", "99"), "again has no repair 99; it has"),
        (("--sql", "again.sql", "--fix", "x"), "again has no repair x"),
        (("--fix",), "--fix needs one query"),
        (("--sql", "where.sql", "--fix", "2"), "lists values that only you know"),
    ],
)
def test_what_is_refused_changes_nothing(
    run: Run, gates: Path, arguments: tuple[str, ...], told: str
) -> None:
    ran = run("check", gates, *(gates / a if a.endswith(".sql") else a for a in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert (gates / "ontoweir.toml").read_text() == TOML
    assert (gates / "where.sql").read_text() == WHERE

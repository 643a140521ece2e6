"""Byte-order marks and ends of lines change nothing; what is long is told in short."""

from pathlib import Path

import pytest

from tests.ontoweir.conftest import Run

_MARK = "\ufeff".encode()


def _files(project: Path) -> list[Path]:
    endings = (".toml", ".ttl", ".rq", ".sql", ".obda")
    return [f for f in sorted(project.rglob("*")) if f.suffix in endings]


@pytest.mark.parametrize("mark", [b"", _MARK])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_marks_and_ends_of_lines_change_nothing(
    run: Run, small: Path, mark: bytes, end: bytes
) -> None:
    (small / "q.sql").write_text("SELECT a.id\nFROM traffic a\nWHERE a.avg_speed < 20\n")
    (small / "wrong.sql").write_text("SELECT a.id\nFROM traffic a\nWHERE a.speed < 20\n")
    calls: list[list[object]] = [
        ["check", small],
        ["check", small, "--sql", small / "q.sql"],
        ["check", small, "--sql", small / "wrong.sql"],
        ["rewrite", small, "--query", "every-reading-above-130", "--show", "sql"],
    ]
    before = [run(*call) for call in calls]
    files = _files(small)
    assert {f.suffix for f in files} >= {".toml", ".ttl", ".rq", ".sql"}
    for file in files:
        file.write_bytes(mark + file.read_bytes().replace(b"\n", end))
    assert [run(*call) for call in calls] == before
    assert "wrong.sql:3: unknown column" in before[2].err


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT a.id FROM traffic a WHERE a.avg_speed > 0" + " + 1" * 1_000, 0),
        ("SELECT a.id FROM traffic a WHERE a.avg_speed > 0" + " + 1" * 12_000, None),
        ("SELECT a.id FROM traffic a WHERE a.avg_speed > 0" + " AND a.id > 1" * 5_000, None),
        ("SELECT a.id FROM traffic a WHERE a.avg_speed > " + "(" * 5_000 + "1" + ")" * 5_000, 2),
        (f"SELECT {'n' * 5_000} FROM traffic", 2),
        (f"SELECT id AS {'n' * 5_000} FROM traffic", 0),
        (f"SELECT id FROM {'n' * 5_000}", 2),
        (f"SELECT id FROM traffic WHERE id > {'9' * 5_000}", 2),
        (f"SELECT id FROM traffic WHERE id > 0.{'3' * 5_000}", 2),
        ("SELECT id FROM traffic WHERE id > 1e28 AND avg_speed < id + 1e28", 0),
        ("SELECT id FROM traffic WHERE id < 1e28 AND avg_speed < id + 1e28", 0),
        ("SELECT id FROM traffic WHERE avg_speed + 1e28 + 0.1 < id + 1e28", 0),
    ],
    ids=range(12),
)
def test_long_sql_is_read_or_refused_in_short(
    run: Run, project: Path, sql: str, code: int | None
) -> None:
    (project / "q.sql").write_text(sql)
    ran = run("check", project, "--sql", project / "q.sql")
    assert ran.code in (0, 2)
    assert code is None or ran.code == code, ran.err
    assert "internal" not in ran.err
    if ran.code == 2:
        assert len(ran.err) < 1_000
        assert ran.err.startswith(str(project / "q.sql") + ":1: ")


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("?speed > 1e28 + 0.1", 2),
        ("?speed > 1e28 && ?speed < 2e28", 0),
        ("?speed > 100000000000000000000000000000 + 1", 2),
        ("?speed > 130" + " + 1" * 200, 0),
        ("?speed > 130" + " + 1" * 2_000, 0),
        ("?" + "n" * 5_000 + " > 1", 2),
    ],
    ids=range(6),
)
def test_long_sparql_is_read_or_refused_in_short(
    run: Run, project: Path, condition: str, code: int
) -> None:
    name = "every-reading-above-130"
    file = project / "queries" / f"{name}.rq"
    text = file.read_text()
    assert "?speed > 130" in text
    file.write_text(text.replace("?speed > 130", condition))
    ran = run("rewrite", project, "--query", name, "--show", "sql")
    assert ran.code == code, ran.err
    assert "internal" not in ran.err
    assert len(ran.err) < 2_000


def test_a_long_name_in_the_catalog_is_told_in_short(run: Run, project: Path) -> None:
    file = project / "ontoweir.toml"
    file.write_text(file.read_text() + f"\n[streams.{'n' * 5_000}]\nsource = 1\n")
    ran = run("check", project)
    assert ran.code == 2
    assert "n" * 40 in ran.err
    assert "… (5," in ran.err
    assert len(ran.err) < 1_000

"""`on_violation = "spill"` from the catalog to the answers of a replay."""

import csv
import json
from pathlib import Path

from tests.ontoweir.conftest import Run

TOML = """\
[streams.page]
source = { format = "csv", path = "pages.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 2
PAGE_RULE

[streams.page.columns]
session = "string"
url = "string"

[streams.buy]
source = { format = "csv", path = "buys.csv", options = { header = "true" } }
timestamp = { column = "ts", unit = "1 minute" }
max_per_timestamp = 2
lags = [{ behind = "page", columns = ["session"], to = ["session"], within = "3 minutes"BUY_RULE }]

[streams.buy.columns]
session = "string"
item = "string"
"""
SPILL = ', on_violation = "spill"'
BOUGHT = "SELECT p.url, b.item FROM page p, buy b WHERE b.session = p.session AND p.ts <= b.ts"


def _write(folder: Path, rule: str, page_rule: str = "") -> None:
    """Each session has a page and a purchase: every fourth one comes an hour later."""
    toml = TOML.replace("PAGE_RULE", page_rule).replace("BUY_RULE", rule)
    (folder / "ontoweir.toml").write_text(toml)
    pages = [f"2026-05-04T{m // 60:02}:{m % 60:02}:00,s{m},u{m % 7}" for m in range(300)]
    later = [(m + (60 if m % 4 == 0 else 2), m) for m in range(230)]
    buys = [f"2026-05-04T{t // 60:02}:{t % 60:02}:00,s{m},i{m}" for t, m in sorted(later)]
    (folder / "pages.csv").write_text("\n".join(["ts,session,url", *pages]) + "\n")
    (folder / "buys.csv").write_text("\n".join(["ts,session,item", *buys]) + "\n")


def _replay(run: Run, folder: Path, sql: str, *more: str) -> tuple[list[dict[str, str]], object]:
    output = folder / "out.csv"
    ran = run("replay", folder, "--sql", sql, "--output", output, "--summary", "json", *more)
    assert ran.code == 0, ran.err
    with output.open() as file:
        return list(csv.DictReader(file)), json.loads(ran.out)


def test_what_breaks_the_rule_has_its_answers(run: Run, tmp_path: Path) -> None:
    _write(tmp_path, "")
    kept, _ = _replay(run, tmp_path, BOUGHT)
    assert {row["item"] for row in kept} == {f"i{m}" for m in range(230) if m % 4}
    _write(tmp_path, SPILL)
    rows, summary = _replay(run, tmp_path, BOUGHT)
    assert [row["item"] for row in rows if row not in kept] == [f"i{m}" for m in range(0, 230, 4)]
    assert all(row["url"] == f"u{int(row['item'][1:]) % 7}" for row in rows)
    assert isinstance(summary, dict)
    assert summary["state_rows_max"] <= summary["bound_rows"] == 6
    assert summary["on_disk"]["rows"] > 200
    assert set(summary["on_disk"]) == {"rows", "bytes", "found"}
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "buys.csv",
        "ontoweir.toml",
        "out.csv",
        "pages.csv",
    ]


def test_what_the_rule_says_never_comes_is_answered(run: Run, tmp_path: Path) -> None:
    sql = f"{BOUGHT} AND b.ts > p.ts + INTERVAL '30' MINUTE"
    _write(tmp_path, "")
    assert _replay(run, tmp_path, sql)[0] == []
    _write(tmp_path, SPILL)
    rows, summary = _replay(run, tmp_path, sql)
    assert [row["item"] for row in rows] == [f"i{m}" for m in range(0, 230, 4)]
    assert isinstance(summary, dict)
    assert summary["state_rows_max"] <= summary["bound_rows"]


def test_the_verdict_says_what_it_rests_on(run: Run, tmp_path: Path) -> None:
    _write(tmp_path, SPILL)
    ran = run("check", tmp_path, "--sql", BOUGHT)
    assert "within 3 minutes; what comes later is found on disk" in ran.out


def test_the_rule_is_no_condition_of_sql(run: Run, tmp_path: Path) -> None:
    for rule, said in (("", True), (SPILL, False)):
        _write(tmp_path, rule)
        (tmp_path / "bought.sql").write_text(BOUGHT)
        toml = (tmp_path / "ontoweir.toml").read_text()
        (tmp_path / "ontoweir.toml").write_text(f'[project]\nqueries = ["*.sql"]\n{toml}')
        ran = run("rewrite", tmp_path, "--query", "bought", "--show", "sql")
        assert ran.code == 0, ran.err
        assert ("INTERVAL" in ran.out) == said, ran.out


def test_a_query_that_the_rule_does_not_bound_keeps_nothing_on_disk(
    run: Run, tmp_path: Path
) -> None:
    _write(tmp_path, SPILL)
    near = f"{BOUGHT} AND b.ts <= p.ts + INTERVAL '90' MINUTE"
    rows, summary = _replay(run, tmp_path, near)
    assert len(rows) == 230
    assert isinstance(summary, dict)
    assert summary["on_disk"] == {}


def test_it_is_said_what_is_on_disk(run: Run, tmp_path: Path) -> None:
    _write(tmp_path, SPILL)
    ran = run("replay", tmp_path, "--sql", BOUGHT, "--output", tmp_path / "out.csv")
    assert ran.code == 0, ran.err
    assert "rows that rules drop" in ran.out
    assert "not known to be bounded" not in ran.err


def test_groups_that_the_rule_closes_are_refused(run: Run, tmp_path: Path) -> None:
    _write(tmp_path, SPILL, f'clustered = [{{ columns = ["session"], within = "1 hour"{SPILL} }}]')
    sql = "SELECT session, COUNT(*) AS n FROM page WHERE session IS NOT NULL GROUP BY session"
    ran = run("replay", tmp_path, "--sql", sql, "--output", tmp_path / "out.csv")
    assert ran.code == 2
    assert "its groups are final when a rule closes their values" in ran.err
    assert not (tmp_path / "out.csv").exists()

"""`init --from` of a database: numbers that count things in several tables refer to none of them
by chance, and times are found that are called as databases call them."""

import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from tests.ontoweir.conftest import Run

TABLES = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER, placed_at TEXT, total REAL);
CREATE TABLE parts (id INTEGER PRIMARY KEY, weight REAL);
CREATE TABLE clicks (id INTEGER PRIMARY KEY, customer_id INTEGER, at INTEGER, url TEXT);
"""


def test_references_are_called_after_what_they_name(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as made:
        made.executescript(TABLES)
        made.executemany("INSERT INTO customers VALUES (?, ?)", [(n, f"c{n}") for n in range(9)])
        made.executemany("INSERT INTO parts VALUES (?, ?)", [(n, n / 7) for n in range(300)])
        orders = [(n, n % 9, f"2026-03-01 00:{n // 2:02}:00", n / 3) for n in range(100)]
        made.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", orders)
        clicks = [(n, n % 9, 1772323200 + 11 * n, f"/{n % 5}") for n in range(200)]
        made.executemany("INSERT INTO clicks VALUES (?, ?, ?, ?)", clicks)
        made.commit()
    assert run("init", tmp_path / "p", "--from", file).code == 0
    held = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())
    assert held["streams"].keys() == {"orders", "clicks"}
    assert held["streams"]["clicks"]["timestamp"]["format"] == "epoch_s"
    for stream in held["streams"].values():
        assert [r["relation"] for r in stream["references"]] == ["customers"]
    assert run("check", tmp_path / "p", "--data").code == 0


def test_of_references_those_that_columns_are_called_after(run: Run, tmp_path: Path) -> None:
    """What a trial has refers to it, and not the other way round, however the numbers lie."""
    file = tmp_path / "study.db"
    with closing(sqlite3.connect(file)) as opened, opened:
        opened.execute("CREATE TABLE studies (study_id INTEGER PRIMARY KEY, name TEXT)")
        opened.execute("CREATE TABLE study_directions (id INTEGER, study_id INTEGER PRIMARY KEY)")
        opened.execute("CREATE TABLE trials (trial_id INTEGER, study_id INTEGER, begun TEXT)")
        opened.execute("CREATE TABLE trial_values (trial_id INTEGER PRIMARY KEY, value REAL)")
        opened.execute("CREATE TABLE machines (machine_id INTEGER PRIMARY KEY, name TEXT)")
        opened.executemany("INSERT INTO studies VALUES (?, ?)", [(1, "one"), (2, "two")])
        opened.executemany("INSERT INTO study_directions VALUES (?, ?)", [(1, 1), (2, 2)])
        trials = [(n, n % 2 + 1, f"2026-01-05T08:{n:02}:00Z") for n in range(1, 60)]
        opened.executemany("INSERT INTO trials VALUES (?, ?, ?)", trials)
        opened.executemany(
            "INSERT INTO trial_values VALUES (?, ?)", [(n, n / 2) for n in range(99)]
        )
    assert run("init", tmp_path / "p", "--from", file).code == 0
    catalog = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())
    assert catalog["streams"]["trials"]["references"] == [
        {"columns": ["study_id"], "relation": "studies", "to": ["study_id"]}
    ]
    mapping = (tmp_path / "p" / "mapping.r2rml.ttl").read_text()
    assert "ofStudy" in mapping
    assert "ofTrialValue" not in mapping


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_views_are_named(run: Run, tmp_path: Path, kind: str) -> None:
    """A view is left out, which is said; a database without one says nothing."""
    opening = sqlite3.connect if kind == "sqlite" else duckdb.connect
    ran = []
    for name, view in (("plain", ""), ("viewed", "CREATE VIEW warm AS SELECT * FROM temps")):
        with closing(opening(str(tmp_path / f"{name}.db"))) as opened:
            opened.execute("CREATE TABLE temps (seen TEXT, celsius REAL)")
            for n in range(40):
                opened.execute(f"INSERT INTO temps VALUES ('2026-03-01 00:{n:02}:00', {n}.5)")
            if view:
                opened.execute(view)
            opened.commit()
        ran.append(run("init", tmp_path / f"p{name}", "--from", tmp_path / f"{name}.db"))
    assert [r.code for r in ran] == [0, 0]
    assert "left out" not in ran[0].out
    assert "left out, as tables alone are copied: views warm\n" in ran[1].out

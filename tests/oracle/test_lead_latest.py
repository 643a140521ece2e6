"""The latest row of each key, joined and counted, however SQL is put: as DuckDB has it."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoweir
from ontoweir.api.python_api import OpenProject
from ontoweir.errors import OntoweirError
from tests.oracle.database import open_database

CATALOG = """
[project]
queries = []
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
keys = [["k", "ts"]]
max_per_timestamp = 5
references = [{ columns = ["k"], relation = "m", to = ["k"] }]
[streams.s.columns]
k = { type = "string", enum = ["a", "b", "c", "d"] }
state = { type = "string", enum = ["run", "idle", "down"] }
v = { type = "int", min = 0, max = 9 }
[relations.m]
source = { format = "parquet", path = "m.parquet" }
keys = [["k"]]
max_rows = 4
columns = { k = "string", line = "string" }
"""
BEGIN = datetime(2026, 5, 1)
N = "ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC)"
CHOSEN = f"SELECT k, state, v FROM s QUALIFY {N} = 1"
NUMBERED = f"SELECT k, state, v, {N} AS rn FROM s"
NOW = f"WITH l AS ({NUMBERED}), now AS (SELECT * FROM l WHERE rn = 1"
ASKED = [
    f"SELECT m.line, x.state FROM m JOIN ({NUMBERED}) x ON x.k = m.k AND x.rn = 1",
    f"SELECT m.line, x.k, x.state FROM m, ({NUMBERED}) x WHERE m.k = x.k AND x.rn = 1 AND x.v > 3",
    f"SELECT m.line, x.state FROM ({CHOSEN}) x JOIN m ON m.k = x.k",
    f"SELECT m.line, x.state FROM m JOIN ({CHOSEN}) x ON m.k = x.k WHERE x.state <> 'idle'",
    f"SELECT m.line, COUNT(*) AS n FROM m JOIN ({CHOSEN}) x ON m.k = x.k GROUP BY m.line",
    (
        f"SELECT m.line, SUM(CASE WHEN x.state = 'down' THEN 1 ELSE 0 END) AS n FROM ({CHOSEN}) x "
        "JOIN m ON m.k = x.k GROUP BY m.line"
    ),
    f"WITH l AS ({CHOSEN}) SELECT m.line, l.v FROM l JOIN m ON l.k = m.k WHERE l.state = 'run'",
    f"WITH l AS ({CHOSEN}) SELECT m.line, l.v FROM m JOIN l ON l.k = m.k",
    f"SELECT state, COUNT(*) AS n FROM ({NUMBERED}) x WHERE rn = 1 GROUP BY state",
    f"{NOW}) SELECT state, COUNT(*) AS n, MAX(v) AS most FROM now GROUP BY state",
    f"{NOW} AND v > 4) SELECT m.line, now.k FROM now JOIN m ON m.k = now.k",
    (
        f"WITH l AS ({NUMBERED}), "
        "now AS (SELECT k, v AS state FROM l WHERE rn = 1 AND state = 'run') "
        "SELECT m.line, now.state FROM m JOIN now ON m.k = now.k"
    ),
    (
        f"SELECT line, COUNT(*) AS n FROM (SELECT m.line, x.state FROM ({NUMBERED}) x "
        "JOIN m ON m.k = x.k WHERE rn = 1) y WHERE state = 'run' GROUP BY line"
    ),
    (
        f"WITH l AS ({CHOSEN}), "
        "w AS (SELECT m.line, l.v * 2 AS w, l.state FROM l JOIN m ON l.k = m.k) "
        "SELECT y.line AS a, MAX(y.w) - 1 AS b FROM w AS y WHERE y.state <> 'idle' GROUP BY y.line"
    ),
]


@pytest.fixture(name="folder", scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, random = tmp_path_factory.mktemp("lead"), Random(11)
    (folder / "ontoweir.toml").write_text(CATALOG, encoding="utf-8")
    rows = []
    for second in range(40):
        for key in random.sample("abcd", k=random.choice([0, 1, 1, 2])):
            state = random.choice(["run", "idle", "down"])
            time = BEGIN + timedelta(seconds=second)
            rows.append({"ts": time, "k": key, "state": state, "v": random.randint(0, 9)})
    table = pa.Table.from_pylist(rows)
    times = table.column("ts").cast(pa.timestamp("us"))
    pq.write_table(table.set_column(0, "ts", times), folder / "s.parquet")
    pq.write_table(pa.table({"k": list("abcd"), "line": list("xxyy")}), folder / "m.parquet")
    return folder


@pytest.fixture(name="project", scope="module")
def open_it(folder: Path) -> OpenProject:
    return ontoweir.open_project(folder)


def fold(project: OpenProject, text: str) -> Iterator[tuple[datetime, Counter[Any]]]:
    """What holds after every second, by the changes of a replay."""
    table = project.replay(text).to_arrow()
    names = [n for n in table.column_names if n not in ("op", "at", "multiplicity")]
    changes = sorted(table.to_pylist(), key=lambda row: row["at"])
    held: Counter[Any] = Counter()
    for second in range(40):
        now = BEGIN + timedelta(seconds=second)
        while changes and changes[0]["at"].replace(tzinfo=None) <= now:
            row = changes.pop(0)
            sign = 1 if row["op"] == "+" else -1
            held[tuple(row[n] for n in names)] += sign * row.get("multiplicity", 1)
        yield now, +held


@pytest.mark.parametrize("text", ASKED)
def test_it_holds_what_duckdb_answers(text: str, folder: Path, project: OpenProject) -> None:
    verdict = project.check(text)
    assert verdict.bound is not None
    some = False
    with open_database() as base:
        base.execute(f"CREATE TEMP VIEW m AS FROM '{folder / 'm.parquet'}'")
        for now, held in fold(project, text):
            base.execute(
                f"CREATE OR REPLACE TEMP VIEW s AS SELECT * FROM '{folder / 's.parquet'}' "
                f"WHERE ts <= TIMESTAMP '{now}'"
            )
            assert held == Counter(base.execute(text).fetchall()), (text, now)
            some |= bool(held)
    assert some


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT * FROM m JOIN ({CHOSEN}) x ON m.k = x.k",
        f"SELECT * FROM (SELECT k FROM ({NUMBERED}) y WHERE rn = 1 AND v > 3) x",
        f"SELECT k, v FROM (SELECT k, v, {N} AS v FROM s) x WHERE v = 1",
    ],
)
def test_other_forms_are_refused(text: str, project: OpenProject) -> None:
    with pytest.raises(OntoweirError, match=r"outside what is read|beside|are read where"):
        project.check(text)
